"""The one door to libgpuos.so: finding it, its structs, its calls as methods that raise.

The library is loaded on first use, so that importing gpuos works without it. Every call goes
through ctypes.CDLL, which releases the GIL until it returns.
"""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any, Callable, Sequence

from gpuos._layout import MAX_DIMS
from gpuos.errors import FailedPrecondition, error_for

LIBRARY_VARIABLE = "GPUOS_LIBRARY"


CDims = c_int64 * MAX_DIMS


class CView(Structure):
    """gpuos_view."""

    _fields_ = [
        ("slot", c_uint32),
        ("dtype", c_uint32),
        ("offset", c_uint64),
        ("dims", c_uint32),
        ("reserved", c_uint32),
        ("sizes", CDims),
        ("strides", CDims),
    ]


class CAttribute(Structure):
    """gpuos_attribute."""

    _fields_ = [
        ("name", c_char_p),
        ("kind", c_uint32),
        ("reserved", c_uint32),
        ("i", c_int64),
        ("f", c_double),
    ]


class CBinding(Structure):
    """gpuos_binding."""

    _fields_ = [("segment", c_uint64), ("offset", c_uint64)]


@functools.lru_cache(maxsize=256)
def array_of(kind: Any, length: int) -> Any:
    """The ctypes type of `length` values, made once."""
    return kind * length


def _candidates() -> list[pathlib.Path]:
    package = pathlib.Path(__file__).resolve().parent
    source_tree = package.parent.parent
    return [package / "libgpuos.so", source_tree / "bazel-bin" / "client" / "libgpuos.so"]


def find_library() -> pathlib.Path:
    """Where libgpuos.so is: $GPUOS_LIBRARY, beside the package, or built in the source tree."""
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        path = pathlib.Path(named)
        if not path.is_file():
            raise FailedPrecondition(f"{LIBRARY_VARIABLE} is {named}, and no such file exists")
        return path
    for path in _candidates():
        if path.is_file():
            return path
    looked = " and ".join(str(path) for path in _candidates())
    raise FailedPrecondition(
        f"libgpuos.so was not found at {looked}; build it with 'bazel build //client:libgpuos.so' "
        f"or name it in {LIBRARY_VARIABLE}"
    )


#: Result and parameters of each function of gpuos/c_api.h.
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "gpuos_version": (c_char_p, []),
    "gpuos_last_error": (c_char_p, []),
    "gpuos_connect": (c_int, [c_char_p, c_char_p, c_char_p, c_int64, POINTER(c_void_p)]),
    "gpuos_close": (None, [c_void_p]),
    "gpuos_session_device_name": (c_char_p, [c_void_p]),
    "gpuos_session_device_uuid": (c_char_p, [c_void_p]),
    "gpuos_session_id": (c_uint64, [c_void_p]),
    "gpuos_segment_create": (
        c_int,
        [c_void_p, c_uint64, POINTER(c_uint64), POINTER(c_void_p), POINTER(c_uint64)],
    ),
    "gpuos_segment_unmap": (c_int, [c_void_p, c_uint64]),
    "gpuos_segment_register_fd": (
        c_int,
        [c_void_p, c_int, POINTER(c_uint64), POINTER(c_uint64)],
    ),
    "gpuos_segment_register_cuda_ipc": (
        c_int,
        [c_void_p, c_char_p, c_char_p, POINTER(c_uint64), POINTER(c_uint64)],
    ),
    "gpuos_segment_register_cuda_pointer": (
        c_int,
        [c_void_p, c_uint64, POINTER(c_uint64), POINTER(c_uint64), POINTER(c_uint64)],
    ),
    "gpuos_segment_release": (c_int, [c_void_p, c_uint64]),
    "gpuos_program_builder_new": (c_void_p, []),
    "gpuos_program_builder_free": (None, [c_void_p]),
    "gpuos_program_add_slot": (c_uint32, [c_void_p, c_uint64]),
    "gpuos_program_add_task": (
        c_uint32,
        [
            c_void_p,
            c_char_p,
            POINTER(CView),
            c_uint32,
            POINTER(CAttribute),
            c_uint32,
            POINTER(c_uint32),
            c_uint32,
        ],
    ),
    "gpuos_program_create": (c_int, [c_void_p, c_void_p, POINTER(c_uint64)]),
    "gpuos_program_release": (c_int, [c_void_p, c_uint64]),
    "gpuos_submit": (
        c_int,
        [c_void_p, c_uint64, POINTER(CBinding), c_uint32, c_int, POINTER(c_uint64)],
    ),
    "gpuos_wait": (c_int, [c_void_p, c_uint64, c_int64]),
    "gpuos_query_json": (c_int, [c_char_p, c_char_p, c_char_p, POINTER(c_void_p)]),
    "gpuos_free": (None, [c_void_p]),
}


class Library:
    """libgpuos.so, loaded. Thread-safe. Methods raise the error that the library reports."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        try:
            self._dll = ctypes.CDLL(str(path))
            for name, (result, parameters) in _PROTOTYPES.items():
                function = getattr(self._dll, name)
                function.restype = result
                function.argtypes = parameters
        except (OSError, AttributeError) as cause:
            raise FailedPrecondition(
                f"{path} cannot be used as libgpuos.so: {cause}; build it again with "
                "'bazel build //client:libgpuos.so'"
            ) from cause

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._dll, name)(*arguments)
        if code:
            sentence = self._dll.gpuos_last_error()
            raise error_for(code, (sentence or b"").decode("utf-8", "replace"))

    def version(self) -> str:
        return str(self._dll.gpuos_version().decode())

    def connect(
        self, target: str | None, device: str | None, client_name: str | None, timeout_us: int
    ) -> int:
        session = c_void_p()
        self._call(
            "gpuos_connect",
            _text(target),
            _text(device),
            _text(client_name),
            timeout_us,
            byref(session),
        )
        return int(session.value or 0)

    def close(self, session: int) -> None:
        self._dll.gpuos_close(session)

    def device_name(self, session: int) -> str:
        return str(self._dll.gpuos_session_device_name(session).decode())

    def device_uuid(self, session: int) -> str:
        return str((self._dll.gpuos_session_device_uuid(session) or b"").decode())

    def session_id(self, session: int) -> int:
        return int(self._dll.gpuos_session_id(session))

    def segment_create(self, session: int, size: int) -> tuple[int, int, int]:
        """Segment, address, mapped size."""
        segment, address, mapped = c_uint64(), c_void_p(), c_uint64()
        self._call(
            "gpuos_segment_create", session, size, byref(segment), byref(address), byref(mapped)
        )
        return segment.value, int(address.value or 0), mapped.value

    def segment_unmap(self, address: int, mapped_size: int) -> None:
        self._call("gpuos_segment_unmap", address, mapped_size)

    def segment_register_fd(self, session: int, descriptor: int) -> tuple[int, int]:
        """Segment, size."""
        segment, size = c_uint64(), c_uint64()
        self._call("gpuos_segment_register_fd", session, descriptor, byref(segment), byref(size))
        return segment.value, size.value

    def segment_register_cuda_pointer(self, session: int, pointer: int) -> tuple[int, int, int]:
        """Segment, offset of the pointer in it, size."""
        segment, offset, size = c_uint64(), c_uint64(), c_uint64()
        self._call(
            "gpuos_segment_register_cuda_pointer",
            session,
            pointer,
            byref(segment),
            byref(offset),
            byref(size),
        )
        return segment.value, offset.value, size.value

    def segment_release(self, session: int, segment: int) -> None:
        self._call("gpuos_segment_release", session, segment)

    def program_create(self, session: int, write: Callable[[ProgramBuilder], None]) -> int:
        """Lets `write` fill a builder and sends the program; returns its id."""
        builder = self._dll.gpuos_program_builder_new()
        try:
            write(ProgramBuilder(self._dll, builder))
            program = c_uint64()
            self._call("gpuos_program_create", session, builder, byref(program))
            return program.value
        finally:
            self._dll.gpuos_program_builder_free(builder)

    def program_release(self, session: int, program: int) -> None:
        self._call("gpuos_program_release", session, program)

    def submit(
        self, session: int, program: int, bindings: Sequence[tuple[int, int]], wait: bool
    ) -> int:
        """The batch's value."""
        value = c_uint64()
        count = len(bindings)
        array = array_of(CBinding, count)(*bindings)
        self._call("gpuos_submit", session, program, array, count, int(wait), byref(value))
        return value.value

    def wait(self, session: int, value: int, timeout_us: int) -> None:
        self._call("gpuos_wait", session, value, timeout_us)

    def query_json(self, target: str | None, what: str, name: str | None = None) -> str:
        json = c_void_p()
        self._call("gpuos_query_json", _text(target), _text(what), _text(name), byref(json))
        try:
            return ctypes.string_at(json.value or 0).decode()
        finally:
            self._dll.gpuos_free(json)


class ProgramBuilder:
    """gpuos_program_builder while Library.program_create lends it out."""

    def __init__(self, dll: ctypes.CDLL, builder: int) -> None:
        self._dll = dll
        self._builder = builder

    def add_slot(self, length: int) -> None:
        self._dll.gpuos_program_add_slot(self._builder, length)

    def add_task(
        self,
        op: str,
        views: Sequence[CView],
        attributes: Sequence[tuple[str, int | float]],
        after: Sequence[int],
    ) -> None:
        names = [name.encode() for name, _ in attributes]
        c_attributes = array_of(CAttribute, len(attributes))(
            *(_attribute(name, value) for name, (_, value) in zip(names, attributes))
        )
        self._dll.gpuos_program_add_task(
            self._builder,
            op.encode(),
            array_of(CView, len(views))(*views),
            len(views),
            c_attributes,
            len(attributes),
            array_of(c_uint32, len(after))(*after),
            len(after),
        )


def _attribute(name: bytes, value: int | float) -> CAttribute:
    if isinstance(value, bool):
        return CAttribute(name, 3, 0, int(value), 0.0)
    if isinstance(value, int):
        return CAttribute(name, 1, 0, value, 0.0)
    return CAttribute(name, 2, 0, 0, value)


def _text(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


@functools.lru_cache(maxsize=None)
def library() -> Library:
    """libgpuos.so, found and loaded on the first call. Raises FailedPrecondition, kindly."""
    return Library(find_library())
