"""Geometry of strided views: pure arithmetic, no memory behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Sequence, Union

from gpuos.dtypes import DType
from gpuos.errors import InvalidArgument

MAX_DIMS = 8

Index = Union[int, slice, None, EllipsisType]
Shape = tuple[int, ...]


def contiguous_strides(shape: Sequence[int]) -> Shape:
    """Strides, in elements, of a row-major tensor."""
    strides = [1] * len(shape)
    for dim in range(len(shape) - 2, -1, -1):
        strides[dim] = strides[dim + 1] * max(shape[dim + 1], 1)
    return tuple(strides)


def check_shape(shape: Sequence[int]) -> Shape:
    """The shape as a tuple; refuses negative sizes and more than eight dimensions."""
    sizes = tuple(int(size) for size in shape)
    if len(sizes) > MAX_DIMS:
        raise InvalidArgument(
            f"shape has {len(sizes)} dimensions; at most {MAX_DIMS} are supported"
        )
    for dim, size in enumerate(sizes):
        if size < 0:
            raise InvalidArgument(f"shape[{dim}] is {size}; sizes must be 0 or more")
    return sizes


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all broadcast to, as NumPy and PyTorch define it."""
    result: list[int] = []
    for back in range(1, max((len(shape) for shape in shapes), default=0) + 1):
        size = 1
        for shape in shapes:
            own = shape[-back] if back <= len(shape) else 1
            if own != 1 and size not in (1, own):
                listed = ", ".join(str(list(each)) for each in shapes)
                raise InvalidArgument(f"shapes {listed} do not broadcast together")
            size = own if own != 1 else size
        result.append(size)
    return tuple(reversed(result))


@dataclass(frozen=True, slots=True)
class Layout:
    """A strided view: byte offset of element 0, sizes and strides in elements."""

    offset: int
    shape: Shape
    strides: Shape
    dtype: DType

    @staticmethod
    def contiguous(shape: Sequence[int], dtype: DType, offset: int = 0) -> Layout:
        sizes = check_shape(shape)
        return Layout(offset, sizes, contiguous_strides(sizes), dtype)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def span(self) -> int:
        """Bytes from element 0 to the end of the last one; 0 when there are none."""
        if self.elements == 0:
            return 0
        last = sum((size - 1) * stride for size, stride in zip(self.shape, self.strides))
        return (last + 1) * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        if self.elements <= 1:
            return True
        expected = contiguous_strides(self.shape)
        return all(
            size == 1 or stride == want
            for size, stride, want in zip(self.shape, self.strides, expected)
        )

    def index(self, key: Union[Index, tuple[Index, ...]]) -> Layout:
        """Basic indexing: integers, slices with a positive step, None and Ellipsis."""
        keys = _expand(key if isinstance(key, tuple) else (key,), len(self.shape))
        offset, shape, strides = 0, [], []
        dim = 0
        for each in keys:
            if each is None:
                shape.append(1)
                strides.append(0)
                continue
            size, stride = self.shape[dim], self.strides[dim]
            if isinstance(each, slice):
                start, length, step = _slice(each, size, dim)
                shape.append(length)
                strides.append(stride * step)
            else:
                start = _position(each, size, dim)
            if self.elements:
                offset += start * stride
            dim += 1
        check_shape(shape)
        return Layout(
            self.offset + offset * self.dtype.itemsize, tuple(shape), tuple(strides), self.dtype
        )

    def permute(self, dims: Sequence[int]) -> Layout:
        rank = len(self.shape)
        order = [dim + rank if dim < 0 else dim for dim in dims]
        if sorted(order) != list(range(rank)):
            raise InvalidArgument(
                f"dims is {list(dims)}; it must name each of the {rank} dimensions once"
            )
        return replace(
            self,
            shape=tuple(self.shape[dim] for dim in order),
            strides=tuple(self.strides[dim] for dim in order),
        )

    def transpose(self, first: int, second: int) -> Layout:
        rank = len(self.shape)
        for name, dim in (("first", first), ("second", second)):
            if not -rank <= dim < rank:
                raise InvalidArgument(f"{name} is {dim}; the tensor has {rank} dimensions")
        order = list(range(rank))
        order[first], order[second] = order[second], order[first]
        return self.permute(order)

    def reshape(self, shape: Sequence[int]) -> Layout:
        """Another shape over the same contiguous elements; one size may be -1."""
        sizes = _infer(list(shape), self.elements)
        if not self.is_contiguous:
            raise InvalidArgument(
                f"a tensor of shape {list(self.shape)} and strides {list(self.strides)} is not "
                "contiguous; copy it in a batch (b.copy(t)) and reshape the copy"
            )
        return replace(self, shape=sizes, strides=contiguous_strides(sizes))

    def broadcast_to(self, shape: Sequence[int]) -> Layout:
        sizes = check_shape(shape)
        lead = len(sizes) - len(self.shape)
        strides = [0] * len(sizes)
        for dim, (size, stride) in enumerate(zip(self.shape, self.strides)):
            if lead < 0 or size not in (1, sizes[lead + dim]):
                break
            strides[lead + dim] = stride if size == sizes[lead + dim] else 0
        else:
            return replace(self, shape=sizes, strides=tuple(strides))
        raise InvalidArgument(f"shape {list(self.shape)} does not broadcast to {list(sizes)}")

    def same_geometry(self, other: Layout) -> bool:
        """Equal but for the offset and for the strides of dimensions of size one."""
        if (self.shape, self.dtype) != (other.shape, other.dtype):
            return False
        return self.elements == 0 or all(
            size == 1 or mine == its
            for size, mine, its in zip(self.shape, self.strides, other.strides)
        )


def _expand(keys: tuple[Index, ...], rank: int) -> list[Index]:
    """Replaces an Ellipsis, and what is missing at the end, by full slices."""
    used = sum(1 for key in keys if key is not None and key is not Ellipsis)
    if used > rank or sum(1 for key in keys if key is Ellipsis) > 1:
        raise InvalidArgument(f"index {keys!r} does not fit a tensor of {rank} dimensions")
    fill: list[Index] = [slice(None)] * (rank - used)
    expanded: list[Index] = []
    for key in keys:
        if key is Ellipsis:
            expanded.extend(fill)
            fill = []
        else:
            expanded.append(key)
    return expanded + fill


def _slice(key: slice, size: int, dim: int) -> tuple[int, int, int]:
    step = 1 if key.step is None else int(key.step)
    if step < 1:
        raise InvalidArgument(
            f"the step of the slice of dimension {dim} is {step}; strides must be 0 or more, so "
            "steps must be 1 or more"
        )
    start, stop, step = key.indices(size)
    length = max(0, -(-(stop - start) // step))
    return (start if length else 0), length, step


def _position(key: object, size: int, dim: int) -> int:
    try:
        position = key.__index__()  # type: ignore[attr-defined]
    except AttributeError:
        raise InvalidArgument(
            f"index of dimension {dim} is {key!r}; use integers, slices, None or ..."
        ) from None
    if not -size <= position < size:
        # IndexError ends the old iteration protocol and is what sequences raise.
        raise IndexError(f"index {position} is outside dimension {dim} of size {size}")
    return int(position + size if position < 0 else position)


def _infer(shape: list[int], elements: int) -> Shape:
    if shape.count(-1) > 1:
        raise InvalidArgument(f"shape is {shape}; at most one size may be -1")
    if -1 in shape:
        known = math.prod(size for size in shape if size != -1)
        if known == 0 or elements % known:
            raise InvalidArgument(f"shape is {shape}; -1 cannot stand for a whole number")
        shape[shape.index(-1)] = elements // known
    sizes = check_shape(shape)
    if math.prod(sizes) != elements:
        raise InvalidArgument(f"shape {list(sizes)} does not hold {elements} elements")
    return sizes
