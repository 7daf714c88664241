"""The rules of slots: disjoint pieces apart, overlapping ones together, bindings aligned."""

from __future__ import annotations

import random

from gpuos._slots import ALIGNMENT, MAX_SLOTS, Piece, assign


def test_distinct_pieces_get_slots_of_their_own_in_order_of_use() -> None:
    found = assign([Piece(1, 256, 64), Piece(1, 0, 64), Piece(2, 0, 8)])
    assert found.lengths == (64, 64, 8)
    assert found.places == ((0, 0), (1, 0), (2, 0))
    assert found.bindings == ((1, 256), (1, 0), (2, 0))


def test_touching_pieces_do_not_overlap() -> None:
    assert len(assign([Piece(1, 0, 64), Piece(1, 64, 64)]).lengths) == 2


def test_overlapping_pieces_share_the_slot_of_their_union() -> None:
    found = assign([Piece(1, 64, 64), Piece(1, 96, 64), Piece(1, 0, 65)])
    assert found.lengths == (160,)
    assert found.places == ((0, 64), (0, 96), (0, 0))
    assert found.bindings == ((1, 0),)


def test_the_same_bytes_of_another_segment_are_other_bytes() -> None:
    assert len(assign([Piece(1, 0, 64), Piece(2, 0, 64)]).lengths) == 2


def test_starts_are_rounded_down_and_the_rest_is_the_views_offset() -> None:
    found = assign([Piece(1, 40, 40)])
    assert found.bindings == ((1, 32),)
    assert found.places == ((0, 8),)
    assert found.lengths == (48,)


def test_pieces_that_meet_only_after_rounding_share_a_slot() -> None:
    found = assign([Piece(1, 0, 8), Piece(1, 8, 8)])
    assert found.lengths == (16,)
    assert found.places == ((0, 0), (0, 8))


def test_a_piece_inside_another_does_not_shorten_the_slot() -> None:
    found = assign([Piece(1, 0, 256), Piece(1, 16, 16), Piece(1, 128, 64)])
    assert found.lengths == (256,)


def test_more_pieces_than_slots_become_one_slot_a_segment() -> None:
    pieces = [Piece(1 + i % 2, 64 * i, 4) for i in range(MAX_SLOTS + 1)]
    found = assign(pieces)
    assert len(found.lengths) == 2
    for piece, (slot, offset) in zip(pieces, found.places):
        assert found.bindings[slot] == (piece.segment, 0 if slot == 0 else 64)
        assert found.bindings[slot][1] + offset == piece.start


def test_every_assignment_keeps_the_rules() -> None:
    random.seed(6)
    for _ in range(300):
        pieces = [
            Piece(random.randint(1, 2), random.randint(0, 300), random.randint(1, 60))
            for _ in range(random.randint(1, 12))
        ]
        found = assign(pieces)
        for piece, (slot, offset) in zip(pieces, found.places):
            segment, start = found.bindings[slot]
            assert segment == piece.segment and start % ALIGNMENT == 0
            assert start + offset == piece.start
            assert offset + piece.length <= found.lengths[slot]
        spans = sorted(
            (segment, start, start + length)
            for (segment, start), length in zip(found.bindings, found.lengths)
        )
        for (segment, _, end), (other, start, _) in zip(spans, spans[1:]):
            assert segment != other or end <= start
