"""Who may listen, who may connect."""

from __future__ import annotations

import os
import pathlib
import signal
import stat

import pytest

import gpuos
import support
from support import daemon_at, finish, gpuosd_at, python, run


def test_a_second_gpuosd_on_the_socket_is_refused_and_the_first_serves_on(
    short_directory: pathlib.Path,
) -> None:
    path = short_directory / "gpuosd.sock"
    with daemon_at(path) as first:
        second = run(gpuosd_at(path))
        assert second.returncode != 0
        assert str(path) in second.stdout + second.stderr
        assert first.process.poll() is None
        with first.connect() as session:
            support.run_job(session)


def test_a_stale_socket_file_is_taken_over(short_directory: pathlib.Path) -> None:
    path = short_directory / "gpuosd.sock"
    with daemon_at(path) as first:
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    assert path.exists()
    with pytest.raises(gpuos.Unavailable, match=f"{path}.*refused"):
        gpuos.connect(f"unix://{path}")
    with daemon_at(path) as second, second.connect() as session:
        support.run_job(session)


def test_a_file_that_is_no_socket_is_left_alone(short_directory: pathlib.Path) -> None:
    path = short_directory / "gpuosd.sock"
    path.write_text("precious")
    refused = run(gpuosd_at(path))
    assert refused.returncode != 0 and str(path) in refused.stdout + refused.stderr
    assert path.read_text() == "precious"
    with pytest.raises(gpuos.Unavailable, match=str(path)):
        gpuos.connect(str(path))


def test_stopping_removes_the_sockets(short_directory: pathlib.Path) -> None:
    path = short_directory / "gpuosd.sock"
    with daemon_at(path) as daemon:
        executor = support.device_status(daemon.target)["executor_pid"]
        assert daemon.stop() == 0
    assert not path.exists() and not pathlib.Path(f"{path}.attach").exists()
    assert not support.is_running(executor)


def test_a_session_says_that_its_daemon_has_gone(short_directory: pathlib.Path) -> None:
    with daemon_at(short_directory / "gpuosd.sock") as daemon:
        session = daemon.connect()
        batch = session.batch()
        batch.call("test.spin", [], attributes={"ms": 30_000})
        batch.submit()
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
        with pytest.raises((gpuos.Aborted, gpuos.Unavailable), match="connect again"):
            batch.wait(timeout=10)
        with pytest.raises(gpuos.Unavailable, match="connect again"):
            session._core.handle.segment_create(4096)
        session.close()


def test_an_executor_ends_with_its_gpuosd(short_directory: pathlib.Path) -> None:
    with daemon_at(short_directory / "gpuosd.sock") as daemon:
        executor = support.device_status(daemon.target)["executor_pid"]
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
        support.wait_until("the executor ends", lambda: not support.is_running(executor))


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
@pytest.mark.parametrize("mode", ["0600", "0660"])
def test_a_user_without_permission_is_told_what_to_do(
    short_directory: pathlib.Path, mode: str
) -> None:
    path = short_directory / "gpuosd.sock"
    with daemon_at(path, f"--socket-mode={mode}") as daemon:
        assert stat.S_IMODE(path.stat().st_mode) == int(mode, 8)
        stranger = python(
            """
            import os, sys
            import gpuos
            gpuos._native.library()
            os.setgroups([]), os.setgid(65534), os.setuid(65534)
            for call in (lambda: gpuos.connect(sys.argv[1]), lambda: gpuos.status(sys.argv[1])):
                try:
                    call()
                except PermissionError as error:
                    print(type(error).__name__, error)
            """,
            daemon.target,
        )
        said = finish(stranger).splitlines()
        assert len(said) == 2
        for line in said:
            assert line.startswith("PermissionDenied") and str(path) in line and "group" in line
        with daemon.connect() as session:
            support.run_job(session)


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_a_user_with_permission_is_served(short_directory: pathlib.Path) -> None:
    with daemon_at(short_directory / "gpuosd.sock", "--socket-mode=0666") as daemon:
        other = python(
            """
            import os, sys
            import gpuos, support
            gpuos._native.library()
            os.setgroups([]), os.setgid(65534), os.setuid(65534)
            with gpuos.connect(sys.argv[1]) as session:
                support.run_job(session)
                print([each["uid"] for each in gpuos.clients(sys.argv[1])])
            """,
            daemon.target,
        )
        assert finish(other).strip() == "[65534]"
