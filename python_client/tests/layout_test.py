"""Views agree with NumPy's, whose strides are the model."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from gpuos import InvalidArgument
from gpuos._layout import Layout, broadcast_shapes
from gpuos.dtypes import float32, int64

MEMORY = np.arange(5000, dtype=np.float32)


def elements(layout: Layout) -> np.ndarray:
    return as_strided(
        MEMORY[layout.offset // 4 :],
        layout.shape,
        [stride * 4 for stride in layout.strides],
    )


def base(shape: tuple[int, ...]) -> tuple[Layout, np.ndarray]:
    count = int(np.prod(shape, dtype=int))
    return Layout.contiguous(shape, float32), MEMORY[:count].reshape(shape)


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        slice(None),
        slice(1, 3),
        slice(None, None, 2),
        slice(-2, None),
        slice(3, 1),
        (1, 2),
        (slice(None), 1),
        (Ellipsis, 1),
        (1, Ellipsis),
        (None, 0),
        (slice(1, None, 2), None, slice(0, 4, 3)),
        (Ellipsis, None),
        Ellipsis,
        np.int64(2),
    ],
    ids=repr,
)
def test_indexing_is_numpys(key: object) -> None:
    layout, array = base((4, 5, 3))
    np.testing.assert_array_equal(elements(layout.index(key)), array[key])


def test_random_chains_of_views_are_numpys() -> None:
    random.seed(4)
    for _ in range(300):
        shape = tuple(random.randint(1, 4) for _ in range(random.randint(1, 5)))
        layout, array = base(shape)
        for _ in range(3):
            step = random.randrange(3)
            if step == 0:
                dims = random.sample(range(array.ndim), array.ndim)
                layout, array = layout.permute(dims), array.transpose(dims)
            elif step == 1:
                dim = random.randrange(array.ndim)
                key = (slice(None),) * dim + (slice(random.randint(0, 1), None, 2),)
                layout, array = layout.index(key), array[key]
            else:
                wider = (2, *(s if s != 1 else random.choice((1, 3)) for s in array.shape))
                layout, array = layout.broadcast_to(wider), np.broadcast_to(array, wider)
            if array.ndim >= 7:
                break
        assert layout.shape == array.shape
        if array.size:
            np.testing.assert_array_equal(elements(layout), array)


def test_index_outside_ends_iteration_as_sequences_do() -> None:
    layout, _ = base((3,))
    with pytest.raises(IndexError, match="index 3 is outside dimension 0 of size 3"):
        layout.index(3)


@pytest.mark.parametrize("key", [(0, 0, 0), (Ellipsis, Ellipsis), "a", 1.5, slice(None, None, -1)])
def test_indices_that_are_no_views_are_refused(key: object) -> None:
    layout, _ = base((3, 3))
    with pytest.raises(InvalidArgument):
        layout.index(key)


def test_a_ninth_dimension_is_refused() -> None:
    layout, _ = base((1,) * 8)
    with pytest.raises(InvalidArgument, match="9 dimensions; at most 8"):
        layout.index(None)


def test_span_reaches_the_last_element_and_no_further() -> None:
    layout, _ = base((4, 5))
    assert layout.span == 80
    assert layout.index((slice(1, 3), slice(0, 2))).span == (5 + 1 + 1) * 4
    assert layout.index(slice(4, 4)).span == 0
    assert Layout.contiguous((), int64).span == 8
    assert layout.index((slice(0, 1),)).broadcast_to((9, 5)).span == 20


def test_reshape_keeps_elements() -> None:
    layout, array = base((4, 6))
    np.testing.assert_array_equal(elements(layout.reshape((2, -1, 3))), array.reshape(2, -1, 3))
    assert layout.index(slice(0, 0)).reshape((0, 3, 2)).shape == (0, 3, 2)


def test_reshape_refuses_what_is_no_view() -> None:
    layout, _ = base((4, 6))
    with pytest.raises(InvalidArgument, match="not contiguous"):
        layout.permute((1, 0)).reshape((24,))
    with pytest.raises(InvalidArgument, match="does not hold 24"):
        layout.reshape((5, 5))
    with pytest.raises(InvalidArgument, match="whole number"):
        layout.reshape((5, -1))
    with pytest.raises(InvalidArgument, match="at most one"):
        layout.reshape((-1, -1))


def test_broadcast_refuses_as_numpy_does() -> None:
    layout, _ = base((4, 6))
    for shape in [(6,), (4, 5), (6, 4)]:
        with pytest.raises(InvalidArgument):
            layout.broadcast_to(shape)


def test_broadcast_shapes_is_numpys() -> None:
    random.seed(5)
    refused = 0
    for _ in range(500):
        shapes = [
            tuple(random.choice((0, 1, 1, 2, 3)) for _ in range(random.randint(0, 4)))
            for _ in range(random.randint(1, 3))
        ]
        try:
            expected = np.broadcast_shapes(*shapes)
        except ValueError:
            refused += 1
            with pytest.raises(InvalidArgument):
                broadcast_shapes(*shapes)
        else:
            assert broadcast_shapes(*shapes) == expected
    assert 0 < refused < 500


def test_geometry_ignores_strides_of_single_elements() -> None:
    rows, _ = base((4, 6))
    row = rows.index(slice(1, 2))
    assert row.same_geometry(Layout(0, (1, 6), (999, 1), float32))
    assert not row.same_geometry(Layout(0, (1, 6), (6, 2), float32))
    assert not row.same_geometry(Layout(0, (1, 6), (6, 1), int64))
