"""Recording tasks, the common half of batches and programs."""

from __future__ import annotations

from typing import Sequence, Union

from gpuos._core import Core
from gpuos._layout import Shape
from gpuos._recording import Recording
from gpuos.dtypes import DType
from gpuos.errors import FailedPrecondition
from gpuos._operators import Number, Operators
from gpuos.tensor import Tensor


class Recorder(Operators):
    """Writes down tasks until it is sealed. One thread at a time."""

    def __init__(self, core: Core, recording: Recording) -> None:
        self._core = core
        self._recording = recording
        self._sealed = False

    @property
    def tasks(self) -> int:
        """Tasks recorded so far."""
        return len(self._recording.tasks)

    def call(
        self,
        op: str,
        outputs: Union[Tensor, Sequence[Tensor]],
        inputs: Union[Tensor, Sequence[Tensor]] = (),
        *,
        attributes: dict[str, Number] | None = None,
        after: Sequence[int] = (),
    ) -> int:
        """Records one call of any operator of the daemon, by name; returns the task's index.

        Tasks that touch the same memory, one of them writing, run in the order in which they were
        recorded; others may run at once. `after` adds the indices of tasks to wait for.
        """
        if self._sealed:
            raise FailedPrecondition("the recording is finished; begin another one")
        operands = [*_listed(outputs), *_listed(inputs)]
        tensors = [
            self._core.own(tensor, f"operand {i} of {op}") for i, tensor in enumerate(operands)
        ]
        return self._recording.add(op, tensors, list((attributes or {}).items()), after)

    def _empty(self, shape: Shape, dtype: DType) -> Tensor:
        return self._core.empty(shape, dtype)


def _listed(tensors: Union[Tensor, Sequence[Tensor]]) -> Sequence[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else tensors
