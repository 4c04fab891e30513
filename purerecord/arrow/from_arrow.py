"""Arrow arrays to columns, in the form that callers get and that the encoder takes.

Where numpy has the same layout, both share memory. Values that an Example cannot hold (nulls in lists,
timestamps, structs, ...) raise an ``EncodeError`` that names the column. This module must not know files.
"""

from __future__ import annotations

import json
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ..bytes_column import BytesColumn
from ..errors import EncodeError
from ..payload.ragged import Ragged
from ..payload.sparse import Sparse
from ..payload.values import Mask
from .types import DENSE_SHAPE, check_type, is_list, is_sparse, is_text, is_wrapped, pa, pc

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
ColumnValues = Union[Array, BytesColumn, Ragged, Sparse]


def as_column(field: Any, array: Any, *, in_place: bool = False) -> ColumnValues:
    """A column of a table in the form of ``decode_examples``; nulls become missing rows of a Ragged.

    Strings become a ``BytesColumn`` if they are ``in_place``.
    """
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    chunks = chunks or [pa.nulls(0, array.type)]
    if is_sparse(field):
        return _sparse(field, chunks)
    check_type(field.name, array.type)
    return _as_column(field.name, chunks, in_place=in_place)


def check_storable(schema: Any) -> None:
    """Raise an EncodeError if ``schema`` has a type that an Example cannot hold."""
    for field in schema:
        if is_sparse(field):
            raise EncodeError(
                "a sparse column is no single feature; store index and value in columns of their own",
                feature=field.name,
            )
        check_type(field.name, field.type)


def encoder_column(name: str, array: Any) -> Array | Ragged | BytesColumn:
    """A column of a storable type in the form that the encoder takes; a null is a missing row."""
    return _as_column(name, [array], in_place=True)


def _as_column(name: str, chunks: list[Any], *, in_place: bool = False) -> Array | Ragged | BytesColumn:
    """The values of all chunks; strings become a ``BytesColumn`` if they are ``in_place``.

    Nested arrays are never cast: pyarrow has had bugs in that.
    """
    chunks = [_unwrapped(name, chunk) for chunk in chunks]
    dtype = chunks[0].type
    if pa.types.is_null(dtype):
        return _without_values(np.ones(sum(map(len, chunks)), bool))
    if is_list(dtype):
        return _from_lists(name, chunks, in_place)
    values: Array | BytesColumn
    if in_place and (pa.types.is_large_binary(dtype) or pa.types.is_binary(dtype)):
        values = BytesColumn.concat([_bytes_column(chunk.drop_null()) for chunk in chunks])
    else:
        values = _concatenated([chunk.drop_null().to_numpy(zero_copy_only=False) for chunk in chunks])
    if not any(chunk.null_count for chunk in chunks):
        return values
    valid = _concatenated([_valid(chunk) for chunk in chunks])
    return Ragged(values, _splits(valid), ~valid)


def _bytes_column(array: Any) -> BytesColumn:
    """A binary array without nulls, over the same buffer."""
    _, offsets, content = array.buffers()
    if content is None or not len(array):
        return BytesColumn.of([])
    width = np.int64 if pa.types.is_large_binary(array.type) else np.int32
    splits = np.frombuffer(offsets, width)[array.offset : array.offset + len(array) + 1]
    return BytesColumn(content, splits[:-1], splits[1:])


def _without_values(missing: Mask) -> Ragged:
    """Rows that are ``missing``, or empty lists of no known type."""
    rows = len(missing)
    return Ragged(np.empty(0, np.int64), np.zeros(rows + 1, np.int64), np.ones(rows, bool), ~missing)


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


def _from_lists(name: str, chunks: list[Any], in_place: bool) -> Array | Ragged:
    inner = [chunk.flatten() for chunk in chunks]  # leaves out values under nulls and outside of a slice
    _check_no_null_inside(name, chunks, inner)
    nulls = any(chunk.null_count for chunk in chunks)
    missing = ~_concatenated([_valid(chunk) for chunk in chunks]) if nulls else None
    if pa.types.is_null(inner[0].type):
        return _without_values(np.zeros(sum(map(len, chunks)), bool) if missing is None else missing)
    try:
        values = _as_column(name, inner, in_place=in_place)
    except EncodeError as error:
        error.record = None  # it counts lists inside of lists
        raise
    if pa.types.is_fixed_size_list(chunks[0].type) and not nulls and isinstance(values, np.ndarray):
        return values.reshape(sum(map(len, chunks)), chunks[0].type.list_size, *values.shape[1:])
    return Ragged(values, _splits(_concatenated([_lengths(chunk) for chunk in chunks])), missing)


def _check_no_null_inside(name: str, chunks: list[Any], inner: list[Any]) -> None:
    """Raise an EncodeError, with the row, for a null among the values of lists."""
    before = 0
    for chunk, values in zip(chunks, inner, strict=True):
        if not pa.types.is_nested(values.type) and (flat := _unwrapped(name, values)).null_count:
            place = int((~_valid(flat)).argmax())
            row = before + int(np.searchsorted(np.cumsum(_lengths(chunk)), place, "right"))
            reason = "a null in a list cannot be stored; only a whole list can be missing"
            raise EncodeError(reason, feature=name, record=row)
        before += len(chunk)


def _lengths(array: Any) -> Array:
    """The number of values in each list."""
    lengths: Array = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    return lengths


def _valid(array: Any) -> Mask:
    valid: Mask = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _concatenated(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _splits(lengths: Array) -> Ints:
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return splits


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
