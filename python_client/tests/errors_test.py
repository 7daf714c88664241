from __future__ import annotations

import pickle

import pytest

import gpuos
from gpuos.errors import error_for


@pytest.mark.parametrize(
    ("code", "cls", "builtin"),
    [
        (3, gpuos.InvalidArgument, ValueError),
        (4, gpuos.DeadlineExceeded, TimeoutError),
        (5, gpuos.NotFound, LookupError),
        (7, gpuos.PermissionDenied, PermissionError),
        (8, gpuos.ResourceExhausted, gpuos.GpuosError),
        (9, gpuos.FailedPrecondition, gpuos.GpuosError),
        (10, gpuos.Aborted, gpuos.GpuosError),
        (12, gpuos.Unimplemented, gpuos.GpuosError),
        (13, gpuos.Internal, gpuos.GpuosError),
        (14, gpuos.Unavailable, ConnectionError),
    ],
)
def test_each_code_has_its_class(code: int, cls: type, builtin: type) -> None:
    error = error_for(code, "the sentence")
    assert type(error) is cls
    assert isinstance(error, builtin) and isinstance(error, gpuos.GpuosError)
    assert str(error) == "the sentence" and error.code == code


def test_an_unknown_code_is_an_error_too() -> None:
    assert type(error_for(99, "odd")) is gpuos.Unknown


def test_a_missing_sentence_is_said() -> None:
    assert "code 13" in str(error_for(13, ""))


def test_errors_cross_processes() -> None:
    copy = pickle.loads(pickle.dumps(error_for(14, "nobody answers")))
    assert type(copy) is gpuos.Unavailable and str(copy) == "nobody answers"
