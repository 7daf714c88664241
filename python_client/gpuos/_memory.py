"""Memory that a session shares with the device: who owns it and when it is given back.

A Storage is a stretch of a segment that tensors look at. When the last tensor (and the last NumPy
or torch view) of it is gone, its block is given back, but not before every batch that was recorded
on it has finished. Finalizers never block on a lock and do nothing in a forked child.
"""

from __future__ import annotations

import abc
import collections
import ctypes
import logging
import mmap
import os
import threading
import weakref
from dataclasses import dataclass
from typing import Any

from gpuos._free_list import FreeList, rounded
from gpuos._handle import Handle
from gpuos._native import Library
from gpuos._progress import Progress
from gpuos.errors import GpuosError, InvalidArgument

_LOG = logging.getLogger("gpuos")

#: Tensors up to a quarter of this share slabs of this size. Pages are taken when first touched.
SLAB_BYTES = 4 << 20


class Mapping:
    """Owns what gpuos_segment_create mapped, which outlives the session."""

    def __init__(self, library: Library, address: int, size: int) -> None:
        self.address = address
        self.finalizer = weakref.finalize(self, _unmap, library, address, size, os.getpid())
        self.finalizer.atexit = False  # The process's end does it.


def _unmap(library: Library, address: int, size: int, pid: int) -> None:
    if os.getpid() == pid:
        library.segment_unmap(address, size)


@dataclass(slots=True, eq=False)
class Segment:
    """A registered allocation."""

    id: int
    size: int
    mapping: Mapping | None = None  # Host devices.
    free: FreeList | None = None  # Slabs.
    users: int = 0  # Blocks that lie in it.


@dataclass(slots=True, eq=False)
class Block:
    """Bytes [offset, offset + length) of a segment, and what must live while they are used."""

    segment: Segment
    offset: int
    length: int
    address: int  # In this process's address space; on a GPU, a device pointer.
    last_use: int = 0  # The last batch submitted on it.
    keep: Any = None  # What owns the memory: a torch tensor, a mapping.


class Storage:
    """Holds a block for as long as something looks at it."""

    __slots__ = ("block", "memory", "__weakref__")

    def __init__(self, memory: Memory, block: Block) -> None:
        self.memory = memory
        self.block = block

    def __del__(self) -> None:
        self.memory.retire(self.block)


class Memory(abc.ABC):
    """Makes and takes back storages of one session. Thread-safe."""

    def __init__(self, handle: Handle, progress: Progress) -> None:
        self._handle = handle
        self._progress = progress
        self._lock = threading.Lock()
        self._retired: collections.deque[Block] = collections.deque()

    @property
    def device(self) -> str:
        return self._handle.device_name

    @abc.abstractmethod
    def allocate(self, length: int) -> Storage:
        """Uninitialized memory; at least one byte, at a multiple of 64 bytes."""

    @abc.abstractmethod
    def before_submit(self) -> None:
        """Orders what the caller did to its tensors before a batch on them."""

    @abc.abstractmethod
    def _take_back(self, block: Block) -> Segment | None:
        """Frees a block, under the lock; returns its segment if that is to be released."""

    def retire(self, block: Block) -> None:
        """Called by finalizers: any thread, any moment, also inside a call of this class."""
        if self._handle.forked or self._handle.closed:
            return
        self._retired.append(block)
        if self._lock.acquire(blocking=False):
            try:
                done = self._sweep()
            finally:
                self._lock.release()
            self._release(done)

    def reap(self) -> None:
        """Takes back what retired blocks and finished batches have left."""
        if not self._retired:
            return
        with self._lock:
            done = self._sweep()
        self._release(done)

    def forget(self) -> None:
        """The session is closed: what nobody looks at any more goes. Takes no lock."""
        self._retired.clear()

    def _sweep(self) -> list[Segment]:
        """Under the lock: frees retired blocks that no batch uses; returns segments to release."""
        release: list[Segment] = []
        for _ in range(len(self._retired)):
            try:
                block = self._retired.popleft()
            except IndexError:
                break
            if not self._progress.done(block.last_use):
                self._retired.append(block)
                continue
            segment = self._take_back(block)
            if segment is not None:
                release.append(segment)
        return release

    def _release(self, ended: list[Segment]) -> None:
        for segment in ended:
            self._release_segment(segment)

    def _release_segment(self, segment: Segment) -> None:
        """Tells the daemon; returns when it has let the memory go."""
        if self._handle.closed:
            return
        try:
            self._handle.segment_release(segment.id)
        except GpuosError as error:
            # The session or its daemon is gone, and the segment with it.
            _LOG.debug("segment %d was not released: %s", segment.id, error)


class HostMemory(Memory):
    """Sealed memory files: slabs for small tensors, one file each for large ones."""

    def __init__(self, handle: Handle, progress: Progress) -> None:
        super().__init__(handle, progress)
        self._slabs: list[Segment] = []

    def allocate(self, length: int) -> Storage:
        self._handle.check()
        self.reap()
        if rounded(length) > SLAB_BYTES // 4:
            segment = self._create(rounded(length), slab=False)
            return Storage(self, self._block(segment, 0, length))
        with self._lock:
            block = self._from_slabs(length)
        if block is None:
            slab = self._create(SLAB_BYTES, slab=True)
            with self._lock:
                self._slabs.append(slab)
                block = self._from_slabs(length)
            assert block is not None, "a fresh slab has room"
        return Storage(self, block)

    def forget(self) -> None:
        super().forget()
        self._slabs.clear()

    def adopt_file(self, descriptor: int) -> Storage:
        """A whole memory file of the caller's, who keeps the descriptor."""
        segment_id, size = self._handle.segment_register_fd(descriptor)
        segment = Segment(segment_id, size, users=1)
        try:
            mapped = mmap.mmap(descriptor, size)
        except BaseException:
            self._release_segment(segment)
            raise
        first = ctypes.c_char.from_buffer(mapped)  # Holds the mapping as long as it lives.
        return Storage(self, Block(segment, 0, size, ctypes.addressof(first), keep=first))

    def before_submit(self) -> None:
        """Nothing: one host, one memory order."""

    def _create(self, size: int, slab: bool) -> Segment:
        segment_id, address, mapped = self._handle.segment_create(size)
        mapping = Mapping(self._handle.library, address, mapped)
        return Segment(segment_id, mapped, mapping, FreeList(mapped) if slab else None)

    def _block(self, segment: Segment, offset: int, length: int) -> Block:
        assert segment.mapping is not None
        segment.users += 1
        return Block(segment, offset, length, segment.mapping.address + offset)

    def _from_slabs(self, length: int) -> Block | None:
        for slab in self._slabs:
            assert slab.free is not None
            offset = slab.free.allocate(length)
            if offset is not None:
                return self._block(slab, offset, length)
        return None

    def _take_back(self, block: Block) -> Segment | None:
        segment = block.segment
        segment.users -= 1
        if segment.free is None:
            return segment
        segment.free.free(block.offset, block.length)
        # One empty slab stays, so that a loop over temporaries does not map and unmap.
        if segment.users or not any(s is not segment and not s.users for s in self._slabs):
            return None
        self._slabs = [slab for slab in self._slabs if slab is not segment]
        return segment


def host_only(memory: Memory, what: str) -> HostMemory:
    """The memory, if it is of a host device."""
    if isinstance(memory, HostMemory):
        return memory
    raise InvalidArgument(f"{what} is for host devices; this session is on {memory.device}")
