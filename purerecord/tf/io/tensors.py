"""Tensors as bytes: ``serialize_tensor``, ``parse_tensor``, ``decode_raw``.

This module does not know files.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...errors import DecodeError, SchemaError
from ...payload import tensor as core
from .._values.operators import kernel_name
from .._values.tensor import EagerTensor, of_array, to_numpy
from ..dtypes import as_dtype
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
    strings = string_array(input_bytes)
    dtype = as_dtype(out_type)
    if dtype.name not in _RAW_DTYPES:
        allowed = ", ".join(kernel_name(as_dtype(name)) for name in _RAW_DTYPES)
        raise invalid(
            f"Value for attr 'out_type' of {dtype.name} is not in the list of allowed values: {allowed}"
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
        if length <= 0 or length % size:
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


def string_array(value: Any) -> Any:
    """An array of ``bytes`` objects."""
    array = to_numpy(value)
    if array.dtype.kind != "O":
        raise invalid(f"cannot compute with a {array.dtype.name} tensor: a string is needed")
    return array
