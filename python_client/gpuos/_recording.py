"""What was recorded, apart from where it lies: tasks over regions of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Hashable, Sequence, Union

from gpuos._layout import Shape
from gpuos._native import CDims, CView, ProgramBuilder
from gpuos._slots import Assignment, Piece, assign
from gpuos.errors import InvalidArgument
from gpuos.tensor import Tensor

Attribute = Union[bool, int, float]


@dataclass(frozen=True, slots=True)
class Operand:
    """A view of a region; with all others, part of what makes two recordings the same."""

    region: int
    offset: int  # Bytes from the region's first byte.
    dtype: int
    shape: Shape
    strides: Shape


@dataclass(frozen=True, slots=True)
class Task:
    op: str
    operands: tuple[Operand, ...]
    # The type is told apart too: 1, 1.0 and True are equal in Python.
    attributes: tuple[tuple[str, type, Attribute], ...]
    after: tuple[int, ...]


class Recording:
    """Tasks in order, and the regions that they touch. One thread at a time.

    A region is the memory of one tensor. Named regions come first; a view that lies in a named
    tensor belongs to it and moves with it when another tensor takes its name.
    """

    def __init__(self, named: Sequence[tuple[str, Tensor]] = ()) -> None:
        self.tensors: list[Tensor] = []
        self.tasks: list[Task] = []
        self._regions: dict[Piece, int] = {}
        self._named: list[tuple[str, Piece]] = []
        for name, tensor in named:
            piece = tensor._piece()
            for other, taken in self._named:
                if _overlap(piece, taken):
                    raise InvalidArgument(
                        f"the named tensors {other} and {name} overlap in memory; name one tensor "
                        "that covers both and use views of it"
                    )
            self._named.append((name, piece))
            self._add(tensor, piece)

    def add(
        self,
        op: str,
        tensors: Sequence[Tensor],
        attributes: Sequence[tuple[str, Attribute]],
        after: Sequence[int],
    ) -> int:
        """Appends a task; returns its index."""
        task = Task(
            op,
            tuple(self._operand(tensor) for tensor in tensors),
            tuple((name, type(value), value) for name, value in attributes),
            tuple(after),
        )
        self.tasks.append(task)
        return len(self.tasks) - 1

    def _operand(self, tensor: Tensor) -> Operand:
        piece = tensor._piece()
        region, start = self._region(tensor, piece)
        layout = tensor._layout
        return Operand(
            region, piece.start - start, layout.dtype.value, layout.shape, layout.strides
        )

    def _region(self, tensor: Tensor, piece: Piece) -> tuple[int, int]:
        for region, (name, taken) in enumerate(self._named):
            if not _overlap(piece, taken):
                continue
            if piece.start < taken.start or piece.start + piece.length > taken.start + taken.length:
                raise InvalidArgument(
                    f"an operand overlaps the named tensor {name} without lying in it; name the "
                    "larger tensor"
                )
            return region, taken.start
        found = self._regions.get(piece)
        return (self._add(tensor, piece) if found is None else found), piece.start

    def _add(self, tensor: Tensor, piece: Piece) -> int:
        self._regions[piece] = len(self.tensors)
        self.tensors.append(tensor)
        return len(self.tensors) - 1


@dataclass(frozen=True, slots=True)
class Placed:
    """A recording over given memory: what to create, what to bind."""

    tasks: tuple[Task, ...]
    assignment: Assignment

    @property
    def key(self) -> Hashable:
        return self.tasks, self.assignment.lengths, self.assignment.places

    def write(self, builder: ProgramBuilder) -> None:
        for length in self.assignment.lengths:
            builder.add_slot(length)
        for task in self.tasks:
            builder.add_task(
                task.op,
                [self._view(operand) for operand in task.operands],
                [(name, value) for name, _, value in task.attributes],
                task.after,
            )

    def _view(self, operand: Operand) -> CView:
        slot, start = self.assignment.places[operand.region]
        sizes, strides = CDims(*operand.shape), CDims(*operand.strides)
        offset = start + operand.offset
        return CView(slot, operand.dtype, offset, len(operand.shape), 0, sizes, strides)


def place(tasks: tuple[Task, ...], tensors: Sequence[Tensor]) -> Placed:
    """Lays the regions of `tasks` over `tensors`, one for each region."""
    return Placed(tasks, assign([tensor._piece() for tensor in tensors]))


def _overlap(a: Piece, b: Piece) -> bool:
    return a.segment == b.segment and a.start < b.start + b.length and b.start < a.start + a.length
