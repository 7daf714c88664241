from __future__ import annotations

import random

from gpuos._free_list import GRANULE, FreeList, rounded


def test_blocks_never_overlap_and_everything_comes_back() -> None:
    random.seed(7)
    free = FreeList(1 << 16)
    held: dict[int, int] = {}
    refused = 0
    for _ in range(5000):
        if held and random.random() < 0.5:
            offset = random.choice(list(held))
            free.free(offset, held.pop(offset))
        else:
            length = random.randint(0, 4000)
            found = free.allocate(length)
            if found is None:
                refused += 1
                continue
            assert found % GRANULE == 0 and found + rounded(length) <= 1 << 16
            for other, its in held.items():
                assert found + rounded(length) <= other or other + rounded(its) <= found
            held[found] = length
    assert refused
    for offset, length in held.items():
        free.free(offset, length)
    assert free.empty
    assert free.allocate(1 << 16) == 0
    assert free.allocate(1) is None


def test_an_empty_tensor_owns_an_address() -> None:
    free = FreeList(4096)
    assert free.allocate(0) != free.allocate(0)


def test_a_capacity_below_a_granule_holds_nothing() -> None:
    assert FreeList(GRANULE - 1).allocate(1) is None
