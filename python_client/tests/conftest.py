"""Unit tests run on the package of this tree, without a daemon."""

from __future__ import annotations

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from fake_library import FakeLibrary  # noqa: E402
from gpuos import Session, _native, connect  # noqa: E402


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    library = FakeLibrary()
    monkeypatch.setattr(_native, "library", lambda: library)
    return library


@pytest.fixture
def session(fake: FakeLibrary):
    with connect() as opened:
        assert isinstance(opened, Session)
        yield opened
