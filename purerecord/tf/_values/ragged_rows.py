"""Rows of different lengths, as arrays: taken, joined, aligned for broadcasting, and combined by segments.

The functions work on the core's ``Ragged`` and on arrays, whose rows all have one length. This module does
not know tensors.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Union

import numpy as np

from ...payload.ragged import Ragged
from ..errors import invalid
from .convert import Array
from .row_partition import splits_of_lengths

Rows = Union[Array, Ragged]
# A function of an array, the segment of each row of it, and the number of segments.
Segments = Callable[[Array, Array, int], Array]


def depth(rows: Rows) -> int:
    """The number of ragged dimensions."""
    return len(rows.nested_row_splits) if isinstance(rows, Ragged) else 0


def flat(rows: Rows) -> Array:
    """The innermost values."""
    return rows.flat_values if isinstance(rows, Ragged) else rows


def with_flat(rows: Rows, values: Array) -> Rows:
    """The same rows with other innermost values."""
    if not isinstance(rows, Ragged):
        return values
    return Ragged(with_flat(rows.values, values), rows.row_splits)


def rank(rows: Rows) -> int:
    """The number of dimensions."""
    return depth(rows) + flat(rows).ndim


def lengths_of(rows: Rows) -> Array:
    """The length of each row."""
    lengths: Array = rows.row_lengths() if isinstance(rows, Ragged) else np.full(len(rows), rows.shape[1])
    return lengths


def taken(rows: Rows, places: Array) -> Rows:
    """The rows at these places."""
    if isinstance(rows, Ragged):
        taken_rows: Rows = rows[places.astype(np.int64)]
        return taken_rows
    made: Array = rows[places]
    return made


def joined(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, one after the other."""
    if isinstance(parts[0], Ragged):
        inner: Any = joined([part.values for part in parts if isinstance(part, Ragged)])
        return Ragged(inner, splits_of_lengths(np.concatenate([lengths_of(part) for part in parts])))
    return np.concatenate([np.asarray(part) for part in parts])


def as_ragged(rows: Rows, levels: int, splits_type: Any = np.int64) -> Rows:
    """The same rows with at least ``levels`` ragged dimensions."""
    if not levels:
        return rows
    if isinstance(rows, Ragged):
        return Ragged(as_ragged(rows.values, levels - 1, splits_type), rows.row_splits)
    splits = (np.arange(len(rows) + 1) * rows.shape[1]).astype(splits_type)
    inner = rows.reshape(len(rows) * rows.shape[1], *rows.shape[2:])
    return Ragged(as_ragged(inner, levels - 1, splits_type), splits)


def positions(splits: Array) -> Array:
    """The position of each value in its row."""
    places: Array = np.arange(splits[-1]) - np.repeat(splits[:-1], np.diff(splits))
    return places


def row_of_each(splits: Array) -> Array:
    """The row of each value."""
    return np.repeat(np.arange(len(splits) - 1), np.diff(splits))


def tiled(rows: Rows, times: Sequence[int]) -> Rows:
    """The rows repeated in each dimension."""
    if not isinstance(rows, Ragged):
        return np.tile(rows, times)
    inner = tiled(rows.values, [1, *times[2:]])
    splits = rows.row_splits
    places = [np.tile(np.arange(a, b), times[1]) for a, b in itertools.pairwise(splits)]
    values = taken(inner, np.concatenate([np.zeros(0, np.int64), *places]))
    repeated = Ragged(values, splits_of_lengths((rows.row_lengths() * times[1]).astype(splits.dtype)))
    return taken(repeated, np.tile(np.arange(len(rows)), times[0]))


# --- Broadcasting -----------------------------------------------------------------------------------


def aligned(one: Rows, two: Rows) -> tuple[Rows, Rows]:
    """Two values with the same rows: where one has a single row or element, it is repeated.

    The inner dimensions, which are not ragged, are left as they are.
    """
    if not depth(one) and not depth(two):
        return one, two
    # An operand without ragged dimensions that has no more dimensions than the values broadcasts to them.
    if not depth(one) and flat(one).ndim < flat(two).ndim:
        return one, two
    if not depth(two) and flat(two).ndim < flat(one).ndim:
        return one, two
    ranks = max(rank(one), rank(two))
    return _aligned(_of_rank(one, ranks), _of_rank(two, ranks))


def _of_rank(rows: Rows, wanted: int) -> Rows:
    """The value with dimensions of length 1 in front, up to a rank."""
    for _ in range(wanted - rank(rows)):
        rows = (
            Ragged(rows, np.array([0, len(rows)], rows.row_splits.dtype))
            if isinstance(rows, Ragged)
            else rows[None]
        )
    return rows


def _aligned(one: Rows, two: Rows) -> tuple[Rows, Rows]:
    if len(one) != len(two):
        if len(one) == 1:
            one = taken(one, np.zeros(len(two), np.int64))
        elif len(two) == 1:
            two = taken(two, np.zeros(len(one), np.int64))
        else:
            raise invalid(f"Unable to broadcast: dimension size mismatch: {len(one)} and {len(two)} rows")
    if not isinstance(one, Ragged) and not isinstance(two, Ragged):
        return one, two
    splits_type = next(part.row_splits.dtype for part in (one, two) if isinstance(part, Ragged))
    first, second = as_ragged(one, 1, splits_type), as_ragged(two, 1, splits_type)
    assert isinstance(first, Ragged)
    assert isinstance(second, Ragged)
    lengths = first.row_lengths(), second.row_lengths()
    inner: list[Any] = [first.values, second.values]
    splits = first.row_splits
    if not np.array_equal(*lengths):
        single = [bool((part == 1).all()) for part in lengths]
        if not any(single):
            raise invalid(
                "Unable to broadcast: dimension size mismatch in dimension 1: rows differ in length"
            )
        short = single.index(True)
        splits = (second if short == 0 else first).row_splits
        inner[short] = taken(inner[short], row_of_each(splits))
    if rank(inner[0]) > 1 and (depth(inner[0]) or depth(inner[1])):
        inner = list(_aligned(*inner))
    return Ragged(inner[0], splits), Ragged(inner[1], splits)


# --- Segments ---------------------------------------------------------------------------------------


def combined(rows: Rows, segments: Array, count: int, combine: Segments) -> Rows:
    """One row for each segment, combined of the rows of that segment, element by element."""
    if not isinstance(rows, Ragged):
        return combine(rows, segments, count)
    chosen = segments >= 0
    longest = np.zeros(count, rows.row_splits.dtype)
    np.maximum.at(longest, segments[chosen], rows.row_lengths()[chosen])
    splits = splits_of_lengths(longest)
    targets = splits[:-1][np.where(chosen, segments, 0)] if count else np.zeros(len(segments), np.int64)
    inner = np.repeat(targets, rows.row_lengths()) + positions(rows.row_splits)
    inner[~np.repeat(chosen, rows.row_lengths())] = -1
    return Ragged(combined(rows.values, inner, int(splits[-1]), combine), splits)


def reduced(rows: Rows, axis: int, combine: Segments, within: Callable[[Array, int], Array]) -> Rows:
    """The rows combined along a dimension; ``within`` combines dimensions that are not ragged."""
    if not isinstance(rows, Ragged):
        return within(rows, axis)
    if axis == 0:
        most = int(rows.row_lengths().max(initial=0))
        return combined(rows.values, positions(rows.row_splits), most, combine)
    if axis == 1:
        return combined(rows.values, row_of_each(rows.row_splits), len(rows), combine)
    return Ragged(reduced(rows.values, axis - 1, combine, within), rows.row_splits)
