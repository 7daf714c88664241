"""Sessions: the way in."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Sequence, Union

import numpy as np

from gpuos._core import Core
from gpuos._cuda import CudaMemory
from gpuos._layout import Layout, check_shape
from gpuos._memory import host_only
from gpuos.batch import Batch
from gpuos.dtypes import as_dtype, float32
from gpuos.errors import InvalidArgument
from gpuos.program import Program
from gpuos.tensor import Tensor

if TYPE_CHECKING:
    from gpuos._local import LocalDaemon


class Session:
    """A connection to gpuosd on one device; made by connect() or local().

    Thread-safe. Its memory ends with the last tensor that looks at it, its programs with the
    session. close() ends it; so do the end of a ``with`` block, of the process, and garbage
    collection. In a forked child every use raises FailedPrecondition, and so does connect() there
    if the parent had connected before: use multiprocessing's 'spawn'.
    """

    def __init__(self, core: Core, daemon: LocalDaemon | None = None) -> None:
        self._core = core
        #: The private daemon behind a session of local(), which ends with it; else None.
        self.daemon = daemon

    @property
    def id(self) -> int:
        """As `gpuosctl clients` shows it."""
        return self._core.handle.session_id

    @property
    def device(self) -> str:
        """As the daemon counts: 'host:0', 'cuda:1'."""
        return self._core.handle.device_name

    @property
    def device_uuid(self) -> str:
        """The GPU's UUID; '' on host devices."""
        return self._core.handle.device_uuid

    @property
    def torch_device(self) -> Any:
        """Where PyTorch has this session's tensors: torch.device('cpu'), or the GPU as PyTorch
        counts in this process."""
        import torch

        memory = self._core.memory
        if isinstance(memory, CudaMemory):
            return torch.device("cuda", memory.index)
        return torch.device("cpu")

    @property
    def closed(self) -> bool:
        return self._core.handle.closed

    def empty(self, shape: Union[int, Sequence[int]], dtype: Any = float32) -> Tensor:
        """An uninitialized tensor in memory that the device sees."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        return self._core.empty(check_shape(sizes), as_dtype(dtype))

    def share(self, array: Any) -> Tensor:
        """A tensor that the device sees, with the elements of `array`.

        A PyTorch tensor on this session's GPU is shared in place, by CUDA IPC, without a copy.
        Anything else (a NumPy array, a CPU tensor, numbers) lies in memory that no other process
        can map, so it is copied once, and later changes to it are not seen: work on the tensor
        returned. PyTorch must have allocated with cudaMalloc (its default); what it does with the
        memory is ordered by its current stream, which submissions wait for.
        """
        self._core.handle.check()
        if isinstance(array, Tensor):
            raise InvalidArgument("the tensor is a gpuos.Tensor already; it is shared as it is")
        if _is_torch(array):
            return self._share_torch(array.detach())
        return self._share_copy(np.asarray(array))

    def share_file(self, descriptor: int, shape: Sequence[int], dtype: Any = float32) -> Tensor:
        """A tensor at the start of a memory file that others may have mapped as well.

        The file must be a memfd with F_SEAL_SHRINK, so that nobody can take pages away from under
        the device. The caller keeps the descriptor and may close it. Host devices only.
        """
        memory = host_only(self._core.memory, "share_file")
        layout = Layout.contiguous(shape, as_dtype(dtype))
        storage = memory.adopt_file(descriptor)
        if layout.span > storage.block.length:
            raise InvalidArgument(
                f"shape {list(layout.shape)} takes {layout.span} bytes; the memory file has "
                f"{storage.block.length}"
            )
        return Tensor(storage, layout)

    def batch(self, *, wait: bool = True) -> Batch:
        """Begins a batch; `wait` says what the end of its ``with`` block does."""
        self._core.handle.check()
        return Batch(self._core, wait)

    def program(self, **named: Tensor) -> Program:
        """Begins a program in which other tensors can take the place of the named ones."""
        self._core.handle.check()
        if "wait" in named:
            raise InvalidArgument("a tensor cannot be named wait: Program.run has that option")
        return Program(self._core, named)

    def wait(self, value: int, timeout: float | None = None) -> None:
        """Blocks until batches 1 .. value are done; raises the first error among them.

        DeadlineExceeded after `timeout` seconds. The GIL is released; Ctrl-C works.
        """
        self._core.wait(value, timeout)

    def close(self) -> None:
        """Ends the session, after its running batches; any number of times.

        Arrays made by numpy() and torch() stay valid.
        """
        self._core.close()
        if self.daemon is not None:
            self.daemon.stop()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"gpuos.Session(id={self.id}, device='{self.device}'{state})"

    def _share_torch(self, tensor: Any) -> Tensor:
        memory = self._core.memory
        if not isinstance(memory, CudaMemory):
            if tensor.device.type != "cpu":
                raise InvalidArgument(
                    f"the tensor is on {tensor.device}; this session's device is {self.device}: "
                    "connect to that GPU or share tensor.cpu()"
                )
            return self._share_copy(tensor.resolve_conj().resolve_neg().numpy())
        dtype = as_dtype(tensor.dtype)
        if tensor.device.type == "cpu":
            return self._share_copy(tensor.numpy())
        if not tensor.numel():
            return self._core.empty(check_shape(tensor.shape), dtype)
        layout = Layout(0, check_shape(tensor.shape), tuple(tensor.stride()), dtype)
        return Tensor(memory.adopt(tensor, tensor.data_ptr(), layout.span), layout)

    def _share_copy(self, array: np.ndarray[Any, Any]) -> Tensor:
        tensor = self._core.empty(check_shape(array.shape), as_dtype(array.dtype))
        if isinstance(self._core.memory, CudaMemory):
            import torch

            tensor.torch().copy_(torch.from_numpy(np.ascontiguousarray(array)))
        else:
            tensor.numpy()[...] = array
        return tensor


def connect(
    target: str | None = None,
    device: str | None = None,
    client_name: str | None = None,
    *,
    timeout: float = 10.0,
) -> Session:
    """Opens a session with a running gpuosd; never starts one (local() does).

    target: 'unix:///path' or a path; by default $GPUOS_TARGET, else the well-known socket.
    device: 'host:0', 'cuda:0', ... as `gpuosctl devices` lists; by default the daemon's first.
    client_name: shown by `gpuosctl clients`.
    timeout: seconds at most until the session is open.

    Raises Unavailable with the address, the cause and what to do; NotFound for an unknown device.
    """
    return Session(Core(target, device, client_name, timeout))


def _is_torch(array: Any) -> bool:
    return type(array).__module__.partition(".")[0] == "torch" and hasattr(array, "detach")
