"""Columns as a caller hands them in, brought into one form: flat values, and how many each record has.

What cannot be stored without loss is an ``EncodeError`` that names the feature, and the record where it
is in one. This module does not know how a message looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .arrays import as_array, is_extra, to_bytes, to_float32
from .errors import EncodeError
from .example import to_list
from .wire import ABSENT, BYTES, FLOAT, INT64, UNSET

Ints = npt.NDArray[np.int64]


class Cells(NamedTuple):
    """One feature of many records.

    ``values`` are int64, float32, or a list of bytes, those of all records one after the other;
    ``counts`` is how many each record has. ``kinds`` is None where every record has the feature with
    ``kind``; else the kind in each, which may also be UNSET (no kind, no values) or ABSENT.
    """

    kind: int
    values: Any
    counts: Ints
    kinds: npt.NDArray[np.int8] | None = None


def as_cells(name: str, column: Any) -> Cells:
    """A column in whichever form it comes: an array, a ``Ragged``, or a list of rows."""
    if hasattr(column, "row_splits") and hasattr(column, "values"):
        return _from_ragged(name, column)
    if isinstance(column, (str, bytes, bytearray, memoryview)) or np.isscalar(column):
        raise EncodeError(
            f"a column has a row for every record; this is one {type(column).__name__}", feature=name
        )
    if isinstance(column, (list, tuple)):
        return _from_rows(name, column)
    if not hasattr(column, "__array__"):
        raise EncodeError(f"a column must be an array or a list, not {type(column).__name__}", feature=name)
    array = as_array(column, name)
    if array.ndim == 0:
        raise EncodeError("a column has a row for every record; this is a scalar", feature=name)
    if array.dtype == object and (array.ndim == 1 or not set(map(type, array.flat)) <= {bytes, str}):
        return _from_rows(name, array.tolist() if array.ndim == 1 else list(array))
    width = int(np.prod(array.shape[1:]))
    kind, values = _flat(name, array.reshape(-1), width)
    return Cells(kind, values, np.full(len(array), width, np.int64))


def _from_ragged(name: str, column: Any) -> Cells:
    splits = np.asarray(column.row_splits, np.int64)
    if hasattr(column.values, "row_splits"):
        raise EncodeError(
            "lists in lists cannot be stored in an Example; store the inner lengths too", feature=name
        )
    array = (
        as_array(column.values, name)
        if hasattr(column.values, "__array__")
        else np.asarray(column.values, object)
    )
    lengths = np.diff(splits)
    if not len(splits) or splits[0] != 0 or splits[-1] != len(array) or (lengths < 0).any():
        raise EncodeError("row_splits must ascend from 0 to the number of values", feature=name)
    width = int(np.prod(array.shape[1:]))
    kind, values = _flat(name, array.reshape(-1), 0)
    return Cells(kind, values, lengths * width)


def _flat(name: str, array: npt.NDArray[Any], width: int) -> tuple[int, Any]:
    """The kind of a flat array, and its values as they are stored; ``width`` values are one record's."""
    kind = array.dtype.kind
    if kind in "bi":
        return INT64, array.astype(np.int64, copy=False)
    if kind == "u":
        large = array > np.uint64(2**63 - 1)
        if large.any():
            record = int(large.argmax()) // width if width else None
            raise EncodeError("an integer does not fit into 64 bits with a sign", feature=name, record=record)
        return INT64, array.astype(np.int64)
    if kind == "f" or (is_extra(array.dtype) and kind == "V"):
        return FLOAT, to_float32(array, name)
    if kind == "S":
        return BYTES, array.tolist()
    if kind in "UO":
        return BYTES, _as_bytes(name, array.tolist())
    raise EncodeError(f"values of {array.dtype} cannot be stored", feature=name)


def _as_bytes(name: str, values: Sequence[Any]) -> list[bytes]:
    for record, value in enumerate(values):
        if not isinstance(value, (bytes, str, bytearray, memoryview)):
            raise EncodeError(f"a {type(value).__name__} among strings", feature=name, record=record)
    return [to_bytes(value, name) for value in values]


def _from_rows(name: str, rows: Sequence[Any]) -> Cells:
    types = set(map(type, rows))
    if types == {bytes}:
        return Cells(BYTES, list(rows), np.ones(len(rows), np.int64))
    if types == {str}:
        return Cells(BYTES, [to_bytes(row, name) for row in rows], np.ones(len(rows), np.int64))
    if types in ({int}, {float}, {bool}):
        return _from_numbers(name, rows)
    return _row_by_row(name, rows)


def _from_numbers(name: str, rows: Sequence[Any]) -> Cells:
    try:
        array = np.array(rows, np.float64 if type(rows[0]) is float else np.int64)
    except OverflowError:
        return _row_by_row(name, rows)  # which says where
    kind, values = _flat(name, array, 1)
    return Cells(kind, values, np.ones(len(rows), np.int64))


def _row_by_row(name: str, rows: Sequence[Any]) -> Cells:
    """Rows of any form: each as ``encode_example`` would take it, or None where it is missing."""
    kinds = np.full(len(rows), ABSENT, np.int8)
    counts = np.zeros(len(rows), np.int64)
    lists: list[Any] = []
    for record, row in enumerate(rows):
        if row is None:
            continue
        try:
            kinds[record], values = to_list(row, name)
        except EncodeError as error:
            error.record = record
            raise
        if kinds[record] != UNSET:
            counts[record] = len(values)
            lists.append(values)
    found = np.unique(kinds[kinds > UNSET])
    if len(found) > 1:
        record = int(np.flatnonzero((kinds > UNSET) & (kinds != kinds[kinds > UNSET][0]))[0])
        raise EncodeError("rows of different kinds cannot be one column", feature=name, record=record)
    kind = int(found[0]) if len(found) else UNSET
    if kind == BYTES:
        flat: Any = [value for values in lists for value in values]
    else:
        dtype = np.float32 if kind == FLOAT else np.int64
        flat = (
            np.concatenate([np.asarray(values, dtype) for values in lists]) if lists else np.empty(0, dtype)
        )
    return Cells(kind, flat, counts, None if kind != UNSET and (kinds == kind).all() else kinds)
