"""RaggedFeature: values cut into rows by row splits, lengths, starts, limits, ids or a uniform length.

A partition is stored per example and counts from that example's first value. Here the partitions of all
examples are brought into one form, the lengths of all rows one after the other and the number of rows of
each example, and checked on the way: each example's rows must hold exactly that example's values. Nothing
loops over rows. This module does not know how the columns came about.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Union

import numpy as np

from ...errors import SchemaError
from ..ragged import Array, Offsets, Ragged
from ..specs import RaggedFeature
from .checked_columns import Batch, Mask, first_fault, lengths_of

# Row ids can name rows that have no value: a few bytes could ask for any number of them.
MAX_EMPTY_ROWS = 2**24


class _Stored(NamedTuple):
    """The partition column of a batch: ``values`` of all rows, ``starts`` and ``lengths`` of each."""

    values: Offsets
    starts: Offsets
    lengths: Offsets

    @property
    def rows(self) -> Offsets:
        """For each value the row that it is in."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def filled(self) -> Mask:
        """Which rows have a value."""
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


class _Cut(NamedTuple):
    """What a partition says: how long each new row is, how many an example has, and who is wrong."""

    lengths: Offsets
    counts: Offsets
    wrong: Mask


def ragged(batch: Batch, feature: str, spec: RaggedFeature) -> Ragged:
    """The values of ``spec`` cut by its partitions, innermost first, and at last into examples."""
    column = batch.column(spec.value_key or feature)
    values: Union[Array, Ragged] = column.values
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
            first_fault((counts % length != 0, _indivisible(batch, feature, length, counts)))
            values = _uniform(values, length, splits_dtype)
            counts = counts // length
            continue
        stored = batch.column(partition.key)
        stored_as = _Stored(stored.values, stored.row_splits[:-1], lengths_of(stored))
        cut = _CUTS[type(partition)](stored_as, counts)
        first_fault((cut.wrong, _wrong_partition(batch, feature, partition, counts)))
        values = Ragged(values, _splits(cut.lengths, splits_dtype))
        counts = cut.counts
    return Ragged(values, _splits(counts, splits_dtype))


def _splits(lengths: Offsets, dtype: np.dtype[Any]) -> Offsets:
    splits = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def _uniform(values: Array | Ragged, length: int, splits_dtype: np.dtype[Any]) -> Array | Ragged:
    """Rows of ``length`` each; of an array they become a dimension, so the result stays dense inside."""
    total = len(values) // length
    if isinstance(values, Ragged):
        return Ragged(values, np.arange(total + 1, dtype=splits_dtype) * length)
    return values.reshape(total, length, *values.shape[1:])


def _indivisible(batch: Batch, feature: str, length: int, counts: Offsets) -> Any:
    def mismatch(row: int) -> SchemaError:
        found = int(counts[row])
        reason = f"{found} values cannot be cut into rows of {length}"
        return batch.mismatch(feature, row, "partition", reason, expected=length, found=found)

    return mismatch


def _wrong_partition(batch: Batch, feature: str, partition: Any, counts: Offsets) -> Any:
    kind = type(partition).__name__

    def mismatch(row: int) -> SchemaError:
        reason = f"the {kind} under {partition.key!r} do not cut the {counts[row]} values there are into rows"
        return batch.mismatch(feature, row, "partition", reason, expected=kind, found=int(counts[row]))

    return mismatch


# Each of these gets the stored partition and how many values each example has. A value out of range is
# replaced before anything is computed with it, so that nothing overflows; its example is wrong anyway.


def _in_range(stored: _Stored, counts: Offsets) -> tuple[Offsets, Mask]:
    """The stored values, with 0 for those that are not between 0 and the example's count, and which
    examples have such."""
    outside = (stored.values < 0) | (stored.values > np.repeat(counts, stored.lengths))
    wrong = np.zeros(len(counts), bool)
    if outside.any():
        wrong[stored.rows[outside]] = True
    return np.where(outside, 0, stored.values), wrong


def _row_lengths(stored: _Stored, counts: Offsets) -> _Cut:
    lengths, wrong = _in_range(stored, counts)
    # One example's sum cannot overflow, being made of bounded lengths; so the differences are exact.
    sums = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=sums[1:])
    wrong |= sums[stored.starts + stored.lengths] - sums[stored.starts] != counts
    return _Cut(lengths, stored.lengths, wrong)


def _row_limits(stored: _Stored, counts: Offsets) -> _Cut:
    limits, wrong = _in_range(stored, counts)
    lengths = np.diff(limits, prepend=0)
    lengths[stored.firsts] = limits[stored.firsts]
    _mark(wrong, stored, lengths < 0)
    wrong[stored.filled] |= limits[stored.lasts] != counts[stored.filled]
    wrong |= ~stored.filled & (counts > 0)
    return _Cut(lengths, stored.lengths, wrong)


def _row_splits(stored: _Stored, counts: Offsets) -> _Cut:
    limits, _, wrong = _row_limits(stored, counts)
    # The first split of an example is not a row's limit; as one it must have been that of an empty row.
    wrong[stored.filled] |= limits[stored.firsts] != 0
    return _Cut(np.delete(limits, stored.firsts), np.maximum(stored.lengths - 1, 0), wrong)


def _row_starts(stored: _Stored, counts: Offsets) -> _Cut:
    starts, wrong = _in_range(stored, counts)
    lengths = np.diff(starts, append=0)
    lengths[stored.lasts] = counts[stored.filled] - starts[stored.lasts]
    _mark(wrong, stored, lengths < 0)
    wrong[stored.filled] |= starts[stored.firsts] != 0
    wrong |= ~stored.filled & (counts > 0)
    return _Cut(lengths, stored.lengths, wrong)


def _value_row_ids(stored: _Stored, counts: Offsets) -> _Cut:
    ids, wrong = stored.values, stored.lengths != counts
    steps = np.zeros(len(ids), bool)
    steps[1:] = ids[1:] < ids[:-1]
    steps[stored.firsts] = ids[stored.firsts] < 0
    _mark(wrong, stored, steps)
    last = np.zeros(len(counts), np.int64)
    last[stored.filled] = ids[stored.lasts]
    wrong |= last >= MAX_EMPTY_ROWS + counts
    rows = np.where(wrong | ~stored.filled, 0, last + 1)
    if int(rows.sum()) > MAX_EMPTY_ROWS + len(ids):
        wrong |= np.cumsum(rows) > MAX_EMPTY_ROWS + len(ids)
    if wrong.any():
        return _Cut(np.zeros(0, np.int64), rows, wrong)
    shifted = ids + np.repeat(np.cumsum(rows) - rows, stored.lengths)
    return _Cut(np.bincount(shifted, minlength=int(rows.sum())), rows, wrong)


def _mark(wrong: Mask, stored: _Stored, faults: Mask) -> None:
    """Mark the rows that hold a value at fault."""
    if faults.any():
        wrong[stored.rows[faults]] = True


_CUTS = {
    RaggedFeature.RowSplits: _row_splits,
    RaggedFeature.RowLengths: _row_lengths,
    RaggedFeature.RowStarts: _row_starts,
    RaggedFeature.RowLimits: _row_limits,
    RaggedFeature.ValueRowIds: _value_row_ids,
}
