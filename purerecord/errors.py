"""Every error purerecord raises, and how an error says where it happened.

    PureRecordError
    ├── CorruptionError(ValueError)      the bytes are wrong
    │   ├── TruncatedError(EOFError)     they end inside a frame
    │   ├── ChecksumError                a stored CRC does not match
    │   ├── CompressionError             the compressed stream is broken
    │   └── DecodeError                  the payload is not a valid message
    ├── SchemaError(ValueError)          the bytes are valid, but do not match the request
    ├── EncodeError(ValueError)          the caller's value cannot be stored
    ├── StaleIndexError(ValueError)      the index does not belong to this file
    └── ClosedError(ValueError)          used after close, or after an interrupt that it cannot go on from

The layer that finds a fault knows the reason; an outer layer knows the file. So the place is kept in
attributes that may be filled in later, and the message is composed when it is shown. It never carries control
characters of the data. ``OSError`` is never wrapped. This module knows nothing of files, frames or messages.
"""

from __future__ import annotations

import re
from typing import Any

from . import public
from .printable import printable

_OF_A_WORKER = re.compile(r"Caught \w+ in DataLoader worker process \d+\.\nOriginal Traceback ")


@public
class PureRecordError(Exception):
    """Base of everything that purerecord raises on purpose."""

    def __str__(self) -> str:
        text = self._text()
        if _OF_A_WORKER.match(text):  # torch raises a worker's error again, with the traceback as its text
            return "\n".join(map(printable, text.split("\n")))
        return printable(text)

    def _text(self) -> str:
        """The message, in which names may hold anything."""
        return super().__str__()


@public
class CorruptionError(PureRecordError, ValueError):
    """The bytes are wrong.

    ``path`` names the file, ``record`` is the number of the record in it (from 0) and ``offset`` the
    byte at which that record's frame begins (in the uncompressed data); each is None if unknown.
    """

    def __init__(
        self,
        reason: str = "",
        *,
        path: str | None = None,
        offset: int | None = None,
        record: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.offset = offset
        self.record = record

    def _text(self) -> str:
        place = []
        if self.record is not None:
            place.append(f"record {self.record}")
        if self.offset is not None:
            place.append(f"at byte {self.offset}")
        parts = [self.path, " ".join(place), self.reason]
        return ": ".join(part for part in parts if part)


@public
class TruncatedError(CorruptionError, EOFError):
    """The data ends inside a frame, which needs ``expected`` bytes and has ``got``."""

    def __init__(self, reason: str = "", *, expected: int = 0, got: int = 0, **place: Any) -> None:
        super().__init__(reason, **place)
        self.expected = expected
        self.got = got


@public
class ChecksumError(CorruptionError):
    """A checksum of ``part``, "length" or "data", does not match.

    ``expected`` is the stored masked CRC, ``got`` the one computed from the bytes.
    """

    def __init__(
        self, reason: str = "", *, part: str = "", expected: int = 0, got: int = 0, **place: Any
    ) -> None:
        super().__init__(reason, **place)
        self.part = part
        self.expected = expected
        self.got = got


@public
class CompressionError(CorruptionError):
    """The compressed stream is broken, cut, or not of the declared kind."""


@public
class DecodeError(CorruptionError):
    """A payload is not a valid message; the error is ``position`` bytes into it, in ``feature`` if known."""

    def __init__(
        self,
        reason: str = "",
        *,
        feature: str | None = None,
        position: int | None = None,
        **place: Any,
    ) -> None:
        super().__init__(reason, **place)
        self.feature = feature
        self.position = position

    def _text(self) -> str:
        text = super()._text()
        return text if self.feature is None else f"{text} (feature {self.feature!r})"


class _FeatureError(PureRecordError, ValueError):
    """An error about one feature, and perhaps one record."""

    def __init__(self, reason: str = "", *, feature: str | None = None, record: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.feature = feature
        self.record = record

    def _place(self) -> list[str]:
        feature = "" if self.feature is None else f"feature {self.feature!r}"
        return [feature, "" if self.record is None else f"record {self.record}"]

    def _text(self) -> str:
        return ": ".join(part for part in [*self._place(), self.reason] if part)


@public
class SchemaError(_FeatureError):
    """The bytes are valid, but they do not match the request.

    ``record`` is the number of the record in the file ``path``, or among the given records if there is no
    file. ``row`` is its index in the batch, ``name`` its name in ``example_names``, and ``step`` the index in
    a feature list. ``problem`` is "missing", "kind", "count", "partition", "index" or "text"; ``expected``
    and ``found`` are the facts (kinds by name, counts as numbers). Each is None if it does not apply.
    """

    def __init__(
        self,
        reason: str = "",
        *,
        problem: str | None = None,
        expected: Any = None,
        found: Any = None,
        **place: Any,
    ) -> None:
        super().__init__(reason, **place)
        self.problem = problem
        self.expected = expected
        self.found = found
        self.path: str | None = None
        self.row: int | None = None
        self.step: int | None = None
        self.name: str | None = None

    def _text(self) -> str:
        step = "" if self.step is None else f"step {self.step}"
        parts = [self.path, self.name, *self._place(), step, self.reason]
        return ": ".join(part for part in parts if part)


@public
class EncodeError(_FeatureError):
    """The caller's value cannot be stored."""


@public
class StaleIndexError(PureRecordError, ValueError):
    """The index does not belong to this file, or no longer."""


@public
class ClosedError(PureRecordError, ValueError):
    """Used after close; or after an interrupt, or in a forked process, where it cannot go on."""
