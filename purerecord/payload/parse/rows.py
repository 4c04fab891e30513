"""Many Examples parsed together and handed out one by one, each as ``parse_single_example`` gives it.

``parse_rows`` makes one column for each spec; ``column[i]`` is the value for example ``i``. A value owns
its memory, so that one that is kept does not keep the others. If any of the examples does not fit the
specs, all of them are left to ``parse_single_example``, which words the error. This module does not know
where examples come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import PureRecordError
from ...records import Records
from ..columns.gather import Column, gather
from ..ragged import Ragged
from ..sparse import Sparse
from ..specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from ..values import Array
from .checked_columns import CheckedColumns, lengths_of
from .dense_sparse import fixed_len, sparse
from .examples import Builder, Request, build
from .partitions import ragged


class Rows:
    """A column of values of single examples."""

    def __getitem__(self, row: int) -> Any:
        """The value of example ``row``, in memory of its own."""
        raise NotImplementedError

    def only(self, row: int) -> Rows:
        """A column of the value of example ``row`` alone, which does not keep this one."""
        return OneRow(self[row])


class OneRow(Rows):
    """The value of one example."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, row: int) -> Any:
        return self._value


class DenseRows(Rows):
    """Rows of the same shape, ``array[i]``."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __getitem__(self, row: int) -> Any:
        value = self.array[row]
        return value.copy() if self.array.ndim > 1 else value

    def only(self, row: int) -> DenseRows:
        return DenseRows(self.array[row : row + 1].copy())


class _SequenceRows(Rows):
    """The items of each example, which differ in number."""

    def __init__(self, column: Column, shape: tuple[int, ...], count: int) -> None:
        self._items = np.asarray(column.values).reshape(-1, *shape)
        self._splits = (column.row_splits // count).tolist()

    def __getitem__(self, row: int) -> Any:
        return self._items[self._splits[row] : self._splits[row + 1]].copy()


class _VarLenRows(_SequenceRows):
    """The values of each example as a Sparse."""

    def __getitem__(self, row: int) -> Any:
        values = super().__getitem__(row)
        return Sparse(np.arange(len(values), dtype=np.int64)[:, None], values, (len(values),))


class _SparseRows(Rows):
    """The rows of a Sparse whose indices are in the order of the examples."""

    def __init__(self, rows: Sparse) -> None:
        self._rows = rows
        self._splits = np.searchsorted(rows.indices[:, 0], np.arange(rows.dense_shape[0] + 1)).tolist()

    def __getitem__(self, row: int) -> Any:
        part = slice(self._splits[row], self._splits[row + 1])
        indices, values = self._rows.indices[part, 1:], self._rows.values[part]
        return Sparse(indices.copy(), values.copy(), self._rows.dense_shape[1:])


class _RaggedRows(Rows):
    """The rows of a Ragged."""

    def __init__(self, rows: Ragged) -> None:
        self._rows = rows

    def __getitem__(self, row: int) -> Any:
        return _owned(self._rows[row])


def _owned(value: Any) -> Any:
    """``value`` in memory of its own."""
    if isinstance(value, Ragged):
        return Ragged(_owned(value.values), value.row_splits.copy())
    return value.copy()


def _fixed_len_rows(batch: CheckedColumns, feature: str, spec: FixedLenFeature) -> DenseRows:
    return DenseRows(np.asarray(fixed_len(batch, feature, spec)))


def _sequence_rows(batch: CheckedColumns, feature: str, spec: FixedLenSequenceFeature) -> _SequenceRows:
    column = batch.column(feature)
    uneven = lengths_of(column) % spec.count != 0
    if uneven.any():
        raise batch.count_mismatch(feature, "items need more", spec.count, int(uneven.argmax()))
    return _SequenceRows(column, spec.shape, spec.count)


def _var_len_rows(batch: CheckedColumns, feature: str, spec: VarLenFeature) -> _VarLenRows:
    return _VarLenRows(batch.column(feature), (), 1)


def _sparse_rows(batch: CheckedColumns, feature: str, spec: SparseFeature) -> _SparseRows:
    return _SparseRows(sparse(batch, feature, spec))


def _ragged_rows(batch: CheckedColumns, feature: str, spec: RaggedFeature) -> _RaggedRows:
    return _RaggedRows(ragged(batch, feature, spec))


_BUILDERS: dict[type, Builder] = {
    FixedLenFeature: _fixed_len_rows,
    VarLenFeature: _var_len_rows,
    FixedLenSequenceFeature: _sequence_rows,
    RaggedFeature: _ragged_rows,
    SparseFeature: _sparse_rows,
}


# Defaults take memory that the bytes of the examples do not bound: at most so many values.
_MOST_DEFAULTS = 1 << 20


def _default_size(spec: FeatureSpec) -> int:
    has_default = isinstance(spec, FixedLenFeature) and spec.default is not None
    return spec.count if has_default else 0  # type: ignore[union-attr]


# Fewer examples gain nothing from being parsed together, nor do examples that are larger on average.
_FEWEST, _LARGEST_MEAN = 8, 1 << 14


def parse_rows(
    records: Records, specs: Mapping[str, FeatureSpec], kinds: Mapping[str, int]
) -> dict[str, Rows] | None:
    """A column of rows for every spec; None if an example does not fit. ``kinds`` are those of the keys."""
    if len(records) * sum(map(_default_size, specs.values())) > _MOST_DEFAULTS:
        return None
    try:
        return build(CheckedColumns(gather(records, kinds), len(records)), specs, _BUILDERS)
    except PureRecordError:
        return None


class ParsedRows(Sequence[dict[str, Any]]):
    """What ``parse_single_example`` gives for each of some examples; made when it is asked for."""

    __slots__ = ("_columns", "_range")

    def __init__(self, columns: Mapping[str, Rows], rows: range) -> None:
        self._columns = columns
        self._range = rows

    def __len__(self) -> int:
        return len(self._range)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return ParsedRows(self._columns, self._range[key])
        row = self._range[key]
        return {name: column[row] for name, column in self._columns.items()}

    def columns(self) -> Iterator[tuple[str, Array | list[Any]]]:
        """For each feature an array of all its values, or a list if they may differ in shape."""
        rows = self._range
        for name, column in self._columns.items():
            if isinstance(column, DenseRows):
                yield name, column.array[rows.start : rows.stop : rows.step].copy()
            else:
                yield name, [column[row] for row in rows]


def parse_each(payloads: Records | Sequence[bytes], request: Request) -> ParsedRows | None:
    """Payloads parsed together as ``parse_single_example`` parses each.

    None if they must be parsed one by one: they do not fit, or are too few or too large to gain anything.
    """
    if not gains_from_others(payloads):
        return None
    columns = parse_rows(Records.of(payloads), request.specs, request.kinds)
    return None if columns is None else ParsedRows(columns, range(len(payloads)))


def gains_from_others(payloads: Any) -> bool:
    """Whether these are payloads that are worth being parsed together."""
    if len(payloads) < _FEWEST:
        return False
    if isinstance(payloads, Records):
        size = payloads.nbytes
    else:
        if set(map(type, payloads)) != {bytes}:
            return False
        size = sum(map(len, payloads))
    return size <= _LARGEST_MEAN * len(payloads)
