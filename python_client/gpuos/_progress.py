"""Which batches of a session may still be running. Thread-safe."""

from __future__ import annotations

import threading


class Progress:
    """Counts batches that were submitted without waiting and have not been waited for since.

    A session's batches are numbered from 1 upwards and take effect in order.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._outstanding: set[int] = set()
        self._oldest = 0  # Smallest of _outstanding, 0 when it is empty. Read without the lock.

    def submitted(self, value: int) -> None:
        with self._lock:
            self._outstanding.add(value)
            self._oldest = min(self._oldest or value, value)

    def finished(self, value: int) -> None:
        """Batches 1 .. value are done."""
        with self._lock:
            if self._oldest and self._oldest <= value:
                self._outstanding = {each for each in self._outstanding if each > value}
                self._oldest = min(self._outstanding, default=0)

    def newest(self) -> int:
        """The last batch that may still run; 0 when none does."""
        with self._lock:
            return max(self._outstanding, default=0)

    def done(self, value: int) -> bool:
        """Whether batches 1 .. value are known to be done."""
        oldest = self._oldest
        return not oldest or value < oldest
