"""gpuosctl against a running daemon, for people and for scripts."""

from __future__ import annotations

import json

import pytest

import gpuos
import support


def gpuosctl(*arguments: str, target: str | None = None):
    flags = [f"--target={target}"] if target else []
    return support.run([support.GPUOSCTL, *arguments, *flags])


def answer(target: str, *arguments: str):
    done = gpuosctl(*arguments, "--json", target=target)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def table(target: str, *arguments: str) -> str:
    done = gpuosctl(*arguments, target=target)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_status(daemon: gpuos.LocalDaemon, session: gpuos.Session) -> None:
    status = answer(daemon.target, "status")
    assert status["pid"] == daemon.pid
    assert status["sessions"] == 1
    assert status["devices"][0]["counters"]["batches_completed"] >= 0
    text = table(daemon.target, "status")
    assert "host:0" in text and str(daemon.pid) in text


def test_devices(daemon: gpuos.LocalDaemon) -> None:
    devices = answer(daemon.target, "devices")["devices"]
    assert [each["device"]["name"] for each in devices] == ["host:0"]
    assert devices[0]["sharing"] == "threads" and devices[0]["remark"]
    assert "host:0" in table(daemon.target, "devices")


def test_clients(daemon: gpuos.LocalDaemon) -> None:
    with daemon.connect(client_name="someone") as session:
        support.run_job(session)
        (client,) = answer(daemon.target, "clients")["clients"]
        assert client["client_name"] == "someone"
        assert client["session"] == session.id
        assert client["batches_completed"] == client["batches_submitted"] == 1
        assert client["segments"] >= 1 and client["programs"] == 1
        assert "someone" in table(daemon.target, "clients")
    assert answer(daemon.target, "clients")["clients"] == []
    assert gpuosctl("clients", target=daemon.target).returncode == 0


def test_operators(daemon: gpuos.LocalDaemon) -> None:
    names = [each["name"] for each in answer(daemon.target, "ops", "list")["operators"]]
    assert names == sorted(names) and {"add", "matmul", "softmax"} <= set(names)
    text = table(daemon.target, "ops", "list")
    assert all(name in text for name in names)
    add = answer(daemon.target, "ops", "show", "add")
    add = add.get("operator", add)
    assert [each["name"] for each in add["operands"]] == ["out", "a", "b"]
    shown = table(daemon.target, "ops", "show", "add")
    assert "add" in shown and "out" in shown and "broadcast" in shown


def test_an_unknown_operator_is_answered_with_close_ones(daemon: gpuos.LocalDaemon) -> None:
    done = gpuosctl("ops", "show", "sofmax", target=daemon.target)
    assert done.returncode != 0 and "softmax" in done.stderr
    with pytest.raises(gpuos.NotFound, match="softmax"):
        gpuos.operator("sofmax", daemon.target)


@pytest.mark.parametrize("command", [["status"], ["devices"], ["clients"], ["ops", "list"]])
def test_without_a_daemon_the_error_names_address_cause_and_cure(command: list[str]) -> None:
    done = gpuosctl(*command, target="unix:///nonexistent/gpuosd.sock")
    assert done.returncode != 0
    assert done.stdout == ""
    for words in ("/nonexistent/gpuosd.sock", "no such file", "systemctl start gpuosd"):
        assert words in done.stderr


def test_the_target_comes_from_the_environment_too(daemon: gpuos.LocalDaemon, monkeypatch) -> None:
    monkeypatch.setenv("GPUOS_TARGET", daemon.target)
    assert gpuosctl("status").returncode == 0
    with gpuos.connect() as session:
        support.run_job(session)
    assert gpuos.status()["pid"] == daemon.pid


def test_python_sees_what_gpuosctl_prints(
    daemon: gpuos.LocalDaemon, session: gpuos.Session
) -> None:
    assert gpuos.devices(daemon.target) == answer(daemon.target, "devices")["devices"]
    mine = [each["session"] for each in gpuos.clients(daemon.target)]
    assert mine == [session.id]
    assert gpuos.operators(daemon.target) == answer(daemon.target, "ops", "list")["operators"]
