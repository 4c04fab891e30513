"""All ways to read a file, for comparison: the records they give, and the error that ends them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from purerecord import CorruptionError, RecordFile, Records, read_batches, read_records


class Outcome(NamedTuple):
    """The records before the end, and the type and place of the error that ended them, or None."""

    records: list[bytes]
    error: tuple[type, int | None, int | None] | None


class Trickle(io.RawIOBase):
    """A stream that gives at most ``step`` bytes per read and has neither position nor size."""

    def __init__(self, data: bytes, step: int = 1) -> None:
        self._data = io.BytesIO(data)
        self._step = step
        self.given = 0  # bytes so far

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._data.read(min(self._step, len(buffer)))
        buffer[: len(piece)] = piece
        self.given += len(piece)
        return len(piece)


def outcome(source: Iterable[bytes]) -> Outcome:
    """The outcome of iterating, up to the first error."""
    records: list[bytes] = []
    try:
        for record in source:
            assert type(record) is bytes
            records.append(record)
    except CorruptionError as error:
        return Outcome(records, (type(error), error.record, error.offset))
    return Outcome(records, None)


def joined(batches: Iterable[Records]) -> Iterator[bytes]:
    """The records of batches."""
    for batch in batches:
        assert isinstance(batch, Records)
        assert len(batch)
        yield from batch


def by_next(source: Iterator[bytes]) -> Iterator[bytes]:
    """The records that ``next`` gives; another ``next`` must end or raise in the same way."""
    while True:
        try:
            yield next(source)
        except StopIteration:
            assert next(source, None) is None
            return
        except CorruptionError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                next(source)
            raise


STREAMING: dict[str, Callable[[Path], Iterable[bytes]]] = {
    "read_records": read_records,
    "next": lambda path: by_next(read_records(path)),
    "an open file": lambda path: read_records(io.BytesIO(path.read_bytes())),
    "a stream of 1-byte pieces": lambda path: read_records(Trickle(path.read_bytes())),
    "a stream of 37-byte pieces": lambda path: read_records(Trickle(path.read_bytes(), 37)),
    "batches": lambda path: joined(read_batches(path)),
    "batches of 1": lambda path: joined(read_batches(path, batch_size=1)),
    "batches of 3": lambda path: joined(read_batches(path, batch_size=3)),
    "batches of 10**6": lambda path: joined(read_batches(path, batch_size=10**6)),
    "batches of 3, of a stream": lambda path: joined(
        read_batches(Trickle(path.read_bytes(), 11), batch_size=3)
    ),
}


def agreed(path: Path) -> Outcome:
    """The outcome of reading ``path``, on which all ways to read must agree."""
    first, *others = ((way, outcome(read(path))) for way, read in STREAMING.items())
    for way, other in others:
        assert other == first[1], f"{way} differs from {first[0]}"
    check_indexed(path, first[1])
    return first[1]


def check_indexed(path: Path, expected: Outcome) -> None:
    """Check that ``RecordFile`` gives the same outcome, or an error at once if damage prevents an index."""
    indexed = outcome(RecordFile(path))
    if indexed.records or indexed.error is None:
        assert indexed == expected
    else:
        assert expected.error is not None
