"""What end-to-end tests share: binaries, daemons, bounded waits, a job with a known answer."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Sequence

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("GPUOS_BIN_DIR", ROOT / "bazel-bin"))
PYTHON_CLIENT = ROOT / "python_client"
GPUOSD = BIN / "daemon" / "gpuosd"
EXECUTOR = BIN / "daemon" / "executor" / "gpuos-executor"
TEST_EXECUTOR = BIN / "daemon" / "executor" / "gpuos-executor-test"
GPUOSCTL = BIN / "client" / "cli" / "gpuosctl"
LIBRARY = BIN / "client" / "libgpuos.so"

os.environ["GPUOS_LIBRARY"] = str(LIBRARY)
os.environ["GPUOS_DAEMON"] = str(GPUOSD)
os.environ.pop("GPUOS_TARGET", None)
sys.path.insert(0, str(PYTHON_CLIENT))

import gpuos  # noqa: E402
from gpuos._native import CDims, CView, ProgramBuilder  # noqa: E402


def wait_until(what: str, condition: Callable[[], Any], seconds: float = 10.0) -> Any:
    """The condition's first true value; fails, naming it, when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"{what} did not happen within {seconds} s (last: {value!r})")
        time.sleep(0.01)


def run_job(session: gpuos.Session, rounds: int = 1) -> None:
    """A few dependent tasks whose result is checked, on fresh and poisoned memory."""
    x = session.share(np.array([[1, -2, 3], [-4, 5, -6]], dtype=np.float32))
    w = session.share(np.array([[1], [2], [3]], dtype=np.float32))
    for _ in range(rounds):
        y = session.share(np.full((2, 1), np.nan, dtype=np.float32))
        with session.batch() as b:
            b.matmul(b.relu(x), w, out=y)
        assert y.numpy().tolist() == [[10.0], [10.0]]


def counters(target: str, device: int = 0) -> dict[str, Any]:
    return dict(gpuos.status(target)["devices"][device]["counters"])


def device_status(target: str, device: int = 0) -> dict[str, Any]:
    return dict(gpuos.status(target)["devices"][device])


def is_running(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def python(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """A second process with the package on its path."""
    environment = {**os.environ, "PYTHONPATH": f"{PYTHON_CLIENT}:{ROOT / 'tests'}"}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, **options.pop("env", {})},
        **options,
    )


def finish(process: subprocess.Popen[str], seconds: float = 60.0) -> str:
    """Its output, once it has ended with 0."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"not done in {seconds} s: {out}\n{err}") from None
    assert process.returncode == 0, f"status {process.returncode}: {out}\n{err}"
    return out


def run(
    command: Sequence[str | os.PathLike[str]], seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.fspath(part) for part in command], capture_output=True, text=True, timeout=seconds
    )


@dataclass
class Daemon:
    """A gpuosd started by hand, for what LocalDaemon hides."""

    process: subprocess.Popen[bytes]
    socket: pathlib.Path
    log_path: pathlib.Path

    @property
    def target(self) -> str:
        return f"unix://{self.socket}"

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def connect(self, **options: Any) -> gpuos.Session:
        return gpuos.connect(self.target, **options)

    def wait_until_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, f"gpuosd ended: {self.log()}"
            try:
                self.connect().close()
            except gpuos.Unavailable:
                return False
            return True

        wait_until("gpuosd serves", ready, 20)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"gpuosd did not stop: {self.log()}") from None


def gpuosd_at(path: pathlib.Path) -> list[str]:
    """The command line of a gpuosd on the host device, with test operators."""
    return [str(GPUOSD), f"--socket={path}", "--device=host", f"--executor={TEST_EXECUTOR}"]


@contextlib.contextmanager
def daemon_at(
    path: pathlib.Path, *arguments: str, env: dict[str, str] | None = None, ready: bool = True
) -> Iterator[Daemon]:
    """gpuosd on a socket at `path`, on the host device."""
    log_path = path.with_suffix(f".{time.monotonic_ns()}.log")
    with open(log_path, "wb") as log:
        process = subprocess.Popen(
            [*gpuosd_at(path), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **(env or {})},
        )
    daemon = Daemon(process, path, log_path)
    try:
        if ready:
            daemon.wait_until_ready()
        yield daemon
    finally:
        daemon.stop()


def view(
    slot: int,
    sizes: Sequence[int],
    strides: Sequence[int],
    dtype: int = 1,
    offset: int = 0,
    dims: int | None = None,
) -> CView:
    """A view as it goes over the wire, right or wrong."""
    return CView(
        slot,
        dtype,
        offset,
        len(sizes) if dims is None else dims,
        0,
        CDims(*sizes),
        CDims(*strides),
    )


def create(session: gpuos.Session, slots: Sequence[int], tasks: Sequence[tuple[Any, ...]]) -> int:
    """Creates a program from raw parts: tasks are (op, views[, attributes[, after]])."""

    def write(builder: ProgramBuilder) -> None:
        for length in slots:
            builder.add_slot(length)
        for op, views, *rest in tasks:
            attributes = rest[0] if rest else []
            after = rest[1] if len(rest) > 1 else []
            builder.add_task(op, views, attributes, after)

    return session._core.handle.program_create(write)


def binding(tensor: gpuos.Tensor) -> tuple[int, int]:
    """Where a tensor lies: segment and offset."""
    block = tensor._storage.block
    return block.segment.id, block.offset + tensor._layout.offset


def submit(
    session: gpuos.Session, program: int, bindings: Sequence[tuple[int, int]], wait: bool = True
) -> int:
    return session._core.handle.submit(program, bindings, wait)


def in_thread(function: Callable[[], Any]) -> Callable[[], Any]:
    """Starts a thread; the returned function joins it and gives its result or raises its error."""
    result: list[Any] = []
    error: list[BaseException] = []

    def body() -> None:
        try:
            result.append(function())
        except BaseException as caught:
            error.append(caught)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()

    def join() -> Any:
        thread.join(30)
        assert not thread.is_alive(), "the thread did not end within 30 s"
        if error:
            raise error[0]
        return result[0]

    return join


def unix_socket(kind: int, path: str | os.PathLike[str]) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, kind)
    connection.settimeout(10)
    connection.connect(os.fspath(path))
    return connection
