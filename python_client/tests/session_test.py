"""Closing, forking, waiting."""

from __future__ import annotations

import os
import threading
import time

import pytest

import gpuos
from fake_library import FakeLibrary
from gpuos import _native
from gpuos._local import find_daemon


def test_a_closed_session_says_so(session: gpuos.Session, fake: FakeLibrary) -> None:
    tensor = session.empty(3)
    batch = session.batch()
    batch.relu(tensor)
    session.close()
    session.close()
    assert fake.closed == [1] and session.closed
    for call in (lambda: session.empty(3), session.batch, batch.submit, lambda: session.wait(1)):
        with pytest.raises(gpuos.FailedPrecondition, match="closed"):
            call()


def test_a_session_that_is_dropped_is_closed(fake: FakeLibrary) -> None:
    gpuos.connect()
    assert fake.closed == [1]


def test_close_ends_the_waits_of_other_threads(session: gpuos.Session, fake: FakeLibrary) -> None:
    fake.wait_error = gpuos.DeadlineExceeded("slice")
    errors: list[BaseException] = []

    def wait() -> None:
        try:
            session.wait(5)
        except gpuos.GpuosError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.05)
    session.close()
    thread.join(5)
    assert not thread.is_alive()
    assert isinstance(errors[0], gpuos.FailedPrecondition)


def test_a_forked_child_is_refused_and_releases_nothing(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    tensor = session.empty(3)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        result = b"no error"
        try:
            session.empty(3)
        except gpuos.FailedPrecondition as error:
            result = str(error).encode()
        del tensor
        session.close()
        os.write(write, result + f" closed={fake.closed}".encode())
        os._exit(0)
    os.close(write)
    said = os.read(read, 4096).decode()
    os.close(read)
    os.waitpid(child, 0)
    assert f"opened by process {os.getpid()}" in said
    assert "multiprocessing's 'spawn'" in said
    assert said.endswith("closed=[]")


def test_a_missing_library_is_named_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("GPUOS_LIBRARY", f"{tmp_path}/nowhere.so")
    with pytest.raises(gpuos.FailedPrecondition, match="nowhere.so, and no such file"):
        _native.find_library()


def test_a_file_that_is_no_library_is_named(tmp_path: object) -> None:
    import pathlib

    path = pathlib.Path(f"{tmp_path}/libgpuos.so")
    path.write_text("not a library")
    with pytest.raises(gpuos.FailedPrecondition, match="cannot be used as libgpuos.so"):
        _native.Library(path)


def test_a_missing_daemon_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUOS_DAEMON", "/nonexistent/gpuosd")
    with pytest.raises(gpuos.FailedPrecondition, match="cannot be run"):
        find_daemon()
