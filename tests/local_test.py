"""Private daemons end with their process, however that ends."""

from __future__ import annotations

import logging
import os
import pathlib
import signal

import pytest

import gpuos
import support
from support import finish, is_running, python, wait_until

START = """
    import os, signal, sys, time
    import gpuos
    session = gpuos.local("host")
    status = gpuos.status(session.daemon.target)
    print(session.daemon.pid, status["devices"][0]["executor_pid"], flush=True)
"""


def test_local_serves_says_so_and_stops_with_its_session(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "gpuos")
    with gpuos.local("host") as session:
        daemon = session.daemon
        assert session.device == "host:0"
        support.run_job(session)
        socket = pathlib.Path(daemon.target.removeprefix("unix://"))
        assert socket.exists()
        assert f"started a private gpuosd (process {daemon.pid})" in caplog.text
    assert not daemon.running
    assert not socket.parent.exists()


def test_local_takes_a_residence() -> None:
    with gpuos.local("host", "dedicated") as session:
        status = support.device_status(session.daemon.target)
        assert status["residence"] == "RESIDENCE_DEDICATED"
    with pytest.raises(gpuos.InvalidArgument, match="residence is lazy"):
        gpuos.local("host", "lazy")


def test_a_device_that_is_not_there_is_said_with_the_daemons_log() -> None:
    with pytest.raises(gpuos.Unavailable, match="(?s)did not come up.*cuda:77"):
        gpuos.local("cuda:77")


@pytest.mark.parametrize("end", ["exit", "raise", "kill", "forked"])
def test_a_private_daemon_ends_with_its_parent(end: str) -> None:
    ends = {
        "exit": "sys.exit(0)",
        "raise": "raise RuntimeError",
        "kill": "os.kill(os.getpid(), signal.SIGKILL)",
        # A child that lives on and has inherited every descriptor.
        "forked": "os.fork() or (os.close(1), os.close(2), time.sleep(20)); "
        "os.kill(os.getpid(), signal.SIGKILL)",
    }
    parent = python(START + f"    {ends[end]}\n")
    out, _ = parent.communicate(timeout=30)
    daemon, executor = (int(pid) for pid in out.split())
    wait_until("gpuosd ends", lambda: not is_running(daemon))
    wait_until("its executor ends", lambda: not is_running(executor))


def test_a_daemon_lives_until_its_session_is_closed_also_if_it_is_collected() -> None:
    out = finish(python("""
            import gc
            import gpuos
            session = gpuos.local("host")
            pid = session.daemon.pid
            del session
            gc.collect()
            import support
            print(support.is_running(pid))
            """))
    assert out.strip() == "False"


def test_ctrl_c_is_not_the_daemons() -> None:
    with gpuos.local("host") as session:
        assert os.getsid(session.daemon.pid) != os.getsid(0)
        os.kill(session.daemon.pid, signal.SIGCONT)
        support.run_job(session)
