"""Requests that are wrong: each gets a sentence that names the field, and others go on."""

from __future__ import annotations

import numpy as np
import pytest

import gpuos
import support
from support import binding, create, submit, view

pytestmark = pytest.mark.usefixtures("bystander")

BIG = 2**62


def floats(session: gpuos.Session, *shape: int) -> gpuos.Tensor:
    return session.share(np.ones(shape, dtype=np.float32))


def test_an_unknown_operator_is_named_with_close_ones(session: gpuos.Session) -> None:
    b = session.batch()
    b.call("matmull", floats(session, 2, 2), [floats(session, 2, 2), floats(session, 2, 2)])
    with pytest.raises(gpuos.NotFound, match="matmull"):
        b.submit(wait=True)
    support.run_job(session)


@pytest.mark.parametrize(
    ("slots", "tasks", "error", "words"),
    [
        pytest.param(
            [64],
            [("add", [view(0, [4], [1]), view(0, [4], [1])])],
            gpuos.InvalidArgument,
            r"tasks\[0\].*operands",
            id="too few operands",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1])] * 3)],
            gpuos.InvalidArgument,
            r"tasks\[0\].*operands",
            id="too many operands",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [4], [1], offset=52)])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\].*64",
            id="view past the end of its slot",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [4], [1], offset=2**64 - 8)])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\]",
            id="offset that wraps",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [BIG, BIG], [BIG, BIG])])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\]",
            id="sizes times strides beyond 64 bits",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [2**32, 2**32], [0, 0])])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\]",
            id="sizes whose product wraps to nothing",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [4], [-1], offset=12)])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\]\.strides\[0\] is -1",
            id="negative stride",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [-4], [1]), view(0, [4], [1])])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[0\]\.sizes\[0\] is -4",
            id="negative size",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [4], [1], dtype=77)])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\]\.dtype.*77",
            id="unknown dtype",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [4], [1], dtype=0)])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\]\.dtype",
            id="no dtype",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [4], [1], dtype=3)])],
            gpuos.InvalidArgument,
            r"tasks\[0\] \(relu\): operand 1 \(a\) has dtype BOOL; relu takes F32",
            id="dtype that the operator does not take",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(0, [4], [1], offset=2)])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\]\.offset",
            id="misaligned view",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [1]), view(9, [4], [1])])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[1\]\.slot is 9",
            id="slot that is not there",
        ),
        pytest.param(
            [64],
            [("relu", [view(0, [4], [0]), view(0, [4], [1])])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.operands\[0\]",
            id="broadcast output",
        ),
        pytest.param(
            [64, 64],
            [("add", [view(0, [4], [1]), view(1, [3], [1]), view(1, [4], [1])])],
            gpuos.InvalidArgument,
            r"tasks\[0\].*broadcast",
            id="shapes that do not broadcast",
        ),
        pytest.param(
            [64],
            [("fill", [view(0, [4], [1])], [("colour", 1.0)])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.attributes\[0\].*colour",
            id="unknown attribute",
        ),
        pytest.param(
            [64],
            [
                ("fill", [view(0, [1], [1])], [], [1]),
                ("fill", [view(0, [1], [1], offset=16)], [], [2]),
                ("fill", [view(0, [1], [1], offset=32)], [], [0]),
            ],
            gpuos.InvalidArgument,
            "tasks 0 -> 2 -> 1 -> 0 wait for each other",
            id="cycle",
        ),
        pytest.param(
            [64],
            [("fill", [view(0, [1], [1])], [], [0])],
            gpuos.InvalidArgument,
            r"tasks\[0\]",
            id="task after itself",
        ),
        pytest.param(
            [64],
            [("fill", [view(0, [1], [1])], [], [7])],
            gpuos.InvalidArgument,
            r"tasks\[0\]\.after\[0\] is 7",
            id="after a task that is not there",
        ),
        pytest.param(
            [16] * 4097,
            [],
            gpuos.InvalidArgument,
            r"slots.*4,?097.*4,?096",
            id="too many slots",
        ),
        pytest.param(
            [64],
            [("x" * 129, [])],
            gpuos.GpuosError,
            r"tasks\[0\]\.op",
            id="operator name too long",
        ),
    ],
)
def test_a_wrong_program_is_refused(
    session: gpuos.Session, slots: list, tasks: list, error: type, words: str
) -> None:
    with pytest.raises(error, match=words):
        create(session, slots, tasks)
    support.run_job(session)


def test_nine_dimensions_cannot_be_sent(session: gpuos.Session) -> None:
    with pytest.raises(gpuos.InvalidArgument, match="dim|sizes"):
        create(session, [64], [("relu", [view(0, [1] * 8, [1] * 8, dims=9), view(0, [1], [1])])])


def test_a_program_over_the_task_limit_is_refused_and_one_at_it_runs(
    session: gpuos.Session,
) -> None:
    one = [view(0, [1], [1])]
    with pytest.raises(gpuos.InvalidArgument, match=r"65,?537.*65,?536"):
        create(session, [64], [("fill", one)] * 65537)
    x = floats(session, 16)
    tasks = [("fill", [view(0, [1], [1], offset=4 * (i % 16))]) for i in range(65536)]
    program = create(session, [64], tasks)
    submit(session, program, [binding(x)])
    assert x.numpy().tolist() == [0.0] * 16


def a_program(session: gpuos.Session) -> int:
    return create(session, [64, 64], [("relu", [view(0, [16], [1]), view(1, [16], [1])])])


def test_a_binding_outside_its_segment_is_refused(session: gpuos.Session) -> None:
    program = a_program(session)
    x, y = floats(session, 16), session.empty(16)
    segment = x._storage.block.segment
    for offset in (segment.size - 48, segment.size, 2**64 - 64):
        with pytest.raises(gpuos.InvalidArgument, match=r"bindings\[1\]"):
            submit(session, program, [binding(y), (segment.id, offset)])
    submit(session, program, [binding(y), binding(x)])
    assert y.numpy().tolist() == [1.0] * 16


def test_bindings_must_be_aligned_complete_and_apart(session: gpuos.Session) -> None:
    program = a_program(session)
    x = floats(session, 64)
    segment, offset = binding(x)
    with pytest.raises(gpuos.InvalidArgument, match=r"bindings\[0\]\.offset.*multiple of 16"):
        submit(session, program, [(segment, offset + 8), (segment, offset + 128)])
    with pytest.raises(gpuos.InvalidArgument, match="bindings has 1"):
        submit(session, program, [(segment, offset)])
    with pytest.raises(gpuos.InvalidArgument, match="overlap"):
        submit(session, program, [(segment, offset), (segment, offset + 16)])


def test_a_segment_of_another_session_is_none(
    daemon: gpuos.LocalDaemon, session: gpuos.Session
) -> None:
    with daemon.connect() as other:
        theirs = floats(other, 16)
        program = a_program(session)
        with pytest.raises(gpuos.NotFound, match="not a segment of this session"):
            submit(session, program, [binding(session.empty(16)), binding(theirs)])
        with pytest.raises(gpuos.NotFound):
            session._core.handle.segment_release(theirs._storage.block.segment.id)
        support.run_job(other)


def test_a_program_of_another_session_is_none(
    daemon: gpuos.LocalDaemon, session: gpuos.Session
) -> None:
    with daemon.connect() as other:
        program = a_program(other)
        x, y = floats(session, 16), session.empty(16)
        with pytest.raises(gpuos.NotFound, match="program"):
            submit(session, program, [binding(y), binding(x)])


def test_handles_that_are_none_are_refused(session: gpuos.Session) -> None:
    handle = session._core.handle
    program = a_program(session)
    with pytest.raises(gpuos.NotFound, match="987654321"):
        submit(session, program, [(987654321, 0), (987654321, 64)])
    with pytest.raises(gpuos.NotFound, match="987654321"):
        submit(session, 987654321, [])
    with pytest.raises(gpuos.NotFound, match="987654321"):
        handle.segment_release(987654321)
    with pytest.raises(gpuos.NotFound, match="987654321"):
        handle.program_release(987654321)
    with pytest.raises(gpuos.InvalidArgument, match="987654321"):
        session.wait(987654321, timeout=5)


def test_a_released_segment_is_refused(session: gpuos.Session) -> None:
    program = a_program(session)
    handle = session._core.handle
    segment, address, size = handle.segment_create(4096)
    submit(session, program, [(segment, 0), (segment, 64)])
    handle.segment_release(segment)
    with pytest.raises(gpuos.NotFound, match=str(segment)):
        submit(session, program, [(segment, 0), (segment, 64)])
    handle.library.segment_unmap(address, size)


@pytest.mark.parametrize("size", [0, 2**41, 2**64 - 1])
def test_segments_beyond_the_limits_are_refused(session: gpuos.Session, size: int) -> None:
    with pytest.raises(gpuos.InvalidArgument, match=str(size)):
        session._core.handle.segment_create(size)


def test_devices_and_names_are_checked(daemon: gpuos.LocalDaemon) -> None:
    with pytest.raises(gpuos.NotFound, match=r"cuda:9.*host:0"):
        daemon.connect("cuda:9")
    with pytest.raises(gpuos.InvalidArgument, match="client_name"):
        daemon.connect(client_name="x" * 129)
    with pytest.raises(gpuos.InvalidArgument, match="client_name"):
        daemon.connect(client_name="bell\a")


def test_a_failing_operator_fails_its_batch_alone(session: gpuos.Session) -> None:
    failing = session.batch()
    failing.call("test.fail", [], attributes={"code": 42})
    with pytest.raises(gpuos.Internal, match=r"tasks\[0\] \(test\.fail\) failed with code 42"):
        failing.submit(wait=True)
    failing.submit()
    with pytest.raises(gpuos.Internal, match="code 42"):
        failing.wait()
    support.run_job(session)
