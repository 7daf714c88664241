"""Two hundred sessions leave nothing behind, in gpuosd, in its executor, or here."""

from __future__ import annotations

import gc
import os
import pathlib
from dataclasses import dataclass

import numpy as np

import gpuos
import support
from support import in_thread, wait_until

SESSIONS = 200
#: gRPC's pools grow and shrink by a few threads with the calls that happen to meet.
POOL_THREADS = 4


@dataclass(frozen=True)
class Process:
    descriptors: int
    threads: int
    memory_files: int

    @staticmethod
    def of(pid: int) -> Process:
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
        return Process(
            len(os.listdir(f"/proc/{pid}/fd")),
            len(os.listdir(f"/proc/{pid}/task")),
            maps.count("memfd:"),
        )

    def no_more_than(self, before: Process) -> bool:
        return (
            self.descriptors <= before.descriptors
            and self.memory_files <= before.memory_files
            and self.threads <= before.threads + POOL_THREADS
        )


@dataclass(frozen=True)
class Holdings:
    """What the daemon says that it holds, and what the kernel says of each process."""

    counters: dict[str, int]
    gpuosd: Process
    executor: Process
    here: Process

    @staticmethod
    def of(daemon: gpuos.LocalDaemon) -> Holdings:
        gc.collect()
        status = gpuos.status(daemon.target)
        device = status["devices"][0]
        names = ("sessions", "segments", "segment_bytes", "programs", "arena_bytes_used")
        names += ("releases_pending", "batches_in_flight", "batches_queued")
        return Holdings(
            {name: device["counters"][name] for name in names} | {"open": status["sessions"]},
            Process.of(daemon.pid),
            Process.of(device["executor_pid"]),
            Process.of(os.getpid()),
        )

    def no_more_than(self, before: Holdings) -> bool:
        return self.counters == before.counters and all(
            getattr(self, process).no_more_than(getattr(before, process))
            for process in ("gpuosd", "executor", "here")
        )


def use(daemon: gpuos.LocalDaemon, number: int) -> None:
    """A session with all that one can have, some of it left lying about."""
    with daemon.connect(client_name=f"session {number}") as session:
        x = session.share(np.full(100, number, dtype=np.float32))
        large = session.empty(1 << 19)
        with session.batch() as b:
            y = b.add(x, x)
            b.fill(large, 1.0)
        assert y.numpy()[0] == 2 * number
        if number % 3 == 0:
            b.submit()  # Nobody waits.
        if number % 5 == 0:
            failing = session.batch()
            failing.call("test.fail", [])
            failing.submit()


def settled(daemon: gpuos.LocalDaemon) -> Holdings:
    """With no session, and with what is made once (threads, pools) made."""
    for number in range(20):
        use(daemon, number)
    wait_until("no session is left", lambda: Holdings.of(daemon).counters["sessions"] == 0)
    return Holdings.of(daemon)


def test_two_hundred_sessions_leave_nothing_behind(daemon: gpuos.LocalDaemon) -> None:
    before = settled(daemon)
    assert before.counters["segments"] == before.counters["programs"] == 0
    for number in range(SESSIONS):
        use(daemon, number)
    wait_until(
        f"all is as before, {before}, not {Holdings.of(daemon)}",
        lambda: Holdings.of(daemon).no_more_than(before),
    )


def test_sessions_side_by_side_leave_nothing_behind(daemon: gpuos.LocalDaemon) -> None:
    before = settled(daemon)
    for _ in range(15):
        for join in [in_thread(lambda number=number: use(daemon, number)) for number in range(4)]:
            join()
    wait_until(
        f"all is as before, {before}, not {Holdings.of(daemon)}",
        lambda: Holdings.of(daemon).no_more_than(before),
    )
