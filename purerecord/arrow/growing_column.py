"""One column of a table, built batch by batch. Its Arrow type is known only after the last batch.

If every record has one value, the column holds values. If all have equally many, it holds fixed-size lists,
else lists. A record that lacks the feature is null. Until the end, only flat values are kept. This module
must not know files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..payload.columns.gather import Column
from ..payload.parse.checked_columns import KIND_NAMES, CheckedColumns, Origin
from ..payload.wire import BYTES, FLOAT, INT64, UNSET
from ..records import Records
from .to_arrow import fixed, lists, values_array
from .types import pa

Mask = npt.NDArray[np.bool_]

_TYPES = {UNSET: pa.null(), BYTES: pa.large_binary(), FLOAT: pa.float32(), INT64: pa.int64()}
_VARYING = -1  # the width of a column whose rows have different numbers of values, or none


class _Chunk(NamedTuple):
    """The column in one batch; ``values`` is None if the whole batch lacks the feature."""

    rows: int
    values: Any = None
    splits: npt.NDArray[np.int64] | None = None
    valid: Mask | None = None


class GrowingColumn:
    """One feature in all batches so far. ``rows`` records precede the first batch that has it."""

    def __init__(self, name: str, rows: int) -> None:
        self._name = name
        self._chunks = [_Chunk(rows)] if rows else []
        self._kind = UNSET
        self._width: int | None = None  # values per record, in records that have the feature

    def add_nulls(self, rows: int) -> None:
        """Add a batch of ``rows`` records that lack the feature."""
        self._chunks.append(_Chunk(rows))

    def add(self, column: Column, records: Records) -> None:
        """Add the column of the next batch; a SchemaError if its kind differs from earlier batches."""
        if column.kind == UNSET:
            self.add_nulls(column.rows)
            return
        if self._kind not in (UNSET, column.kind):
            self._refuse(column, records)
        self._kind = column.kind
        valid = None if column.kinds is None else column.kinds > 0
        width = _width(column, valid)
        if self._width is None:
            self._width = width
        elif self._width != width:
            self._width = _VARYING
        # If all rows are equally long, ``_array`` can compute their splits.
        splits = None if column.uniform and valid is None else column.row_splits
        self._chunks.append(_Chunk(column.rows, values_array(column.values), splits, valid))

    def _refuse(self, column: Column, records: Records) -> None:
        row = 0 if column.kinds is None else int((column.kinds == column.kind).argmax())
        expected, found = KIND_NAMES[self._kind], KIND_NAMES[column.kind]
        batch = CheckedColumns({self._name: column}, column.rows, Origin(records))
        reason = f"holds a list of {found} where records before hold {expected}, so it cannot be one column"
        raise batch.mismatch(self._name, row, "kind", reason, expected=expected, found=found)

    def finish(self) -> Any:
        """The whole column: one chunk per batch, all of one type."""
        dtype = _TYPES[self._kind]
        if self._width == _VARYING:
            dtype = pa.large_list(dtype)
        elif self._width is not None and self._width > 1:
            dtype = pa.list_(dtype, self._width)
        return pa.chunked_array([self._array(chunk, dtype) for chunk in self._chunks], dtype)

    def _array(self, chunk: _Chunk, dtype: Any) -> Any:
        if chunk.values is None:
            return pa.nulls(chunk.rows, dtype)
        width = self._width
        assert width is not None
        if width == _VARYING:
            splits = chunk.splits
            if splits is None:
                splits = np.arange(chunk.rows + 1) * (len(chunk.values) // chunk.rows)
            return lists(chunk.values, splits, chunk.valid)
        values = chunk.values if chunk.valid is None else _spread(chunk.values, chunk.valid, width)
        return values if width == 1 else fixed(values, (chunk.rows, width), chunk.valid)


def _width(column: Column, valid: Mask | None) -> int:
    if valid is None and column.uniform:
        return column.uniform
    lengths = np.diff(column.row_splits) if valid is None else np.diff(column.row_splits)[valid]
    width = int(lengths[0]) if len(lengths) else 0
    return width if width and bool((lengths == width).all()) else _VARYING


def _spread(values: Any, valid: Mask, width: int) -> Any:
    """``values``, which are ``width`` for each valid row, with ``width`` nulls for every other row."""
    places = (np.cumsum(valid) - 1)[:, None] * width + np.arange(width)
    missing = np.repeat(~valid, width)
    places = np.where(missing, 0, places.reshape(-1))
    return values.take(pa.array(places, mask=missing))
