"""A batch: record once, run once (or a few times) on the tensors it was recorded on."""

from __future__ import annotations

from types import TracebackType

from gpuos._core import Core
from gpuos._recording import Placed, Recording, place
from gpuos.errors import FailedPrecondition
from gpuos._recorder import Recorder


class Batch(Recorder):
    """Made by Session.batch(). As a context manager it submits when the block ends.

        with session.batch() as b:
            y = b.relu(b.add(b.matmul(x, w), bias))
        y.numpy()

    Identical recordings share one program on the device. One thread at a time; the wait releases
    the GIL.
    """

    def __init__(self, core: Core, wait: bool = True) -> None:
        super().__init__(core, Recording())
        self._wait = wait
        self._placed: Placed | None = None
        self.value = 0  #: The last submission's number in its session; 0 before the first.

    def submit(self, *, wait: bool = False) -> int:
        """Runs what was recorded; returns the batch's value.

        With wait=True it returns when the batch is done and raises its error if it failed: one
        call to the daemon, bounded by the daemon's watchdog, not interruptible.
        """
        self._sealed = True
        if self._placed is None:
            self._placed = place(tuple(self._recording.tasks), self._recording.tensors)
        entry = self._core.programs.hold(self._placed.key, self._placed.write)
        try:
            self.value = self._core.submit(
                entry.id, self._placed.assignment.bindings, self._recording.tensors, wait
            )
        finally:
            self._core.programs.drop(entry)
        return self.value

    def wait(self, timeout: float | None = None) -> None:
        """Blocks until the batch is done; raises its error. DeadlineExceeded after `timeout` s."""
        if not self.value:
            raise FailedPrecondition("the batch was not submitted; call submit() first")
        self._core.wait(self.value, timeout)

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.submit(wait=self._wait)
