"""``tf.errors``: TensorFlow's exceptions, and the translation of other errors into them.

Each exception is also the built-in exception that it resembles: a ``NotFoundError`` is a
``FileNotFoundError``. ``translate`` turns an error of the core or an ``OSError`` into the one that
TensorFlow raises in its place, with TensorFlow's text. The result is still of the original class and has its
attributes. This module does not know tensors.
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
from ..printable import printable

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
    """The base class of TensorFlow's errors, with ``message``; ``node_def`` and ``op`` are None."""

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
        """The text of the error."""
        return self._message

    @property
    def node_def(self) -> Any:
        """None; in TensorFlow the node of the graph."""
        return self._node_def

    @property
    def op(self) -> Any:
        """None; in TensorFlow the operation of the graph."""
        return self._op

    @property
    def experimental_payloads(self) -> dict[str, Any]:
        """Further details; empty here."""
        return self._payloads

    def __str__(self) -> str:
        # Some of TensorFlow's messages have several lines.
        return "\n".join(map(printable, self._message.split("\n")))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._node_def, self._op, self._message), self.__dict__


class CancelledError(OpError):
    """The operation was cancelled."""

    error_code = CANCELLED


class UnknownError(OpError):
    """Any other error."""


class InvalidArgumentError(OpError, ValueError):
    """An argument is not valid for the operation."""

    error_code = INVALID_ARGUMENT


class DeadlineExceededError(OpError, TimeoutError):
    """An operation took too long."""

    error_code = DEADLINE_EXCEEDED


class NotFoundError(OpError, FileNotFoundError):
    """A file or directory does not exist."""

    error_code = NOT_FOUND


class AlreadyExistsError(OpError, FileExistsError):
    """The file or directory exists already."""

    error_code = ALREADY_EXISTS


class PermissionDeniedError(OpError, PermissionError):
    """The caller does not have permission."""

    error_code = PERMISSION_DENIED


class UnauthenticatedError(OpError, PermissionError):
    """The caller is not authenticated."""

    error_code = UNAUTHENTICATED


class ResourceExhaustedError(OpError, MemoryError):
    """Out of memory, disk space or another resource."""

    error_code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError, OSError, ValueError):
    """The object is in the wrong state for the operation: closed, a directory, not empty."""

    error_code = FAILED_PRECONDITION


class AbortedError(OpError):
    """The operation was aborted, usually because of a conflict with another one."""

    error_code = ABORTED


class OutOfRangeError(OpError, IndexError, EOFError):
    """The end of the elements or bytes is reached."""

    error_code = OUT_OF_RANGE


class UnimplementedError(OpError, NotImplementedError):
    """The operation does not exist, or not for these arguments."""

    error_code = UNIMPLEMENTED


class InternalError(OpError):
    """An invariant is broken."""

    error_code = INTERNAL


class UnavailableError(OpError, ConnectionError):
    """A service is temporarily not available."""

    error_code = UNAVAILABLE


class DataLossError(OpError, ValueError):
    """The data is damaged."""

    error_code = DATA_LOSS


class OperatorNotAllowedInGraphError(TypeError):
    """Never raised, since there are no graphs; exists for programs that catch it."""


def invalid(text: str) -> InvalidArgumentError:
    """An ``InvalidArgumentError`` with this text."""
    return InvalidArgumentError(None, None, text)


# --- Translation ------------------------------------------------------------------------------------

_CLASS_OF_ERRNO: dict[int, type[OpError]] = {
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
_COMBINED: dict[tuple[type, type], type[OpError]] = {}


def translate(error: Exception, *, compressed: bool = False) -> Exception:
    """TensorFlow's error for an error of the core or an ``OSError``; any other error as it is.

    TensorFlow has another text for the truncation of a ``compressed`` file.
    """
    if isinstance(error, OpError):
        return error
    if isinstance(error, OSError):
        return _from_oserror(error)
    if isinstance(error, ClosedError):
        return combined_error(FailedPreconditionError, error, "Writer is closed.")
    if isinstance(error, CorruptionError) and not isinstance(error, DecodeError):
        return combined_error(DataLossError, error, _damage_text(error, compressed))
    if isinstance(error, PureRecordError):
        return combined_error(InvalidArgumentError, error, str(error))
    return error


@contextmanager
def translated(*, compressed: bool = False) -> Iterator[None]:
    """A context manager that raises errors of the core and ``OSError`` as TensorFlow's."""
    try:
        yield
    except (PureRecordError, OSError) as error:
        raise translate(error, compressed=compressed) from error


def combined_error(kind: type[OpError], error: Exception, message: str) -> OpError:
    """An error of ``kind`` that is also of the class of ``error`` and has its attributes."""
    joined = _combined_class(kind, type(error))(None, None, printable(message))
    joined.__dict__.update({name: value for name, value in vars(error).items() if name != "_message"})
    if isinstance(error, OSError) and isinstance(joined, OSError):
        joined.errno, joined.strerror, joined.filename = error.errno, error.strerror, error.filename
    return joined


def _combined_class(kind: type[OpError], of: type[Exception]) -> type[OpError]:
    if issubclass(kind, of):
        return kind
    if (kind, of) not in _COMBINED:
        # ``kind`` comes first, so that OpError's constructor and text take precedence.
        body = {"__doc__": kind.__doc__, "__module__": __name__, "__reduce__": _reduce}
        _COMBINED[kind, of] = type(kind.__name__, (kind, of), body)
    return _COMBINED[kind, of]


def _reduce(error: OpError) -> tuple[Any, ...]:
    kind, of = type(error).__bases__
    return _restore, (kind, of, error.message), error.__dict__


def _restore(kind: type[OpError], of: type[Exception], message: str) -> OpError:
    return _combined_class(kind, of)(None, None, message)


def _damage_text(error: CorruptionError, compressed: bool) -> str:
    """TensorFlow's text for damage in a file."""
    offset = error.offset or 0
    if isinstance(error, ChecksumError):
        if error.part == "data":
            return f"corrupted record at {offset + 12}"
        return f"corrupted record at {offset}" + ("" if offset else " (Is this even a TFRecord file?)")
    if isinstance(error, TruncatedError):
        how = "EOF reached" if compressed else "Read less bytes than requested"
        return f"truncated record at {offset}' failed with {how}"
    if isinstance(error, CompressionError):
        inflate = re.search(r"\(([^()]*)\)(?:;|$)", error.reason)  # the message of zlib
        if inflate:
            return f"inflate() failed with error -3: {inflate[1]}"
    return str(error)


def _from_oserror(error: OSError) -> Exception:
    code = error.errno or next((code for kind, code in _ERRNO_OF_CLASS if isinstance(error, kind)), 0)
    text = error.strerror or (os.strerror(code) if code else str(error))
    name = error.filename
    if name is None and code and not error.errno:
        name = str(error)  # fsspec's errors have a name and no number
    where = f"{os.fsdecode(name)}; " if name else ""
    return combined_error(_CLASS_OF_ERRNO.get(code, UnknownError), error, f"{where}{text}")


_ERRNO_OF_CLASS: tuple[tuple[type[OSError], int], ...] = (
    (FileNotFoundError, errno.ENOENT),
    (FileExistsError, errno.EEXIST),
    (PermissionError, errno.EACCES),
    (IsADirectoryError, errno.EISDIR),
    (NotADirectoryError, errno.ENOTDIR),
)
