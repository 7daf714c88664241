"""A first-fit allocator over [0, capacity). One thread at a time. Pure arithmetic."""

from __future__ import annotations

import bisect

#: Blocks start and end at multiples of this: a cache line, and above the alignment of bindings.
GRANULE = 64


def rounded(length: int) -> int:
    """Bytes that a block of `length` takes; never 0, so that empty tensors own an address."""
    return max(GRANULE, -(-length // GRANULE) * GRANULE)


class FreeList:
    """Free ranges, sorted and never adjacent."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity - capacity % GRANULE
        self._starts: list[int] = [0] if self.capacity else []
        self._ends: list[int] = [self.capacity] if self.capacity else []

    @property
    def empty(self) -> bool:
        """Whether nothing is allocated."""
        return self._starts == [0] and self._ends == [self.capacity]

    def allocate(self, length: int) -> int | None:
        """Offset of a block of rounded(length) bytes, or None when none is free."""
        need = rounded(length)
        for i, start in enumerate(self._starts):
            if self._ends[i] - start >= need:
                if self._ends[i] - start == need:
                    del self._starts[i], self._ends[i]
                else:
                    self._starts[i] = start + need
                return start
        return None

    def free(self, offset: int, length: int) -> None:
        """Gives back what allocate(length) returned."""
        end = offset + rounded(length)
        i = bisect.bisect_left(self._starts, offset)
        joins_left = i > 0 and self._ends[i - 1] == offset
        joins_right = i < len(self._starts) and self._starts[i] == end
        if joins_left and joins_right:
            self._ends[i - 1] = self._ends[i]
            del self._starts[i], self._ends[i]
        elif joins_left:
            self._ends[i - 1] = end
        elif joins_right:
            self._starts[i] = offset
        else:
            self._starts.insert(i, offset)
            self._ends.insert(i, end)
