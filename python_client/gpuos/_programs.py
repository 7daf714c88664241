"""Programs that a session has on the device: each distinct one once, unused ones for a while."""

from __future__ import annotations

import collections
import logging
import threading
from dataclasses import dataclass
from typing import Callable, Hashable

from gpuos._handle import Handle
from gpuos._native import ProgramBuilder
from gpuos.errors import GpuosError

_LOG = logging.getLogger("gpuos")

#: Programs that nothing holds and that are kept for the next identical recording.
KEPT_IDLE = 256


@dataclass(slots=True, eq=False)
class Entry:
    """A program on the device."""

    key: Hashable
    id: int
    holders: int = 0


class Programs:
    """Finds or creates programs by what was recorded. Thread-safe."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        # Reentrant: a finalizer may drop() while this thread is inside.
        self._lock = threading.RLock()
        self._entries: dict[Hashable, Entry] = {}
        self._idle: collections.OrderedDict[Hashable, Entry] = collections.OrderedDict()
        self._dropped: collections.deque[Entry] = collections.deque()

    def hold(self, key: Hashable, write: Callable[[ProgramBuilder], None]) -> Entry:
        """The program of `key`, which stays on the device until drop()."""
        with self._lock:
            self._evict()
            entry = self._entries.get(key)
            if entry is None:
                entry = Entry(key, self._handle.program_create(write))
                self._entries[key] = entry
            entry.holders += 1
            self._idle.pop(key, None)
            return entry

    def drop(self, entry: Entry) -> None:
        """Ends one hold(). For finalizers: never blocks."""
        self._dropped.append(entry)

    def _evict(self) -> None:
        while self._dropped:
            entry = self._dropped.popleft()
            entry.holders -= 1
            if not entry.holders:
                self._idle[entry.key] = entry
        while len(self._idle) > KEPT_IDLE:
            key, entry = self._idle.popitem(last=False)
            del self._entries[key]
            try:
                self._handle.program_release(entry.id)
            except GpuosError as error:
                _LOG.debug("program %d was not released: %s", entry.id, error)
