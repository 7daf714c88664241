"""End-to-end tests run on built binaries: bazel-bin, or the folder that GPUOS_BIN_DIR names."""

from __future__ import annotations

import faulthandler
import pathlib
import signal
import sys
import tempfile
from typing import Any, Callable, Iterator

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import support  # noqa: E402

import gpuos  # noqa: E402

TEST_SECONDS = 180


def pytest_sessionstart(session: pytest.Session) -> None:
    needed = (
        support.GPUOSD,
        support.EXECUTOR,
        support.TEST_EXECUTOR,
        support.GPUOSCTL,
        support.LIBRARY,
    )
    missing = [str(path) for path in needed if not path.exists()]
    if missing:
        pytest.exit(
            f"not built: {', '.join(missing)}; run 'bazel build //daemon:gpuosd "
            "//daemon/executor:all //client:libgpuos.so //client/cli:gpuosctl', "
            "or set GPUOS_BIN_DIR",
            returncode=2,
        )


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """No test runs for ever: an exception after a while, the end of the run if that is stuck."""

    def too_long(*_: Any) -> None:
        raise AssertionError(f"the test took more than {TEST_SECONDS} s")

    previous = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TEST_SECONDS)
    faulthandler.dump_traceback_later(TEST_SECONDS + 30, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


@pytest.fixture(scope="session")
def shared_daemon() -> Iterator[gpuos.LocalDaemon]:
    """One daemon for tests that leave it as they found it; its executor has test operators."""
    with gpuos.LocalDaemon("host", executor=support.TEST_EXECUTOR) as daemon:
        yield daemon


@pytest.fixture
def daemon(shared_daemon: gpuos.LocalDaemon) -> Iterator[gpuos.LocalDaemon]:
    """The shared daemon; afterwards it must be there, with the executor that it had."""
    before = support.device_status(shared_daemon.target)
    yield shared_daemon
    assert shared_daemon.running, shared_daemon.log()[-3000:]
    after = support.device_status(shared_daemon.target)
    assert after["executor_pid"] == before["executor_pid"], after["last_failure"]


@pytest.fixture
def session(daemon: gpuos.LocalDaemon) -> Iterator[gpuos.Session]:
    with daemon.connect(client_name="test") as opened:
        yield opened


@pytest.fixture
def bystander(daemon: gpuos.LocalDaemon) -> Iterator[gpuos.Session]:
    """Another client, which must be served before and after whatever the test does."""
    with daemon.connect(client_name="bystander") as opened:
        support.run_job(opened)
        yield opened
        support.run_job(opened)


@pytest.fixture
def make_daemon() -> Iterator[Callable[..., gpuos.LocalDaemon]]:
    """Daemons of a test's own."""
    made: list[gpuos.LocalDaemon] = []

    def make(residence: str = "elastic", *executor_flags: str) -> gpuos.LocalDaemon:
        made.append(
            gpuos.LocalDaemon(
                "host",
                residence,
                executor=support.TEST_EXECUTOR,
                arguments=[f"--executor-arg={flag}" for flag in executor_flags],
            )
        )
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture
def short_directory() -> Iterator[pathlib.Path]:
    """A directory whose path leaves room for a socket's name (108 bytes), open to every user."""
    with tempfile.TemporaryDirectory(prefix="gpuos-test-") as path:
        directory = pathlib.Path(path)
        directory.chmod(0o755)
        yield directory
