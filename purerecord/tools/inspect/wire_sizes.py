"""How many bytes the values of a column take in serialized Examples, as every encoder writes them today:
packed, with the shortest lengths. Records that were written otherwise differ a little. This module does not
know files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bytes_column import BytesColumn
from ...payload.columns.gather import Column
from ...payload.columns.gather_sequences import FeatureListColumn
from ...payload.wire import BYTES, FLOAT, INT64, UNSET

_Ints = npt.NDArray[np.int64]

_LONGEST_VARINT = 10
_LONGEST_SHORT = 127  # bytes of a content whose length takes one byte


def entries_size(name: str, column: Column, kind: int) -> int:
    """The bytes of the entries that hold a list of ``kind``: key, list and values.

    Entries without a list belong to UNSET.
    """
    rows = _rows_of(column, kind)
    if kind == UNSET:
        return int(np.count_nonzero(rows)) * int(_delimited(_key_size(name) + _delimited_size(0)))
    if rows.all() and column.uniform and (size := _small_entries_size(name, column, kind)) is not None:
        return size
    features = feature_sizes(column, kind)[rows]
    entries = _key_size(name) + _delimited(features)
    return int(_delimited(entries).sum())


def _small_entries_size(name: str, column: Column, kind: int) -> int | None:
    """The same for lists of equally many values, if no length in an entry takes more than one byte."""
    assert column.uniform
    if kind == BYTES:
        lengths = _lengths(column.values)
        longest, values = int(lengths.max()) + 2, int(lengths.sum()) + 2 * lengths.size
    elif kind == FLOAT:
        longest, values = 4, 4 * len(column.values)
    else:
        longest, values = _varints_size(np.asarray(column.values))
    around = 2 * (3 if kind == BYTES else 4) + _key_size(name)  # the fields around the values
    if column.uniform * longest + around > _LONGEST_SHORT:
        return None
    return values + column.rows * around


def _varints_size(numbers: npt.NDArray[Any]) -> tuple[int, int]:
    """The most bytes that one of the numbers takes as a varint, and the bytes of all."""
    low, high = int(numbers.min()), int(numbers.max())
    longest, total, bits = 1, numbers.size, 7
    while high >= 1 << bits:
        total += int(np.count_nonzero(numbers >= 1 << bits))
        longest, bits = longest + 1, bits + 7
    if low < 0:
        longest, total = _LONGEST_VARINT, total + (_LONGEST_VARINT - 1) * int(np.count_nonzero(numbers < 0))
    return longest, total


def lists_size(name: str, found: Sequence[FeatureListColumn]) -> int:
    """The bytes of the feature lists of a name; ``found`` holds them once for each kind that steps have."""
    steps = np.zeros(found[0].column.rows, np.int64)
    for one in found:
        rows = _rows_of(one.column, one.column.kind)
        if one.column.kind != UNSET:
            steps[rows] = feature_sizes(one.column, one.column.kind)[rows]
    lists = _row_sums(_delimited(steps), found[0].splits)[found[0].present]
    return int(_delimited(_key_size(name) + _delimited(lists)).sum())


def feature_sizes(column: Column, kind: int) -> _Ints:
    """The bytes of the Feature in each row, as if each held a list of ``kind``, which the values are of."""
    lists: _Ints
    if kind == BYTES:
        lists = _row_sums(_delimited(_lengths(column.values)), column.row_splits)
    elif kind == FLOAT:
        lists = 4 * np.diff(column.row_splits)
    else:
        assert kind == INT64
        lists = _row_sums(varint_sizes(np.asarray(column.values)), column.row_splits)
    if kind != BYTES:  # packed
        lists = np.where(lists > 0, _delimited(lists), 0)
    features: _Ints = _delimited(lists)
    return features


def _rows_of(column: Column, kind: int) -> Any:
    if column.kinds is None:
        return np.full(column.rows, column.kind == kind)
    return column.kinds == kind


def _lengths(strings: Any) -> _Ints:
    if isinstance(strings, BytesColumn):
        return strings.lengths
    return np.fromiter(map(len, strings), np.int64, len(strings))


def _row_sums(values: _Ints, splits: _Ints) -> _Ints:
    if splits.size == values.size + 1 and bool((np.diff(splits) == 1).all()):
        return values
    sums = np.zeros(values.size + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums[splits[1:]] - sums[splits[:-1]]


def varint_sizes(numbers: npt.NDArray[Any]) -> _Ints:
    """The bytes of each number as a varint; negative ones have ten."""
    sizes = np.ones(numbers.size, np.int64)
    if not numbers.size:
        return sizes
    low, high = int(numbers.min()), int(numbers.max())
    bits = 7
    while high >= 1 << bits and bits < 63:
        sizes += numbers >= 1 << bits
        bits += 7
    if low < 0:
        sizes[numbers < 0] = _LONGEST_VARINT
    return sizes


def _delimited(sizes: Any) -> Any:
    """The bytes of fields whose contents have these ``sizes``: tag, length, content."""
    return sizes + 1 + varint_sizes(np.atleast_1d(sizes)).reshape(np.shape(sizes))


def _delimited_size(size: int) -> int:
    return int(_delimited(np.int64(size)))


def _key_size(name: str) -> int:
    return _delimited_size(len(name.encode(errors="surrogatepass")))
