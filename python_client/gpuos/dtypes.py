"""Element types, and how NumPy and PyTorch call them."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from gpuos.errors import InvalidArgument


class DType(enum.Enum):
    """What one element is. The value is its number in the ABI."""

    float32 = 1
    int64 = 2
    bool = 3

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return _ITEMSIZE[self]

    @property
    def numpy(self) -> np.dtype[Any]:
        """The same type in NumPy."""
        return _NUMPY[self]

    def __repr__(self) -> str:
        return f"gpuos.{_PUBLIC[self]}"


float32 = DType.float32
int64 = DType.int64
bool_ = DType.bool

_ITEMSIZE = {float32: 4, int64: 8, bool_: 1}
_NUMPY: dict[DType, np.dtype[Any]] = {
    float32: np.dtype(np.float32),
    int64: np.dtype(np.int64),
    bool_: np.dtype(np.bool_),
}
_PUBLIC = {float32: "float32", int64: "int64", bool_: "bool_"}
_NAMES = {
    "float32": float32,
    "f32": float32,
    "float": float32,
    "int64": int64,
    "i64": int64,
    "long": int64,
    "bool": bool_,
    "bool_": bool_,
}


def as_dtype(dtype: Any) -> DType:
    """Takes a DType, a name, a NumPy dtype or type, or a torch dtype.

    Raises InvalidArgument for anything that gpuosd cannot compute with.
    """
    if isinstance(dtype, DType):
        return dtype
    name = dtype if isinstance(dtype, str) else str(dtype)
    if name.startswith("torch."):
        name = name[len("torch.") :]
    elif not isinstance(dtype, str):
        try:
            name = np.dtype(dtype).name
        except TypeError:
            pass
    found = _NAMES.get(name)
    if found is None:
        raise InvalidArgument(
            f"dtype is {name}; gpuos has float32, int64 and bool: convert the tensor to one of them"
        )
    return found
