"""A program: record once, run many times with other tensors in named places."""

from __future__ import annotations

import threading
import weakref
from types import TracebackType

from gpuos._core import Core
from gpuos._programs import Entry, Programs
from gpuos._recording import Recording, Task, place
from gpuos._slots import Assignment
from gpuos.errors import FailedPrecondition, InvalidArgument
from gpuos._recorder import Recorder
from gpuos.tensor import Tensor


class Program(Recorder):
    """Made by Session.program(name=tensor, ...).

        with session.program(x=rows[0:1], y=out[0:1]) as p:
            p.softmax(p.matmul(rows[0:1], w), out=out[0:1])
        for i in range(len(rows)):
            p.run(x=rows[i : i + 1], y=out[i : i + 1])

    Recording happens on ordinary tensors: views that lie in a named tensor move with it, all other
    tensors stay as recorded (intermediates are shared by all runs, which take effect in order).
    A tensor takes a name if its shape, dtype and strides are those of the named one.

    Recording: one thread at a time. run() may be called from any thread once recording is over.
    """

    def __init__(self, core: Core, named: dict[str, Tensor]) -> None:
        for name, tensor in named.items():
            core.own(tensor, f"the named tensor {name}")
        super().__init__(core, Recording(list(named.items())))
        self._names = {name: region for region, name in enumerate(named)}
        self._tasks: tuple[Task, ...] = ()
        # How the tensors lie to one another and to the alignment of bindings decides the program on
        # the device: nearly always the same one, so a lookup finds it.
        self._lock = threading.Lock()
        self._variants: dict[object, Entry] = {}
        self._finalizer = weakref.finalize(self, _drop_all, core.programs, self._variants)
        self._finalizer.atexit = False

    def finish(self) -> None:
        """Ends recording and puts the program on the device; raises its errors. So does run()."""
        self._resolve(self._recording.tensors)

    def run(self, *, wait: bool = True, **tensors: Tensor) -> int:
        """Runs the program with other tensors under some names; returns the batch's value.

        With wait=True it returns when the batch is done and raises its error if it failed: one
        call to the daemon, not interruptible. Else Session.wait(value) does that.
        """
        bound = self._recording.tensors
        if tensors:
            bound = list(bound)
            for name, tensor in tensors.items():
                region = self._region(name)
                self._check(name, bound[region], tensor)
                bound[region] = tensor
        entry, assignment = self._resolve(bound)
        return self._core.submit(entry.id, assignment.bindings, bound, wait)

    def _region(self, name: str) -> int:
        region = self._names.get(name)
        if region is None:
            known = ", ".join(self._names) or "none"
            raise InvalidArgument(f"the program has no tensor named {name}; its names are: {known}")
        return region

    def _check(self, name: str, recorded: Tensor, tensor: object) -> None:
        own = self._core.own(tensor, f"the tensor for {name}")
        if not recorded._layout.same_geometry(own._layout):
            raise InvalidArgument(
                f"the tensor for {name} has shape {list(own.shape)}, strides {list(own.strides)} "
                f"and dtype {own.dtype.name}; the program was recorded with "
                f"{list(recorded.shape)}, {list(recorded.strides)} and {recorded.dtype.name}"
            )

    def _resolve(self, tensors: list[Tensor]) -> tuple[Entry, Assignment]:
        if not self._sealed:
            self._sealed = True
            self._tasks = tuple(self._recording.tasks)
        placed = place(self._tasks, tensors)
        pattern = placed.assignment.lengths, placed.assignment.places
        entry = self._variants.get(pattern)
        if entry is None:
            with self._lock:
                entry = self._variants.get(pattern)
                if entry is None:
                    entry = self._core.programs.hold(placed.key, placed.write)
                    self._variants[pattern] = entry
        return entry, placed.assignment

    def __enter__(self) -> Program:
        if self._sealed:
            raise FailedPrecondition("the program is recorded already; begin another one")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()


def _drop_all(programs: Programs, variants: dict[object, Entry]) -> None:
    for entry in variants.values():
        programs.drop(entry)
