"""Every built-in operator against PyTorch, over random shapes, strides and broadcasts.

Seeded: a failure says the seed that makes it again.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Callable

import numpy as np
import pytest
import torch

import gpuos

ROUNDS = 25


@dataclass(frozen=True)
class Case:
    """An operator, what PyTorch calls it, and what its inputs are."""

    reference: Callable[..., torch.Tensor]
    inputs: (
        str  # A dtype each: f, i, b; or n for float or integer, a for any (the same for all n, a).
    )
    positive: bool = False
    tolerance: float = 0.0  # Relative; 0 asks for equal bits.
    absolute: float = 0.0  # Where a result near 0 is the difference of larger numbers.


def exactly(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The reference in double, rounded once: PyTorch's float functions are off by a bit or two."""
    return lambda *inputs: function(*(each.double() for each in inputs)).float()


ELEMENTWISE = {
    "add": Case(torch.add, "nn"),
    "sub": Case(torch.sub, "nn"),
    "mul": Case(torch.mul, "nn"),
    "div": Case(torch.div, "ff"),
    "neg": Case(torch.neg, "n"),
    "maximum": Case(torch.maximum, "nn"),
    "minimum": Case(torch.minimum, "nn"),
    "relu": Case(torch.relu, "f"),
    "exp": Case(exactly(torch.exp), "f", tolerance=1e-6),
    "log": Case(exactly(torch.log), "f", positive=True, tolerance=1e-6),
    "sqrt": Case(exactly(torch.sqrt), "f", positive=True),
    "tanh": Case(exactly(torch.tanh), "f", tolerance=1e-6),
    "sigmoid": Case(exactly(torch.sigmoid), "f", tolerance=1e-6),
    "gelu": Case(exactly(torch.nn.functional.gelu), "f", tolerance=1e-6, absolute=1e-6),
    "eq": Case(torch.eq, "nn"),
    "ne": Case(torch.ne, "nn"),
    "lt": Case(torch.lt, "nn"),
    "le": Case(torch.le, "nn"),
    "gt": Case(torch.gt, "nn"),
    "ge": Case(torch.ge, "nn"),
    "where": Case(torch.where, "baa"),
    "copy": Case(torch.clone, "a"),
}
ROWWISE = {
    "sum": Case(exactly(lambda a: torch.sum(a, -1)), "f", tolerance=1e-6),
    "max": Case(lambda a: torch.max(a, -1).values, "n"),
    "argmax": Case(lambda a: torch.argmax(a, -1), "n"),
    "softmax": Case(exactly(lambda a: torch.softmax(a, -1)), "f", tolerance=2e-6),
}
#: Checked by tests of their own below, or by no outputs to compare.
ELSEWHERE = {"matmul", "fill", "nop"}


def random_shape(rng: random.Random, most: int = 8, zero: float = 0.03) -> tuple[int, ...]:
    dims = rng.randint(0, most)
    widest = {0: 1, 1: 3000, 2: 60, 3: 14, 4: 7, 5: 5, 6: 4, 7: 3, 8: 3}[dims]
    return tuple(0 if rng.random() < zero else rng.randint(1, widest) for _ in range(dims))


def elements(rng: random.Random, shape: tuple[int, ...], dtype: str, positive: bool) -> np.ndarray:
    numbers = np.random.default_rng(rng.randrange(1 << 30))
    if dtype == "b":
        return numbers.random(shape) < 0.5
    if dtype == "i":
        return numbers.integers(-5, 5, shape, dtype=np.int64)
    values = numbers.standard_normal(shape).astype(np.float32) * 3
    return np.abs(values) + np.float32(0.01) if positive else values


def strided(
    session: gpuos.Session, rng: random.Random, shape: tuple[int, ...], dtype: gpuos.DType
) -> gpuos.Tensor:
    """A tensor of that shape: contiguous, permuted, with gaps, or starting in the middle."""
    dims = list(range(len(shape)))
    rng.shuffle(dims)
    steps = [rng.choice((1, 1, 1, 2, 3)) for _ in shape]
    starts = [rng.choice((0, 0, 1)) for _ in shape]
    whole = [starts[d] + shape[d] * steps[d] for d in dims]
    memory = session.empty(whole, dtype)
    view = memory.permute(*(dims.index(d) for d in range(len(shape))))
    for d in range(len(shape)):
        key = (slice(None),) * d + (slice(starts[d], starts[d] + shape[d] * steps[d], steps[d]),)
        view = view[key]
    assert view.shape == shape
    return view


def operand(
    session: gpuos.Session, rng: random.Random, shape: tuple[int, ...], dtype: str, positive: bool
) -> tuple[gpuos.Tensor, torch.Tensor]:
    """An input that broadcasts to `shape`, in shared memory of random strides, and its twin."""
    own = tuple(1 if rng.random() < 0.15 else size for size in shape)
    if rng.random() < 0.2:
        own = own[rng.randint(0, len(own)) :]
    values = elements(rng, own, dtype, positive)
    tensor = strided(session, rng, own, gpuos.dtypes.as_dtype(values.dtype))
    tensor.numpy()[...] = values
    if rng.random() < 0.2:
        tensor = tensor.broadcast_to(shape)
        values = np.broadcast_to(values, shape).copy()
    return tensor, torch.from_numpy(np.array(values))


def poisoned(
    session: gpuos.Session, rng: random.Random, shape: tuple[int, ...], dtype: gpuos.DType
) -> gpuos.Tensor:
    out = strided(session, rng, shape, dtype)
    out.numpy()[...] = {"float32": np.nan, "int64": -(2**60), "bool": True}[dtype.name]
    return out


def dtypes_of(rng: random.Random, case: Case) -> list[str]:
    number, any_ = rng.choice("fi"), rng.choice("fib")
    return [{"n": number, "a": any_}.get(each, each) for each in case.inputs]


def check(out: torch.Tensor, expected: torch.Tensor, case: Case, about: str) -> None:
    assert out.shape == expected.shape and out.dtype == expected.dtype, about
    torch.testing.assert_close(
        out,
        expected,
        rtol=case.tolerance,
        atol=case.absolute,
        equal_nan=True,
        msg=lambda text: f"{about}: {text}",
    )


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_operators_compute_as_pytorch(session: gpuos.Session, name: str) -> None:
    case = ELEMENTWISE[name]
    for seed in range(ROUNDS):
        rng = random.Random(f"{name} {seed}")
        shape = random_shape(rng)
        pairs = [
            operand(session, rng, shape, dtype, case.positive) for dtype in dtypes_of(rng, case)
        ]
        expected = case.reference(*(twin for _, twin in pairs))
        inputs = [tensor for tensor, _ in pairs]
        if rng.random() < 0.5 and len(inputs) == len(case.inputs):
            # The output's shape is that of the reference: inputs may all have been narrowed.
            dtype = gpuos.dtypes.as_dtype(expected.dtype)
            out = poisoned(session, rng, tuple(expected.shape), dtype)
            with session.batch() as b:
                getattr(b, name)(*inputs, out=out)
        else:
            with session.batch() as b:
                out = getattr(b, name)(*inputs)
        check(out.torch(), expected, case, f"{name}, seed {seed}, shape {shape}")


@pytest.mark.parametrize("name", ROWWISE)
def test_rowwise_operators_compute_as_pytorch(session: gpuos.Session, name: str) -> None:
    case = ROWWISE[name]
    for seed in range(ROUNDS):
        rng = random.Random(f"{name} {seed}")
        shape = random_shape(rng, most=7, zero=0) + (rng.choice((1, 2, 7, 32, 33, 300)),)
        if rng.random() < 0.1:
            shape = (0, *shape)[:8]
        (dtype,) = dtypes_of(rng, case)
        values = elements(rng, shape, dtype, False)
        tensor = strided(session, rng, shape, gpuos.dtypes.as_dtype(values.dtype))
        tensor.numpy()[...] = values
        expected = case.reference(torch.from_numpy(values))
        out = poisoned(session, rng, tuple(expected.shape), gpuos.dtypes.as_dtype(expected.dtype))
        with session.batch() as b:
            getattr(b, name)(tensor, out=out)
        check(out.torch(), expected, case, f"{name}, seed {seed}, shape {shape}")


def test_matmul_of_any_layout_computes_as_pytorch(session: gpuos.Session) -> None:
    for seed in range(3 * ROUNDS):
        rng = random.Random(f"matmul {seed}")
        m, k, n = (rng.choice((0, 1, 2, 5, 16, 17, 64, 65, 100)) for _ in range(3))
        a, b_ = elements(rng, (m, k), "f", False), elements(rng, (k, n), "f", False)
        left = strided(session, rng, (m, k), gpuos.float32)
        right = strided(session, rng, (k, n), gpuos.float32)
        left.numpy()[...], right.numpy()[...] = a, b_
        out = poisoned(session, rng, (m, n), gpuos.float32)
        with session.batch() as b:
            b.matmul(left, right, out=out)
        expected = torch.from_numpy(a.astype(np.float64) @ b_.astype(np.float64)).float()
        bound = float((np.abs(a) @ np.abs(b_)).max(initial=1.0)) * 1e-6
        torch.testing.assert_close(out.torch(), expected, rtol=0, atol=bound)


def test_casts_convert_as_pytorch(session: gpuos.Session) -> None:
    source = np.array([-2.7, -1, -0.4, 0, 0.4, 1, 2.7, 1e9], dtype=np.float32)
    for values in (source, source.astype(np.int64), source != 0):
        tensor = session.share(values)
        for dtype in gpuos.DType:
            with session.batch() as b:
                out = b.cast(tensor, dtype)
            expected = torch.from_numpy(values).to(getattr(torch, dtype.name))
            assert torch.equal(out.torch(), expected), (values.dtype, dtype)


def test_fill_writes_every_element_and_nothing_else(session: gpuos.Session) -> None:
    for dtype, value, poison in [
        (gpuos.float32, 2.5, 7),
        (gpuos.int64, 2**62 + 1, 7),
        (gpuos.int64, -3, 7),
        (gpuos.bool_, True, False),
    ]:
        memory = session.empty((6, 6), dtype)
        memory.numpy()[...] = poison
        with session.batch() as b:
            b.fill(memory[1:5:2, 2:], value)
        expected = np.full((6, 6), poison, dtype=dtype.numpy)
        expected[1:5:2, 2:] = value
        np.testing.assert_array_equal(memory.numpy(), expected)


def test_special_numbers_go_as_in_pytorch(session: gpuos.Session) -> None:
    special = torch.tensor(
        [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-45, 3e38, -1.0]
    )
    a, b_ = torch.meshgrid(special, special, indexing="ij")
    x, y = session.share(a.contiguous()), session.share(b_.contiguous())
    for name, case in ELEMENTWISE.items():
        if case.inputs not in ("nn", "n", "f", "ff"):
            continue
        pair = len(case.inputs) == 2
        with session.batch() as b:
            out = getattr(b, name)(x, y) if pair else getattr(b, name)(x)
        expected = case.reference(a, b_) if pair else case.reference(a)
        check(out.torch(), expected, case, name)


def test_argmax_and_max_find_the_first_and_nan(session: gpuos.Session) -> None:
    rows = torch.tensor([[1.0, 3.0, 3.0], [2.0, float("nan"), 5.0], [-1.0, -2.0, -1.0]])
    tensor = session.share(rows)
    with session.batch() as b:
        label, best = b.argmax(tensor), b.max(tensor)
    assert label.torch().tolist() == rows.argmax(-1).tolist() == [1, 1, 0]
    torch.testing.assert_close(best.torch(), rows.max(-1).values, equal_nan=True)


def test_sums_count_bools_and_wrap_integers(session: gpuos.Session) -> None:
    flags = session.share(np.array([[True, False, True], [False, False, False]]))
    large = session.share(np.array([2**62, 2**62, 1], dtype=np.int64))
    with session.batch() as b:
        counted, wrapped = b.sum(flags), b.sum(large)
    assert counted.numpy().tolist() == [2, 0]
    assert wrapped.numpy() == torch.from_numpy(large.numpy()).sum().item()


def test_every_built_in_operator_is_compared(daemon: gpuos.LocalDaemon) -> None:
    names = {each["name"] for each in gpuos.operators(daemon.target)}
    built_in = {name for name in names if not name.startswith("test.")}
    assert built_in <= ELEMENTWISE.keys() | ROWWISE.keys() | ELSEWHERE
    assert ELEMENTWISE.keys() | ROWWISE.keys() | {"matmul", "fill"} <= built_in
