"""Tensors: strided views of memory that is shared with the device."""

from __future__ import annotations

from typing import Any, Sequence, Union

import numpy as np
import numpy.typing as npt

from gpuos import _cuda
from gpuos._layout import Index, Layout, Shape
from gpuos._memory import HostMemory, Storage
from gpuos._slots import Piece
from gpuos.dtypes import DType
from gpuos.errors import FailedPrecondition, InvalidArgument


class Tensor:
    """A view; made by Session.empty, Session.share, batches, or from another tensor.

    Views share memory with what they were made from, and keep it alive, as do the arrays that
    numpy() and torch() return. Immutable itself; its elements are written by batches and through
    those arrays. gpuosd orders batches among themselves; the caller orders its own reads and writes
    against them (wait for the batch first).
    """

    __slots__ = ("_storage", "_layout", "__weakref__")

    def __init__(self, storage: Storage, layout: Layout) -> None:
        self._storage = storage
        self._layout = layout

    @property
    def shape(self) -> Shape:
        return self._layout.shape

    @property
    def strides(self) -> Shape:
        """In elements, as PyTorch has them (NumPy's are in bytes)."""
        return self._layout.strides

    @property
    def dtype(self) -> DType:
        return self._layout.dtype

    @property
    def ndim(self) -> int:
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """Elements."""
        return self._layout.elements

    @property
    def device(self) -> str:
        """As the daemon counts: 'host:0', 'cuda:1'."""
        return self._storage.memory.device

    @property
    def is_contiguous(self) -> bool:
        return self._layout.is_contiguous

    def data_ptr(self) -> int:
        """Address of element 0 in this process; a device pointer on a GPU."""
        return self._storage.block.address + self._layout.offset

    def __getitem__(self, key: Union[Index, tuple[Index, ...]]) -> Tensor:
        """A view: integers, slices with a step of 1 or more, None, Ellipsis."""
        return Tensor(self._storage, self._layout.index(key))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a tensor without dimensions has no length")
        return self.shape[0]

    @property
    def T(self) -> Tensor:
        """All dimensions reversed."""
        return self.permute(*reversed(range(self.ndim)))

    def transpose(self, first: int, second: int) -> Tensor:
        return Tensor(self._storage, self._layout.transpose(first, second))

    def permute(self, *dims: int) -> Tensor:
        return Tensor(self._storage, self._layout.permute(dims))

    def reshape(self, *shape: Union[int, Sequence[int]]) -> Tensor:
        """The same elements in another shape, of a contiguous tensor. One size may be -1."""
        return Tensor(self._storage, self._layout.reshape(_sizes(shape)))

    def broadcast_to(self, shape: Sequence[int]) -> Tensor:
        return Tensor(self._storage, self._layout.broadcast_to(shape))

    def expand(self, *shape: Union[int, Sequence[int]]) -> Tensor:
        """broadcast_to as PyTorch spells it."""
        return self.broadcast_to(_sizes(shape))

    def numpy(self) -> npt.NDArray[Any]:
        """A NumPy array over the same memory (host devices); no copy."""
        if not isinstance(self._storage.memory, HostMemory):
            raise FailedPrecondition(
                f"the tensor is on {self.device}; use tensor.torch().cpu().numpy()"
            )
        return np.asarray(_Export(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = self.numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def torch(self) -> Any:
        """A torch tensor over the same memory; no copy."""
        if isinstance(self._storage.memory, HostMemory):
            import torch

            return torch.from_numpy(self.numpy())
        return _cuda.as_torch(self._storage.block, self._layout)

    def __repr__(self) -> str:
        return f"gpuos.Tensor(shape={self.shape}, dtype={self.dtype!r}, device='{self.device}')"

    def _piece(self) -> Piece:
        """The bytes of the segment that a batch may touch through this view."""
        block = self._storage.block
        if not self._layout.elements:
            return Piece(block.segment.id, block.offset, min(block.length, 1))
        return Piece(block.segment.id, block.offset + self._layout.offset, self._layout.span)


class _Export:
    """Lends a tensor's memory to NumPy, which holds on to this object."""

    __slots__ = ("_tensor", "__array_interface__")

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        itemsize = tensor.dtype.itemsize
        self.__array_interface__ = {
            "version": 3,
            "shape": tensor.shape,
            "typestr": tensor.dtype.numpy.str,
            "data": (tensor.data_ptr(), False),
            "strides": tuple(stride * itemsize for stride in tensor.strides),
        }


def _sizes(shape: tuple[Union[int, Sequence[int]], ...]) -> list[int]:
    """Both f(2, 3) and f((2, 3))."""
    if len(shape) == 1 and not isinstance(shape[0], int):
        return list(shape[0])
    sizes = []
    for size in shape:
        if not isinstance(size, int):
            raise InvalidArgument(f"shape is {shape!r}; give integers or one sequence of them")
        sizes.append(size)
    return sizes
