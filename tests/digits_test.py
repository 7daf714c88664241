"""The job: a trained network classifies 1,797 digits one at a time."""

from __future__ import annotations

import json
import sys

import pytest
from support import ROOT, run

import gpuos

EXAMPLES = ROOT / "python_client" / "examples"
sys.path.insert(0, str(EXAMPLES))

import digits  # noqa: E402


def test_every_digit_is_classified_as_pytorch_does(daemon: gpuos.LocalDaemon) -> None:
    """As a user runs it: in a process of its own, beside gpuosd."""
    command = [sys.executable, EXAMPLES / "digits.py", f"--target={daemon.target}", "--json"]
    done = run(command, seconds=150)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["device"] == "host:0"
    assert report["rows"] == 1797
    assert report["wrong_rows"] == 0
    assert report["largest_difference"] <= 1e-5
    assert report["accuracy"] > 0.97
    assert report["tasks_executed"] == 1797 * 7


def test_the_report_is_readable_and_the_limit_kept(
    daemon: gpuos.LocalDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert digits.main([f"--target={daemon.target}", "--limit=10", "--device=host:0"]) == 0
    out = capsys.readouterr().out
    for words in ("host:0", "rows classified:", "accuracy:", "tasks executed:", "us a task"):
        assert words in out
    assert "70" in out and out.endswith("every row agrees with PyTorch\n")


def test_without_a_daemon_the_job_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert digits.main(["--target=/nonexistent/gpuosd.sock", "--limit=1"]) == 2
    said = capsys.readouterr().err
    assert "/nonexistent/gpuosd.sock" in said and "start it" in said


def test_an_unknown_device_is_refused_with_those_there_are(
    daemon: gpuos.LocalDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    assert digits.main([f"--target={daemon.target}", "--limit=1", "--device=cuda:7"]) == 2
    said = capsys.readouterr().err
    assert "cuda:7" in said and "host:0" in said


def test_a_network_that_differs_is_a_mismatch(
    daemon: gpuos.LocalDaemon,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The comparison itself: one number changed on the way to gpuosd must be found."""
    record = digits.record

    def spoiled(session: gpuos.Session, network: digits.Network, **tensors: gpuos.Tensor):
        b2 = network.b2.clone()
        b2[3] += 0.01
        return record(session, digits.Network(network.w1, network.b1, network.w2, b2), **tensors)

    monkeypatch.setattr(digits, "record", spoiled)
    assert digits.main([f"--target={daemon.target}", "--limit=50"]) == 1
    assert "MISMATCH" in capsys.readouterr().out


def test_outputs_that_nobody_writes_are_a_mismatch(
    daemon: gpuos.LocalDaemon,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gpuos.Program, "run", lambda self, **tensors: 0)
    assert digits.main([f"--target={daemon.target}", "--limit=3", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["wrong_rows"] == 3 and report["tasks_executed"] == 0
