"""What the objects of one session share."""

from __future__ import annotations

import weakref
from typing import Sequence

from gpuos import _native
from gpuos._cuda import CudaMemory
from gpuos._handle import Handle
from gpuos._layout import Layout, Shape
from gpuos._memory import HostMemory, Memory
from gpuos._programs import Programs
from gpuos._progress import Progress
from gpuos.dtypes import DType
from gpuos.errors import Aborted, Internal, InvalidArgument
from gpuos.tensor import Tensor


class Core:
    """The open session with its memory, batches and programs. Thread-safe.

    Sessions, batches, programs and tensors hold it; Session alone closes it.
    """

    def __init__(
        self, target: str | None, device: str | None, client_name: str | None, timeout: float
    ) -> None:
        self.handle = Handle(_native.library(), target, device, client_name, timeout)
        self.progress = Progress()
        self.programs = Programs(self.handle)
        self.memory: Memory
        try:
            if self.handle.device_name.startswith("cuda"):
                self.memory = CudaMemory(self.handle, self.progress)
            else:
                self.memory = HostMemory(self.handle, self.progress)
        except BaseException:
            self.handle.close()
            raise
        self._close = weakref.finalize(self, _close, self.handle, self.memory)

    def close(self) -> None:
        """Ends the session, after the calls in progress; any number of times."""
        self.handle.close()
        self._close()

    def empty(self, shape: Shape, dtype: DType) -> Tensor:
        layout = Layout.contiguous(shape, dtype)
        return Tensor(self.memory.allocate(layout.span), layout)

    def own(self, tensor: object, what: str) -> Tensor:
        """The tensor, if it is one of this session's."""
        if not isinstance(tensor, Tensor):
            raise InvalidArgument(
                f"{what} is a {type(tensor).__name__}, not a gpuos.Tensor; share it first with "
                "session.share(...)"
            )
        if tensor._storage.memory is not self.memory:
            raise InvalidArgument(
                f"{what} is a tensor of another session; share it with this one as well"
            )
        return tensor

    def submit(
        self,
        program: int,
        bindings: Sequence[tuple[int, int]],
        tensors: Sequence[Tensor],
        wait: bool,
    ) -> int:
        """Runs a program; the batch's value. `tensors` are those whose memory it touches."""
        self.memory.before_submit()
        value = self.handle.submit(program, bindings, wait)
        if not wait:
            self.progress.submitted(value)
            for tensor in tensors:
                block = tensor._storage.block
                block.last_use = max(block.last_use, value)
        return value

    def wait(self, value: int, timeout: float | None) -> None:
        """Blocks until batches 1 .. value are done; raises the error of the first that failed.

        Memory whose last use nobody waits for comes back with a later wait: asking the daemon
        behind the caller's back could take a failure that the caller should see.
        """
        try:
            self.handle.wait(value, timeout)
        except (Aborted, Internal):
            self.progress.finished(value)
            raise
        self.progress.finished(value)
        self.memory.reap()


def _close(handle: Handle, memory: Memory) -> None:
    """When the core is gone, or at exit."""
    handle.close(wait=False)
    if not handle.forked:
        memory.forget()
