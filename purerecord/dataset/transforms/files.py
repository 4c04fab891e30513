"""``Files``: the records of TFRecord files as the source of a dataset.

Where a file allows it, records that another worker or rank takes are passed over unread, and large ones
that go through a shuffle window are read when they leave it. This module does not know what a payload
means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ...container.looks_like import detect
from ...container.reader import RecordReader
from ...container.record_file import RecordFile
from ...container.seekable_file import SeekableFile
from ...memory.recycling import BufferPool
from ...records import Records
from ...storage.compression import compression_name
from ...storage.opened import HEAD_SIZE
from ...storage.paths import is_url
from ..engine.node import MANY, Context, Cursor, Elements, Node, State, Table, changed

_SOME = 16  # large records that are read together


class _Forward:
    """The records of a file in which one cannot seek, or in which damage must be found to be passed over."""

    offset = None

    def __init__(self, path: str, compression: Any, on_error: str, context: Context) -> None:
        self._reader = RecordReader(path, compression=compression, on_error=on_error)
        self._stops = on_error == "stop"
        self._tally = context.tally
        self._seen = 0
        self._rest: Records | None = None
        self.record = 0  # how many have been handed out

    @property
    def stopped(self) -> bool:
        """Whether damage has ended all."""
        return self._stops and self._reader.last_error is not None

    def take(self, count: int) -> Records | None:
        """The next records, at most ``count``; None at the end."""
        if self._rest is None or not len(self._rest):
            self._rest = next(self._reader.batches(max(count, MANY)), None)
            self._report()
            if self._rest is None:
                return None
        records, self._rest = self._rest[:count], self._rest[count:]
        self.record += len(records)
        return records

    def _report(self) -> None:
        self._tally.skipped += self._reader.skipped - self._seen
        self._seen = self._reader.skipped
        self._tally.last_error = self._reader.last_error or self._tally.last_error

    def skip(self, count: int) -> int:
        """Pass over ``count`` records; fewer only at the end."""
        left = count
        while left and (records := self.take(min(left, 4096))) is not None:
            left -= len(records)
        return count - left

    def close(self) -> None:
        """Close the file."""
        self._reader.close()


@dataclass(frozen=True, eq=False)
class Files(Node):
    """The records of many files, one file after the other."""

    paths: tuple[str, ...]
    compression: Any = "auto"
    on_error: str = "raise"

    def open(self, context: Context) -> Cursor:
        return _FilesCursor(self, context)

    def open_file(
        self, path: str, context: Context, buffers: BufferPool, mean: int
    ) -> SeekableFile | _Forward:
        """The file at ``path``, in the way that suits it; those before had frames of this ``mean`` size."""
        if self.on_error == "raise" and not is_url(path) and self._is_plain(path):
            return SeekableFile(path, buffers, mean)
        return _Forward(path, self.compression, self.on_error, context)

    def _is_plain(self, path: str) -> bool:
        if self.compression != "auto":
            return not compression_name(self.compression)
        with open(path, "rb", buffering=0) as file:
            return not detect(file.read(HEAD_SIZE))

    @cached_property
    def _table(self) -> RecordFile:
        return RecordFile(self.paths)

    def size(self) -> int | None:
        """The number of records, found by going through the headers, once; they travel along in a pickle."""
        if self.on_error != "raise" or any(map(is_url, self.paths)):
            return None
        return len(self._table)

    def table(self) -> Table | None:
        return None if self.size() is None else self._table

    def label(self) -> str:
        names = repr(self.paths[0]) if len(self.paths) == 1 else f"<{len(self.paths)} files>"
        damage = "" if self.on_error == "raise" else f", on_error={self.on_error!r}"
        return f"TFRecordDataset({names}{damage})"

    def outline(self) -> str:
        return f"TFRecordDataset(<{len(self.paths)}>)"


class _Place(NamedTuple):
    """Where a record is that has been passed over."""

    path: str
    offset: int
    record: int


class _FilesCursor(Cursor):
    def __init__(self, node: Files, context: Context) -> None:
        self._node = node
        self._context = context
        self._number = 0  # of the file that is open, or to be opened
        self._file: SeekableFile | _Forward | None = None
        self._mean = 0  # bytes of a frame in the file before, or 0
        self._aside: SeekableFile | None = None  # to read records that were passed over
        self._buffers = BufferPool()

    @property
    def hint(self) -> int:  # type: ignore[override]
        """Large records are not read for nothing: where others take those between, one by one."""
        if not isinstance(self._file, SeekableFile) or not self._file.large:
            return MANY
        pattern = self._context.pattern
        return _SOME if pattern.own == pattern.period else 1

    def take(self, count: int) -> Elements:
        while (file := self._opened()) is not None:
            records = file.take(count)
            if records is not None:
                return records
            self._next_file()
        return ()

    def take_lazy(self, count: int) -> Elements:
        """Large records of a file in which one can seek are left there until they are asked for."""
        while isinstance(file := self._opened(), SeekableFile) and file.large:
            places = file.places(count)
            if places:
                return [_Place(file.path, *place) for place in places]
            self._next_file()
        return self.take(count)

    def load(self, elements: Elements) -> Elements:
        return [self._read(item) if isinstance(item, _Place) else item for item in elements]

    def _read(self, place: _Place) -> bytes:
        """The record at ``place``; the file is mostly the one that was asked for last."""
        if self._aside is None or self._aside.path != place.path:
            self._close_aside()
            self._aside = SeekableFile(place.path)
        self._aside.go_to(place.offset, place.record)
        records = self._aside.take(1)
        if records is None:
            raise changed(f"{place.path} has become shorter")
        return records[0]

    def skip(self, count: int) -> int:
        left = count
        while left and (file := self._opened()) is not None:
            left -= file.skip(left)
            if left:
                self._next_file()
        return count - left

    def _opened(self) -> SeekableFile | _Forward | None:
        if self._file is None and self._number < len(self._node.paths):
            path = self._node.paths[self._number]
            self._file = self._node.open_file(path, self._context, self._buffers, self._mean)
        return self._file

    def _next_file(self) -> None:
        stopped = isinstance(self._file, _Forward) and self._file.stopped
        self._mean = self._file.mean if isinstance(self._file, SeekableFile) else 0
        self._close_file()
        self._number = len(self._node.paths) if stopped else self._number + 1

    def state(self) -> State:
        if self._file is None:
            return [self._number, 0]
        place = [self._number, self._file.record]
        return place if self._file.offset is None else [*place, self._file.offset]

    def restore(self, state: State) -> None:
        self._number, record, *offset = state
        if not record:
            return
        file = self._opened()
        if isinstance(file, SeekableFile) and offset:
            file.go_to(offset[0], record)
        elif file is None or file.skip(record) != record:
            raise changed(f"file {self._number} has fewer than {record} records")

    def close(self) -> None:
        self._close_file()
        self._close_aside()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def _close_aside(self) -> None:
        if self._aside is not None:
            self._aside.close()
        self._aside = None
