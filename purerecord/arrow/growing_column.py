"""One column of a table, built batch by batch. Its Arrow type is known only after the last batch.

If every record has one value, the column holds values. If all have equally many, it holds fixed-size lists,
else lists. A feature list becomes lists of lists. A record that lacks the feature is null, and so is a step
without a type. Until the end, only flat values are kept. This module must not know files.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import SchemaError
from ..payload.columns.gather import Column
from ..payload.columns.gather_sequences import FeatureListColumn
from ..payload.parse.checked_columns import KIND_NAMES, CheckedColumns, Origin, lengths_of
from ..payload.parse.text import text_error
from ..payload.ragged import Ragged
from ..payload.values import Mask, Offsets
from ..payload.wire import BYTES, FLOAT, INT64, UNSET
from ..records import Records
from .to_arrow import NotTextError, fixed, lists, values_array
from .types import pa

_TYPES = {UNSET: pa.null(), BYTES: pa.large_binary(), FLOAT: pa.float32(), INT64: pa.int64()}
_KINDS = {dtype: kind for kind, dtype in _TYPES.items()} | {pa.large_string(): BYTES}
_VARYING = -1  # the width of a column whose rows have different numbers of values, or none


class _Kind:
    """The one kind that a feature has in all batches, and whether its strings are text."""

    def __init__(self, name: str, text: bool) -> None:
        self.name, self._text = name, text
        self._kind = UNSET

    @classmethod
    def of(cls, name: str, dtype: Any) -> _Kind:
        """The kind of which ``dtype`` is the type of a value."""
        if dtype not in _KINDS:
            raise TypeError(f"column {name!r}: no reader gives values of {dtype}; take the schema of one")
        kind = cls(name, pa.types.is_large_string(dtype))
        kind._kind = _KINDS[dtype]
        return kind

    def type(self) -> Any:
        """The Arrow type of a value."""
        return pa.large_string() if self._kind == BYTES and self._text else _TYPES[self._kind]

    def values(self, column: Column, records: Records, steps: Offsets | None = None) -> Any:
        """The values of a batch; a SchemaError if their kind differs from earlier batches, or if they should
        be text and are not. With ``steps``, the rows of ``column`` are steps, as in ``CheckedColumns``."""
        batch = CheckedColumns({self.name: column}, column.rows, Origin(records), steps)
        if self._kind not in (UNSET, column.kind):
            raise self._other_kind(batch, column)
        self._kind = column.kind
        try:
            return values_array(column.values, text=self._text)
        except NotTextError:
            raise text_error(self.name, Ragged(column.values, column.row_splits), batch) from None

    def check_known(self, column: Column, records: Records, steps: Offsets | None = None) -> None:
        """Raise a SchemaError if ``column`` has a kind and no batch before had one."""
        if self._kind != UNSET or column.kind == UNSET:
            return
        batch = CheckedColumns({self.name: column}, column.rows, Origin(records), steps)
        row = 0 if column.kinds is None else int((column.kinds == column.kind).argmax())
        reason = "the first records hold no value of it, so the stream does not know its type; give features"
        raise batch.mismatch(self.name, row, "kind", reason, expected=None, found=KIND_NAMES[column.kind])

    def _other_kind(self, batch: CheckedColumns, column: Column) -> SchemaError:
        row = 0 if column.kinds is None else int((column.kinds == column.kind).argmax())
        expected, found = KIND_NAMES[self._kind], KIND_NAMES[column.kind]
        reason = f"holds a list of {found} where records before hold {expected}, so it cannot be one column"
        return batch.mismatch(self.name, row, "kind", reason, expected=expected, found=found)


# --- Features ---------------------------------------------------------------------------------------


class _Chunk(NamedTuple):
    """The column in one batch; ``values`` is None if the whole batch lacks the feature."""

    rows: int
    values: Any = None
    splits: Offsets | None = None
    valid: Mask | None = None


class GrowingColumn:
    """One feature in all batches so far. ``rows`` records precede the first batch that has it."""

    def __init__(self, name: str, rows: int, *, text: bool = False) -> None:
        self._kind = _Kind(name, text)
        self._chunks = [_Chunk(rows)] if rows else []
        self._width: int | None = None  # values per record, in records that have the feature

    @classmethod
    def of(cls, name: str, dtype: Any) -> GrowingColumn:
        """A column without rows of a type that ``finish`` has given."""
        column = cls(name, 0)
        if pa.types.is_fixed_size_list(dtype):
            column._width = dtype.list_size
        elif pa.types.is_large_list(dtype):
            column._width = _VARYING
        elif not pa.types.is_null(dtype):
            column._width = 1
        column._kind = _Kind.of(name, dtype if column._width in (None, 1) else dtype.value_type)
        return column

    def add_nulls(self, rows: int) -> None:
        """Add a batch of ``rows`` records that lack the feature."""
        self._chunks.append(_Chunk(rows))

    def add(self, column: Column, records: Records) -> None:
        """Add the column of the next batch; a SchemaError if its kind differs from earlier batches."""
        if column.kind == UNSET:
            self.add_nulls(column.rows)
            return
        values = self._kind.values(column, records)
        valid = None if column.kinds is None else column.kinds > 0
        width = _width(column, valid)
        if self._width is None:
            self._width = width
        elif self._width != width:
            self._width = _VARYING
        # If all rows are equally long, ``_array`` can compute their splits.
        splits = None if column.uniform and valid is None else column.row_splits
        self._chunks.append(_Chunk(column.rows, values, splits, valid))

    def like(self, records: Records, column: Column | None) -> Any:
        """The array of another batch in the form of this column; a SchemaError if it has another one.

        This column stays as it is. ``column`` is None if the batch lacks the feature.
        """
        if column is not None:
            self._kind.check_known(column, records)
        grown = GrowingColumn(self._kind.name, 0)
        grown._kind = self._kind
        if column is None:
            grown.add_nulls(len(records))
        else:
            grown.add(column, records)
        if grown._width not in (None, self._width) and self._width != _VARYING:
            assert column is not None
            assert self._width is not None
            valid = True if column.kinds is None else column.kinds > 0
            row = int(((lengths_of(column) != self._width) & valid).argmax())
            batch = CheckedColumns({self._kind.name: column}, column.rows, Origin(records))
            needs = (
                f"each of the first records has {self._width}, and a stream keeps their form; give features"
            )
            raise batch.count_mismatch(self._kind.name, needs, self._width, row)
        grown._width = self._width
        return grown.finish().combine_chunks()

    def finish(self) -> Any:
        """The whole column: one chunk per batch, all of one type."""
        dtype = self._kind.type()
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


# --- Feature lists ----------------------------------------------------------------------------------


class _ListChunk(NamedTuple):
    """The feature lists of one batch: their steps, and which steps are those of a record.

    ``steps`` is None if no step has a kind. ``splits`` is None if no record has the list.
    """

    rows: int
    steps: Any = None
    splits: Offsets | None = None
    valid: Mask | None = None


class GrowingFeatureList:
    """One feature list in all batches so far. ``rows`` records precede the first batch that has it."""

    def __init__(self, name: str, rows: int, *, text: bool = False) -> None:
        self._kind = _Kind(name, text)
        self._chunks = [_ListChunk(rows)] if rows else []

    @classmethod
    def of(cls, name: str, dtype: Any) -> GrowingFeatureList:
        """A column without rows of a type that ``finish`` has given."""
        column = cls(name, 0)
        column._kind = _Kind.of(name, dtype.value_type.value_type)
        return column

    def add_nulls(self, rows: int) -> None:
        """Add a batch of ``rows`` records that lack the list."""
        self._chunks.append(_ListChunk(rows))

    def add(self, found: FeatureListColumn, records: Records) -> None:
        """Add the lists of the next batch; a SchemaError if their kind differs from earlier batches."""
        column, steps = found.column, None
        if column.kind != UNSET:
            values = self._kind.values(column, records, found.splits)
            steps = lists(values, column.row_splits, None if column.kinds is None else column.kinds > 0)
        self._chunks.append(_ListChunk(len(found.lengths), steps, found.splits, found.present))

    def like(self, records: Records, found: FeatureListColumn | None) -> Any:
        """The array of another batch, as ``GrowingColumn.like`` gives it."""
        if found is not None:
            self._kind.check_known(found.column, records, found.splits)
        grown = GrowingFeatureList(self._kind.name, 0)
        grown._kind = self._kind
        if found is None:
            grown.add_nulls(len(records))
        else:
            grown.add(found, records)
        return grown.finish().combine_chunks()

    def finish(self) -> Any:
        """The whole column: one chunk per batch, all of one type."""
        inner = pa.large_list(self._kind.type())
        return pa.chunked_array([self._array(chunk, inner) for chunk in self._chunks], pa.large_list(inner))

    def _array(self, chunk: _ListChunk, inner: Any) -> Any:
        if chunk.splits is None:
            return pa.nulls(chunk.rows, pa.large_list(inner))
        steps = pa.nulls(int(chunk.splits[-1]), inner) if chunk.steps is None else chunk.steps
        return lists(steps, chunk.splits, chunk.valid)
