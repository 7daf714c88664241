"""Independent tasks run at once, dependent ones in order, shown by tasks that wait for others."""

from __future__ import annotations

from typing import Sequence

import numpy as np
import pytest

import gpuos


def meet(
    session: gpuos.Session,
    flags: gpuos.Tensor,
    mine: int,
    other: int,
    batch: gpuos.Batch,
    after: Sequence[int] = (),
) -> gpuos.Tensor:
    """A task that sets flags[mine] and says whether flags[other] was set within a second."""
    out = session.share(np.zeros(1, dtype=np.bool_))
    attributes = {"mine": mine, "other": other, "timeout_ms": 1000}
    batch.call("test.rendezvous", [out, flags], attributes=attributes, after=after)
    return out


@pytest.fixture
def flags(session: gpuos.Session) -> gpuos.Tensor:
    return session.share(np.zeros(2, dtype=np.int64))


def test_two_independent_tasks_meet(session: gpuos.Session, flags: gpuos.Tensor) -> None:
    for _ in range(20):
        flags.numpy()[:] = 0
        with session.batch() as b:
            met = [meet(session, flags, 0, 1, b), meet(session, flags, 1, 0, b)]
        assert [bool(each.numpy()[0]) for each in met] == [True, True]


def test_a_task_that_must_come_after_does_not_meet_the_first(
    session: gpuos.Session, flags: gpuos.Tensor
) -> None:
    with session.batch() as b:
        first = meet(session, flags, 0, 1, b)
        second = meet(session, flags, 1, 0, b, after=[0])
    assert not first.numpy()[0]
    assert second.numpy()[0]


def test_a_task_that_needs_anothers_output_does_not_meet_it(
    session: gpuos.Session, flags: gpuos.Tensor
) -> None:
    with session.batch() as b:
        first = meet(session, flags, 0, 1, b)
        copied = b.cast(first, gpuos.int64)
        # Writes the memory that the copy reads, so it must wait for it, and that for the first.
        b.call(
            "test.rendezvous",
            [first, flags],
            attributes={"mine": 1, "other": 0, "timeout_ms": 1000},
        )
    assert copied.numpy().tolist() == [0]
    assert first.numpy()[0]


def test_chains_and_diamonds_compute_what_their_order_says(session: gpuos.Session) -> None:
    x = session.share(np.full(4, 3.0, dtype=np.float32))
    with session.batch() as b:
        left = b.add(x, x)
        right = b.mul(x, x)
        joined = b.sub(right, left)
        b.copy(joined, out=x)
        after = b.add(left, x)
    assert x.numpy().tolist() == [3.0] * 4
    assert after.numpy().tolist() == [9.0] * 4
