"""An executor that is killed, faults or hangs: its batches are lost, and nothing else."""

from __future__ import annotations

import os
import signal
import time
from typing import Callable

import numpy as np
import pytest

import gpuos
import support
from support import device_status, wait_until


def spinning(session: gpuos.Session, milliseconds: int = 30_000) -> gpuos.Batch:
    """A batch that is running on the device."""
    batch = session.batch()
    batch.call("test.spin", [], attributes={"ms": milliseconds})
    batch.submit()
    return batch


def test_a_killed_executor_aborts_its_batches_and_the_next_ones_work(
    make_daemon: Callable[..., gpuos.LocalDaemon],
) -> None:
    daemon = make_daemon()
    with daemon.connect() as session, daemon.connect() as bystander:
        kept = session.share(np.arange(5, dtype=np.float32))
        with session.program(x=kept) as program:
            doubled = program.add(kept, kept)
        support.run_job(bystander)
        batch = spinning(session)
        waiter = support.in_thread(lambda: batch.wait(timeout=20))
        wait_until("it runs", lambda: support.counters(daemon.target)["batches_in_flight"] == 1)
        lost = device_status(daemon.target)["executor_pid"]
        os.kill(lost, signal.SIGKILL)
        with pytest.raises(gpuos.Aborted):
            waiter()
        program.run()
        assert doubled.numpy().tolist() == [0, 2, 4, 6, 8]
        support.run_job(session)
        support.run_job(bystander)
        status = device_status(daemon.target)
        assert status["executor_restarts"] == 1
        assert status["executor_pid"] != lost
        assert status["state"] == "EXECUTOR_STATE_READY"
        assert "9" in status["last_failure"] or "KILL" in status["last_failure"].upper()


def test_a_call_that_waits_for_a_lost_batch_is_aborted(
    make_daemon: Callable[..., gpuos.LocalDaemon],
) -> None:
    daemon = make_daemon()
    with daemon.connect() as session:
        batch = session.batch()
        batch.call("test.spin", [], attributes={"ms": 30_000})
        call = support.in_thread(lambda: batch.submit(wait=True))
        wait_until("it runs", lambda: support.counters(daemon.target)["batches_in_flight"] == 1)
        os.kill(device_status(daemon.target)["executor_pid"], signal.SIGKILL)
        with pytest.raises(gpuos.Aborted):
            call()
        support.run_job(session)


def test_an_operator_that_faults_costs_its_batch_only(
    make_daemon: Callable[..., gpuos.LocalDaemon],
) -> None:
    daemon = make_daemon()
    with daemon.connect() as session, daemon.connect() as bystander:
        support.run_job(bystander)
        batch = session.batch()
        batch.call("test.trap", [])
        with pytest.raises(gpuos.Aborted):
            batch.submit(wait=True)
        support.run_job(bystander)
        support.run_job(session)
        assert device_status(daemon.target)["executor_restarts"] == 1


def test_a_hung_executor_is_replaced_by_the_watchdog(
    make_daemon: Callable[..., gpuos.LocalDaemon],
) -> None:
    daemon = make_daemon("elastic", "--watchdog-ms=300")
    with daemon.connect() as session, daemon.connect() as bystander:
        support.run_job(bystander)
        start = time.monotonic()
        with pytest.raises(gpuos.Aborted):
            spinning(session).wait(timeout=30)
        assert time.monotonic() - start < 15
        support.run_job(bystander)
        support.run_job(session)
        assert device_status(daemon.target)["last_failure"]


def test_an_idle_executor_that_is_killed_is_not_noticed(
    make_daemon: Callable[..., gpuos.LocalDaemon],
) -> None:
    daemon = make_daemon("dedicated")
    with daemon.connect() as session:
        for lost in range(1, 4):
            support.run_job(session)
            os.kill(device_status(daemon.target)["executor_pid"], signal.SIGKILL)
            wait_until(
                "it is replaced",
                lambda: device_status(daemon.target)["executor_restarts"] == lost,
            )
        support.run_job(session)
        with daemon.connect() as another:
            support.run_job(another)
