"""What records are ordered by: random numbers, or the value of a feature.

A key consists of a rank, of a number or a string, and of the record's place in the input. The ranks: records
with a value, then those whose value is NaN, then those without one, whether ascending or descending. The
place makes all keys different, and the order stable. This module must not know how much there is to sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...bytes_column import BytesColumn, Offsets
from ...errors import SchemaError
from ...payload.columns.gather import Column, gather
from ...payload.wire import BYTES, FLOAT, INT64, UNSET
from ...records import Records
from .record_keys import Keys, random_keys

VALUE, NAN, NOTHING = range(3)
KINDS = {BYTES: "bytes", FLOAT: "float32", INT64: "int64"}
_HIGHEST = np.uint64(1 << 63)


class SortKeys(NamedTuple):
    """The keys of some records. ``kind`` is that of the values, UNSET if there is none; ``texts`` are the
    values if they are strings, else their order is that of ``numbers``."""

    ranks: npt.NDArray[np.uint8]
    numbers: Keys
    texts: BytesColumn | None
    kind: int


class Order(Protocol):
    """Gives keys; can be pickled."""

    @property
    def descending(self) -> bool:
        """Whether the largest string comes first. Numbers are turned round already."""

    def keys(self, records: Records, places: Offsets) -> SortKeys:
        """The keys of records at these places of the input."""


@dataclass(frozen=True)
class RandomOrder:
    """An order that follows from a seed."""

    seed: int
    descending = False

    def keys(self, records: Records, places: Offsets) -> SortKeys:
        """Random numbers."""
        return SortKeys(np.zeros(len(records), np.uint8), random_keys(places, self.seed), None, INT64)


@dataclass(frozen=True)
class FeatureOrder:
    """The order of the values of a feature."""

    feature: str
    descending: bool

    def keys(self, records: Records, places: Offsets) -> SortKeys:
        """The values of the feature, of which a record has at most one."""
        column = gather(records, {self.feature: None}, in_place=(self.feature,))[self.feature]
        has = self._check(records, column)
        ranks = np.where(has, VALUE, NOTHING).astype(np.uint8)
        numbers = np.zeros(len(records), np.uint64)
        if column.kind == BYTES:
            assert isinstance(column.values, BytesColumn)
            begins, ends = np.zeros((2, len(records)), np.int64)
            begins[has], ends[has] = column.values.begins, column.values.ends
            return SortKeys(ranks, numbers, BytesColumn(column.values.buffer, begins, ends), BYTES)
        if column.kind != UNSET:
            numbers[has] = _ordered(np.asarray(column.values), descending=self.descending)
            if column.kind == FLOAT:
                ranks[has] = np.where(np.isnan(column.values), NAN, VALUE)
                numbers[ranks == NAN] = 0
        return SortKeys(ranks, numbers, None, column.kind)

    def _check(self, records: Records, column: Column) -> Any:
        """Which records have a value; a SchemaError for one with several, or of another kind."""
        if column.kinds is not None:
            odd = (column.kinds > UNSET) & (column.kinds != column.kind)
            if odd.any():
                row = int(odd.argmax())
                self._fail(records, row, mixed({column.kind, int(column.kinds[row])}))
        counts = np.diff(column.row_splits)
        if (counts > 1).any():
            row = int((counts > 1).argmax())
            self._fail(records, row, f"it has {counts[row]} values; records are sorted by one value each")
        return counts == 1

    def _fail(self, records: Records, row: int, reason: str) -> None:
        error = SchemaError(reason, feature=self.feature)
        error.path, error.record, _ = records.origin(row)
        raise error


def mixed(kinds: set[int]) -> str:
    """Why values of several kinds are not sorted."""
    return f"it holds {' and '.join(KINDS[kind] for kind in sorted(kinds))}, which have no common order"


def _ordered(values: Any, *, descending: bool) -> Keys:
    """Unsigned integers in the order of int64 or float32 values."""
    keys: Keys
    if values.dtype.kind == "i":
        keys = values.view(np.uint64) ^ _HIGHEST
    else:
        bits = (values + np.float32(0)).view(np.uint32)  # there is one zero
        keys = np.where(bits >> 31 == 1, ~bits, bits | np.uint32(1 << 31)).astype(np.uint64)
    return ~keys if descending else keys


def order_of(keys: SortKeys, places: Offsets, *, descending: bool) -> Offsets:
    """The rows in the order of their keys."""
    if keys.texts is None:
        return np.lexsort((places, keys.numbers, keys.ranks))
    rows = np.argsort(places)
    texts = list(keys.texts)
    has = keys.ranks[rows] == VALUE
    ordered = sorted(rows[has].tolist(), key=texts.__getitem__, reverse=descending)
    return np.concatenate([np.array(ordered, np.int64), rows[~has]])


def joined_keys(parts: Sequence[SortKeys]) -> SortKeys:
    """The keys of all parts; a part without values fits to any."""
    kind = max((part.kind for part in parts), default=UNSET)
    texts = None
    if kind == BYTES:
        texts = BytesColumn.concat(
            [
                BytesColumn(b"", *np.zeros((2, len(part.ranks)), np.int64))
                if part.texts is None
                else part.texts
                for part in parts
            ]
        )
    ranks = np.concatenate([part.ranks for part in parts])
    return SortKeys(ranks, np.concatenate([part.numbers for part in parts]), texts, kind)
