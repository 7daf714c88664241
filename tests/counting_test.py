"""tests/run.sh counts what Bazel and pytest report, and takes no failure for a pass."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

TESTS = pathlib.Path(__file__).resolve().parent


def count(script: str) -> list[str]:
    """The summary lines after `script` ran with the counting functions at hand."""
    program = f"set -uo pipefail; source '{TESTS}/lib/count.sh'; {{ {script}; }} >/dev/null 2>&1; print_summary"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture
def bazel_log(tmp_path: pathlib.Path) -> pathlib.Path:
    log = tmp_path / "bazel.log"
    log.write_text(
        "INFO: Build completed\n"
        "//a:one_test                             PASSED in 0.1s\n"
        "//a:two_test                    (cached) PASSED in 0.1s\n"
        "//a:three_test                           FAILED in 1 out of 2 in 0.1s\n"
        "  /logs/a/three_test/test.log\n"
        "//a:four_test                            TIMEOUT in 60.0s\n"
        "//a:five_test                            FAILED TO BUILD\n"
        "//a:six_test                             NO STATUS\n"
        "//a:seven_test                           FLAKY, failed in 1 out of 2 in 0.1s\n"
    )
    return log


def test_each_bazel_target_counts_once(bazel_log: pathlib.Path) -> None:
    lines = count(f"count_bazel default 3 '{bazel_log}'")
    assert lines[-1] == "2 passed, 5 failed"
    assert "FAILED: default: //a:five_test" in lines


def test_a_run_that_was_cut_short_is_a_failure(tmp_path: pathlib.Path) -> None:
    log = tmp_path / "bazel.log"
    log.write_text("//a:one_test   PASSED in 0.1s\n//a:two_test   FAILED in 0.1s\n")
    assert count(f"count_bazel default 124 '{log}'")[-1] == "1 passed, 2 failed"


def test_a_build_that_names_no_target_is_a_failure(tmp_path: pathlib.Path) -> None:
    log = tmp_path / "bazel.log"
    log.write_text("ERROR: no such package\n")
    assert count(f"count_bazel tsan 1 '{log}'")[-1] == "0 passed, 1 failed"


def test_a_run_that_finds_no_test_is_a_failure(tmp_path: pathlib.Path) -> None:
    log = tmp_path / "bazel.log"
    log.write_text("INFO: Found 0 test targets\n")
    assert count(f"count_bazel tsan 4 '{log}'")[-1] == "0 passed, 1 failed"


def test_pytest_failures_errors_and_skips_are_told_apart(tmp_path: pathlib.Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>"
        "<testcase classname='a' name='good'/>"
        "<testcase classname='a' name='bad'><failure/></testcase>"
        "<testcase classname='a' name='broken'><error/></testcase>"
        "<testcase classname='a' name='left_out'><skipped/></testcase>"
        "</testsuite></testsuites>"
    )
    lines = count(f"count_pytest python 1 '{report}'")
    assert lines == ["FAILED: python: a::bad", "FAILED: python: a::broken", "1 passed, 2 failed"]


def test_pytest_without_a_report_is_a_failure(tmp_path: pathlib.Path) -> None:
    assert count(f"count_pytest python 2 '{tmp_path}/none.xml'")[-1] == "0 passed, 1 failed"


def test_a_check_counts_by_its_exit_status() -> None:
    lines = count("check good true; check bad false")
    assert lines == ["FAILED: bad", "1 passed, 1 failed"]
