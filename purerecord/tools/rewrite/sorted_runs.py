"""Sorted runs: as many records as memory holds, sorted and written to a file, with their keys beside it.

A run can be asked where a key would stand in it, and for any range of its records, without reading the rest.
This module must not know how runs are merged.
"""

from __future__ import annotations

import errno
import mmap as mmap_module
import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, total_ordering
from mmap import mmap
from typing import Any

import numpy as np

from ...bytes_column import BytesColumn, Offsets
from ...container.frames import OVERHEAD, crcs_of
from ...memory.copying import copy_ranges
from ...payload.wire import UNSET
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
        kinds: list[int] = []
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
                        kinds.append(self._write(folder, len(kinds), collected))
                    batch, places = batch[count:], places[count:]  # noqa: PLW2901 - the rest of it
            if collected.any:
                kinds.append(self._write(folder, len(kinds), collected))
            folder.mark(self.name, {"kinds": kinds, "records": reading.records, **reading.damage})

    def _write(self, folder: WorkFolder, number: int, collected: Collected) -> int:
        records, keys, places = collected.sorted(descending=self.order.descending)
        name = f"{self.name}-{number}"
        folder.save_array(f"{name}-ranks", keys.ranks)
        folder.save_array(f"{name}-numbers", keys.numbers)
        folder.save_array(f"{name}-places", places)
        folder.save_array(f"{name}-ends", np.append(0, np.cumsum(records.lengths)))
        if keys.texts is not None:
            texts = keys.texts.packed()
            folder.save_array(f"{name}-texts", np.frombuffer(b"".join(texts), np.uint8))
            folder.save_array(f"{name}-bounds", np.append(0, np.cumsum(texts.lengths)))
        crcs = [np.empty(0, np.uint32)]
        with writing(path := folder.file(name)), open(path, "wb") as file:
            for some in chunks(records):
                crcs.append(crcs_of(some))
                file.write(b"".join(some.views()))
            file.flush()
            os.fsync(file.fileno())
        folder.save_array(f"{name}-crcs", np.concatenate(crcs))
        return keys.kind


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
    """A run that was written to ``folder``; of the ``kind`` that its values are."""

    folder: WorkFolder
    name: str
    kind: int
    descending: bool

    def _array(self, what: str) -> Any:
        return self.folder.load_array(f"{self.name}-{what}")

    @cached_property
    def _ranks(self) -> Any:
        return self._array("ranks")

    @cached_property
    def _numbers(self) -> Any:
        return self._array("numbers")

    @cached_property
    def _places(self) -> Any:
        return self._array("places")

    @cached_property
    def _ends(self) -> Any:
        return self._array("ends")

    @cached_property
    def _texts(self) -> tuple[Any, Any] | None:
        has = os.path.exists(self.folder.file(f"{self.name}-bounds.npy"))
        return (self._array("texts"), self._array("bounds")) if has else None

    def __reduce__(self) -> tuple[Any, ...]:
        return Run, (self.folder, self.name, self.kind, self.descending)  # without the arrays

    def forget(self) -> None:
        """Give back the memory of what was looked at; the system keeps the files in its cache."""
        for array in vars(self).values():
            mapped = getattr(array, "base", None)
            if isinstance(mapped, mmap) and hasattr(mmap_module, "MADV_DONTNEED"):
                mapped.madvise(mmap_module.MADV_DONTNEED)

    def __len__(self) -> int:
        return len(self._places)

    def key(self, row: int) -> Key:
        """The key of a record."""
        rank, place = int(self._ranks[row]), int(self._places[row])
        if rank != VALUE:
            return rank, 0, place
        if self._texts is None:
            return rank, int(self._numbers[row]), place
        texts, bounds = self._texts
        text = texts[bounds[row] : bounds[row + 1]].tobytes()
        return rank, _Descending(text) if self.descending else text, place

    def rows_up_to(self, key: Key, begin: int, end: int) -> int:
        """The first row of [begin, end) whose key is larger; ``end`` if there is none."""
        return begin + bisect_right(range(begin, end), key, key=self.key)

    def weight(self, begin: int, end: int) -> int:
        """What some records take in memory."""
        weight = int(self._ends[end] - self._ends[begin]) + PER_RECORD * (end - begin)
        if self._texts is not None:
            weight += int(self._texts[1][end] - self._texts[1][begin])
        return weight

    def middle(self, begin: int, end: int) -> int:
        """The record of [begin, end) that is in the middle of the bytes."""
        half = (int(self._ends[begin]) + int(self._ends[end])) // 2
        return min(
            end - 1, begin + max(0, int(np.searchsorted(self._ends[begin : end + 1], half, "right")) - 1)
        )

    def lengths(self, begin: int, end: int) -> Offsets:
        """The lengths of some records."""
        lengths: Offsets = np.diff(self._array("ends")[begin : end + 1])
        return lengths

    def keys(self, begin: int, end: int) -> tuple[SortKeys, Offsets]:
        """The keys and places of some records. The files are mapped anew: what was read of a file that stays
        mapped counts as memory in use."""
        texts = None
        if self._texts is not None:
            bounds = np.array(self._array("bounds")[begin : end + 1])
            data = self._array("texts")[bounds[0] : bounds[-1]].tobytes()
            texts = BytesColumn(data, bounds[:-1] - bounds[0], bounds[1:] - bounds[0])
        ranks, numbers, places = (
            np.array(self._array(what)[begin:end]) for what in ("ranks", "numbers", "places")
        )
        return SortKeys(ranks, numbers, texts, self.kind), places

    def read(self, begin: int, end: int, target: Any) -> None:
        """Read the payloads of some records, one after the other, into a buffer of their size."""
        bounds = np.array(self._array("ends")[begin : end + 1])
        path = self.folder.file(self.name)
        with writing(path), open(path, "rb", buffering=0) as file:
            file.seek(int(bounds[0]))
            view, got = memoryview(target), 0
            while got < len(view) and (more := file.readinto(view[got:])):
                got += more
        bounds -= bounds[0]
        records = Records(target, bounds[:-1], bounds[1:])
        if got < len(view) or bool((crcs_of(records) != self._array("crcs")[begin:end]).any()):
            reason = "what was read back is not what was written; is the disk sound?"
            raise OSError(errno.EIO, reason, path)


def runs_of(folder: WorkFolder, tasks: list[WriteRuns], results: list[dict[str, Any]]) -> list[Run]:
    """The runs that the tasks have written."""
    return [
        Run(WorkFolder(folder.path), f"{task.name}-{number}", kind, task.order.descending)
        for task, result in zip(tasks, results, strict=True)
        for number, kind in enumerate(result["kinds"])
    ]


def kinds_of(runs: list[Run]) -> set[int]:
    """The kinds of the values in all runs."""
    return {run.kind for run in runs} - {UNSET}
