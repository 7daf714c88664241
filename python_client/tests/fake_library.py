"""Stands in for libgpuos.so: records calls, runs nothing, lends memory of this process."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

from gpuos.errors import DeadlineExceeded


@dataclass
class FakeProgram:
    """What was written with a ProgramBuilder."""

    slots: list[int] = field(default_factory=list)
    tasks: list[tuple[str, list[dict[str, Any]], list[tuple[str, Any]], list[int]]] = field(
        default_factory=list
    )

    def add_slot(self, length: int) -> None:
        self.slots.append(length)

    def add_task(
        self, op: str, views: Sequence[Any], attributes: Sequence[Any], after: Sequence[int]
    ) -> None:
        plain = [
            {
                "slot": view.slot,
                "dtype": view.dtype,
                "offset": view.offset,
                "sizes": list(view.sizes[: view.dims]),
                "strides": list(view.strides[: view.dims]),
            }
            for view in views
        ]
        self.tasks.append((op, plain, list(attributes), list(after)))


class FakeLibrary:
    """The methods of gpuos._native.Library."""

    def __init__(self) -> None:
        self.segments: dict[int, int] = {}
        self.mapped: dict[int, Any] = {}
        self.programs: dict[int, FakeProgram] = {}
        self.released_programs: list[int] = []
        self.submissions: list[tuple[int, list[tuple[int, int]]]] = []
        self.done = 0  # Batches 1 .. done are.
        self.closed: list[int] = []
        self.submit_error: Exception | None = None
        self.wait_error: Exception | None = None

    def connect(self, *arguments: Any) -> int:
        return 1

    def close(self, session: int) -> None:
        self.closed.append(session)
        self.segments.clear()

    def device_name(self, session: int) -> str:
        return "host:0"

    def device_uuid(self, session: int) -> str:
        return ""

    def session_id(self, session: int) -> int:
        return 7

    def segment_create(self, session: int, size: int) -> tuple[int, int, int]:
        size = -(-size // 4096) * 4096
        memory = ctypes.create_string_buffer(size + 64)
        address = -(-ctypes.addressof(memory) // 64) * 64
        self.mapped[address] = memory
        segment = 100 + len(self.mapped)
        self.segments[segment] = size
        return segment, address, size

    def segment_unmap(self, address: int, mapped_size: int) -> None:
        del self.mapped[address]

    def segment_release(self, session: int, segment: int) -> None:
        del self.segments[segment]

    def program_create(self, session: int, write: Callable[[Any], None]) -> int:
        program = FakeProgram()
        write(program)
        self.programs[len(self.programs) + 1] = program
        return len(self.programs)

    def program_release(self, session: int, program: int) -> None:
        self.released_programs.append(program)

    def submit(
        self, session: int, program: int, bindings: Sequence[tuple[int, int]], wait: bool
    ) -> int:
        if self.submit_error is not None:
            raise self.submit_error
        self.submissions.append((program, list(bindings)))
        return len(self.submissions)

    def wait(self, session: int, value: int, timeout_us: int) -> None:
        if self.wait_error is not None:
            raise self.wait_error
        if value > self.done:
            raise DeadlineExceeded("not yet")
