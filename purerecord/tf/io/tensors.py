"""Tensors as bytes: ``serialize_tensor``, ``parse_tensor``, ``decode_raw``, ``serialize_sparse``.

This module does not know files.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...errors import DecodeError, SchemaError
from ...payload import tensor as core
from .._text.elementwise import string_array as tensor_array
from .._values.convert import strings as string_matrix
from .._values.operators import kernel_name
from .._values.ragged_sparse import SparseTensor
from .._values.tensor import EagerTensor, of_array, to_numpy
from ..dtypes import as_dtype, string
from ..errors import InvalidArgumentError, combined_error, invalid, translated

# The dtypes of ``decode_raw``, in the order of TensorFlow's error message.
_RAW_DTYPES = (
    *("float16", "float32", "float64", "int32", "uint16", "uint8", "int16", "int8", "int64"),
    *("complex64", "complex128", "bool", "bfloat16"),
)


def serialize_tensor(tensor: Any, name: str | None = None) -> EagerTensor:
    """The serialized TensorProto of a tensor, as a scalar string."""
    with translated():
        return of_array(core.serialize_tensor(to_numpy(tensor)))


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> EagerTensor:
    """The tensor in a serialized TensorProto; an error unless its dtype is ``out_type``."""
    payload = string_array(serialized)
    if payload.ndim:
        shape = ",".join(map(str, payload.shape))
        raise invalid(f"Expected `serialized` to be a scalar, got shape: [{shape}]")
    wanted = as_dtype(out_type)
    try:
        array = core.parse_tensor(payload[()])
    except DecodeError as error:
        what = "Cannot parse tensor from proto"
        if "not a TensorProto" in str(error):
            what = "Could not parse `serialized` as TensorProto"
        raise combined_error(InvalidArgumentError, error, f"{what}: {error}") from error
    except SchemaError as error:
        raise combined_error(InvalidArgumentError, error, str(error)) from error
    found = of_array(array)
    if found.dtype != wanted:
        names = map(kernel_name, (found.dtype, wanted))
        raise invalid("Type mismatch between parsed tensor ({}) and dtype ({})".format(*names))
    return found


def decode_raw(
    input_bytes: Any,
    out_type: Any,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> EagerTensor:
    """The bytes of each string as a vector of ``out_type``.

    With ``fixed_length``, each string is cut or padded with zero bytes to that length. Without it, all
    strings must have the same length.
    """
    strings = string_array(input_bytes, "DecodePaddedRaw" if fixed_length is not None else "DecodeRaw")
    dtype = as_dtype(out_type)
    if dtype.name not in _RAW_DTYPES:
        allowed = ", ".join(kernel_name(as_dtype(name)) for name in _RAW_DTYPES)
        raise invalid(
            f"Value for attr 'out_type' of {kernel_name(dtype)} is not in the list of allowed values: {allowed}"  # noqa: E501
        )
    size = dtype.size
    values = strings.reshape(-1).tolist()
    if fixed_length is None:
        length = len(values[0]) if values else 0
        for position, value in enumerate(values):
            if len(value) != length:
                raise invalid(
                    "DecodeRaw requires input strings to all be the same size, but element "
                    f"{position} has size {length} != {len(value)}"
                )
        if length % size:
            raise invalid(
                f"Input to DecodeRaw has length {length} that is not a multiple of {size}, the size of "
                f"{kernel_name(dtype)}"
            )
    else:
        length = int(fixed_length)
        if length <= 0:
            raise invalid(f"fixed_length ({length}) must be greater than zero.")
        if length % size:
            raise invalid(f"fixed_length ({length}) must be a multiple of the size of out_type ({size})")
        values = [value[:length].ljust(length, b"\0") for value in values]
    flat = np.frombuffer(bytearray(b"".join(values)), np.uint8)
    array = _as_numbers(flat, dtype.dtype, swap=little_endian != (sys.byteorder == "little"))
    return of_array(array.reshape(*strings.shape, length // size))


def _as_numbers(octets: Any, dtype: Any, *, swap: bool) -> Any:
    if dtype == np.bool_:
        return octets != 0
    array = octets.view(dtype)
    return array.byteswap() if swap else array


def string_array(value: Any, op: str = "ParseTensor") -> Any:
    """An array of ``bytes`` objects; for the operation ``op``."""
    return tensor_array(value, op, convert=not isinstance(value, EagerTensor))


# --- Sparse tensors ---------------------------------------------------------------------------------


def serialize_sparse(sp_input: Any, out_type: Any = string, name: str | None = None) -> EagerTensor:
    """A vector of three strings: the serialized indices, values and shape of a sparse tensor."""
    sparse = _sparse(sp_input, out_type)
    return of_array(_serialized([(sparse.indices, sparse.values, sparse.dense_shape)])[0])


def serialize_many_sparse(sp_input: Any, out_type: Any = string, name: str | None = None) -> EagerTensor:
    """A matrix with one row for each row of a sparse tensor: its serialized indices, values and shape."""
    sparse = _sparse(sp_input, out_type)
    indices, values, shape = sparse.indices._array, sparse.values, sparse.dense_shape._array
    if len(shape) < 2:
        raise invalid(f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}")
    rows = []
    for row in range(int(shape[0])):
        kept = indices[:, 0] == row
        rows.append((of_array(indices[kept, 1:]), of_array(values._array[kept]), of_array(shape[1:])))
    return of_array(_serialized(rows))


def _sparse(value: Any, out_type: Any) -> SparseTensor:
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    if as_dtype(out_type) is not string:
        raise NotImplementedError("serialize_sparse is in purerecord.tf for out_type=tf.string")
    return value


def _serialized(rows: list[tuple[EagerTensor, EagerTensor, EagerTensor]]) -> Any:
    texts = [serialize_tensor(part)._array[()] for row in rows for part in row]
    return string_matrix(texts, (len(rows), 3))


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The sparse tensors of the rows of a matrix, joined along a new first dimension."""
    matrix = string_array(serialized_sparse, "DeserializeManySparse")
    if matrix.ndim != 2:
        raise invalid(f"Serialized sparse should have 2 dimensions but got {matrix.ndim}")
    if matrix.shape[1] != 3:
        raise invalid(f"Serialized sparse should have 3 as the last dimension but got {matrix.shape[1]}")
    rows = [
        [parse_tensor(text, kind)._array for text, kind in zip(row, ("int64", dtype, "int64"), strict=True)]
        for row in matrix.tolist()
    ]
    if not rows:
        raise invalid("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    ranks = {len(shape) for _, _, shape in rows}
    if len(ranks) > 1 or (rank is not None and ranks != {int(rank)}):
        raise invalid(f"Inconsistent rank across SparseTensors: {sorted(ranks)}")
    for indices, values, shape in rows:
        if indices.ndim != 2 or indices.shape != (len(values), len(shape)) or values.ndim != 1:
            raise invalid("a row is no serialized SparseTensor: its indices, values and shape do not fit")
    numbers = np.repeat(np.arange(len(rows)), [len(values) for _, values, _ in rows])
    together = np.concatenate([indices for indices, _, _ in rows])
    shape = np.max([shape for _, _, shape in rows], axis=0)
    return SparseTensor(
        of_array(np.concatenate([numbers[:, None], together], axis=1).astype(np.int64)),
        of_array(np.concatenate([values for _, values, _ in rows])),
        of_array(np.array([len(rows), *shape], np.int64)),
    )


def decode_raw_v1(  # noqa: PLR0917 - TensorFlow's signature
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,  # noqa: A002 - TensorFlow's name
    fixed_length: int | None = None,
) -> EagerTensor:
    """The bytes of each string as a vector of ``out_type``."""
    if input_bytes is None and bytes is None:
        raise ValueError("decode_raw needs input_bytes")
    return decode_raw(bytes if input_bytes is None else input_bytes, out_type, little_endian, fixed_length)
