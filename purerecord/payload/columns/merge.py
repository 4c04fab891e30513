"""Merges the parts of a batch that took different paths into one column, in the order of the records.

A part holds the features of some records of the batch. This module does not know how they were decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...bytes_column import BytesColumn
from ..wire import ABSENT, BYTES, FLOAT, INT64, UNSET, Value
from . import tuning
from .arrays import Ints, Kinds, Values, ranges_of, starts_of

DTYPES: dict[int, Any] = {UNSET: np.int64, BYTES: object, FLOAT: np.float32, INT64: np.int64}


class ColumnPart(NamedTuple):
    """One feature in the records of a part: its kind in each, all values, how many each record has.

    A single number for ``kinds`` or ``counts`` holds for all records.
    """

    kinds: Kinds | int
    values: Values | BytesColumn
    counts: Ints | int


class DecodedPart(Protocol):
    """The features of the records ``rows`` of a batch."""

    rows: Ints

    def names(self) -> Iterable[str]: ...

    def first(self, name: str) -> tuple[int, int] | None:
        """(record, kind) of the first record in which the feature has a kind."""

    def part(self, name: str, kind: int) -> ColumnPart:
        """The feature, with the values of the records in which it has this kind."""


class DecodedTogether:
    """Records that were decoded together: each feature has one kind wherever it has any."""

    def __init__(self, rows: Ints, parts: Mapping[str, tuple[int, ColumnPart]]) -> None:
        self.rows = rows
        self._parts = parts

    def names(self) -> Iterable[str]:
        return [name for name, (_, part) in self._parts.items() if np.any(part.kinds != ABSENT)]

    def first(self, name: str) -> tuple[int, int] | None:
        if name not in self._parts:
            return None
        kind, part = self._parts[name]
        own = np.flatnonzero(np.broadcast_to(part.kinds, self.rows.shape) == kind)
        return (int(self.rows[own[0]]), kind) if own.size and kind != UNSET else None

    def part(self, name: str, kind: int) -> ColumnPart:
        if name not in self._parts:
            return ColumnPart(ABSENT, np.empty(0, DTYPES[kind]), 0)
        own, part = self._parts[name]
        return part if own == kind else ColumnPart(part.kinds, np.empty(0, DTYPES[kind]), 0)


class DecodedSingly:
    """Records that the row decoder decoded, one by one."""

    def __init__(self, rows: Ints, examples: list[dict[str, Value]]) -> None:
        self.rows = rows
        # By name, so that a feature that few records have costs no look at the others.
        self._features: dict[str, tuple[list[int], list[Value]]] = {}
        for place, example in enumerate(examples):
            for name, value in example.items():
                places, values = self._features.setdefault(name, ([], []))
                places.append(place)
                values.append(value)

    def names(self) -> Iterable[str]:
        return self._features.keys()

    def first(self, name: str) -> tuple[int, int] | None:
        for place, (kind, _) in zip(*self._features.get(name, ((), ())), strict=True):
            if kind != UNSET:
                return int(self.rows[place]), kind
        return None

    def part(self, name: str, kind: int) -> ColumnPart:
        places, features = self._features.get(name, ([], []))
        lists = [values if own == kind and values is not None else () for own, values in features]
        kinds = np.full(len(self.rows), ABSENT, np.int8)
        counts = np.zeros(len(self.rows), np.int64)
        if places:
            kinds[places] = [own for own, _ in features]
            counts[places] = [len(values) for values in lists]
        if kind == BYTES:
            strings = np.fromiter(chain.from_iterable(lists), object, int(counts.sum()))
            return ColumnPart(kinds, strings, counts)
        numbers = np.concatenate([np.empty(0, DTYPES[kind]), *(part for part in lists if len(part))])
        return ColumnPart(kinds, numbers, counts)


def merge(parts: list[DecodedPart], name: str, kind: int, size: int, *, in_place: bool = False) -> ColumnPart:
    """One feature of all parts, in the order of the records. The parts have all ``size`` of them.

    Strings become a ``BytesColumn`` if they are ``in_place``, where that is possible.
    """
    in_place = in_place and kind == BYTES
    if len(parts) == 1 and len(parts[0].rows) == size:
        part = parts[0].part(name, kind)
        return part._replace(values=BytesColumn.of(part.values)) if in_place else part
    columns = [(part.rows, part.part(name, kind)) for part in parts]
    kinds = np.empty(size, np.int8)
    counts = np.empty(size, np.int64)
    for rows, column in columns:
        kinds[rows] = column.kinds
        counts[rows] = column.counts
    begins = starts_of(counts)
    if in_place:
        return ColumnPart(kinds, _bytes_column(columns, begins, counts), counts)
    values = np.empty(int(counts.sum()), DTYPES[kind])
    for rows, column in columns:
        if column.values.size:
            _put(np.asarray(column.values), begins[rows], counts[rows], values)
    return ColumnPart(kinds, values, counts)


def _bytes_column(columns: list[tuple[Ints, ColumnPart]], begins: Ints, counts: Ints) -> BytesColumn:
    """The strings of all parts; the rows of each begin at ``begins`` and have ``counts`` strings."""
    whole = BytesColumn.concat([BytesColumn.of(column.values) for _, column in columns])
    places = [ranges_of(begins[rows], counts[rows]) for rows, _ in columns]
    order = np.empty(len(whole), np.int64)
    order[np.concatenate([np.empty(0, np.int64), *places])] = np.arange(len(whole))
    return whole.take(order)


def _put(part: Values, begins: Ints, counts: Ints, values: Values) -> None:
    """Copies a part into ``values``: its rows begin there at ``begins`` and have ``counts`` values."""
    gaps = np.flatnonzero(begins[1:] != (begins + counts)[:-1])
    if gaps.size * tuning.current.values_per_copied_run > part.size:
        one_each = part.size == counts.size and bool((counts == 1).all())
        values[begins if one_each else ranges_of(begins, counts)] = part
        return
    # Most rows follow one another in ``values`` too: a few slices copy them all.
    cuts = np.cumsum(counts)[gaps].tolist()
    places = [int(begins[0]), *begins[gaps + 1].tolist()]
    for place, low, high in zip(places, [0, *cuts], [*cuts, part.size], strict=True):
        values[place : place + high - low] = part[low:high]
