"""Which slot each piece of memory of a program gets.

Different slots are taken to be disjoint by the daemon, so pieces that overlap (or whose starts,
rounded down to the alignment of bindings, reach into another piece) share one slot that covers
their union. Pure arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

#: Bindings start at multiples of this (kernels/abi/limits.h).
ALIGNMENT = 16
#: Slots of one program at most (types.proto).
MAX_SLOTS = 4096


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes [start, start + length) of a segment."""

    segment: int
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """Where pieces lie, and what to bind."""

    #: Bytes of each slot.
    lengths: tuple[int, ...]
    #: For each piece its slot and its byte offset there. With `lengths`, all that a program sees.
    places: tuple[tuple[int, int], ...]
    #: Segment and offset for each slot: differs from run to run.
    bindings: tuple[tuple[int, int], ...]


def assign(pieces: Sequence[Piece]) -> Assignment:
    """One slot for each group of pieces that overlap, numbered by first use."""
    groups = _groups(pieces, merge_all=False)
    if len(groups) > MAX_SLOTS:
        # Dependencies are worked out inside a slot too, so one slot a segment means the same.
        groups = _groups(pieces, merge_all=True)
    groups.sort(key=min)
    lengths, bindings = [], []
    places: list[tuple[int, int]] = [(0, 0)] * len(pieces)
    for slot, members in enumerate(groups):
        base = min(_floor(pieces[member].start) for member in members)
        end = max(pieces[member].start + pieces[member].length for member in members)
        lengths.append(end - base)
        bindings.append((pieces[members[0]].segment, base))
        for member in members:
            places[member] = (slot, pieces[member].start - base)
    return Assignment(tuple(lengths), tuple(places), tuple(bindings))


def _floor(offset: int) -> int:
    return offset - offset % ALIGNMENT


def _groups(pieces: Sequence[Piece], merge_all: bool) -> list[list[int]]:
    order = sorted(range(len(pieces)), key=lambda i: (pieces[i].segment, pieces[i].start))
    groups: list[list[int]] = []
    segment, end = -1, -1
    for i in order:
        piece = pieces[i]
        # Rounding starts down keeps their order, so one sweep finds every overlap.
        if piece.segment == segment and (merge_all or _floor(piece.start) < end):
            groups[-1].append(i)
            end = max(end, piece.start + piece.length)
        else:
            groups.append([i])
            segment, end = piece.segment, piece.start + piece.length
    return groups
