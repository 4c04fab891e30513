"""``FeatureStatistics``: the statistics of one feature of Examples, or of one feature list, column by column.

A feature may hold a list of bytes in one record and of integers in the next, so each kind has statistics of
its own. This module does not know files nor records.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bytes_column import BytesColumn
from ...payload.columns.gather import Column
from ...payload.columns.gather_sequences import FeatureListColumn
from ...payload.wire import ABSENT, BYTES, FLOAT, INT64, UNSET
from .content import count_contents
from .frequencies import BytesTable
from .number_statistics import MOST_FREQUENT, NumberStatistics, NumberSummary
from .wire_sizes import entries_size, lists_size

# Kinds of lists, in the order in which they are shown.
KINDS = {BYTES: "bytes", FLOAT: "float32", INT64: "int64"}
# Longer strings, such as pictures, are not compared with one another.
LONGEST_COMPARED = 256


@dataclass(frozen=True)
class BytesSummary:
    """What is known of some strings.

    ``contents`` holds how many are JPEGs, text and so on. ``compared`` strings are short enough to be
    compared; ``distinct`` is the number of different ones among these, None if there are more than are kept.
    The counts in ``most_frequent`` are then at most ``error`` too low.
    """

    count: int
    lengths: NumberSummary
    contents: dict[str, int]
    compared: int
    distinct: int | None
    most_frequent: tuple[tuple[bytes, int], ...]
    error: int


class BytesStatistics:
    """Statistics of strings; ``most`` distinct ones are kept."""

    def __init__(self, most: int) -> None:
        self._lengths = NumberStatistics(np.int64, most)
        self._contents: Counter[str] = Counter()
        self._table = BytesTable(most)
        self._compared = 0

    def add(self, strings: BytesColumn) -> None:
        """Add strings."""
        lengths = strings.lengths
        self._lengths.add(lengths)
        self._contents.update(count_contents(strings))
        short = lengths <= LONGEST_COMPARED
        if not short.all():
            strings = strings.take(short)
        self._compared += len(strings)
        self._table.add(strings)

    def merge(self, other: BytesStatistics) -> None:
        """Add the strings of others."""
        self._lengths.merge(other._lengths)
        self._contents.update(other._contents)
        self._table.merge(other._table)
        self._compared += other._compared

    def summary(self) -> BytesSummary:
        """What is known of the strings so far."""
        lengths = self._lengths.summary()
        return BytesSummary(
            count=lengths.count,
            lengths=lengths,
            contents=dict(sorted(self._contents.items())),
            compared=self._compared,
            distinct=self._table.distinct,
            most_frequent=tuple(self._table.most_frequent(MOST_FREQUENT)),
            error=self._table.error,
        )


@dataclass(frozen=True)
class FeatureSummary:
    """What is known of a feature.

    ``present`` records have it, ``missing`` ones do not, and ``untyped`` ones have it without a list. Of the
    ``lists`` of each kind, ``empty`` ones hold no value; ``lengths`` is about all of them. A feature list has
    ``steps``, the number of steps in each record that has it; each step then counts as one list.
    ``size`` is what the feature takes in the records, in bytes.
    """

    name: str
    sequence: bool
    present: int
    missing: int
    untyped: int
    lists: dict[str, int]
    empty: int
    lengths: NumberSummary
    steps: NumberSummary | None
    numbers: dict[str, NumberSummary]
    strings: BytesSummary | None
    size: int

    @property
    def kind(self) -> str:
        """The kind of its lists: "int64", "bytes/int64" for a feature that has several, "empty" for none."""
        return "/".join(sorted(self.lists)) or "empty"


class FeatureStatistics:
    """Statistics of one feature, or of a feature list; ``most`` distinct values are kept of each kind."""

    def __init__(self, name: str, most: int, *, sequence: bool = False) -> None:
        self._name, self._most, self._sequence = name, most, sequence
        self._present = self._untyped = self._empty = self._size = 0
        self._lists: Counter[int] = Counter()
        self._lengths = NumberStatistics(np.int64, most)
        self._steps = NumberStatistics(np.int64, most) if sequence else None
        self._numbers: dict[int, NumberStatistics] = {}
        self._strings: BytesStatistics | None = None

    def add(self, column: Column, *others: Column) -> None:
        """Add one column of Examples; ``others`` are the same feature as columns of other kinds."""
        kinds = column.kinds
        missing = 0 if kinds is None else int(np.count_nonzero(kinds == ABSENT))
        self._present += column.rows - missing
        self._size += entries_size(self._name, column, UNSET)
        for one in (column, *others):
            if one.kind != UNSET:
                self._size += entries_size(self._name, one, one.kind)
        self._add_lists(column, others)

    def add_lists(self, found: FeatureListColumn, *others: FeatureListColumn) -> None:
        """Add the feature lists of this name; ``others`` are the same as columns of other kinds."""
        assert self._steps is not None
        present = found.present
        self._present += int(np.count_nonzero(present))
        self._steps.add(found.lengths[present])
        self._size += lists_size(self._name, (found, *others))
        self._add_lists(found.column, tuple(one.column for one in others))

    def merge(self, other: FeatureStatistics) -> None:
        """Add the same feature of other records."""
        self._present += other._present
        self._untyped += other._untyped
        self._empty += other._empty
        self._size += other._size
        self._lists.update(other._lists)
        self._lengths.merge(other._lengths)
        if self._steps is not None and other._steps is not None:
            self._steps.merge(other._steps)
        for kind, numbers in other._numbers.items():
            self._numbers.setdefault(kind, NumberStatistics(_DTYPES[kind], self._most)).merge(numbers)
        if other._strings is not None:
            self._strings = self._strings or BytesStatistics(self._most)
            self._strings.merge(other._strings)

    def summary(self, records: int) -> FeatureSummary:
        """What is known of the feature in so many records."""
        return FeatureSummary(
            name=self._name,
            sequence=self._sequence,
            present=self._present,
            missing=records - self._present,
            untyped=self._untyped,
            lists={KINDS[kind]: self._lists[kind] for kind in KINDS if self._lists[kind]},
            empty=self._empty,
            lengths=self._lengths.summary(),
            steps=None if self._steps is None else self._steps.summary(),
            numbers={KINDS[kind]: self._numbers[kind].summary() for kind in KINDS if kind in self._numbers},
            strings=None if self._strings is None else self._strings.summary(),
            size=self._size,
        )

    def _add_lists(self, column: Column, others: tuple[Column, ...]) -> None:
        """Add the lists in the rows of a column, and their values."""
        self._untyped += _count_of(column, UNSET)
        for one in (column, *others):
            if one.kind == UNSET:
                continue
            lists = _count_of(one, one.kind)
            if not lists:
                continue
            self._lists[one.kind] += lists
            self._add_lengths(one, lists)
            self._add_values(one.kind, one.values)

    def _add_lengths(self, column: Column, lists: int) -> None:
        if column.uniform is not None:
            self._lengths.add_repeated(column.uniform, lists)
            self._empty += 0 if column.uniform else lists
            return
        lengths = np.diff(column.row_splits)
        if column.kinds is not None:
            lengths = lengths[column.kinds == column.kind]
        self._empty += int(np.count_nonzero(lengths == 0))
        self._lengths.add(lengths)

    def _add_values(self, kind: int, values: Any) -> None:
        if kind == BYTES:
            self._strings = self._strings or BytesStatistics(self._most)
            self._strings.add(BytesColumn.of(values))
            return
        if kind not in self._numbers:
            self._numbers[kind] = NumberStatistics(_DTYPES[kind], self._most)
        self._numbers[kind].add(np.ascontiguousarray(values))


_DTYPES: dict[int, npt.DTypeLike] = {FLOAT: np.float32, INT64: np.int64}


def _count_of(column: Column, kind: int) -> int:
    """How many rows have a list of ``kind``."""
    if column.kinds is None:
        return column.rows if column.kind == kind else 0
    return int(np.count_nonzero(column.kinds == kind))
