"""Records to the record batches that Spark takes: exactly its schema, with 32-bit offsets.

A missing feature is null, and an empty list an empty array. Values that a type cannot hold are an error that
names the record: nothing wraps, and no row has a value of another one. This module must not know files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..arrow.to_arrow import NotTextError, bitmap, values_array
from ..arrow.types import pa
from ..bytes_column import BytesColumn
from ..errors import SchemaError
from ..payload.columns.gather import Column, gather
from ..payload.columns.gather_sequences import (
    FeatureListColumn,
    gather_sequences,
    has_feature_lists,
    have_only,
)
from ..payload.parse.checked_columns import KIND_NAMES, CheckedColumns, Mask, Origin, lengths_of
from ..payload.parse.chosen_columns import ChosenColumns
from ..payload.parse.sequences import natural_batch
from ..payload.parse.text import text_error
from ..payload.ragged import Ragged
from ..payload.values import Offsets
from ..payload.wire import FLOAT, INT64, UNSET
from ..records import Records
from .row_types import LIST, STEPS, VALUE, RowColumn, row_columns

# A batch has at most so many cells, which is far below 2 GiB of numbers.
_MOST_CELLS = 1 << 24
_MOST_OFFSET = 2**31 - 1
_GIVE_SCHEMA = "give a schema, or infer it from all records with inferAll"


class RowBatches:
    """Makes batches of ``schema`` from records of ``record_type``, "" if they are of either message.

    With ``inferred``, the schema has all features that the first records have; one that it does not have is
    an error.
    """

    def __init__(self, schema: Any, record_type: str, *, inferred: bool = False) -> None:
        self._schema = schema
        self._record_type = record_type
        self._inferred = inferred
        self._columns = row_columns(schema, sequences=record_type in ("", "SequenceExample"))
        if record_type == "ByteArray" and (len(schema) != 1 or not _holds_bytes(self._columns[0])):
            raise SchemaError("a ByteArray has one column, of binary or string")

    def batches(self, records: Records) -> Iterator[Any]:
        """The rows of ``records``."""
        step = max(1, _MOST_CELLS // max(1, len(self._columns)))
        for first in range(0, len(records), step):
            yield self._batch(records[first : first + step])

    def _batch(self, records: Records) -> Any:
        if self._record_type == "ByteArray":
            column = Column(self._columns[0].kind, None, _as_strings(records), len(records), 1, None)
            arrays = [_FeatureArray(self._columns[0], column, records).array()]
        else:
            context, lists = self._decoded(records)
            arrays = [self._array(column, context, lists, records) for column in self._columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _decoded(self, records: Records) -> tuple[dict[str, Column], dict[str, FeatureListColumn]]:
        sequences = has_feature_lists(records)
        if sequences and self._record_type == "Example":
            raise SchemaError(f"{records.path}: has SequenceExamples; set recordType to SequenceExample")
        wanted = {column.name: column.kind for column in self._columns}
        if self._inferred and not (sequences and have_only(records, wanted, wanted)):
            context, lists = natural_batch(records, None)
            self._check_known(context, lists, records)
            return context, lists
        if sequences:
            return gather_sequences(records, wanted, wanted)
        return gather(records, wanted, in_place=ChosenColumns("bytes_columns", True)), {}

    def _check_known(self, context: Any, lists: Any, records: Records) -> None:
        known = {column.name for column in self._columns}
        for name in sorted((context.keys() | lists.keys()) - known):
            has = context[name].kinds if name in context else lists[name].present
            row = 0 if has is None else int((has >= 0 if name in context else has).argmax())
            reason = f"is not among the features that the schema was inferred from; {_GIVE_SCHEMA}"
            raise _checked(records).mismatch(name, row, "unknown", reason, expected=None, found=name)

    def _array(self, wanted: RowColumn, context: Any, lists: Any, records: Records) -> Any:
        column, found = context.get(wanted.name), lists.get(wanted.name)
        has_list = found is not None and bool(found.present.any())
        if wanted.depth == STEPS and column is not None and not column.is_absent:
            row = 0 if column.kinds is None else int((column.kinds >= UNSET).argmax())
            raise _other_form(wanted, records, row, "a feature, and no feature list", "an array")
        if wanted.depth != STEPS and has_list:
            row = int(found.present.argmax())
            raise _other_form(wanted, records, row, "a feature list", "an array of arrays")
        if wanted.depth == STEPS:
            return _steps(wanted, found, records) if has_list else _nulls(wanted, records)
        if column is None or column.is_absent:
            return _nulls(wanted, records)
        return _FeatureArray(wanted, column, records).array()


def _holds_bytes(column: RowColumn) -> bool:
    return column.depth == VALUE and column.kind not in (INT64, FLOAT)


def _as_strings(records: Records) -> BytesColumn:
    return BytesColumn(records.buffer, records.begins, records.ends)


def _checked(records: Records) -> CheckedColumns:
    return CheckedColumns({}, len(records), Origin(records))


def _other_form(wanted: RowColumn, records: Records, row: int, found: str, needed: str) -> SchemaError:
    reason = f"is {found}, which the type {wanted.type} cannot hold; make it {needed} in the schema"
    return _checked(records).mismatch(wanted.name, row, "kind", reason, expected=None, found=found)


def _nulls(wanted: RowColumn, records: Records) -> Any:
    if not wanted.nullable and len(records):
        raise _missing(wanted, _checked(records), 0)
    return pa.nulls(len(records), wanted.type)


def _missing(wanted: RowColumn, batch: CheckedColumns, row: int) -> SchemaError:
    reason = "is missing, but the schema says that it is not null"
    return batch.mismatch(wanted.name, row, "missing", reason, expected=KIND_NAMES[wanted.kind], found=None)


def _steps(wanted: RowColumn, found: FeatureListColumn, records: Records) -> Any:
    inner = RowColumn(
        wanted.name, wanted.type.value_type, wanted.step_nullable, wanted.kind, LIST, wanted.values
    )
    steps = _FeatureArray(inner, found.column, records, found.splits).array()
    if not wanted.nullable and not found.present.all():
        raise _missing(wanted, _checked(records), int((~found.present).argmax()))
    return _listed(wanted.type, steps, found.splits, found.present)


def _listed(dtype: Any, values: Any, splits: Offsets, valid: Mask | None) -> Any:
    """``values`` in lists of ``dtype``."""
    if splits[-1] > _MOST_OFFSET:
        raise SchemaError("a record has 2**31 values or more, and Spark takes fewer")
    offsets = pa.py_buffer(splits.astype(np.int32))
    return pa.Array.from_buffers(dtype, len(splits) - 1, [bitmap(valid), offsets], children=[values])


class _FeatureArray:
    """One feature of some records, or all steps of a feature list, which ``steps`` assigns to records."""

    def __init__(
        self, wanted: RowColumn, column: Column, records: Records, steps: Offsets | None = None
    ) -> None:
        self._wanted = wanted
        self._column = column
        self._batch = CheckedColumns({wanted.name: column}, column.rows, Origin(records), steps)

    def array(self) -> Any:
        """The Arrow array; a SchemaError about the first row that does not fit."""
        wanted, kinds = self._wanted, self._batch.kinds(self._wanted.name)
        self._check_kind(kinds)
        valid = lengths_of(self._column) > 0 if wanted.depth == VALUE else kinds > UNSET
        if not wanted.nullable and not valid.all():
            raise _missing(wanted, self._batch, int((~valid).argmax()))
        if not valid.any():
            return pa.nulls(len(valid), wanted.type)
        if wanted.depth == LIST:
            return _listed(wanted.type, self._values(), self._column.row_splits, valid)
        self._check_single()
        values = self._values()
        if valid.all():
            return values
        return values.take(pa.array(np.cumsum(valid) - 1, mask=~valid))

    def _check_kind(self, kinds: Any) -> None:
        odd = (kinds > UNSET) & (kinds != self._wanted.kind)
        if odd.any():
            row = int(odd.argmax())
            expected, found = KIND_NAMES[self._wanted.kind], KIND_NAMES[int(kinds[row])]
            reason = (
                f"holds a list of {found}, but its type in the schema, {self._wanted.type}, needs {expected}"
            )
            raise self._batch.mismatch(self._wanted.name, row, "kind", reason, expected=expected, found=found)

    def _check_single(self) -> None:
        several = lengths_of(self._column) > 1
        if several.any():
            needs = f"the schema has one value of {self._wanted.type}; make it an array, or {_GIVE_SCHEMA}"
            raise self._batch.count_mismatch(self._wanted.name, needs, 1, int(several.argmax()))

    def _values(self) -> Any:
        """All values, one after the other."""
        values: Any = self._column.values
        dtype = self._wanted.values
        if self._wanted.kind == INT64:
            return self._integers(values, dtype)
        if pa.types.is_decimal(dtype):
            return self._decimals(values, dtype)
        if self._wanted.kind == FLOAT:
            return pa.array(values.astype(dtype.to_pandas_dtype(), copy=False))
        return self._strings(values, dtype)

    def _integers(self, values: Any, dtype: Any) -> Any:
        if pa.types.is_boolean(dtype):
            low, high = 0, 1
        else:
            limits = np.iinfo(dtype.to_pandas_dtype())
            low, high = limits.min, limits.max
        outside = (values < low) | (values > high)
        if outside.any():
            raise self._misfit(int(outside.argmax()))
        return pa.array(values.astype(dtype.to_pandas_dtype(), copy=False))

    def _decimals(self, values: Any, dtype: Any) -> Any:
        """Rounded to the digits after the point; those before it must be enough."""
        doubles = values.astype(np.float64)
        try:
            return pa.array(doubles).cast(dtype)
        except pa.ArrowInvalid:
            raise self._misfit(next(i for i, one in enumerate(doubles) if not _fits(one, dtype))) from None

    def _strings(self, values: Any, dtype: Any) -> Any:
        text = pa.types.is_string(dtype) or pa.types.is_large_string(dtype)
        try:
            return values_array(values, text=text).cast(dtype)
        except NotTextError:
            strings = Ragged(values, self._column.row_splits)
            error = text_error(self._wanted.name, strings, self._batch)
            error.reason += "; make its type in the schema binary"
            raise error from None
        except pa.ArrowInvalid:
            reason = "holds 2 GiB or more in one record, and Spark takes less"
            raise SchemaError(reason, feature=self._wanted.name) from None

    def _misfit(self, place: int) -> SchemaError:
        """The error about the flat value number ``place``."""
        row = int(np.searchsorted(self._column.row_splits, place, side="right")) - 1
        value = np.asarray(self._column.values)[place].item()
        reason = f"holds {value!r}, which its type in the schema, {self._wanted.type}, cannot hold"
        return self._batch.mismatch(
            self._wanted.name, row, "range", reason, expected=str(self._wanted.values), found=value
        )


def _fits(value: float, dtype: Any) -> bool:
    try:
        pa.array([value]).cast(dtype)
    except pa.ArrowInvalid:
        return False
    return True
