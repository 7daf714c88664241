"""Two hundred sessions leave nothing behind, in gpuosd, in its executor, or here."""

from __future__ import annotations

import gc
import os
import pathlib

import numpy as np

import gpuos
import support
from support import wait_until

SESSIONS = 200


def of_process(pid: int) -> tuple[int, int, int]:
    """Descriptors, threads, shared mappings."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    return (
        len(os.listdir(f"/proc/{pid}/fd")),
        len(os.listdir(f"/proc/{pid}/task")),
        maps.count("memfd:"),
    )


def holdings(daemon: gpuos.LocalDaemon) -> dict[str, object]:
    gc.collect()
    status = gpuos.status(daemon.target)
    device = status["devices"][0]
    names = ("sessions", "segments", "segment_bytes", "programs", "arena_bytes_used")
    return {
        "sessions": status["sessions"],
        "counters": {name: device["counters"][name] for name in names},
        "releases": device["counters"]["releases_pending"],
        "gpuosd": of_process(daemon.pid),
        "executor": of_process(device["executor_pid"]),
        "here": of_process(os.getpid())[2],
    }


def use(daemon: gpuos.LocalDaemon, number: int) -> None:
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


def test_two_hundred_sessions_leave_nothing_behind(daemon: gpuos.LocalDaemon) -> None:
    for number in range(10):  # What is made once (threads, pools) is made now.
        use(daemon, number)
    before = holdings(daemon)
    for number in range(SESSIONS):
        use(daemon, number)
    wait_until(f"all is as before: {before}", lambda: holdings(daemon) == before)


def test_four_sessions_at_a_time_leave_nothing_behind(daemon: gpuos.LocalDaemon) -> None:
    def several() -> None:
        joins = [support.in_thread(lambda i=i: use(daemon, i)) for i in range(4)]
        for join in joins:
            join()

    for _ in range(3):
        several()
    before = holdings(daemon)
    for _ in range(15):
        several()
    after = holdings(daemon)
    # Pools of threads may differ by how many calls met; nothing may grow with the sessions.
    assert after["counters"] == before["counters"]
    wait_until(
        f"descriptors are as before: {before}",
        lambda: holdings(daemon)["gpuosd"][0] <= before["gpuosd"][0],  # type: ignore[index]
    )
