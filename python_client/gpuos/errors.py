"""One exception class for each status code; the message is the daemon's (or library's) sentence.

Every class is a :class:`GpuosError`; those with a natural counterpart in Python are that as well:
``except ConnectionError`` or ``except TimeoutError`` work as expected.
"""

from __future__ import annotations


class GpuosError(Exception):
    """Base of everything that gpuos raises. ``str(error)`` is a sentence that says what to do."""

    #: The google.rpc.Code, as in gpuos/c_api.h.
    code: int = 2

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence

    def __str__(self) -> str:
        return self.sentence


class Cancelled(GpuosError):
    code = 1


class Unknown(GpuosError):
    code = 2


class InvalidArgument(GpuosError, ValueError):
    """The request is wrong whatever the daemon's state; nothing was changed."""

    code = 3


class DeadlineExceeded(GpuosError, TimeoutError):
    """The time given was not enough; what was waited for goes on."""

    code = 4


class NotFound(GpuosError, LookupError):
    code = 5


class AlreadyExists(GpuosError):
    code = 6


class PermissionDenied(GpuosError, PermissionError):
    code = 7


class ResourceExhausted(GpuosError):
    """A quota or the memory is used up; try again later or release something."""

    code = 8


class FailedPrecondition(GpuosError):
    """Right in itself, not in this state (a closed session, a forked child, another device)."""

    code = 9


class Aborted(GpuosError):
    """The batch was lost with its executor. What it wrote is undefined; submit it again."""

    code = 10


class OutOfRange(GpuosError):
    code = 11


class Unimplemented(GpuosError):
    code = 12


class Internal(GpuosError):
    code = 13


class Unavailable(GpuosError, ConnectionError):
    """No daemon answers, or it is replacing the device's executor."""

    code = 14


class DataLoss(GpuosError):
    code = 15


class Unauthenticated(GpuosError):
    code = 16


_CLASSES: dict[int, type[GpuosError]] = {
    cls.code: cls
    for cls in (
        Cancelled,
        Unknown,
        InvalidArgument,
        DeadlineExceeded,
        NotFound,
        AlreadyExists,
        PermissionDenied,
        ResourceExhausted,
        FailedPrecondition,
        Aborted,
        OutOfRange,
        Unimplemented,
        Internal,
        Unavailable,
        DataLoss,
        Unauthenticated,
    )
}


def error_for(code: int, sentence: str) -> GpuosError:
    """The exception for a status code; an unknown code becomes :class:`Unknown`."""
    cls = _CLASSES.get(code, Unknown)
    return cls(sentence or f"gpuos failed with code {code} and no sentence")
