"""Waits leave other threads alone, end in time, and can be interrupted."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import gpuos
from support import finish, in_thread, python


def spin(session: gpuos.Session, milliseconds: int) -> gpuos.Batch:
    batch = session.batch()
    batch.call("test.spin", [], attributes={"ms": milliseconds})
    return batch


@pytest.mark.parametrize("how", ["submit", "wait"])
def test_another_thread_runs_while_one_waits(session: gpuos.Session, how: str) -> None:
    batch = spin(session, 600)
    if how == "wait":
        batch.submit()
        waiter = in_thread(lambda: batch.wait())
    else:
        waiter = in_thread(lambda: batch.submit(wait=True))
    # Had the waiter the GIL, this thread would get no turn before the batch is done.
    turns, end = 0, time.monotonic() + 0.3
    while time.monotonic() < end:
        turns += 1
        time.sleep(0.001)
    assert turns > 20
    waiter()


def test_a_wait_ends_at_its_deadline_and_the_batch_goes_on(session: gpuos.Session) -> None:
    batch = spin(session, 700)
    batch.submit()
    start = time.monotonic()
    with pytest.raises(TimeoutError, match="was not done after 0.15 s"):
        batch.wait(timeout=0.15)
    assert 0.1 < time.monotonic() - start < 0.6
    batch.wait(timeout=10)
    assert time.monotonic() - start > 0.5


def test_ctrl_c_ends_a_wait(session: gpuos.Session) -> None:
    batch = spin(session, 1500)
    batch.submit()
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        batch.wait()
    assert time.monotonic() - start < 1.0
    timer.join()
    batch.wait(timeout=10)


def test_closing_ends_the_waits_of_other_threads(daemon: gpuos.LocalDaemon) -> None:
    session = daemon.connect()
    batch = spin(session, 1000)
    batch.submit()
    waiter = in_thread(lambda: batch.wait())
    time.sleep(0.1)
    session.close()
    # Either the wait was told, or the batch was done first: closing lets running batches finish.
    try:
        waiter()
    except (gpuos.FailedPrecondition, gpuos.Aborted, gpuos.Unavailable):
        pass


def test_a_program_that_forgets_to_close_ends_cleanly(daemon: gpuos.LocalDaemon) -> None:
    process = python(
        """
        import sys
        import gpuos, support
        session = gpuos.connect(sys.argv[1])
        support.run_job(session)
        tensor = session.empty(10)
        array = tensor.numpy()
        """,
        daemon.target,
    )
    assert finish(process, 20) == ""
