"""Peers that speak garbage, vanish, or fork."""

from __future__ import annotations

import array
import os
import random
import signal
import socket

import numpy as np
import pytest

import gpuos
import support
from gpuos._native import library
from support import finish, python, unix_socket, wait_until

pytestmark = pytest.mark.usefixtures("bystander")

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def hello(session: int, token: bytes) -> bytes:
    """AttachClientMessage { hello { session, token } }"""
    return field(1, varint(1 << 3) + varint(session) + field(2, token))


def descriptors_of(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


@pytest.fixture(autouse=True)
def keeps_no_descriptor(daemon: gpuos.LocalDaemon):
    """Whatever a peer did, gpuosd holds no more descriptors than before."""
    before = descriptors_of(daemon.pid)
    yield
    wait_until("the peer's descriptors are closed", lambda: descriptors_of(daemon.pid) <= before)


def socket_path(daemon: gpuos.LocalDaemon) -> str:
    return daemon.target.removeprefix("unix://")


def garbage(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        PREFACE,
        PREFACE + garbage(1, 5000),
        PREFACE + b"\xff\xff\xff\x04\0\0\0\0\0" + garbage(2, 100),
        PREFACE + b"\0\0\0\x04\0\0\0\0\0" + garbage(3, 9),
        garbage(4, 200_000),
    ],
    ids=["nothing", "a byte", "http1", "preface", "junk frames", "huge frame", "half", "noise"],
)
def test_garbage_on_the_socket_harms_nobody(daemon: gpuos.LocalDaemon, data: bytes) -> None:
    with unix_socket(socket.SOCK_STREAM, socket_path(daemon)) as peer:
        try:
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            peer.settimeout(1)
            while peer.recv(4096):
                pass
        except (OSError, TimeoutError):
            pass  # It may hang up on us at any point.


def refused_packet(daemon: gpuos.LocalDaemon, packet: bytes, *descriptors: int) -> None:
    """Sends one packet; the daemon must hang up, at most after a refusal."""
    with unix_socket(socket.SOCK_SEQPACKET, socket_path(daemon) + ".attach") as peer:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        try:
            peer.sendmsg([packet], rights if descriptors else [])
            for _ in range(2):
                if not peer.recv(8192):
                    return
        except ConnectionError:
            return
    raise AssertionError("the daemon kept the connection")


@pytest.mark.parametrize(
    "packet",
    [
        b"\xff",
        garbage(5, 1000),
        b"x" * 5000,
        hello(2**63, b"0" * 16),
        hello(1, b"short"),
        hello(1, b"?" * 16),
        field(2, varint(1 << 3) + varint(7)),
    ],
    ids=["a byte", "noise", "too long", "no session", "short token", "wrong token", "no hello"],
)
def test_garbage_on_the_attach_socket_is_hung_up_on(
    daemon: gpuos.LocalDaemon, packet: bytes
) -> None:
    refused_packet(daemon, packet)


def test_descriptors_of_strangers_are_closed(daemon: gpuos.LocalDaemon) -> None:
    with open("/dev/null") as null:
        for count in (1, 2, 50):
            refused_packet(daemon, garbage(6, 20), *([null.fileno()] * count))


def test_another_process_cannot_take_a_session_by_its_number(
    daemon: gpuos.LocalDaemon, session: gpuos.Session
) -> None:
    for token in (b"\0" * 16, garbage(7, 16)):
        refused_packet(daemon, hello(session.id, token))
    support.run_job(session)


def test_many_silent_connections_keep_nobody_out(daemon: gpuos.LocalDaemon) -> None:
    kinds = ((socket.SOCK_STREAM, ""), (socket.SOCK_SEQPACKET, ".attach"))
    silent = [unix_socket(kind, socket_path(daemon) + end) for kind, end in kinds * 100]
    with daemon.connect() as session:
        support.run_job(session)
    for each in silent:
        each.close()


KILLED = """
    import os, signal, sys
    import numpy as np
    import gpuos, support

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    target, point = sys.argv[1:]
    session = gpuos.connect(target, client_name="victim")
    if point == "connected": die()
    segment, address, size = session._core.handle.segment_create(1 << 20)
    if point == "segment": die()
    x = session.share(np.ones(1000, dtype=np.float32))
    program = support.create(session, [64], [("fill", [support.view(0, [16], [1])])])
    if point == "program": die()
    with session.batch() as b:
        b.relu(x)
    if point == "waited": die()
    spin = session.batch()
    spin.call("test.spin", [], attributes={"ms": 200})
    spin.add(x, x, out=x)
    for _ in range(10):
        spin.submit()
    if point == "running": die()
    session._core.handle.segment_release(segment)
    if point == "released": die()
"""


@pytest.mark.parametrize(
    "point", ["connected", "segment", "program", "waited", "running", "released"]
)
def test_a_client_killed_at_any_point_leaves_nothing(daemon: gpuos.LocalDaemon, point: str) -> None:
    def holdings() -> list[int]:
        counters = support.counters(daemon.target)
        names = ("sessions", "segments", "segment_bytes", "programs", "arena_bytes_used")
        executor = support.device_status(daemon.target)["executor_pid"]
        return [counters[name] for name in names] + [descriptors_of(executor)]

    before = holdings()
    victim = python(KILLED, daemon.target, point)
    victim.communicate(timeout=30)
    assert victim.returncode == -signal.SIGKILL
    wait_until(f"all is as before: {before}", lambda: holdings() == before)
    assert "victim" not in [each["client_name"] for each in gpuos.clients(daemon.target)]


def test_a_forked_child_is_refused_by_the_library_and_its_end_is_not_the_sessions(
    daemon: gpuos.LocalDaemon, session: gpuos.Session
) -> None:
    x = session.share(np.ones(4, dtype=np.float32))
    handle = session._core.handle
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        said = []
        for call in (
            lambda: session.empty(3),
            lambda: library().submit(handle._session, 1, [], True),
            lambda: library().segment_create(handle._session, 4096),
            lambda: library().wait(handle._session, 1, 1000),
            lambda: gpuos.connect(daemon.target),
            lambda: gpuos.status(daemon.target),
        ):
            try:
                call()
                said.append("nothing")
            except gpuos.FailedPrecondition:
                said.append("refused")
            except BaseException as error:
                said.append(repr(error))
        session.close()
        library().close(handle._session)
        os.write(write, " ".join(said).encode())
        os._exit(0)
    os.close(write)
    said = os.read(read, 4096).decode()
    os.close(read)
    assert os.waitpid(child, 0)[1] == 0
    assert said.split() == ["refused"] * 6
    with session.batch() as b:
        y = b.add(x, x)
    assert y.numpy().tolist() == [2.0] * 4


def test_a_session_ends_with_its_process_though_a_child_holds_its_descriptors(
    daemon: gpuos.LocalDaemon,
) -> None:
    parent = python(
        """
        import os, sys, time
        import gpuos
        session = gpuos.connect(sys.argv[1], client_name="parent")
        child = os.fork()
        if child == 0:
            os.close(1), os.close(2)
            time.sleep(60)
            os._exit(0)
        print(child, flush=True)
        os._exit(0)
        """,
        daemon.target,
    )
    child = int(finish(parent))
    try:
        wait_until(
            "the session ends",
            lambda: "parent" not in [each["client_name"] for each in gpuos.clients(daemon.target)],
            5,
        )
        assert support.is_running(child)
    finally:
        os.kill(child, signal.SIGKILL)
