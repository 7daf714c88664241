"""A private gpuosd as a child of this process, for notebooks and tests."""

from __future__ import annotations

import logging
import os
import pathlib
import shutil
import tempfile
import time
import weakref
from types import TracebackType
from typing import Sequence

from gpuos._child import Child
from gpuos._core import Core
from gpuos.errors import FailedPrecondition, InvalidArgument, NotFound, Unavailable
from gpuos.session import Session

_LOG = logging.getLogger("gpuos")

DAEMON_VARIABLE = "GPUOS_DAEMON"
_RESIDENCES = ("elastic", "dedicated")
_LOG_TAIL = 2000  # Characters of the daemon's log in an error.


def find_daemon() -> pathlib.Path:
    """Where gpuosd is: $GPUOS_DAEMON, beside the package, built in the source tree, or on PATH."""
    named = os.environ.get(DAEMON_VARIABLE)
    if named:
        if not os.access(named, os.X_OK):
            raise FailedPrecondition(f"{DAEMON_VARIABLE} is {named}, which cannot be run")
        return pathlib.Path(named)
    package = pathlib.Path(__file__).resolve().parent
    looked = [package / "gpuosd", package.parent.parent / "bazel-bin" / "daemon" / "gpuosd"]
    on_path = shutil.which("gpuosd")
    for path in looked + ([pathlib.Path(on_path)] if on_path else []):
        if os.access(path, os.X_OK):
            return path
    places = ", ".join(str(path) for path in looked)
    raise FailedPrecondition(
        f"gpuosd was not found at {places} or on PATH; build it with 'bazel build //daemon:gpuosd "
        f"//daemon/executor:gpuos-executor' or name it in {DAEMON_VARIABLE}"
    )


def _find_executor(daemon: pathlib.Path) -> pathlib.Path | None:
    """The executor of a source tree; None leaves it to gpuosd, which looks beside itself."""
    built = daemon.parent / "executor" / "gpuos-executor"
    return built if built.exists() else None


class LocalDaemon:
    """A gpuosd in a temporary directory, which ends when this process does, come what may.

    Also when this object is gone. Thread-safe.
    """

    def __init__(
        self,
        device: str | None = None,
        residence: str = "elastic",
        *,
        executor: str | os.PathLike[str] | None = None,
        arguments: Sequence[str] = (),
        timeout: float = 30.0,
    ) -> None:
        """Returns when the first device answers.

        device: 'host', 'cuda:0', ...; by default all GPUs, else the host.
        residence: 'elastic' (the worker leaves when idle) or 'dedicated' (it stays).
        executor: another gpuos-executor than the one that belongs to gpuosd.
        arguments: further flags of gpuosd.
        timeout: seconds until Unavailable is raised, with the end of the daemon's log.
        """
        if residence not in _RESIDENCES:
            raise InvalidArgument(f"residence is {residence}; it must be elastic or dedicated")
        binary = find_daemon()
        directory = pathlib.Path(tempfile.mkdtemp(prefix="gpuos-"))
        socket = directory / "gpuosd.sock"
        self.target = f"unix://{socket}"
        self.log_path = directory / "gpuosd.log"
        command = [str(binary), f"--socket={socket}", f"--residence={residence}"]
        if device is not None:
            command.append(f"--device={'host' if device == 'host:0' else device}")
        if executor is None:
            executor = _find_executor(binary)
        if executor is not None:
            command.append(f"--executor={os.fspath(executor)}")
        try:
            self._child = Child([*command, *arguments], directory, self.log_path)
        except BaseException:
            shutil.rmtree(directory, ignore_errors=True)
            raise
        self._stop = weakref.finalize(self, self._child.stop)
        try:
            self._wait_until_ready(timeout)
        except BaseException:
            self.stop()
            raise
        _LOG.info(
            "started a private gpuosd (process %d) at %s; it ends with this process",
            self.pid,
            self.target,
        )

    @property
    def pid(self) -> int:
        return self._child.process.pid

    @property
    def running(self) -> bool:
        return self._child.process.poll() is None

    def connect(
        self, device: str | None = None, client_name: str | None = None, *, timeout: float = 10.0
    ) -> Session:
        """A session with this daemon, which goes on when the session ends."""
        return Session(Core(self.target, device, client_name, timeout))

    def stop(self) -> None:
        """Ends the daemon and removes its directory; any number of times."""
        self._stop()

    def log(self) -> str:
        """What the daemon and its executors have logged."""
        return self.log_path.read_text(errors="replace")

    def __enter__(self) -> LocalDaemon:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _wait_until_ready(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while True:
            ended = not self.running
            cause = f"it ended with status {self._child.process.returncode}"
            if not ended:
                try:
                    self.connect(client_name="gpuos.local").close()
                    return
                except (Unavailable, NotFound) as error:
                    cause = str(error)
            if ended or time.monotonic() >= deadline:
                tail = self.log()[-_LOG_TAIL:].strip()
                raise Unavailable(f"the private gpuosd did not come up: {cause}. Its log: {tail}")
            time.sleep(0.02)


def local(
    device: str | None = None,
    residence: str = "elastic",
    *,
    client_name: str | None = None,
    timeout: float = 30.0,
) -> Session:
    """Starts a private gpuosd and opens a session with it; closing the session stops the daemon.

    For notebooks and tests: it lives in a temporary directory, serves this user alone, and ends
    with this process even if that is killed. The logger 'gpuos' says so. Other processes may
    connect to `session.daemon.target` meanwhile.
    """
    daemon = LocalDaemon(device, residence, arguments=("--socket-mode=0600",), timeout=timeout)
    try:
        return Session(Core(daemon.target, None, client_name, timeout), daemon)
    except BaseException:
        daemon.stop()
        raise
