"""Columns to Arrow arrays, which share memory where Arrow has the same layout.

The dimensions of an array become fixed-size lists, a ``Ragged`` becomes lists, a ``Sparse`` lists of (index,
value). Strings are copied in one pass, unless a ``BytesColumn`` has them one after the other. This module
must not know where the columns come from.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bytes_column import BytesColumn
from ..errors import EncodeError
from ..payload.ragged import Ragged
from ..payload.sparse import Sparse
from ..payload.values import Mask, as_array, is_extra, to_float32
from .types import DENSE_SHAPE, pa

Array = npt.NDArray[Any]


class NotTextError(Exception):
    """Strings are not UTF-8, so they cannot be text."""


def as_field(name: str, column: Any, *, text: bool = False) -> tuple[Any, Any]:
    """The Arrow field and array for a column; an ``EncodeError`` if Arrow cannot hold it.

    With ``text``, strings become large_string; ``NotTextError`` if one is not UTF-8.
    """
    try:
        array = _as_arrow(name, column, text)
    except (EncodeError, NotTextError):
        raise
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise EncodeError(f"Arrow does not take the column: {error}", feature=name) from error
    metadata = None
    if isinstance(column, Sparse):
        metadata = {DENSE_SHAPE: json.dumps(column.dense_shape[1:]).encode()}
    return pa.field(name, array.type, metadata=metadata), array


def _as_arrow(name: str, column: Any, text: bool) -> Any:
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    if isinstance(column, Ragged):
        return _from_ragged(name, column, text)
    if isinstance(column, Sparse):
        return _from_sparse(name, column, text)
    if isinstance(column, np.ma.MaskedArray) and np.ma.is_masked(column):
        return _from_masked(name, column)
    if isinstance(column, (BytesColumn, list, tuple)):
        return values_array(column, text=text) if isinstance(column, BytesColumn) else pa.array(column)
    if not hasattr(column, "__array__"):
        raise EncodeError(f"a column must be an array or a list, not {type(column).__name__}", feature=name)
    array = as_array(column, name)
    if array.ndim == 0:
        raise EncodeError("a column has a row for every record; this is a scalar", feature=name)
    return _from_array(name, array, text)


def _from_array(name: str, array: Array, text: bool = False) -> Any:
    return fixed(values_array(array.reshape(-1), name, text=text), array.shape)


def values_array(values: Array | BytesColumn, name: str | None = None, *, text: bool = False) -> Any:
    """A vector as an Arrow array. Bytes become large_binary, with offsets of 64 bits, or large_string."""
    if isinstance(values, BytesColumn):
        return _as_text(_binary(values)) if text else _binary(values)
    kind = values.dtype.kind
    if kind == "O":
        return _objects(values, text)
    if kind in "SU":
        return pa.array(values.tolist(), pa.large_binary() if kind == "S" else pa.large_string())
    if is_extra(values.dtype):
        return pa.array(to_float32(values, name))
    return pa.array(values.astype(values.dtype.newbyteorder("="), copy=False))


def _objects(values: Array, text: bool) -> Any:
    if len(values) and isinstance(values[0], str):
        return pa.array(values, pa.large_string())
    try:
        strings = pa.array(values, pa.large_binary())
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(values)  # not bytes: Arrow finds a type, or raises an error
    return _as_text(strings) if text else strings


def _binary(column: BytesColumn) -> Any:
    """The strings as large_binary, over the same buffer if they follow one another in it."""
    packed = column.packed()
    offsets = np.append(packed.begins[:1], packed.ends) if len(packed) else np.zeros(1, np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(packed.buffer)]
    return pa.Array.from_buffers(pa.large_binary(), len(packed), buffers)


def _as_text(strings: Any) -> Any:
    try:
        return strings.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise NotTextError from error


def fixed(values: Any, shape: tuple[int, ...], valid: Mask | None = None) -> Any:
    """``values`` in fixed-size lists that make an array of ``shape``; rows not in ``valid`` are null."""
    for axis in range(len(shape) - 1, 0, -1):
        mask = bitmap(valid) if axis == 1 else None
        size = math.prod(shape[:axis])
        values = pa.Array.from_buffers(pa.list_(values.type, shape[axis]), size, [mask], children=[values])
    return values


def lists(values: Any, splits: npt.NDArray[Any], valid: Mask | None = None) -> Any:
    """``values`` in lists that begin and end at ``splits``; rows that are not ``valid`` are null."""
    large = splits.dtype.itemsize == 8
    dtype = pa.large_list(values.type) if large else pa.list_(values.type)
    offsets = pa.py_buffer(np.ascontiguousarray(splits, np.int64 if large else np.int32))
    return pa.Array.from_buffers(dtype, len(splits) - 1, [bitmap(valid), offsets], children=[values])


def bitmap(valid: Mask | None) -> Any:
    """``valid`` as an Arrow bitmap, one bit for each row; None if all rows are valid."""
    return None if valid is None or valid.all() else pa.array(valid).buffers()[1]


def _from_ragged(name: str, column: Ragged, text: bool) -> Any:
    inner = column.values
    if isinstance(inner, Ragged):
        values = _from_ragged(name, inner, text)
    elif isinstance(inner, BytesColumn):
        values = values_array(inner, text=text)
    else:
        values = _from_array(name, inner, text)
    return lists(values, column.row_splits, None if column.missing is None else ~column.missing)


def _from_masked(name: str, column: Any) -> Any:
    if column.ndim != 1:
        raise EncodeError("only a vector can have a mask; fill the array first", feature=name)
    values = values_array(np.ma.getdata(column), name)
    places = pa.array(np.arange(len(column)), mask=np.ma.getmaskarray(column))
    return values.take(places)


def _from_sparse(name: str, column: Sparse, text: bool) -> Any:
    """A list for each row, of the index within the row and the value of each stored entry."""
    if len(column.dense_shape) < 2:
        raise EncodeError("a Sparse of one dimension has no rows; use to_dense() first", feature=name)
    rows, inner = column.indices[:, 0], column.indices[:, 1:]
    if bool(((rows < 0) | (rows >= len(column))).any()):
        raise EncodeError("an index lies outside of the dense shape", feature=name)
    order: Any = slice(None)
    if bool((rows[1:] < rows[:-1]).any()):
        order = np.argsort(rows, kind="stable")
    splits = np.zeros(len(column) + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=len(column)), out=splits[1:])
    # A single number is easier to work with than a list of one number.
    index = _from_array(name, inner[order, 0] if inner.shape[1] == 1 else inner[order])
    value = values_array(column.values[order], name, text=text)
    return lists(pa.StructArray.from_arrays([index, value], ["index", "value"]), splits)
