"""When the worker is there: once for all batches, or only while there is work."""

from __future__ import annotations

import time
from typing import Callable

import gpuos
import support
from support import counters, finish, python, wait_until

BATCHES = 5000

CLIENT = """
    import sys
    import numpy as np
    import gpuos

    target, count = sys.argv[1], int(sys.argv[2])
    with gpuos.connect(target) as session:
        x = session.share(np.zeros(16, dtype=np.int64))
        one = session.share(np.ones((), dtype=np.int64))
        with session.program() as p:
            p.add(x, one, out=x)
        for i in range(count):
            p.run(wait=i % 50 == 49)
        session.wait(p.run(wait=False))
        print(int(x.numpy().min()), int(x.numpy().max()))
"""


def test_ten_thousand_batches_of_two_clients_take_one_launch(
    make_daemon: Callable[..., gpuos.LocalDaemon],
) -> None:
    daemon = make_daemon("dedicated")
    clients = [python(CLIENT, daemon.target, str(BATCHES)) for _ in range(2)]
    for client in clients:
        assert finish(client, 80).split() == [str(BATCHES + 1)] * 2
    now = counters(daemon.target)
    assert now["worker_launches"] == 1
    assert now["worker_resident"] is True
    assert now["batches_completed"] >= 2 * BATCHES
    assert now["tasks_completed"] >= 2 * BATCHES
    assert now["batches_failed"] == 0
    assert support.device_status(daemon.target)["residence"] == "RESIDENCE_DEDICATED"


def test_an_elastic_worker_leaves_when_idle_and_comes_back(
    make_daemon: Callable[..., gpuos.LocalDaemon],
) -> None:
    daemon = make_daemon("elastic")
    with daemon.connect() as session:
        launches = 0
        for _ in range(5):
            support.run_job(session, rounds=3)
            wait_until("the worker leaves", lambda: not counters(daemon.target)["worker_resident"])
            now = counters(daemon.target)
            assert now["worker_launches"] > launches
            assert now["worker_parks"] == now["worker_launches"]
            launches = now["worker_launches"]
        time.sleep(0.2)
        assert counters(daemon.target)["worker_launches"] == launches, "launched without work"
    assert support.device_status(daemon.target)["residence"] == "RESIDENCE_ELASTIC"
