"""The files that are read: what each is, how many records it has, and its records from any one on.

A record is known by the number of its file and its number there, which no other setting changes. This module
must not know what is done with the records, nor what a payload means.
"""

from __future__ import annotations

import errno
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...bytes_column import Offsets
from ...container.frames import OVERHEAD
from ...container.looks_like import open_source
from ...container.reader import RecordReader
from ...container.seekable_file import SeekableFile
from ...printable import printable
from ...processes.pool import Progress
from ...records import Records
from ...storage.compression import READ_ONLY, TFRecordOptions
from ...storage.paths import is_stream, resolve
from ...storage.remote_file import NoRangesError, RemoteFile
from ...storage.url import Url
from .work_folder import WorkFolder

# Records that are taken from a file at once.
_RECORDS_AT_ONCE = 8192
# Bytes between two places of a file where reading can begin.
MARKED = 1 << 23
# The size of the blocks if the input is GZIP in blocks, or is to be.
BLOCK_SIZE = 1 << 20
# Records of one file, and files, that a sequence number can tell apart.
_NUMBER_BITS = 40


@dataclass(frozen=True)
class Input:
    """One file to read. ``size`` and ``version`` change when it does."""

    number: int
    path: str
    size: int
    version: str
    compression: str
    blocked: bool
    on_error: str

    @property
    def facts(self) -> list[Any]:
        """What a run that goes on must find unchanged."""
        return [str(self.path), self.size, self.version]

    def batches(self) -> Reading:
        """All records, in batches."""
        return Reading(self)

    def sequence(self, first: int, count: int) -> Offsets:
        """Numbers that order ``count`` records from ``first`` on among those of all files."""
        return np.arange(first, first + count, dtype=np.int64) + (self.number << _NUMBER_BITS)


class Reading(Iterator[Records]):
    """The records of one file in batches. ``skipped`` counts the damaged places that were skipped."""

    def __init__(self, source: Input) -> None:
        self._reader = RecordReader(source.path, compression=source.compression, on_error=source.on_error)
        self._batches = self._reader.batches()
        self.records = 0  # so far

    def __next__(self) -> Records:
        batch = next(self._batches)
        self.records += len(batch)
        return batch

    @property
    def damage(self) -> dict[str, Any]:
        """How many damaged places were skipped, and the error of the last one."""
        error = self._reader.last_error
        return {"skipped": self._reader.skipped, "error": None if error is None else str(error)}

    def close(self) -> None:
        """Close the file."""
        self._reader.close()


def find_inputs(paths: Any, compression: Any, on_error: str) -> list[Input]:
    """The files that ``paths`` name."""
    files = resolve(paths)
    found = []
    names: set[str] = set()
    for number, file in enumerate(files):
        if not isinstance(file, str) or is_stream(file):
            name = printable(str(getattr(file, "name", file)))
            raise ValueError(f"{name} can be read only once; rewriting needs files, so save it first")
        name = str(file) if isinstance(file, Url) else os.path.abspath(file)
        if name in names:
            raise ValueError(f"{printable(str(file))} is among the input twice; so would be its records")
        names.add(name)
        size, version = status(file)
        with closing(open_source(file, compression)) as opened:
            opened.detect_compression()
            found.append(
                Input(number, file, size, version, opened.compression or "", opened.blocked, on_error)
            )
    if not found:
        raise ValueError("there is no input file")
    return found


def status(path: str) -> tuple[int, str]:
    """The size of a file, and a text that changes with it."""
    if isinstance(path, Url):
        try:
            found = RemoteFile(path).status
        except NoRangesError as error:
            found = error.status
        return found.size or 0, found.version
    about = os.stat(path)
    return about.st_size, str(about.st_mtime_ns)


def check_unchanged(inputs: Sequence[Input]) -> None:
    """Raise an OSError if an input is not what it was at the beginning."""
    for source in inputs:
        if status(source.path) != (source.size, source.version):
            raise OSError(errno.ESTALE, "it has changed while it was read; begin anew", str(source.path))


def options_like(inputs: Sequence[Input]) -> TFRecordOptions:
    """Options that compress as all inputs are compressed; with GZIP, where we cannot."""
    kinds = {(source.compression, source.blocked) for source in inputs if source.size}
    if len(kinds) > 1:
        names = sorted({f"{kind or 'not compressed'}{' in blocks' * blocked}" for kind, blocked in kinds})
        raise ValueError(f"the input is {' and '.join(names)}; say how the output is to be compressed")
    compression, blocked = kinds.pop() if kinds else ("", False)
    if compression in READ_ONLY:
        compression = "GZIP"
    return TFRecordOptions(compression, block_size=BLOCK_SIZE if blocked else None)


class Source(Protocol):
    """A sequence of records that can be read from any one on."""

    @property
    def records(self) -> int:
        """How many there are."""

    @property
    def seekable(self) -> bool:
        """Whether reading from the middle costs no more than what is read."""

    def batches(self, begin: int) -> Iterator[Records]:
        """The records from number ``begin`` on."""

    def lengths(self) -> Iterator[Offsets]:
        """The lengths of all payloads, some at a time."""


@dataclass(frozen=True)
class FileSource:
    """The records of one file, which were counted. ``marks`` are numbers of records and their offsets, if
    the file can be read from there on."""

    path: str
    compression: str
    on_error: str
    records: int
    marks: tuple[tuple[int, int], ...] = ()

    @property
    def seekable(self) -> bool:
        """Whether reading can begin in the middle."""
        return bool(self.marks)

    def batches(self, begin: int) -> Iterator[Records]:
        """The records from number ``begin`` on."""
        if begin and self.marks:
            record, offset = self.marks[bisect_right(self.marks, begin, key=lambda mark: mark[0]) - 1]
            file = SeekableFile(self.path)
            with closing(file):
                file.go_to(offset, record)
                file.skip(begin - record)
                while (batch := file.take(_RECORDS_AT_ONCE)) is not None:
                    yield batch
            return
        with RecordReader(self.path, compression=self.compression, on_error=self.on_error) as reader:
            for batch in reader.batches():
                if begin < len(batch):
                    yield batch[begin:] if begin else batch
                begin = max(0, begin - len(batch))

    def lengths(self) -> Iterator[Offsets]:
        """The lengths of all payloads."""
        verify = self.on_error != "raise"  # then damaged records are not counted
        with RecordReader(
            self.path, compression=self.compression, on_error=self.on_error, verify=verify
        ) as reader:
            yield from (batch.lengths for batch in reader.batches())


@dataclass(frozen=True)
class CountRecords:
    """A task that counts the records of a file, and notes places where reading can begin."""

    source: Input

    @property
    def name(self) -> str:
        """The name under which the result is kept."""
        return f"counted-{self.source.number:05d}"

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Count them."""
        source = self.source
        if not source.compression and source.on_error == "raise":
            with suppress(NoRangesError):  # a server may only give whole files
                folder.mark(self.name, _counted_by_headers(source.path, progress))
                return
        with closing(source.batches()) as reading:
            for batch in reading:
                progress(batch.nbytes + OVERHEAD * len(batch), 0)
            folder.mark(self.name, {"records": reading.records, "marks": [], **reading.damage})

    def source_of(self, result: dict[str, Any]) -> FileSource:
        """The file as a source, from the result of this task."""
        marks = tuple((record, offset) for record, offset in result["marks"])
        source = self.source
        return FileSource(source.path, source.compression, source.on_error, result["records"], marks)


def _counted_by_headers(path: str, progress: Progress) -> dict[str, Any]:
    """Follow the lengths, whose CRCs are checked; the data is checked when it is read."""
    marks = [(0, 0)]
    with closing(SeekableFile(path)) as file:
        while True:
            before = file.offset
            if not file.skip(_RECORDS_AT_ONCE if not file.large else 64):
                break
            progress(file.offset - before, 0)
            if file.offset - marks[-1][1] >= MARKED:
                marks.append((file.record, file.offset))
        return {"records": file.record, "marks": marks, "skipped": 0, "error": None}
