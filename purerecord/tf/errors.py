"""``tf.errors``: TensorFlow's exceptions, and how purerecord's own become them.

Each is also the built-in exception that it resembles, so that programs that never heard of TensorFlow
can catch it: a ``NotFoundError`` is a ``FileNotFoundError``. ``translate`` gives for an error of
purerecord, or an ``OSError``, the one that TensorFlow raises in its place, with TensorFlow's text. What it
gives is still of the class that it was made from, with all its attributes.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from ..errors import (
    ChecksumError,
    ClosedError,
    CompressionError,
    CorruptionError,
    DecodeError,
    PureRecordError,
    TruncatedError,
)

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OperatorNotAllowedInGraphError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
]

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """Base of TensorFlow's errors: ``message`` says what is wrong; ``node_def`` and ``op`` are None."""

    error_code: ClassVar[int] = UNKNOWN

    def __init__(
        self, node_def: Any = None, op: Any = None, message: str = "", *details: Any, **_: Any
    ) -> None:
        super().__init__(message)
        self._message = message
        self._node_def = node_def
        self._op = op
        self._payloads: dict[str, Any] = dict(details[0]) if details else {}

    @property
    def message(self) -> str:
        """What is wrong."""
        return self._message

    @property
    def node_def(self) -> Any:
        """None; TensorFlow has the node of its graph here."""
        return self._node_def

    @property
    def op(self) -> Any:
        """None; TensorFlow has the operation of its graph here."""
        return self._op

    @property
    def experimental_payloads(self) -> dict[str, Any]:
        """Further facts; none here."""
        return self._payloads

    def __str__(self) -> str:
        return self._message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._node_def, self._op, self._message), self.__dict__


class CancelledError(OpError):
    """The operation was cancelled."""

    error_code = CANCELLED


class UnknownError(OpError):
    """Something else."""


class InvalidArgumentError(OpError, ValueError):
    """An operation got an argument that it cannot work with."""

    error_code = INVALID_ARGUMENT


class DeadlineExceededError(OpError, TimeoutError):
    """An operation took too long."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError, FileNotFoundError):
    """A file or directory does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError, FileExistsError):
    """What was to be made is there already."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError, PermissionError):
    """The caller may not do this."""

    error_code = PERMISSION_DENIED


class UnauthenticatedError(OpError, PermissionError):
    """The caller has not said who it is."""

    error_code = UNAUTHENTICATED


class ResourceExhaustedError(OpError, MemoryError):
    """Out of memory, disk space or the like."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError, OSError, ValueError):
    """The thing is not in the state for it: closed, a directory, not empty."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """The operation was given up, mostly because of another one."""

    error_code = ABORTED


class OutOfRangeError(OpError, IndexError, EOFError):
    """The end: no more elements or bytes."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError, NotImplementedError):
    """There is no such thing, or not for these arguments."""

    error_code = UNIMPLEMENTED


class InternalError(OpError):
    """Something that must not happen did."""

    error_code = INTERNAL


class UnavailableError(OpError, ConnectionError):
    """A service is not there at the moment."""

    error_code = UNAVAILABLE


class DataLossError(OpError, ValueError):
    """The data is damaged."""

    error_code = DATA_LOSS


class OperatorNotAllowedInGraphError(TypeError):
    """For programs that catch it; there is no graph here, so it is never raised."""


# --- Translation ------------------------------------------------------------------------------------

_OF_ERRNO: dict[int, type[OpError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: AlreadyExistsError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EROFS: PermissionDeniedError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.EBUSY: FailedPreconditionError,
    errno.EBADF: FailedPreconditionError,
    errno.ENAMETOOLONG: InvalidArgumentError,
    errno.EINVAL: InvalidArgumentError,
    errno.ESPIPE: InvalidArgumentError,
    errno.ELOOP: InvalidArgumentError,
    errno.ENOSPC: ResourceExhaustedError,
    errno.EMFILE: ResourceExhaustedError,
    errno.ENFILE: ResourceExhaustedError,
    errno.ENOMEM: ResourceExhaustedError,
}
_JOINED: dict[tuple[type, type], type[OpError]] = {}


def translate(error: Exception, *, compressed: bool = False) -> Exception:
    """TensorFlow's error for one of purerecord's or an ``OSError``; any other error as it is.

    ``compressed`` says that the file is, which changes one text.
    """
    if isinstance(error, OpError):
        return error
    if isinstance(error, OSError):
        return _of_oserror(error)
    if isinstance(error, ClosedError):
        return join(FailedPreconditionError, error, "Writer is closed.")
    if isinstance(error, CorruptionError) and not isinstance(error, DecodeError):
        return join(DataLossError, error, _damage(error, compressed))
    if isinstance(error, PureRecordError):
        return join(InvalidArgumentError, error, str(error))
    return error


@contextmanager
def translated(*, compressed: bool = False) -> Iterator[None]:
    """``with translated(): ...``: what is raised inside comes out as TensorFlow's error."""
    try:
        yield
    except (PureRecordError, OSError) as error:
        raise translate(error, compressed=compressed) from error


def join(kind: type[OpError], error: Exception, message: str) -> OpError:
    """An error of ``kind`` with this message that is also of the class of ``error``, with its attributes."""
    joined = _joined(kind, type(error))(None, None, message)
    joined.__dict__.update({name: value for name, value in vars(error).items() if name != "_message"})
    if isinstance(error, OSError) and isinstance(joined, OSError):
        joined.errno, joined.strerror, joined.filename = error.errno, error.strerror, error.filename
    return joined


def _joined(kind: type[OpError], of: type[Exception]) -> type[OpError]:
    if issubclass(kind, of):
        return kind
    if (kind, of) not in _JOINED:
        # OpError's constructor and text come first in the order of inheritance.
        body = {"__doc__": kind.__doc__, "__module__": __name__, "__reduce__": _reduce}
        _JOINED[kind, of] = type(kind.__name__, (kind, of), body)
    return _JOINED[kind, of]


def _reduce(error: OpError) -> tuple[Any, ...]:
    kind, of = type(error).__bases__
    return _restore, (kind, of, error.message), error.__dict__


def _restore(kind: type[OpError], of: type[Exception], message: str) -> OpError:
    return _joined(kind, of)(None, None, message)


def _damage(error: CorruptionError, compressed: bool) -> str:
    """What TensorFlow says of damage to a file."""
    offset = error.offset or 0
    if isinstance(error, ChecksumError):
        if error.part == "data":
            return f"corrupted record at {offset + 12}"
        return f"corrupted record at {offset}" + ("" if offset else " (Is this even a TFRecord file?)")
    if isinstance(error, TruncatedError):
        how = "EOF reached" if compressed else "Read less bytes than requested"
        return f"truncated record at {offset}' failed with {how}"
    if isinstance(error, CompressionError):
        inflate = re.search(r"\(([^()]*)\)$", error.reason)  # what zlib says
        if inflate:
            return f"inflate() failed with error -3: {inflate[1]}"
    return str(error)


def _of_oserror(error: OSError) -> Exception:
    code = error.errno or next((code for kind, code in _ERRNO if isinstance(error, kind)), 0)
    text = error.strerror or (os.strerror(code) if code else str(error))
    name = error.filename
    if name is None and code and not error.errno:
        name = str(error)  # fsspec gives a name and no number
    where = f"{os.fsdecode(name)}; " if name else ""
    return join(_OF_ERRNO.get(code, UnknownError), error, f"{where}{text}")


_ERRNO: tuple[tuple[type[OSError], int], ...] = (
    (FileNotFoundError, errno.ENOENT),
    (FileExistsError, errno.EEXIST),
    (PermissionError, errno.EACCES),
    (IsADirectoryError, errno.EISDIR),
    (NotADirectoryError, errno.ENOTDIR),
)
