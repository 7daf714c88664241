"""The job: a trained network classifies 1,797 digits one at a time, in a process of its own."""

from __future__ import annotations

import json
import sys

import support
from support import ROOT, run

import gpuos

DIGITS = ROOT / "python_client" / "examples" / "digits.py"


def digits(target: str, *flags: str):
    return run([sys.executable, DIGITS, f"--target={target}", *flags])


def test_every_digit_is_classified_as_pytorch_does(daemon: gpuos.LocalDaemon) -> None:
    done = digits(daemon.target, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["device"] == "host:0"
    assert report["rows"] == 1797
    assert report["wrong_rows"] == 0
    assert report["largest_difference"] <= 1e-5
    assert report["accuracy"] > 0.97
    assert report["tasks_executed"] == 1797 * 7


def test_the_report_is_readable_and_the_limit_kept(daemon: gpuos.LocalDaemon) -> None:
    done = digits(daemon.target, "--limit=10", "--device=host:0")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("host:0", "rows classified:", "accuracy:", "tasks executed:", "us a task"):
        assert words in done.stdout
    assert done.stdout.endswith("every row agrees with PyTorch\n")


def test_without_a_daemon_the_job_says_what_to_do() -> None:
    done = digits("/nonexistent/gpuosd.sock", "--limit=1")
    assert done.returncode == 2
    assert "/nonexistent/gpuosd.sock" in done.stderr and "start it" in done.stderr


def test_an_unknown_device_is_refused_with_those_there_are(daemon: gpuos.LocalDaemon) -> None:
    done = digits(daemon.target, "--limit=1", "--device=cuda:7")
    assert done.returncode == 2
    assert "cuda:7" in done.stderr and "host:0" in done.stderr


def test_a_network_that_differs_is_a_mismatch(daemon: gpuos.LocalDaemon, tmp_path) -> None:
    """The comparison itself: one weight changed on the way to gpuosd must be found."""
    script = tmp_path / "spoiled.py"
    script.write_text(
        f"""
import sys
sys.path.insert(0, {str(DIGITS.parent)!r})
import digits

record = digits.record
def spoiled(session, network, **tensors):
    w1 = network.w1.clone()
    w1[20, 3] += 1.0
    return record(session, digits.Network(w1, network.b1, network.w2, network.b2), **tensors)
digits.record = spoiled
sys.exit(digits.main(sys.argv[1:]))
"""
    )
    done = support.run([sys.executable, script, f"--target={daemon.target}", "--limit=50"])
    assert done.returncode == 1, done.stdout + done.stderr
    assert "MISMATCH" in done.stdout
