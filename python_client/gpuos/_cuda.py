"""Tensors on a GPU: PyTorch allocates them, gpuosd opens them by CUDA IPC, nothing is copied."""

from __future__ import annotations

from typing import Any

from gpuos._handle import Handle
from gpuos._layout import Layout
from gpuos._memory import Block, Memory, Segment, Storage
from gpuos._progress import Progress
from gpuos.dtypes import bool_, float32, int64
from gpuos.errors import FailedPrecondition, InvalidArgument


def _torch() -> Any:
    try:
        import torch
    except ImportError as cause:
        raise FailedPrecondition(
            f"tensors on a GPU are PyTorch's, and it cannot be imported ({cause}); install torch "
            "or connect to the device 'host:0'"
        ) from cause
    if not torch.cuda.is_available():
        raise FailedPrecondition(
            "PyTorch sees no CUDA device in this process; check CUDA_VISIBLE_DEVICES and that "
            "torch was built with CUDA, or connect to the device 'host:0'"
        )
    return torch


def find_device(uuid: str) -> int:
    """PyTorch's index of the GPU that the daemon calls `uuid`."""
    torch = _torch()
    wanted = uuid.removeprefix("GPU-").lower()
    count = torch.cuda.device_count()
    for index in range(count):
        own = str(getattr(torch.cuda.get_device_properties(index), "uuid", ""))
        if own.removeprefix("GPU-").lower() == wanted:
            return index
    raise FailedPrecondition(
        f"none of the {count} GPUs that PyTorch sees here is {uuid}; check CUDA_VISIBLE_DEVICES"
    )


class CudaMemory(Memory):
    """Registers the allocations behind PyTorch's CUDA tensors, each once while it is used."""

    def __init__(self, handle: Handle, progress: Progress) -> None:
        super().__init__(handle, progress)
        self.index = find_device(handle.device_uuid)
        self._segments: dict[int, Segment] = {}

    def allocate(self, length: int) -> Storage:
        self._handle.check()
        torch = _torch()
        owner = torch.empty(max(length, 64), dtype=torch.uint8, device=f"cuda:{self.index}")
        return self.adopt(owner, owner.data_ptr(), owner.numel())

    def adopt(self, owner: Any, pointer: int, length: int) -> Storage:
        """`length` bytes at `pointer`, which `owner` (a torch tensor) keeps alive."""
        if owner.device.type != "cuda" or owner.device.index != self.index:
            raise InvalidArgument(
                f"the tensor is on {owner.device}; this session's device {self.device} is "
                f"cuda:{self.index} of this process"
            )
        self.reap()
        with self._lock:
            # Registering and releasing the same allocation must not cross.
            segment_id, offset, size = self._handle.segment_register_cuda_pointer(pointer)
            segment = self._segments.setdefault(segment_id, Segment(segment_id, size))
            segment.users += 1
        return Storage(self, Block(segment, offset, length, pointer, keep=owner))

    def before_submit(self) -> None:
        """The batch must see what the current stream was asked to write.

        The host waits for it. Fences between streams and batches will make this wait go.
        """
        _torch().cuda.current_stream(self.index).synchronize()

    def _take_back(self, block: Block) -> Segment | None:
        segment = block.segment
        segment.users -= 1
        if segment.users:
            return None
        del self._segments[segment.id]
        self._release_segment(segment)  # Under the lock, and before PyTorch may free the memory.
        return None


def as_torch(block: Block, layout: Layout) -> Any:
    """A torch view of a block's memory that shares ownership of it."""
    torch = _torch()
    dtype = {float32: torch.float32, int64: torch.int64, bool_: torch.bool}[layout.dtype]
    view = torch.empty(0, dtype=dtype, device=block.keep.device)
    storage = block.keep.untyped_storage()
    start = block.address + layout.offset - storage.data_ptr()
    return view.set_(storage, start // layout.dtype.itemsize, layout.shape, layout.strides)
