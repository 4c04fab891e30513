"""``RaggedFeature``: values divided into rows by splits, lengths, starts, limits, ids or a uniform length.

A partition is stored in each example and counts from the first value of that example. This module converts
the partitions of all examples to one form: the lengths of all rows, and the number of rows in each example.
It also checks them: the rows of an example must hold exactly its values. Nothing loops over rows. This
module does not know how the columns were decoded.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Union

import numpy as np

from ...bytes_column import BytesColumn
from ...errors import SchemaError
from ..ragged import Ragged
from ..specs import RaggedFeature
from ..values import Array, Offsets
from .checked_columns import CheckedColumns, Mask, lengths_of, raise_first_fault

# Row ids may skip rows, which are then empty: a few bytes could demand any number of them.
MAX_EMPTY_ROWS = 2**24


class _Stored(NamedTuple):
    """A partition column: the ``values`` of all rows, and the start and number of those of each row.

    A row is an example here, or a step of a feature list.
    """

    values: Offsets
    starts: Offsets
    lengths: Offsets

    @property
    def rows(self) -> Offsets:
        """The row of each value."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def filled(self) -> Mask:
        """A mask of the rows that have a value."""
        return self.lengths > 0

    @property
    def firsts(self) -> Offsets:
        """The position of the first value of each row that has one."""
        firsts: Offsets = self.starts[self.filled]
        return firsts

    @property
    def lasts(self) -> Offsets:
        """The position of the last value of each row that has one."""
        lasts: Offsets = (self.starts + self.lengths - 1)[self.filled]
        return lasts


class _Rows(NamedTuple):
    """What a partition says: the length of each new row, the number of them in each example, and a mask of
    the examples whose partition is wrong."""

    lengths: Offsets
    counts: Offsets
    wrong: Mask


def ragged(batch: CheckedColumns, feature: str, spec: RaggedFeature) -> Ragged:
    """The values of ``spec``, divided by its partitions from the innermost out, and finally into examples."""
    column = batch.column(spec.value_key or feature)
    values: Union[Array, Ragged, BytesColumn] = column.values
    counts = lengths_of(column)
    splits_dtype = np.dtype(spec.row_splits_dtype)
    if splits_dtype == np.int32 and len(column.values) >= 2**31:
        reason = (
            f"{len(column.values)} values are too many for int32 row splits; use row_splits_dtype=np.int64"
        )
        raise SchemaError(reason, feature=feature, problem="count")
    for partition in reversed(spec.partitions):
        if isinstance(partition, RaggedFeature.UniformRowLength):
            length = partition.length
            raise_first_fault((counts % length != 0, _indivisible(batch, feature, length, counts)))
            values = _uniform(values, length, splits_dtype)
            counts = counts // length
            continue
        column = batch.column(partition.key)
        stored = _Stored(np.asarray(column.values), column.row_splits[:-1], lengths_of(column))
        rows = _ROWS_OF[type(partition)](stored, counts)
        raise_first_fault((rows.wrong, _wrong_partition(batch, feature, partition, counts)))
        values = Ragged(values, _splits(rows.lengths, splits_dtype))
        counts = rows.counts
    # With stored partitions, a record without values may still have rows, so it is not missing.
    stored_rows = any(hasattr(partition, "key") for partition in spec.partitions)
    masks = (None, None) if stored_rows else column.masks
    return Ragged(values, _splits(counts, splits_dtype), *masks)


def _splits(lengths: Offsets, dtype: np.dtype[Any]) -> Offsets:
    splits = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def _uniform(
    values: Array | Ragged | BytesColumn, length: int, splits_dtype: np.dtype[Any]
) -> Array | Ragged:
    """Rows of ``length`` values each. An array gets another dimension, so that it stays dense."""
    total = len(values) // length
    if isinstance(values, Ragged):
        return Ragged(values, np.arange(total + 1, dtype=splits_dtype) * length)
    return np.asarray(values).reshape(total, length, *values.shape[1:])


def _indivisible(batch: CheckedColumns, feature: str, length: int, counts: Offsets) -> Any:
    def mismatch(row: int) -> SchemaError:
        found = int(counts[row])
        reason = f"{found} values cannot be cut into rows of {length}"
        return batch.mismatch(feature, row, "partition", reason, expected=length, found=found)

    return mismatch


def _wrong_partition(batch: CheckedColumns, feature: str, partition: Any, counts: Offsets) -> Any:
    kind = type(partition).__name__

    def mismatch(row: int) -> SchemaError:
        reason = f"the {kind} under {partition.key!r} do not cut the {counts[row]} values there are into rows"
        return batch.mismatch(feature, row, "partition", reason, expected=kind, found=int(counts[row]))

    return mismatch


# Each of these functions gets the stored partition and the number of values in each example. They replace a
# value out of range before they compute with it, so that nothing overflows; its example is marked as wrong.


def _in_range(stored: _Stored, counts: Offsets) -> tuple[Offsets, Mask]:
    """The stored values with 0 for any outside of [0, count of its example], and a mask of the examples that
    have such a value."""
    outside = (stored.values < 0) | (stored.values > np.repeat(counts, stored.lengths))
    wrong = np.zeros(len(counts), bool)
    if outside.any():
        wrong[stored.rows[outside]] = True
    return np.where(outside, 0, stored.values), wrong


def _row_lengths(stored: _Stored, counts: Offsets) -> _Rows:
    lengths, wrong = _in_range(stored, counts)
    # The lengths are bounded, so the sum of one example cannot overflow, and the differences are exact.
    sums = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=sums[1:])
    wrong |= sums[stored.starts + stored.lengths] - sums[stored.starts] != counts
    return _Rows(lengths, stored.lengths, wrong)


def _row_limits(stored: _Stored, counts: Offsets) -> _Rows:
    limits, wrong = _in_range(stored, counts)
    lengths = np.diff(limits, prepend=0)
    lengths[stored.firsts] = limits[stored.firsts]
    _mark_rows(stored, lengths < 0, wrong)
    wrong[stored.filled] |= limits[stored.lasts] != counts[stored.filled]
    wrong |= ~stored.filled & (counts > 0)
    return _Rows(lengths, stored.lengths, wrong)


def _row_splits(stored: _Stored, counts: Offsets) -> _Rows:
    limits, _, wrong = _row_limits(stored, counts)
    # The first split of an example must be 0. Read as a limit, it ends an empty row, which is deleted here.
    wrong[stored.filled] |= limits[stored.firsts] != 0
    return _Rows(np.delete(limits, stored.firsts), np.maximum(stored.lengths - 1, 0), wrong)


def _row_starts(stored: _Stored, counts: Offsets) -> _Rows:
    starts, wrong = _in_range(stored, counts)
    lengths = np.diff(starts, append=0)
    lengths[stored.lasts] = counts[stored.filled] - starts[stored.lasts]
    _mark_rows(stored, lengths < 0, wrong)
    wrong[stored.filled] |= starts[stored.firsts] != 0
    wrong |= ~stored.filled & (counts > 0)
    return _Rows(lengths, stored.lengths, wrong)


def _value_row_ids(stored: _Stored, counts: Offsets) -> _Rows:
    ids, wrong = stored.values, stored.lengths != counts
    falling = np.zeros(len(ids), bool)
    falling[1:] = ids[1:] < ids[:-1]
    falling[stored.firsts] = ids[stored.firsts] < 0
    _mark_rows(stored, falling, wrong)
    last = np.zeros(len(counts), np.int64)
    last[stored.filled] = ids[stored.lasts]
    wrong |= last >= MAX_EMPTY_ROWS + counts
    rows = np.where(wrong | ~stored.filled, 0, last + 1)
    if int(rows.sum()) > MAX_EMPTY_ROWS + len(ids):
        wrong |= np.cumsum(rows) > MAX_EMPTY_ROWS + len(ids)
    if wrong.any():
        return _Rows(np.zeros(0, np.int64), rows, wrong)
    shifted = ids + np.repeat(np.cumsum(rows) - rows, stored.lengths)
    return _Rows(np.bincount(shifted, minlength=int(rows.sum())), rows, wrong)


def _mark_rows(stored: _Stored, faults: Mask, wrong: Mask) -> None:
    """Sets ``wrong`` for the rows that hold a value marked in ``faults``."""
    if faults.any():
        wrong[stored.rows[faults]] = True


_ROWS_OF = {
    RaggedFeature.RowSplits: _row_splits,
    RaggedFeature.RowLengths: _row_lengths,
    RaggedFeature.RowStarts: _row_starts,
    RaggedFeature.RowLimits: _row_limits,
    RaggedFeature.ValueRowIds: _value_row_ids,
}
