from __future__ import annotations

import numpy as np
import pytest

import gpuos
from gpuos.dtypes import as_dtype


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (gpuos.float32, gpuos.float32),
        ("float32", gpuos.float32),
        ("f32", gpuos.float32),
        (np.float32, gpuos.float32),
        (np.dtype("<i8"), gpuos.int64),
        (np.int64, gpuos.int64),
        (bool, gpuos.bool_),
        (np.bool_, gpuos.bool_),
    ],
)
def test_dtypes_are_known_by_their_usual_names(given: object, expected: gpuos.DType) -> None:
    assert as_dtype(given) is expected


def test_torch_dtypes_are_known() -> None:
    torch = pytest.importorskip("torch")
    assert as_dtype(torch.float32) is gpuos.float32
    assert as_dtype(torch.int64) is gpuos.int64
    assert as_dtype(torch.bool) is gpuos.bool_
    with pytest.raises(gpuos.InvalidArgument, match="bfloat16"):
        as_dtype(torch.bfloat16)


@pytest.mark.parametrize("given", [np.float64, "int32", np.dtype("complex64"), float, "nonsense"])
def test_other_dtypes_are_refused_by_name(given: object) -> None:
    with pytest.raises(gpuos.InvalidArgument, match="convert the tensor"):
        as_dtype(given)


def test_sizes_and_numbers_are_the_abis() -> None:
    assert [(d.value, d.itemsize, d.numpy.itemsize) for d in gpuos.DType] == [
        (1, 4, 4),
        (2, 8, 8),
        (3, 1, 1),
    ]


def test_dtypes_print_as_they_are_written() -> None:
    assert repr(gpuos.bool_) == "gpuos.bool_"
