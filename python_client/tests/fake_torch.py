"""As much of torch.cuda as gpuos uses, over numbers instead of a GPU."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

UUID = "a0e4b7d2-0000-1111-2222-333344445555"


class FakeTensor:
    """Bytes at a device address; slices are made by the tests."""

    def __init__(
        self, storage: Any, pointer: int, shape: tuple[int, ...], itemsize: int, index: int
    ):
        self._storage = storage
        self._pointer = pointer
        self.shape = shape
        self._itemsize = itemsize
        self.device = SimpleNamespace(type="cuda", index=index)
        self.dtype = {1: "torch.uint8", 4: "torch.float32", 8: "torch.int64"}[itemsize]
        self.view_of: Any = None

    def detach(self) -> FakeTensor:
        return self

    def data_ptr(self) -> int:
        return self._pointer

    def numel(self) -> int:
        return math.prod(self.shape)

    def stride(self) -> tuple[int, ...]:
        strides = [1]
        for size in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * size)
        return tuple(strides[: len(self.shape)])

    def untyped_storage(self) -> Any:
        return self._storage

    def element_size(self) -> int:
        return self._itemsize

    def set_(self, storage: Any, offset: int, shape: Any, strides: Any) -> FakeTensor:
        self.view_of = (storage, offset, shape, strides)
        return self


FakeTensor.__module__ = "torch"


class FakeTorch:
    """Two GPUs; the daemon's is the second one here."""

    uint8, float32, int64, bool = "torch.uint8", "torch.float32", "torch.int64", "torch.bool"

    def __init__(self) -> None:
        self.next = 0x7F00_0000_0000
        self.synchronized: list[int] = []
        self.cuda = SimpleNamespace(
            is_available=lambda: True,
            device_count=lambda: 2,
            get_device_properties=lambda i: SimpleNamespace(uuid=UUID if i == 1 else "other"),
            current_stream=lambda i: SimpleNamespace(
                synchronize=lambda: self.synchronized.append(i)
            ),
        )

    def empty(self, size: int, dtype: str, device: Any) -> FakeTensor:
        pointer = self.next
        self.next += -(-size // 512) * 512
        itemsize = {"torch.uint8": 1, "torch.float32": 4, "torch.int64": 8, "torch.bool": 1}[dtype]
        storage = SimpleNamespace(data_ptr=lambda: pointer)
        return FakeTensor(storage, pointer, (size,), itemsize, 1)
