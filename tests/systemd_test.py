"""gpuosd as a service of Type=notify, under a stand-in for systemd's socket."""

from __future__ import annotations

import pathlib
import socket

import gpuos
import support
from support import daemon_at


def test_ready_comes_when_devices_answer_and_stopping_when_asked(
    short_directory: pathlib.Path,
) -> None:
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(str(short_directory / "notify"))
    notify.settimeout(20)
    environment = {"NOTIFY_SOCKET": str(short_directory / "notify")}
    path = short_directory / "gpuosd.sock"
    with daemon_at(path, env=environment, ready=False) as daemon:
        told = ""
        while "READY=1" not in told.splitlines():
            told += notify.recv(4096).decode() + "\n"
        # At this very moment, with no further try:
        with gpuos.connect(daemon.target) as session:
            support.run_job(session)
        assert daemon.stop() == 0
        notify.settimeout(5)
        while "STOPPING=1" not in told.splitlines():
            told += notify.recv(4096).decode() + "\n"
    notify.close()


def test_an_abstract_notify_socket_is_told_too(short_directory: pathlib.Path) -> None:
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    name = f"gpuos-test-{short_directory.name}"
    notify.bind(f"\0{name}")
    notify.settimeout(20)
    environment = {"NOTIFY_SOCKET": f"@{name}"}
    with daemon_at(short_directory / "gpuosd.sock", env=environment, ready=False):
        told = ""
        while "READY=1" not in told.splitlines():
            told += notify.recv(4096).decode() + "\n"
    notify.close()


def test_a_notify_socket_that_is_gone_does_not_stop_the_service(
    short_directory: pathlib.Path,
) -> None:
    environment = {"NOTIFY_SOCKET": str(short_directory / "nowhere")}
    with daemon_at(short_directory / "gpuosd.sock", env=environment) as daemon:
        with daemon.connect() as session:
            support.run_job(session)
