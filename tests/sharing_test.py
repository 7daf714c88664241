"""Shared memory: what is written on one side is there on the other, without a copy."""

from __future__ import annotations

import fcntl
import mmap
import os

import numpy as np
import pytest
import torch

import gpuos
import support


def test_a_torch_tensor_is_shared_and_read_back(session: gpuos.Session) -> None:
    x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    shared = session.share(x.T)
    with session.batch() as b:
        y = b.mul(shared, shared)
    assert torch.equal(y.torch(), x.T * x.T)


def test_writes_to_an_array_are_seen_by_the_next_batch(session: gpuos.Session) -> None:
    x = session.empty(5)
    y = session.empty(5)
    with session.program() as p:
        p.neg(x, out=y)
    for round_ in range(20):
        x.numpy()[:] = np.arange(5) + round_
        p.run()
        np.testing.assert_array_equal(y.numpy(), -(np.arange(5, dtype=np.float32) + round_))


def test_views_are_computed_on_in_place(session: gpuos.Session) -> None:
    grid = session.share(np.zeros((4, 6), dtype=np.float32))
    ones = session.share(np.ones((2, 3), dtype=np.float32))
    with session.batch() as b:
        b.copy(ones, out=grid[1::2, ::2])
        b.add(grid[1, ::2], ones[0], out=grid[1, ::2])
        b.copy(grid[1].broadcast_to((2, 6)), out=grid[2:])
    expected = np.zeros((4, 6), dtype=np.float32)
    expected[1] = [2, 0, 2, 0, 2, 0]
    expected[2:] = expected[1]
    np.testing.assert_array_equal(grid.numpy(), expected)


def test_dependent_tasks_run_in_order(session: gpuos.Session) -> None:
    x = session.share(np.zeros(1000, dtype=np.int64))
    one = session.share(np.ones((), dtype=np.int64))
    with session.batch() as b:
        for _ in range(300):
            b.add(x, one, out=x)
    np.testing.assert_array_equal(x.numpy(), 300)


def test_many_tensors_in_one_batch(session: gpuos.Session) -> None:
    """More distinct tensors than a program has slots."""
    one = session.share(np.ones(4, dtype=np.float32))
    x = one
    with session.batch() as b:
        for _ in range(5000):
            x = b.add(x, one)
    assert x.numpy().tolist() == [5001.0] * 4


def test_batches_take_effect_in_order_without_waiting(session: gpuos.Session) -> None:
    x = session.share(np.zeros(64, dtype=np.int64))
    one = session.share(np.ones((), dtype=np.int64))
    with session.program() as p:
        p.add(x, one, out=x)
    values = [p.run(wait=False) for _ in range(1000)]
    assert values == list(range(values[0], values[0] + 1000))
    session.wait(values[-1], timeout=30)
    np.testing.assert_array_equal(x.numpy(), 1000)


def test_an_empty_batch_completes(session: gpuos.Session) -> None:
    with session.batch() as b:
        pass
    assert b.value > 0


def test_large_tensors_have_segments_of_their_own(
    daemon: gpuos.LocalDaemon, session: gpuos.Session
) -> None:
    before = support.counters(daemon.target)["segments"]
    x = session.share(np.arange(3_000_000, dtype=np.float32))
    with session.batch() as b:
        y = b.neg(x)
    np.testing.assert_array_equal(y.numpy(), -x.numpy())
    assert support.counters(daemon.target)["segments"] == before + 2
    del x, b, y
    session.empty(1)
    support.wait_until(
        "the segments are released",
        lambda: support.counters(daemon.target)["segments"] <= before + 1,
    )


def test_another_programs_memory_file_is_worked_on(session: gpuos.Session) -> None:
    descriptor = os.memfd_create("ours", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, 8192)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    ours = np.frombuffer(mmap.mmap(descriptor, 8192), dtype=np.float32)
    ours[:6] = np.arange(6)
    tensor = session.share_file(descriptor, (2, 3))
    os.close(descriptor)
    with session.batch() as b:
        b.mul(tensor, tensor, out=tensor)
    np.testing.assert_array_equal(ours[:6], np.arange(6) ** 2)
    np.testing.assert_array_equal(tensor.numpy(), ours[:6].reshape(2, 3))


def test_arrays_outlive_the_session(daemon: gpuos.LocalDaemon) -> None:
    with daemon.connect() as session:
        x = session.share(np.arange(4, dtype=np.float32))
        with session.batch() as b:
            y = b.add(x, x).numpy()
    np.testing.assert_array_equal(y, [0, 2, 4, 6])


def test_two_sessions_work_at_once(daemon: gpuos.LocalDaemon) -> None:
    sessions = [daemon.connect(client_name=f"client {i}") for i in range(4)]
    joins = [
        support.in_thread(lambda session=session: support.run_job(session, rounds=50))
        for session in sessions
    ]
    for join in joins:
        join()
    for session in sessions:
        session.close()


def test_a_session_serves_many_threads(session: gpuos.Session) -> None:
    joins = [support.in_thread(lambda: support.run_job(session, rounds=25)) for _ in range(8)]
    for join in joins:
        join()


@pytest.mark.parametrize("bad", [np.float64, np.int32])
def test_dtypes_that_gpuosd_lacks_are_refused_here(session: gpuos.Session, bad: type) -> None:
    with pytest.raises(gpuos.InvalidArgument, match="convert the tensor"):
        session.share(np.zeros(3, dtype=bad))
