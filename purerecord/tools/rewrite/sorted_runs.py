"""Sorted runs: as many records as memory holds, sorted and written to a file, with their keys.

A run can be asked where a key would stand in it, and for any range of its records, without reading the rest.
This module must not know how runs are merged.
"""

from __future__ import annotations

import errno
import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import total_ordering
from typing import Any, BinaryIO

import numpy as np

from ...bytes_column import BytesColumn, Offsets
from ...container.frames import OVERHEAD, crcs_of
from ...memory.copying import copy_ranges
from ...payload.wire import BYTES, UNSET
from ...processes.pool import Progress
from ...records import Records
from ...storage.paths import writing
from .inputs import Input
from .sort_keys import VALUE, Order, SortKeys, joined_keys, order_of
from .work_folder import WorkFolder

# What a record takes in memory beside its payload and its key.
PER_RECORD = 150
# Records and bytes that are written at once.
_RECORDS_AT_ONCE, _BYTES_AT_ONCE = 8192, 1 << 22

# What is written of each record beside its payload: its key, and where its payload and its string end.
_ROW = np.dtype(
    [("rank", "u1"), ("number", "<u8"), ("place", "<i8"), ("end", "<i8"), ("text_end", "<i8"), ("crc", "<u4")]
)
_UNSOUND = "what was read back is not what was written; is the disk sound?"

Key = tuple[int, Any, int]


class Collected:
    """Records that are copied into one buffer of about ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._clear()

    def _clear(self) -> None:
        self._buffer = np.empty(0, np.uint8)
        self._used = self._weight = 0
        self._lengths: list[Offsets] = []
        self._keys: list[SortKeys] = []
        self._places: list[Offsets] = []

    def fits(self, records: Records) -> int:
        """How many of the records there is room for; at least one if there are none yet."""
        weights = np.cumsum(records.lengths + PER_RECORD)
        count = int(np.searchsorted(weights, self._limit - self._weight, side="right"))
        return max(count, 0 if self._lengths else min(1, len(records)))

    def add(self, records: Records, keys: SortKeys, places: Offsets) -> None:
        """Copy records that fit."""
        lengths = records.lengths
        size = int(lengths.sum())
        if self._used + size > len(self._buffer):
            buffer = np.empty(max(self._limit, self._used + size), np.uint8)
            buffer[: self._used] = self._buffer[: self._used]
            self._buffer = buffer
        copy_ranges(
            records.buffer, records.begins, self._buffer, self._used + np.cumsum(lengths) - lengths, lengths
        )
        self._used += size
        self._weight += size + PER_RECORD * len(records)
        self._lengths.append(lengths)
        self._places.append(places)
        if keys.texts is not None:
            keys = keys._replace(texts=keys.texts.without_waste())  # not the buffer of the records
            self._weight += keys.texts.nbytes if keys.texts is not None else 0
        self._keys.append(keys)

    def sorted(self, *, descending: bool) -> tuple[Records, SortKeys, Offsets]:
        """The records in their order, with their keys and places; nothing is collected any more."""
        ends = np.cumsum(np.concatenate(self._lengths))
        lengths = np.concatenate(self._lengths)
        keys, places = joined_keys(self._keys), np.concatenate(self._places)
        order = order_of(keys, places, descending=descending)
        records = Records(self._buffer.data.toreadonly(), (ends - lengths)[order], ends[order])
        texts = None if keys.texts is None else keys.texts.take(order)
        self._clear()
        return records, SortKeys(keys.ranks[order], keys.numbers[order], texts, keys.kind), places[order]

    @property
    def any(self) -> bool:
        """Whether there are records."""
        return bool(self._lengths)


@dataclass(frozen=True)
class WriteRuns:
    """A task that sorts the records of a file, as many at once as ``limit`` bytes hold."""

    source: Input
    order: Order
    limit: int

    @property
    def name(self) -> str:
        """What it is called."""
        return f"sorted-{self.source.number:05d}"

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Write them."""
        runs: list[dict[str, int]] = []
        collected = Collected(self.limit)
        with closing(self.source.batches()) as reading:
            for batch in reading:
                places = self.source.sequence(reading.records - len(batch), len(batch))
                progress(batch.nbytes + OVERHEAD * len(batch), 0)
                while len(batch):
                    count = collected.fits(batch)
                    if count:
                        some = batch[:count]
                        collected.add(some, self.order.keys(some, places[:count]), places[:count])
                    if count < len(batch):
                        runs.append(self._write(folder, len(runs), collected))
                    batch, places = batch[count:], places[count:]  # noqa: PLW2901 - the rest of it
            if collected.any:
                runs.append(self._write(folder, len(runs), collected))
            folder.mark(self.name, {"runs": runs, "records": reading.records, **reading.damage})

    def _write(self, folder: WorkFolder, number: int, collected: Collected) -> dict[str, int]:
        records, keys, places = collected.sorted(descending=self.order.descending)
        rows = np.zeros(len(records), _ROW)
        rows["rank"], rows["number"], rows["place"] = keys.ranks, keys.numbers, places
        rows["end"] = np.cumsum(records.lengths)
        texts = b""
        if keys.texts is not None:
            texts = b"".join(keys.texts.packed())
            rows["text_end"] = np.cumsum(keys.texts.lengths)
        begin = size = 0
        with writing(path := folder.file(f"{self.name}-{number}")), open(path, "wb") as file:
            for some in chunks(records):
                rows["crc"][begin : begin + len(some)] = crcs_of(some)
                begin += len(some)
                size += file.write(b"".join(some.views()))
            file.write(texts)
            file.write(rows.data)
            file.flush()
            os.fsync(file.fileno())
        return {"kind": keys.kind, "records": len(records), "size": size, "text_size": len(texts)}


def chunks(records: Records) -> Iterator[Records]:
    """The records, some at a time."""
    begin = 0
    while begin < len(records):
        some = records[begin : begin + _RECORDS_AT_ONCE]
        ends = np.cumsum(some.lengths)
        count = max(1, int(np.searchsorted(ends, _BYTES_AT_ONCE, side="right")))
        yield some[:count]
        begin += min(count, len(some))


@total_ordering
class _Descending:
    """A string that is smaller if it is larger."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    def __lt__(self, other: Any) -> bool:
        return bool(self.text > other.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.text == other.text

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Run:
    """A run that was written to ``folder``; of the ``kind`` that its values are.

    Its file has the payloads, of ``size`` bytes, then the keys that are strings, of ``text_size`` bytes, then
    a row for each record. No file is held open: there may be more runs than a process may open files.
    """

    folder: WorkFolder
    name: str
    kind: int
    descending: bool
    records: int
    size: int
    text_size: int

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        path = self.folder.file(self.name)
        with writing(path), open(path, "rb", buffering=0) as file:
            yield file

    def _read(self, file: BinaryIO, begin: int, target: Any) -> bool:
        """Fill ``target`` with the bytes from ``begin`` on; whether there were enough."""
        file.seek(begin)
        view, got = memoryview(target).cast("B"), 0
        while got < len(view) and (more := file.readinto(view[got:])):  # type: ignore[attr-defined]
            got += more
        return got == len(view)

    def _rows(self, file: BinaryIO, begin: int, end: int) -> Any:
        rows = np.empty(max(0, end - begin), _ROW)
        if not self._read(file, self.size + self.text_size + begin * _ROW.itemsize, rows):
            raise OSError(errno.EIO, _UNSOUND)
        return rows

    def _key(self, file: BinaryIO, row: int) -> Key:
        (found,) = self._rows(file, row, row + 1).tolist()
        rank, number, place, _, text_end, _ = found
        if rank != VALUE:
            return rank, 0, place
        if self.kind != BYTES:
            return rank, number, place
        begin = self._bound(file, row, "text_end")
        buffer = bytearray(text_end - begin)
        if not self._read(file, self.size + begin, buffer):
            raise OSError(errno.EIO, _UNSOUND)
        text = bytes(buffer)
        return rank, _Descending(text) if self.descending else text, place

    def _bound(self, file: BinaryIO, row: int, what: str = "end") -> int:
        """Where the payload, or the string, of a record begins."""
        return int(self._rows(file, row - 1, row)[what][0]) if row else 0

    def _bounds(self, file: BinaryIO, begin: int, end: int, what: str = "end") -> Offsets:
        """Where some payloads, or strings, begin, and where the last one ends."""
        bounds = np.zeros(end - begin + 1, np.int64)
        skipped = 0 if begin else 1  # the first one begins at 0, and no row says so
        bounds[skipped:] = self._rows(file, begin - 1 + skipped, end)[what]
        return bounds

    def __len__(self) -> int:
        return self.records

    def key(self, row: int) -> Key:
        """The key of a record."""
        with self._opened() as file:
            return self._key(file, row)

    def rows_up_to(self, key: Key, begin: int, end: int) -> int:
        """The first row of [begin, end) whose key is larger; ``end`` if there is none."""
        if begin == end:
            return end
        with self._opened() as file:
            return begin + bisect_right(range(begin, end), key, key=lambda row: self._key(file, row))

    def weight(self, begin: int, end: int) -> int:
        """What some records take in memory."""
        with self._opened() as file:
            weight = self._bound(file, end) - self._bound(file, begin) + PER_RECORD * (end - begin)
            if self.kind == BYTES:
                weight += self._bound(file, end, "text_end") - self._bound(file, begin, "text_end")
            return weight

    def middle(self, begin: int, end: int) -> int:
        """The record of [begin, end) that is in the middle of the bytes."""
        with self._opened() as file:
            half = (self._bound(file, begin) + self._bound(file, end)) // 2
            after = bisect_right(range(begin, end), half, key=lambda row: self._bound(file, row))
        return begin + max(0, after - 1)

    def lengths(self, begin: int, end: int) -> Offsets:
        """The lengths of some records."""
        with self._opened() as file:
            lengths: Offsets = np.diff(self._bounds(file, begin, end))
            return lengths

    def keys(self, begin: int, end: int) -> tuple[SortKeys, Offsets]:
        """The keys and places of some records."""
        texts = None
        with self._opened() as file:
            rows = self._rows(file, begin, end)
            if self.kind == BYTES:
                bounds = self._bounds(file, begin, end, "text_end")
                data = bytearray(int(bounds[-1] - bounds[0]))
                if not self._read(file, self.size + int(bounds[0]), data):
                    raise OSError(errno.EIO, _UNSOUND)
                texts = BytesColumn(bytes(data), bounds[:-1] - bounds[0], bounds[1:] - bounds[0])
        ranks, numbers, places = (rows[what].copy() for what in ("rank", "number", "place"))
        return SortKeys(ranks, numbers, texts, self.kind), places

    def read(self, begin: int, end: int, target: Any) -> None:
        """Read the payloads of some records, one after the other, into a buffer of their size."""
        with self._opened() as file:
            bounds = self._bounds(file, begin, end)
            enough = self._read(file, int(bounds[0]), target)
            bounds -= bounds[0]
            crcs = self._rows(file, begin, end)["crc"]
            records = Records(target, bounds[:-1], bounds[1:])
            if not enough or bool((crcs_of(records) != crcs).any()):
                raise OSError(errno.EIO, _UNSOUND)


def runs_of(folder: WorkFolder, tasks: list[WriteRuns], results: list[dict[str, Any]]) -> list[Run]:
    """The runs that the tasks have written."""
    return [
        Run(WorkFolder(folder.path), f"{task.name}-{number}", descending=task.order.descending, **facts)
        for task, result in zip(tasks, results, strict=True)
        for number, facts in enumerate(result["runs"])
    ]


def kinds_of(runs: list[Run]) -> set[int]:
    """The kinds of the values in all runs."""
    return {run.kind for run in runs} - {UNSET}
