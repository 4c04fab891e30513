"""``text=``: in which columns strings are text, that is ``str`` instead of ``bytes``.

An Example does not say whether its bytes are text, so the caller does. A string that is not UTF-8 is a
``SchemaError`` that names the record. This module does not know the specs, nor the wire format.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...errors import SchemaError
from ..ragged import Ragged
from ..sparse import Sparse
from ..values import Array, object_array
from .checked_columns import CheckedColumns


def text_column(name: str, column: Any, batch: CheckedColumns, *, required: bool) -> Any:
    """``column`` with its strings as ``str``; without strings, it is as it was, or a SchemaError if text is
    ``required``."""
    values = _values(column)
    if values.dtype != object:
        if required and values.size:
            raise no_strings(name, values.dtype)
        return column
    try:
        text = object_array([string.decode() for string in values.ravel().tolist()])
    except UnicodeDecodeError:
        raise text_error(name, column, batch) from None
    return _with_values(column, text.reshape(values.shape))


def _values(column: Any) -> Array:
    if isinstance(column, bytes):  # of a single example
        return object_array([column])
    if isinstance(column, Ragged):
        return np.asarray(column.flat_values)
    values: Array = column.values if isinstance(column, Sparse) else np.asarray(column)
    return values


def _with_values(column: Any, values: Array) -> Any:
    """``column`` with other flat values."""
    if isinstance(column, bytes):
        return values[0]
    if isinstance(column, Ragged):
        inner = _with_values(column.values, values)
        return Ragged(inner, column.row_splits, column.missing, column.untyped)
    if isinstance(column, Sparse):
        return Sparse(column.indices, values, column.dense_shape)
    return values


def text_error(name: str, column: Any, batch: CheckedColumns) -> SchemaError:
    """The error about the first string of ``column`` that is not UTF-8."""
    place = next(place for place, string in enumerate(_values(column).ravel()) if not _is_utf8(string))
    reason = "holds a string that is not UTF-8, so it cannot be text"
    return batch.mismatch(name, row_of(column, place), "text", reason, expected="UTF-8", found=None)


def row_of(column: Any, place: int) -> int:
    """The row of ``column`` that holds its flat value number ``place``."""
    if isinstance(column, bytes):
        return 0
    if isinstance(column, Sparse):
        return int(column.indices[place, 0])
    if isinstance(column, Ragged):
        return int(np.searchsorted(column.row_splits, row_of(column.values, place), side="right")) - 1
    width: int = prod(column.shape[1:])
    return place // width


def _is_utf8(string: bytes) -> bool:
    try:
        string.decode()
    except UnicodeDecodeError:
        return False
    return True


def no_strings(name: str, found: Any) -> SchemaError:
    """The error about a column that should be text and holds numbers."""
    return SchemaError(f"holds {found} values, which are no text", feature=name, problem="kind")
