"""Arrow arrays to columns, and to the cells that the encoder takes.

Where numpy has the same layout, both share memory. Values that an Example cannot hold (nulls in lists,
timestamps, structs, ...) raise an ``EncodeError`` that names the column. This module must not know files.
"""

from __future__ import annotations

import json
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ..errors import EncodeError
from ..payload.encode.cells import Cells, as_cells
from ..payload.ragged import Ragged
from ..payload.sparse import Sparse
from ..payload.values import to_float32
from ..payload.wire import ABSENT
from .types import DENSE_SHAPE, check_type, is_list, is_sparse, is_text, is_wrapped, pa, pc

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
ColumnValues = Union[Array, Ragged, Sparse]


def as_column(field: Any, array: Any) -> ColumnValues:
    """A column of a table in the form of ``decode_examples``; nulls become empty rows of a Ragged."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    chunks = chunks or [pa.nulls(0, array.type)]
    if is_sparse(field):
        return _sparse(field, chunks)
    check_type(field.name, array.type)
    return _as_column(field.name, chunks)


def check_storable(schema: Any) -> None:
    """Raise an EncodeError if ``schema`` has a type that an Example cannot hold."""
    for field in schema:
        if is_sparse(field):
            raise EncodeError(
                "a sparse column is no single feature; store index and value in columns of their own",
                feature=field.name,
            )
        check_type(field.name, field.type)


def encoder_cells(field: Any, array: Any, *, round_floats: bool) -> Cells:
    """A column of a storable type in the form that the encoder takes; a null is an absent feature."""
    name = field.name
    plain = _unwrapped(name, array)
    column = _as_column(name, [plain])
    if not round_floats:
        _check_floats(name, column)
    cells = as_cells(name, column)
    if not plain.null_count:
        return cells
    return cells._replace(kinds=np.where(_valid(plain), cells.kind, ABSENT).astype(np.int8))


def _as_column(name: str, chunks: list[Any]) -> Array | Ragged:
    """The values of all chunks. Nested arrays are never cast: pyarrow has had bugs in that."""
    chunks = [_unwrapped(name, chunk) for chunk in chunks]
    dtype = chunks[0].type
    if pa.types.is_null(dtype):
        return Ragged(np.empty(0, np.int64), np.zeros(1 + sum(map(len, chunks)), np.int64))
    if is_list(dtype):
        return _from_lists(name, chunks)
    values = _concatenated([chunk.drop_null().to_numpy(zero_copy_only=False) for chunk in chunks])
    if not any(chunk.null_count for chunk in chunks):
        return values
    return Ragged(values, _splits([_valid(chunk) for chunk in chunks]))


def _unwrapped(name: str, array: Any) -> Any:
    """``array`` without extension types, dictionaries and run-end encoding, and with strings as bytes."""
    try:
        while isinstance(array.type, pa.BaseExtensionType) or is_wrapped(array.type):
            if isinstance(array.type, pa.BaseExtensionType):
                array = array.storage
            elif pa.types.is_dictionary(array.type):
                array = _unwrapped(name, array.dictionary).take(
                    array.indices
                )  # views, as polars has, need it first
            else:
                array = pc.run_end_decode(array)
        return array.cast(pa.large_binary()) if is_text(array.type) else array
    except pa.ArrowException as error:
        raise EncodeError(f"pyarrow cannot give the values of {array.type}: {error}", feature=name) from error


def _from_lists(name: str, chunks: list[Any]) -> Array | Ragged:
    inner = [chunk.flatten() for chunk in chunks]  # leaves out values under nulls and outside of a slice
    if any(_unwrapped(name, chunk).null_count for chunk in inner if not pa.types.is_nested(chunk.type)):
        raise EncodeError("a null in a list cannot be stored; only a whole list can be missing", feature=name)
    values = _as_column(name, inner)
    nulls = any(chunk.null_count for chunk in chunks)
    if pa.types.is_fixed_size_list(chunks[0].type) and not nulls and isinstance(values, np.ndarray):
        return values.reshape(sum(map(len, chunks)), chunks[0].type.list_size, *values.shape[1:])
    return Ragged(values, _splits([_lengths(chunk) for chunk in chunks]))


def _lengths(array: Any) -> Array:
    """The number of values in each list."""
    lengths: Array = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    return lengths


def _valid(array: Any) -> npt.NDArray[np.bool_]:
    valid: npt.NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _concatenated(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _splits(lengths: list[Array]) -> Ints:
    concatenated = _concatenated(lengths)
    splits = np.zeros(len(concatenated) + 1, np.int64)
    np.cumsum(concatenated, out=splits[1:])
    return splits


def _check_floats(name: str, column: Array | Ragged) -> None:
    """Raise an EncodeError if a double of ``column`` is not exact as float32, the type of an Example."""
    if column.dtype != np.float64:
        return
    values = column.flat_values if isinstance(column, Ragged) else column
    with np.errstate(invalid="ignore"):
        changed = (to_float32(values, name) != values) & ~np.isnan(values)
    if not changed.any():
        return
    first = int(np.flatnonzero(changed)[0]) // max(1, int(np.prod(values.shape[1:])))
    if isinstance(column, Ragged) and not isinstance(column.values, Ragged):
        first = int(np.searchsorted(column.row_splits, first, side="right")) - 1
    raise EncodeError(
        "a double that float32 does not hold exactly; cast the column to float32, or use round_floats=True",
        feature=name,
        record=first,
    )


def _sparse(field: Any, chunks: list[Any]) -> Sparse:
    """The Sparse that ``to_arrow`` has made a column of."""
    try:
        lengths = _concatenated([_lengths(chunk) for chunk in chunks])
        shape = (len(lengths), *json.loads(field.metadata[DENSE_SHAPE]))
        entries = [chunk.flatten() for chunk in chunks]
        inner = _as_column(field.name, [entry.field("index") for entry in entries])
        values = _as_column(field.name, [entry.field("value") for entry in entries])
        rows = np.repeat(np.arange(len(lengths)), lengths)
        indices = np.column_stack([rows, np.asarray(inner).reshape(len(rows), len(shape) - 1)])
        return Sparse(indices, np.asarray(values), shape)
    except (TypeError, ValueError, KeyError, AttributeError, pa.ArrowException) as error:
        raise EncodeError(f"is marked as sparse, but is not: {error}", feature=field.name) from error
