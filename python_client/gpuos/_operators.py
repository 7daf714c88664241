"""The built-in operators as methods, for batches and programs alike.

Each takes its inputs, makes an output of the right shape unless ``out=`` gives one, records one
task and returns the output. Inputs broadcast as in NumPy and PyTorch. Shapes and dtypes are worked
out here only to make outputs; the daemon checks them all.
"""

from __future__ import annotations

import abc
from typing import Any, Sequence, Union

from gpuos._layout import Shape, broadcast_shapes
from gpuos.dtypes import DType, as_dtype, bool_, int64
from gpuos.errors import InvalidArgument
from gpuos.tensor import Tensor

Number = Union[bool, int, float]


class Operators(abc.ABC):
    """Mixed into what records tasks."""

    @abc.abstractmethod
    def call(
        self,
        op: str,
        outputs: Union[Tensor, Sequence[Tensor]],
        inputs: Union[Tensor, Sequence[Tensor]] = (),
        *,
        attributes: dict[str, Number] | None = None,
        after: Sequence[int] = (),
    ) -> int:
        """Records one call of any operator of the daemon, by name; returns the task's index."""

    @abc.abstractmethod
    def _empty(self, shape: Shape, dtype: DType) -> Tensor:
        """Memory for an output."""

    def add(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a + b."""
        return self._map("add", out, a, b)

    def sub(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a - b."""
        return self._map("sub", out, a, b)

    def mul(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a * b, element by element."""
        return self._map("mul", out, a, b)

    def div(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a / b."""
        return self._map("div", out, a, b)

    def maximum(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The larger of each pair; NaN if either is."""
        return self._map("maximum", out, a, b)

    def minimum(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The smaller of each pair; NaN if either is."""
        return self._map("minimum", out, a, b)

    def neg(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """-a."""
        return self._map("neg", out, a)

    def relu(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """max(a, 0)."""
        return self._map("relu", out, a)

    def exp(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """e to the power of a."""
        return self._map("exp", out, a)

    def log(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Natural logarithm."""
        return self._map("log", out, a)

    def sqrt(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Square root."""
        return self._map("sqrt", out, a)

    def tanh(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Hyperbolic tangent."""
        return self._map("tanh", out, a)

    def sigmoid(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """1 / (1 + exp(-a))."""
        return self._map("sigmoid", out, a)

    def gelu(self, a: Tensor, *, tanh: bool = False, out: Tensor | None = None) -> Tensor:
        """a times the normal distribution's function at a; with tanh, its usual approximation."""
        attributes: dict[str, Number] = {"tanh": True} if tanh else {}
        return self._record("gelu", out, self._shape(a, "gelu"), a.dtype, (a,), attributes)

    def eq(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a == b, as bool."""
        return self._compare("eq", out, a, b)

    def ne(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a != b, as bool."""
        return self._compare("ne", out, a, b)

    def lt(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a < b, as bool."""
        return self._compare("lt", out, a, b)

    def le(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a <= b, as bool."""
        return self._compare("le", out, a, b)

    def gt(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a > b, as bool."""
        return self._compare("gt", out, a, b)

    def ge(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """a >= b, as bool."""
        return self._compare("ge", out, a, b)

    def where(
        self, condition: Tensor, a: Tensor, b: Tensor, *, out: Tensor | None = None
    ) -> Tensor:
        """a where the condition (bool) holds, else b."""
        shape = broadcast_shapes(*(self._shape(t, "where") for t in (condition, a, b)))
        return self._record("where", out, shape, a.dtype, (condition, a, b))

    def copy(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The same elements, contiguous unless `out` says otherwise."""
        return self._map("copy", out, a)

    def cast(self, a: Tensor, dtype: Any, *, out: Tensor | None = None) -> Tensor:
        """The elements converted to another dtype, as PyTorch converts; a copy that converts."""
        return self._record("copy", out, self._shape(a, "copy"), as_dtype(dtype), (a,))

    def fill(self, out: Tensor, value: Number) -> Tensor:
        """Writes one number to every element of `out`."""
        whole = out.dtype is int64 and isinstance(value, int)  # A float cannot hold every int64.
        attributes: dict[str, Number] = (
            {"integer": int(value)} if whole else {"value": float(value)}
        )
        return self._record("fill", out, out.shape, out.dtype, (), attributes)

    def matmul(self, a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        """(m, k) times (k, n) gives (m, n); any strides."""
        left, right = self._shape(a, "matmul"), self._shape(b, "matmul")
        if len(left) != 2 or len(right) != 2 or left[1] != right[0]:
            raise InvalidArgument(
                f"matmul takes (m, k) and (k, n); got {list(left)} and {list(right)}"
            )
        return self._record("matmul", out, (left[0], right[1]), a.dtype, (a, b))

    def sum(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Sum over the last dimension; int64 for integers and bools."""
        return self._reduce("sum", out, a, int64 if a.dtype is bool_ else a.dtype)

    def max(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Largest element of the last dimension; NaN if there is one."""
        return self._reduce("max", out, a, a.dtype)

    def argmax(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Index (int64) of the first largest element of the last dimension."""
        return self._reduce("argmax", out, a, int64)

    def softmax(self, a: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Softmax over the last dimension."""
        return self._record("softmax", out, self._shape(a, "softmax"), a.dtype, (a,))

    def _map(self, op: str, out: Tensor | None, *inputs: Tensor) -> Tensor:
        shape = broadcast_shapes(*(self._shape(each, op) for each in inputs))
        return self._record(op, out, shape, inputs[0].dtype, inputs)

    def _compare(self, op: str, out: Tensor | None, a: Tensor, b: Tensor) -> Tensor:
        shape = broadcast_shapes(self._shape(a, op), self._shape(b, op))
        return self._record(op, out, shape, bool_, (a, b))

    def _reduce(self, op: str, out: Tensor | None, a: Tensor, dtype: DType) -> Tensor:
        shape = self._shape(a, op)
        if not shape:
            raise InvalidArgument(f"{op} is over the last dimension, and the tensor has none")
        return self._record(op, out, shape[:-1], dtype, (a,))

    def _record(
        self,
        op: str,
        out: Tensor | None,
        shape: Shape,
        dtype: DType,
        inputs: Sequence[Tensor],
        attributes: dict[str, Number] | None = None,
    ) -> Tensor:
        result = self._empty(shape, dtype) if out is None else out
        self.call(op, result, inputs, attributes=attributes)
        return result

    @staticmethod
    def _shape(tensor: object, op: str) -> Shape:
        if isinstance(tensor, Tensor):
            return tensor.shape
        raise InvalidArgument(
            f"an input of {op} is a {type(tensor).__name__}, not a gpuos.Tensor; share it first "
            "with session.share(...)"
        )
