"""What batches and programs send."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gpuos
from fake_library import FakeLibrary
from gpuos._programs import KEPT_IDLE


def floats(session: gpuos.Session, *shape: int) -> gpuos.Tensor:
    return session.share(np.ones(shape, dtype=np.float32))


def test_a_batch_sends_outputs_first_with_a_slot_for_each_tensor(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    x, w = floats(session, 4, 3), floats(session, 3, 2)
    with session.batch() as b:
        y = b.matmul(x, w)
    (program,) = fake.programs.values()
    assert program.slots == [32, 48, 24]
    ((op, views, attributes, after),) = program.tasks
    assert (op, attributes, after) == ("matmul", [], [])
    assert [view["slot"] for view in views] == [0, 1, 2]
    assert views[2] == {"slot": 2, "dtype": 1, "offset": 0, "sizes": [3, 2], "strides": [2, 1]}
    ((_, bindings),) = fake.submissions
    addresses = [t.data_ptr() for t in (y, x, w)]
    assert [offset - bindings[0][1] for _, offset in bindings] == [
        address - addresses[0] for address in addresses
    ]


def test_views_of_one_tensor_share_its_slot(session: gpuos.Session, fake: FakeLibrary) -> None:
    x = floats(session, 4, 3)
    with session.batch() as b:
        b.add(x[0], x[1], out=x[2])
        b.relu(x)
    (program,) = fake.programs.values()
    assert program.slots == [48, 48]
    assert [view["slot"] for view in program.tasks[1][1]] == [1, 0]
    assert [view["offset"] for view in program.tasks[0][1]] == [24, 0, 12]


def test_identical_recordings_share_a_program(session: gpuos.Session, fake: FakeLibrary) -> None:
    for _ in range(3):
        x, y = floats(session, 8), floats(session, 8)
        with session.batch() as b:
            b.add(x, y)
    assert len(fake.programs) == 1 and len(fake.submissions) == 3


def test_attributes_of_equal_value_and_other_type_are_another_program(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    x = floats(session, 8)
    for value in (1, 1.0, True):
        with session.batch() as b:
            b.call("op", x, attributes={"value": value})
    assert [p.tasks[0][2] for p in fake.programs.values()] == [
        [("value", 1)],
        [("value", 1.0)],
        [("value", True)],
    ]
    assert len(fake.programs) == 3


def test_fill_gives_integers_exactly(session: gpuos.Session, fake: FakeLibrary) -> None:
    with session.batch() as b:
        b.fill(session.empty(3, gpuos.int64), 2**62 + 1)
        b.fill(session.empty(3), 2)
    (program,) = fake.programs.values()
    assert [task[2] for task in program.tasks] == [[("integer", 2**62 + 1)], [("value", 2.0)]]


@pytest.mark.parametrize(
    ("op", "shapes", "expected", "dtype"),
    [
        ("add", [(4, 1), (3,)], (4, 3), gpuos.float32),
        ("lt", [(4, 1), (3,)], (4, 3), gpuos.bool_),
        ("relu", [()], (), gpuos.float32),
        ("matmul", [(2, 3), (3, 5)], (2, 5), gpuos.float32),
        ("sum", [(2, 3)], (2,), gpuos.float32),
        ("argmax", [(2, 3)], (2,), gpuos.int64),
        ("softmax", [(2, 3)], (2, 3), gpuos.float32),
    ],
)
def test_outputs_have_the_operators_shape_and_dtype(
    session: gpuos.Session,
    op: str,
    shapes: list[tuple[int, ...]],
    expected: tuple[int, ...],
    dtype: gpuos.DType,
) -> None:
    with session.batch() as b:
        out = getattr(b, op)(*(floats(session, *shape) for shape in shapes))
    assert out.shape == expected and out.dtype is dtype


def test_mismatches_are_refused_where_they_are_written(session: gpuos.Session) -> None:
    b = session.batch()
    with pytest.raises(gpuos.InvalidArgument, match="do not broadcast"):
        b.add(floats(session, 2), floats(session, 3))
    with pytest.raises(gpuos.InvalidArgument, match=r"got \[2, 3\] and \[2, 3\]"):
        b.matmul(floats(session, 2, 3), floats(session, 2, 3))
    with pytest.raises(gpuos.InvalidArgument, match="the tensor has none"):
        b.sum(floats(session))
    with pytest.raises(gpuos.InvalidArgument, match="ndarray, not a gpuos.Tensor"):
        b.add(floats(session, 2), np.ones(2))  # type: ignore[arg-type]
    assert b.tasks == 0


def test_a_tensor_of_another_session_is_refused(session: gpuos.Session) -> None:
    with gpuos.connect() as other:
        foreign = floats(other, 3)
        with pytest.raises(gpuos.InvalidArgument, match="operand 1 of relu .* another session"):
            session.batch().relu(foreign)
        with pytest.raises(gpuos.InvalidArgument, match="another session"):
            session.program(x=foreign)


def test_an_error_in_the_block_submits_nothing(session: gpuos.Session, fake: FakeLibrary) -> None:
    with pytest.raises(RuntimeError):
        with session.batch() as b:
            b.relu(floats(session, 3))
            raise RuntimeError
    assert not fake.submissions


def test_a_submitted_batch_is_finished(session: gpuos.Session, fake: FakeLibrary) -> None:
    b = session.batch()
    with pytest.raises(gpuos.FailedPrecondition, match="not submitted"):
        b.wait()
    b.relu(floats(session, 3))
    assert b.submit(wait=True) == 1
    assert b.submit(wait=True) == 2
    with pytest.raises(gpuos.FailedPrecondition, match="finished"):
        b.relu(floats(session, 3))
    assert len(fake.programs) == 1


def test_a_program_moves_its_named_tensors_and_their_views(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    rows, w, out = floats(session, 5, 16), floats(session, 16, 4), floats(session, 5, 4)
    with session.program(x=rows[0:1], y=out[0:1]) as p:
        p.matmul(rows[0:1], w, out=out[0:1])
        p.relu(rows[0, 4:8], out=out[0])
    for i in range(5):
        p.run(x=rows[i : i + 1], y=out[i : i + 1])
    assert len(fake.programs) == 1
    (program,) = fake.programs.values()
    assert program.slots == [64, 16, 256]
    assert [view["offset"] for view in program.tasks[1][1]] == [0, 16]
    base = fake.submissions[0][1]
    for i, (_, bindings) in enumerate(fake.submissions):
        assert [now - then for (_, now), (_, then) in zip(bindings, base)] == [64 * i, 16 * i, 0]


def test_rows_that_are_not_aligned_need_a_program_for_each_alignment(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    rows, out = floats(session, 8, 10), floats(session, 10)
    with session.program(x=rows[0]) as p:
        p.relu(rows[0], out=out)
    for i in range(8):
        p.run(x=rows[i])
    assert sorted({program.tasks[0][1][1]["offset"] for program in fake.programs.values()}) == [
        0,
        8,
    ]
    assert len(fake.programs) == 2


def test_a_program_bound_to_overlapping_tensors_is_another_program(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    rows, out = floats(session, 4, 16), floats(session, 16)
    with session.program(x=rows[0], y=out) as p:
        p.relu(rows[0], out=out)
    p.run(x=rows[1], y=rows[1])
    assert [program.slots for program in fake.programs.values()] == [[64, 64], [64]]


def test_named_tensors_must_be_apart_and_hold_what_they_meet(session: gpuos.Session) -> None:
    x = floats(session, 8)
    with pytest.raises(gpuos.InvalidArgument, match="a and b overlap"):
        session.program(a=x[:5], b=x[4:])
    p = session.program(a=x[:4])
    with pytest.raises(gpuos.InvalidArgument, match="overlaps the named tensor a"):
        p.relu(x[2:6])
    with pytest.raises(gpuos.InvalidArgument, match="cannot be named wait"):
        session.program(wait=x)


def test_what_takes_a_name_must_look_like_the_recorded_tensor(session: gpuos.Session) -> None:
    x = floats(session, 4, 4)
    with session.program(x=x) as p:
        p.relu(x)
    with pytest.raises(gpuos.InvalidArgument, match=r"strides \[1, 4\]"):
        p.run(x=x.T)
    with pytest.raises(gpuos.InvalidArgument, match="dtype int64"):
        p.run(x=session.empty((4, 4), gpuos.int64))
    with pytest.raises(gpuos.InvalidArgument, match="no tensor named y; its names are: x"):
        p.run(y=x)


def test_memory_of_a_running_batch_is_not_used_again(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    x = floats(session, 10)
    address = x.data_ptr()
    b = session.batch()
    b.relu(x)
    b.submit()
    with pytest.raises(gpuos.DeadlineExceeded, match="batch 1 was not done after 0.01 s"):
        b.wait(timeout=0.01)
    del x, b
    gc.collect()
    assert session.empty(10).data_ptr() != address
    fake.done = 1
    session.wait(1)
    assert session.empty(10).data_ptr() == address


def test_programs_that_nothing_holds_are_forgotten_at_last(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    x = floats(session, 4)
    with session.program(x=x) as held:
        held.relu(x)
    for value in range(KEPT_IDLE + 5):
        with session.batch() as b:
            b.call("op", x, attributes={"value": value})
    assert fake.released_programs == [2, 3, 4, 5]
    del held
    with session.batch() as b:
        b.neg(x)
    assert 1 not in fake.released_programs


def test_a_failed_submission_leaves_the_batch_usable(
    session: gpuos.Session, fake: FakeLibrary
) -> None:
    b = session.batch()
    b.relu(floats(session, 3))
    fake.submit_error = gpuos.Aborted("lost")
    with pytest.raises(gpuos.Aborted):
        b.submit(wait=True)
    fake.submit_error = None
    assert b.submit(wait=True) == 1
