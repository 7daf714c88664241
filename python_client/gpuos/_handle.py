"""A session of libgpuos that may be used from any thread and closed at any moment."""

from __future__ import annotations

import os
import threading
import time
from types import TracebackType
from typing import Callable, Sequence

from gpuos._native import Library, ProgramBuilder
from gpuos.errors import DeadlineExceeded, FailedPrecondition

#: Waits return to Python this often, so that Ctrl-C and close() get their turn.
_WAIT_SLICE_US = 100_000

FORK_CURE = (
    "connect in a process that is started by exec (multiprocessing's 'spawn'), or fork before the "
    "first connection"
)


class Handle:
    """Owns a gpuos_session. Thread-safe.

    close() ends waits of other threads and lets other calls finish: gpuos_close comes last. In a
    forked child every call raises FailedPrecondition and close() does nothing: the session belongs
    to the parent.
    """

    def __init__(
        self,
        library: Library,
        target: str | None,
        device: str | None,
        client_name: str | None,
        timeout: float,
    ) -> None:
        self._library = library
        self._session = library.connect(target, device, client_name, int(timeout * 1e6))
        self._pid = os.getpid()
        # Reentrant: a finalizer may run, and make a call, while this thread is inside.
        self._idle = threading.Condition(threading.RLock())
        self._calls = 0
        self._closed = False
        self._ending = False
        self._ended = False
        self.device_name = library.device_name(self._session)
        self.device_uuid = library.device_uuid(self._session)
        self.session_id = library.session_id(self._session)

    @property
    def library(self) -> Library:
        return self._library

    @property
    def forked(self) -> bool:
        """Whether this process is a child of the one that opened the session."""
        return os.getpid() != self._pid

    @property
    def closed(self) -> bool:
        return self._closed

    def check(self) -> None:
        """Raises FailedPrecondition if the session cannot be used here and now."""
        if self.forked:
            raise FailedPrecondition(
                f"this session was opened by process {self._pid} and cannot be used in its forked "
                f"child {os.getpid()}; {FORK_CURE}"
            )
        if self._closed:
            raise FailedPrecondition("this session is closed; call gpuos.connect() for a new one")

    def __enter__(self) -> int:
        self.check()
        with self._idle:
            self.check()
            self._calls += 1
            return self._session

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._idle:
            self._calls -= 1
            last = self._closed and not self._calls
        if last:
            self._end()

    def close(self, wait: bool = True) -> None:
        """Ends the session; any number of times.

        New calls are refused at once; the last call in progress ends the session. wait=False does
        not wait for that: a finalizer may run in the middle of a call of its own thread.
        """
        if self.forked:
            return
        with self._idle:
            self._closed = True
            busy = self._calls > 0
        if not busy:
            self._end()
        elif wait:
            with self._idle:
                while not self._ended:
                    self._idle.wait()

    def _end(self) -> None:
        with self._idle:
            first, self._ending = not self._ending, True
        if first:
            self._library.close(self._session)
            with self._idle:
                self._ended = True
                self._idle.notify_all()

    def segment_create(self, size: int) -> tuple[int, int, int]:
        with self as session:
            return self._library.segment_create(session, size)

    def segment_register_fd(self, descriptor: int) -> tuple[int, int]:
        with self as session:
            return self._library.segment_register_fd(session, descriptor)

    def segment_register_cuda_pointer(self, pointer: int) -> tuple[int, int, int]:
        with self as session:
            return self._library.segment_register_cuda_pointer(session, pointer)

    def segment_release(self, segment: int) -> None:
        with self as session:
            self._library.segment_release(session, segment)

    def program_create(self, write: Callable[[ProgramBuilder], None]) -> int:
        with self as session:
            return self._library.program_create(session, write)

    def program_release(self, program: int) -> None:
        with self as session:
            self._library.program_release(session, program)

    def submit(self, program: int, bindings: Sequence[tuple[int, int]], wait: bool) -> int:
        with self as session:
            return self._library.submit(session, program, bindings, wait)

    def wait(self, value: int, timeout: float | None) -> None:
        """Blocks, without the GIL, until batches 1 .. value are done."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left_us = _WAIT_SLICE_US
            if deadline is not None:
                left_us = min(left_us, max(1, int((deadline - time.monotonic()) * 1e6)))
            try:
                with self as session:
                    return self._library.wait(session, value, left_us)
            except DeadlineExceeded:
                if deadline is not None and time.monotonic() >= deadline:
                    raise DeadlineExceeded(
                        f"batch {value} was not done after {timeout} s; it goes on, wait again"
                    ) from None
