"""What a daemon says about itself, as plain dicts: the fields of proto/gpuos/v1/admin.proto and
operators.proto by their names there. None of these opens a session.
"""

from __future__ import annotations

import json
from typing import Any

from gpuos import _native


def _query(target: str | None, what: str, name: str | None = None) -> Any:
    return json.loads(_native.library().query_json(target, what, name))


def status(target: str | None = None) -> dict[str, Any]:
    """Version, uptime, and each device's executor with its counters."""
    answer: dict[str, Any] = _query(target, "status")
    return answer


def devices(target: str | None = None) -> list[dict[str, Any]]:
    """The devices, the default one first."""
    answer: list[dict[str, Any]] = _query(target, "devices").get("devices", [])
    return answer


def clients(target: str | None = None) -> list[dict[str, Any]]:
    """The open sessions."""
    answer: list[dict[str, Any]] = _query(target, "clients").get("clients", [])
    return answer


def operators(target: str | None = None) -> list[dict[str, Any]]:
    """The operators, by name."""
    answer: list[dict[str, Any]] = _query(target, "operators").get("operators", [])
    return answer


def operator(name: str, target: str | None = None) -> dict[str, Any]:
    """One operator; NotFound names the closest ones there are."""
    answer: dict[str, Any] = _query(target, "operator", name)
    return answer
