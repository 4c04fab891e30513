"""``TFRecordDataset``: the records of TFRecord files, one file after the other.

In an uncompressed file, records that belong to another worker or rank are skipped unread, and large records
that pass through a shuffle window are read when they leave it. The state holds the number of the file and
of the record, and the record's offset where the file can seek to it. This module must not know what a
payload means.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...container.index import has_index
from ...container.looks_like import detect, head_of
from ...container.reader import RecordReader
from ...container.record_file import RecordFile
from ...container.seekable_file import SeekableFile
from ...errors import ClosedError
from ...memory.recycling import BufferPool
from ...printable import printable
from ...records import Records
from ...storage.compression import compression_name
from ...storage.file_handles import open_file
from ...storage.paths import is_stream
from ...storage.remote_file import NoRangesError
from ...storage.url import is_url
from ..engine.node import ELEMENTS_AT_ONCE, Context, Cursor, Elements, Node, State, Table, data_changed
from ..engine.origins import Origin
from ..engine.states import bad_state, count_of

_LARGE_RECORDS_AT_ONCE = 16  # large records that are read ahead together
_SKIPPED_AT_ONCE = 4096  # records that are read to be skipped, where a file cannot seek


class _ForwardFile:
    """The records of a file that cannot seek, or in which damage must be found to be skipped."""

    offset = None

    def __init__(self, path: str, node: Files, context: Context) -> None:
        self._reader = RecordReader(
            path,
            compression=node.compression,
            on_error=node.on_error,
            max_record_size=node.max_record_size,
        )
        self._stops = node.on_error == "stop"
        self._damage = context.damage
        self._reported = 0  # damaged places of this file
        self._rest: Records | None = None
        self.record = 0  # the number of the next record

    @property
    def stopped(self) -> bool:
        """Whether damage has ended the whole dataset."""
        return self._stops and self._reader.last_error is not None

    def take(self, count: int) -> Records | None:
        """The next records, at most ``count``; None at the end."""
        if self._rest is None or not len(self._rest):
            self._rest = self._reader.next_item(max(count, ELEMENTS_AT_ONCE), None)
            self._report()
            if self._rest is None:
                return None
        records, self._rest = self._rest[:count], self._rest[count:]
        self.record += len(records)
        return records

    def _report(self) -> None:
        self._damage.skipped += self._reader.skipped - self._reported
        self._reported = self._reader.skipped
        self._damage.last_error = self._reader.last_error or self._damage.last_error

    def skip(self, count: int) -> int:
        """Skip ``count`` records; returns how many there were, fewer only at the end."""
        left = count
        while left and (records := self.take(min(left, _SKIPPED_AT_ONCE))) is not None:
            left -= len(records)
        return count - left

    def close(self) -> None:
        """Close the file."""
        self._reader.close()


@dataclass(frozen=True, eq=False)
class Files(Node):
    """The records of files, one file after the other; ``with_path``, as pairs of path and record."""

    paths: tuple[str, ...]
    compression: Any = "auto"
    on_error: str = "raise"
    with_path: bool = False
    max_record_size: int | None = None

    def open(self, context: Context) -> Cursor:
        return _PairsCursor(self, context) if self.with_path else _FilesCursor(self, context)

    def origins(self, context: Context) -> Cursor:
        return _OriginsCursor(self, context)

    def open_file(
        self, path: str, context: Context, buffers: BufferPool, mean: int
    ) -> SeekableFile | _ForwardFile:
        """The file at ``path``, able to seek if possible; ``mean`` is the frame size in the file before."""
        stream = is_stream(path)
        if stream and context.again:
            raise ValueError(
                f"{printable(path)} is a pipe, and nobody can go back in it after an error, Ctrl-C or a fork"
            )
        if stream and context.shared:
            raise ValueError(
                f"{printable(path)} is a pipe, of which each of several workers or ranks would get a part; "
                "read it with one worker and one rank, or write it to a file first"
            )
        if stream:
            self._read_once(path)
        if self._seeks and not stream and self._is_uncompressed(path):
            return SeekableFile(path, buffers, mean)
        return _ForwardFile(path, self, context)

    @property
    def _seeks(self) -> bool:
        """Whether files are read by position where they can be: only reading forward passes over damage."""
        return self.on_error == "raise" and self.max_record_size is None

    def first_records(self, count: int, size: int) -> Records:
        """The first records of the first file that has any: at most ``count``, and about ``size`` bytes."""
        with RecordReader(self.paths, compression=self.compression, on_error=self.on_error) as reader:
            return reader.next_item(count, size) or Records.of([])

    def _read_once(self, path: str) -> None:
        """Raise if the pipe or device at ``path`` was opened before: it would seem to be empty now."""
        if path in self._streams:
            raise ClosedError(
                f"{path} is no regular file and gives its data only once, and this dataset has read it; "
                "keep the elements with cache(), or read a file"
            )
        self._streams.add(path)

    @cached_property
    def _streams(self) -> set[str]:
        """The pipes and devices that were opened."""
        return set()

    def _is_uncompressed(self, path: str) -> bool:
        if self.compression != "auto":
            return not compression_name(self.compression)
        try:
            with closing(open_file(path)) as file:
                return not detect(head_of(file))
        except NoRangesError:
            return False  # it is read forward only

    @cached_property
    def _indexed(self) -> bool:
        """Whether the remote files have indexes: without one, a file is read to its end to count it."""
        return all(has_index(path) for path in self.paths if is_url(path))

    @cached_property
    def _table(self) -> RecordFile:
        return RecordFile(self.paths)

    def size(self) -> int | None:
        """The number of records. Reads all headers, once; a pickle of this node holds the result."""
        if not self._seeks or any(map(is_stream, self.paths)) or not self._indexed:
            return None
        return len(self._table)

    def table(self) -> Table | None:
        if self.size() is None:
            return None
        return _PairsTable(self._table) if self.with_path else _RecordsTable(self._table)

    def label(self) -> str:
        names = repr(self.paths[0]) if len(self.paths) == 1 else f"<{len(self.paths)} files>"
        damage = "" if self.on_error == "raise" else f", on_error={self.on_error!r}"
        return f"TFRecordDataset({names}{damage}{', with_path=True' if self.with_path else ''})"

    def outline(self) -> str:
        return f"TFRecordDataset(<{len(self.paths)}>)"


@dataclass(frozen=True)
class _RecordsTable:
    """The records of files, by number."""

    records: RecordFile

    def __len__(self) -> int:
        return len(self.records)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        return self.records.fetch(numbers)

    def locate(self, numbers: npt.NDArray[np.int64]) -> Elements:
        files, inside = self.records.locate(numbers)
        paths = self.records.paths
        return [
            Origin(paths[file], number) for file, number in zip(files.tolist(), inside.tolist(), strict=True)
        ]


class _UnreadRecord(NamedTuple):
    """The placeholder of a large record that has not been read yet."""

    path: str
    offset: int
    record: int


class _FilesCursor(Cursor):
    def __init__(self, node: Files, context: Context) -> None:
        self._node = node
        self._context = context
        self._number = 0  # of the current file
        self._file: SeekableFile | _ForwardFile | None = None
        self._mean = 0  # mean size of a frame in the file before; 0 if unknown
        self._lazy_file: SeekableFile | None = None  # for records that were skipped unread and are wanted now
        self._buffers = BufferPool()

    @property
    def cheap_lookahead(self) -> int:  # type: ignore[override]
        """Many; but a few if records are large, and one if other consumers take the records between ours."""
        if not isinstance(self._file, SeekableFile) or not self._file.large:
            return ELEMENTS_AT_ONCE
        return _LARGE_RECORDS_AT_ONCE if self._context.pattern.takes_all else 1

    def take(self, count: int) -> Elements:
        while (file := self._opened()) is not None:
            records = file.take(count)
            if records is not None:
                return records
            self._next_file()
        return ()

    def take_lazy(self, count: int) -> Elements:
        """Large records of a file that can seek are not read; ``load`` reads them."""
        return self._unread(count) or self.take(count)

    def _unread(self, count: int) -> list[_UnreadRecord]:
        """The places of the next records if they are large and the file can seek to them; else none."""
        while isinstance(file := self._opened(), SeekableFile) and file.large:
            places = file.places(count)
            if places:
                return [_UnreadRecord(file.path, *place) for place in places]
            self._next_file()
        return []

    def load(self, elements: Elements) -> Elements:
        return [self._read(item) if isinstance(item, _UnreadRecord) else item for item in elements]

    def _read(self, place: _UnreadRecord) -> bytes:
        """The record at ``place``. Its file stays open, because the next one is mostly in the same file."""
        if self._lazy_file is None or self._lazy_file.path != place.path:
            self._close_lazy_file()
            self._lazy_file = SeekableFile(place.path, ahead=False)
        self._lazy_file.go_to(place.offset, place.record)
        records = self._lazy_file.take(1)
        if records is None:
            raise data_changed(f"{printable(place.path)} has become shorter")
        return records[0]

    def skip(self, count: int) -> int:
        left = count
        while left and (file := self._opened()) is not None:
            left -= file.skip(left)
            if left:
                self._next_file()
        return count - left

    def _opened(self) -> SeekableFile | _ForwardFile | None:
        if self._file is None and self._number < len(self._node.paths):
            path = self._node.paths[self._number]
            self._file = self._node.open_file(path, self._context, self._buffers, self._mean)
        return self._file

    def _next_file(self) -> None:
        stopped = isinstance(self._file, _ForwardFile) and self._file.stopped
        self._mean = self._file.mean if isinstance(self._file, SeekableFile) else 0
        self._close_file()
        self._number = len(self._node.paths) if stopped else self._number + 1

    def state(self) -> State:
        if self._file is None:
            return [self._number, 0]
        place = [self._number, self._file.record]
        return place if self._file.offset is None else [*place, self._file.offset]

    def restore(self, state: State) -> None:
        if not isinstance(state, (list, tuple)) or len(state) not in (2, 3):
            raise bad_state("it has no place in a file")
        number, record, *offset = map(count_of, state)
        self._number = count_of(number, len(self._node.paths))
        if not record:
            return
        file = self._opened()
        if isinstance(file, SeekableFile) and offset:
            if offset[0] > file.size:
                raise data_changed(f"{printable(file.path)} has become shorter")
            file.go_to(offset[0], record)
        elif file is None or file.skip(record) != record:
            raise data_changed(f"file {self._number} has fewer than {record} records")

    def close(self) -> None:
        self._close_file()
        self._close_lazy_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None

    def _close_lazy_file(self) -> None:
        if self._lazy_file is not None:
            self._lazy_file.close()
        self._lazy_file = None


class _OriginsCursor(_FilesCursor):
    """The file and number of each record; large records are not read."""

    def take(self, count: int) -> Elements:
        if places := self._unread(count):
            return [Origin(place.path, place.record) for place in places]
        records = super().take(count)
        if not isinstance(records, Records):
            return ()
        origins = [records.origin(index)[:2] for index in range(len(records))]
        return [Origin(path or "", number) for path, number in origins]


class _PairsCursor(_FilesCursor):
    """Pairs of path and record."""

    def take(self, count: int) -> Elements:
        records = super().take(count)
        path = self._node.paths[self._number] if len(records) else ""  # they all come from the current file
        return [(path, record) for record in records]

    def load(self, elements: Elements) -> Elements:
        return [
            (item.path, self._read(item)) if isinstance(item, _UnreadRecord) else item for item in elements
        ]


@dataclass(frozen=True)
class _PairsTable(_RecordsTable):
    """Pairs of path and record, by number."""

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Elements:
        paths = map(self.records.paths.__getitem__, self.records.locate(numbers)[0].tolist())
        return list(zip(paths, super().fetch(numbers), strict=True))
