"""``Cells``: a column in the one form that the encoder takes, from any form that a caller may give.

Values that cannot be stored without loss are an ``EncodeError``, which names the feature, and the record if
a single one is at fault. This module does not know the wire format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...bytes_column import BytesColumn
from ...errors import EncodeError
from ..example import exact_float32, how_to_store, to_list
from ..values import as_array
from ..wire import ABSENT, BYTES, FLOAT, INT64, UNSET

Ints = npt.NDArray[np.int64]


class Cells(NamedTuple):
    """One feature of many records; the values of one record are a cell.

    ``values`` holds the values of all records one after the other: an int64 or float32 array, a list of
    bytes, or a ``BytesColumn``. ``counts`` is how many values each record has. ``kinds`` is None if every
    record has the feature with ``kind``. Otherwise it is the kind in each record, which may also be UNSET (no
    kind, no values) or ABSENT.
    """

    kind: int
    values: Any
    counts: Ints
    kinds: npt.NDArray[np.int8] | None = None


def lengths_of(strings: list[bytes] | BytesColumn) -> Ints:
    """The length of each string."""
    if isinstance(strings, BytesColumn):
        return strings.lengths
    return np.fromiter(map(len, strings), np.int64, len(strings))


def as_cells(name: str, column: Any) -> Cells:
    """The cells of a column, which is an array, a ``Ragged``, a list of rows, or ``Cells`` already."""
    if isinstance(column, Cells):
        return column
    if hasattr(column, "row_splits") and hasattr(column, "values"):
        return _from_ragged(name, column)
    if isinstance(column, BytesColumn):
        return Cells(BYTES, column, np.ones(len(column), np.int64))
    one = isinstance(column, (str, bytes, bytearray, memoryview))
    if one or (not isinstance(column, np.ndarray) and np.isscalar(column)):
        raise EncodeError(
            f"a column has a row for every record; this is one {type(column).__name__}", feature=name
        )
    if isinstance(column, Sequence):
        return _from_rows(name, column if isinstance(column, (list, tuple)) else list(column))
    if not hasattr(column, "__array__"):
        reason = f"a column must be an array or a list, not {type(column).__name__}"
        raise EncodeError(reason + (how_to_store(column) if column is not None else ""), feature=name)
    array = as_array(column, name)
    if array.ndim == 0:
        raise EncodeError("a column has a row for every record; this is a scalar", feature=name)
    if array.dtype.kind == "T":
        array = array.astype(object)  # a missing string becomes None, or what else its dtype says
    if array.dtype == object and (array.ndim == 1 or not set(map(type, array.flat)) <= {bytes, str}):
        return _from_rows(name, array.tolist() if array.ndim == 1 else list(array))
    width = prod(array.shape[1:])
    return Cells(*_flat(name, array, array), np.full(len(array), width, np.int64))


def _from_ragged(name: str, column: Any) -> Cells:
    splits = np.asarray(column.row_splits)
    if hasattr(column.values, "row_splits"):
        raise EncodeError(
            "lists in lists cannot be stored in an Example; store the inner lengths too", feature=name
        )
    array: Any = column.values
    if not isinstance(array, BytesColumn):
        array = as_array(array, name) if hasattr(array, "__array__") else np.asarray(array, object)
    ends: Ints = splits.astype(np.int64).reshape(-1)
    lengths = np.diff(ends)
    if (
        splits.dtype.kind not in "iu"
        or not len(ends)
        or (ends[0], ends[-1]) != (0, len(array))
        or (lengths < 0).any()
    ):
        raise EncodeError("row_splits must ascend from 0 to the number of values", feature=name)
    width = prod(array.shape[1:])
    if isinstance(array, BytesColumn):
        kind, values = BYTES, array
    else:
        rows = (array[begin:end] for begin, end in pairwise(ends.tolist()))
        kind, values = _flat(name, array, rows)
    # A ragged column of another library has no masks.
    missing, untyped = getattr(column, "missing", None), getattr(column, "untyped", None)
    kinds = None
    if missing is not None:
        kinds = np.where(missing, ABSENT, kind).astype(np.int8)
        if untyped is not None:
            kinds[untyped] = UNSET
    return Cells(kind, values, lengths * width, kinds)


def _flat(name: str, array: npt.NDArray[Any], rows: Iterable[npt.NDArray[Any]]) -> tuple[int, Any]:
    """The kind of an array and its flat values; ``rows``, one for each record, serve to name one at fault."""
    try:
        return to_list(array, name)
    except EncodeError:
        to_list(array[:0], name)  # raises for a dtype that cannot be stored, which is no fault of a record
        for record, row in enumerate(rows):
            _naming_record(record, to_list, row, name)
        raise


def _from_rows(name: str, rows: Sequence[Any]) -> Cells:
    types = set(map(type, rows))
    ones = np.ones(len(rows), np.int64)
    if types == {bytes}:
        return Cells(BYTES, list(rows), ones)
    if types in ({str}, {int}, {float}, {bool}):
        try:
            return Cells(*to_list(rows, name), ones)
        except EncodeError:
            pass  # converting row by row finds out which record is at fault
    return _row_by_row(name, rows)


def _row_by_row(name: str, rows: Sequence[Any]) -> Cells:
    """The cells of rows that ``encode_example`` takes; None is a record without the feature."""
    kinds = np.full(len(rows), ABSENT, np.int8)
    counts = np.zeros(len(rows), np.int64)
    lists: dict[int, Any] = {}  # by record
    for record, row in enumerate(rows):
        if row is None:
            continue
        kinds[record], values = _naming_record(record, to_list, row, name)
        if kinds[record] != UNSET:
            counts[record] = len(values)
            lists[record] = values
    found = sorted({int(kinds[record]) for record in lists})
    if found == [FLOAT, INT64]:  # integers beside floats become floats, as in a single list
        for record in np.flatnonzero(kinds == INT64).tolist():
            lists[record] = _naming_record(record, exact_float32, lists[record], name)
            kinds[record] = FLOAT
        found = [FLOAT]
    if len(found) > 1:
        record = next(record for record in lists if kinds[record] != kinds[next(iter(lists))])
        raise EncodeError("rows of different kinds cannot be one column", feature=name, record=record)
    kind = found[0] if found else UNSET
    everywhere = kind != UNSET and bool((kinds == kind).all())
    return Cells(kind, _concatenated(kind, lists.values()), counts, None if everywhere else kinds)


def _concatenated(kind: int, lists: Iterable[Any]) -> Any:
    if kind == BYTES:
        return [value for values in lists for value in values]
    dtype = np.float32 if kind == FLOAT else np.int64
    return np.concatenate([np.empty(0, dtype), *lists])


def _naming_record(record: int, convert: Callable[..., Any], *arguments: Any) -> Any:
    """The result of ``convert(*arguments)``; an EncodeError that it raises gets the number of the record."""
    try:
        return convert(*arguments)
    except EncodeError as error:
        error.record = record
        raise
