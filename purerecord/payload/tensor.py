"""``serialize_tensor`` and ``parse_tensor``: an array to the bytes of a TensorProto and back.

The bytes are exactly TensorFlow's. An array keeps its dtype. Python numbers get the dtype that TensorFlow
chooses: int32, int64 if that is too small, float32. Parsing accepts every TensorProto that TensorFlow
accepts and a numpy array can hold, with one limit: a short message that demands a huge array is refused.
bfloat16, float8 and the small integers need the package ml_dtypes. This module does not know Examples.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import public
from ..errors import DecodeError, EncodeError, SchemaError
from .values import Array, as_array, is_extra, object_array, to_bytes, to_float32
from .varint import read_varint, varint
from .wire import DELIMITED, MAX_SIZE, MAX_TAG, read_field

STRING = 7  # DT_STRING
# From this size of a message, in bytes, looking for tensor_content costs less than a copy of it.
FIND_CONTENT_FROM = 1 << 14

# TensorFlow's numbers of the types that numpy has itself,
_CODES: dict[str, int] = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "uint16": 17,
    "complex128": 18,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
# and of those in ml_dtypes.
_EXTRA_CODES: dict[str, int] = {
    "bfloat16": 14,
    "float8_e5m2": 24,
    "float8_e4m3fn": 25,
    "float8_e4m3fnuz": 26,
    "float8_e4m3b11fnuz": 27,
    "float8_e5m2fnuz": 28,
    "int4": 29,
    "uint4": 30,
    "int2": 31,
    "uint2": 32,
    "float4_e2m1fn": 33,
}
# Quantised integers are stored as plain ones, and read as such.
_QUANTISED = {11: "int8", 12: "uint8", 13: "int32", 15: "int16", 16: "uint16"}
_NAMES = {code: name for name, code in (_CODES | _EXTRA_CODES).items()} | _QUANTISED
_UNREADABLE = {20: "resource handles", 21: "variants"}

# The field that holds the elements if tensor_content is empty, and its numpy type; by default int_val.
_INT_FIELD = ("int_val", np.dtype(np.int32))
_FIELDS: dict[str, tuple[str, np.dtype[Any]]] = {
    "float32": ("float_val", np.dtype(np.float32)),
    "float64": ("double_val", np.dtype(np.float64)),
    "complex64": ("scomplex_val", np.dtype(np.float32)),
    "complex128": ("dcomplex_val", np.dtype(np.float64)),
    "int64": ("int64_val", np.dtype(np.int64)),
    "uint32": ("uint32_val", np.dtype(np.uint32)),
    "uint64": ("uint64_val", np.dtype(np.uint64)),
    "bool": ("bool_val", np.dtype(np.bool_)),
    "float16": ("half_val", np.dtype(np.int32)),
    "bfloat16": ("half_val", np.dtype(np.int32)),
}

# TensorFlow's names in addition to numpy's.
_ALIASES: dict[Any, str] = {float: "float32", "float": "float32", "half": "float16", "double": "float64"}


# --- Serializing ------------------------------------------------------------------------------------


@public
def serialize_tensor(tensor: Any) -> bytes:
    """The serialized TensorProto of ``tensor``: the same bytes that TensorFlow's function of this name gives.

    ``tensor`` is an array, an object with ``__array__``, a number, a string, or a nested list of these.

    >>> serialize_tensor(np.int32(5)).hex()
    '08031200220405000000'
    """
    array = _to_array(tensor)
    if array.dtype.kind == "O":
        code = STRING
        content = [b"\x42" + varint(len(string)) + string for string in array.reshape(-1).tolist()]
    else:
        code = _code(array.dtype)
        content = [b"\x22", varint(array.nbytes), _raw(array)] if array.size else []
    dims = b"".join(b"\x12" + varint(len(dim)) + dim for dim in map(_dim, array.shape))
    message = b"".join((b"\x08", varint(code), b"\x12", varint(len(dims)), dims, *content))
    if len(message) > MAX_SIZE:
        raise EncodeError(f"{len(message)} bytes do not fit into a message, which holds 2 GiB at most")
    return message


def _dim(size: int) -> bytes:
    return b"\x08" + varint(size) if size else b""


def _raw(array: Array) -> npt.NDArray[np.uint8]:
    """The bytes of all elements, in row-major order and little-endian."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    octets = little.reshape(-1).view(np.uint8)
    if array.dtype == np.bool_:  # in memory, true may be any byte but 0; on the wire it is 1
        octets = np.minimum(octets, 1)
    return octets


def _code(dtype: np.dtype[Any]) -> int:
    code = (_EXTRA_CODES if is_extra(dtype) else _CODES).get(dtype.name)
    if code is None:
        raise EncodeError(f"a tensor cannot hold dtype {dtype}")
    return code


def _to_array(tensor: Any) -> Array:
    """``tensor`` as an array of numbers, or, if it holds strings, of ``bytes`` objects."""
    if isinstance(tensor, (str, bytes, bytearray, memoryview)):
        return _strings([tensor], ())
    if isinstance(tensor, (list, tuple, range, bool, int, float, complex)):
        array = _from_python(tensor)
    elif hasattr(tensor, "__array__"):
        array = as_array(tensor)
    else:
        raise EncodeError(f"cannot make a tensor of a {type(tensor).__name__}")
    if array.dtype.kind in "SUTO":
        return _strings(array.reshape(-1).tolist(), array.shape)
    return array


def _from_python(value: Any) -> Array:
    """Numbers and strings in nested lists, with the dtype that TensorFlow chooses for them."""
    leaves = list(_leaves(value, 0))
    kinds = set(map(type, leaves))
    if any(issubclass(kind, (bytes, str, bytearray)) for kind in kinds):
        # An array of numpy's strings would lose trailing zero bytes.
        return np.array(value, object)
    if kinds & {bool, np.bool_} and kinds - {bool, np.bool_}:
        raise EncodeError("a tensor cannot hold booleans and numbers together")
    try:
        array = np.array(value)
    except (ValueError, OverflowError):
        raise EncodeError("the lists differ in length; a tensor is rectangular") from None
    if not array.size:
        return array.astype(np.float32)
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    if array.dtype.kind == "f" and any(np.asarray(leaf).dtype.kind == "f" for leaf in leaves):
        return _as_floats(array, np.asarray(leaves[0]).dtype if type(leaves[0]) is not float else None)
    if array.dtype.kind not in "iub" or (array.dtype.kind == "u" and int(array.max()) >= 2**63):
        raise EncodeError("an integer does not fit into 64 bits with a sign, or is not a number")
    if array.dtype.kind == "b":
        return array
    small = int(array.min()) >= -(2**31) and int(array.max()) < 2**31
    return array.astype(np.int32 if small else np.int64)


def _as_floats(array: Array, first: np.dtype[Any] | None) -> Array:
    """Floats as float32, unless the first of them is a numpy float of another size, as in TensorFlow."""
    if first == np.float64:
        return array.astype(np.float64)
    if first == np.float16:
        with np.errstate(over="ignore"):
            halves = array.astype(np.float16)
        if (np.isinf(halves) & ~np.isinf(array)).any():
            raise EncodeError("a number is too large for float16, the type of the first one")
        return halves
    return to_float32(array)


def _leaves(value: Any, depth: int) -> Iterator[Any]:
    """The arrays and scalars in a nested list."""
    if not isinstance(value, (list, tuple, range)):
        yield value
        return
    if depth == 32:
        raise EncodeError("lists are nested more than 32 deep")
    for element in value:
        yield from _leaves(element, depth + 1)


def _strings(values: list[Any], shape: tuple[int, ...]) -> Array:
    """An array of ``bytes`` objects, from strings of any type."""
    if set(map(type, values)) != {bytes}:
        values = list(map(_string, values))
    return object_array(values).reshape(shape)


def _string(value: Any) -> bytes:
    if not isinstance(value, (str, bytes, bytearray, memoryview)):
        raise EncodeError(f"a tensor of strings cannot hold a {type(value).__name__}")
    return to_bytes(value)


# --- Parsing ----------------------------------------------------------------------------------------


@public
def parse_tensor(data: Any, dtype: Any = None, *, max_expansion: int = 1 << 26) -> Array:
    """The array in a serialized TensorProto, or in such a message.

    Strings come as an array of ``bytes`` objects. With ``dtype``, a tensor of another type is a
    ``SchemaError``. A message may leave out values at the end that repeat the last one, and all values if
    they are zero; ``max_expansion`` is how many bytes of the array may be filled in for them.
    """
    message, content = _message(data)
    name = _type_name(message.dtype)
    if dtype is not None and name != _requested(dtype):
        raise SchemaError(f"the tensor is of type {name}, not {_requested(dtype)}")
    shape, count = _shape(message)
    numpy_dtype = np.dtype(object) if name == "string" else _numpy_dtype(name)
    if count and len(content):
        values = _from_content(content, numpy_dtype, count)
    else:
        values = _from_fields(message, name, numpy_dtype, count)
        missing = (count - values.size) * numpy_dtype.itemsize
        if missing > max_expansion:
            raise DecodeError(
                f"the message stands for {missing} bytes that are not in it; "
                f"if you trust it, raise max_expansion={max_expansion}"
            )
        values = _expand(values, count)
    try:
        return values.reshape(shape)
    except ValueError:
        raise DecodeError(f"numpy has no array of {len(shape)} dimensions as large as these") from None


def _message(data: Any) -> tuple[Any, bytes | memoryview]:
    """The message, and its tensor_content, which may be left out of the message."""
    if hasattr(data, "SerializeToString") and data.DESCRIPTOR.name == "TensorProto":
        return data, data.tensor_content
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"expected bytes or a message TensorProto, got {type(data).__name__}")
    # Imported late: protobuf takes time to import, and the rest of the package does without it.
    from .proto import TensorProto  # noqa: PLC0415

    data = bytes(data)
    split = _find_content(data)
    try:
        message = TensorProto.FromString(data if split is None else data[: split[0]])
    except Exception:
        # protobuf in pure Python raises more than its own DecodeError.
        raise DecodeError("the bytes are not a TensorProto") from None
    return message, message.tensor_content if split is None else memoryview(data)[split[1] :]


def _find_content(data: bytes) -> tuple[int, int] | None:
    """Where the field tensor_content and its bytes begin, if it is the last field of a large message.

    TensorFlow writes type, shape, content in this order. The content is then not copied through protobuf.
    """
    begin = 0
    if len(data) >= FIND_CONTENT_FROM:
        for _ in range(3):
            field, end = read_field(data, begin, len(data), 0)
            if field.number == 4 and field.type == DELIMITED and end == len(data):
                return (begin, field.begin) if field.begin < end else None
            begin = end
    return None


def _type_name(code: int) -> str:
    if code == STRING:
        return "string"
    if code in _UNREADABLE:
        raise SchemaError(f"the tensor holds {_UNREADABLE[code]}, which only TensorFlow can use")
    if code not in _NAMES:
        raise DecodeError(f"the tensor has no valid type, but number {code}")
    return _NAMES[code]


def _requested(dtype: Any) -> str:
    """The name of a dtype that is given as numpy or as TensorFlow names it."""
    dtype = getattr(dtype, "as_numpy_dtype", dtype)
    if isinstance(dtype, (type, str)):
        dtype = _ALIASES.get(dtype, dtype)
    if isinstance(dtype, str) and (dtype == "string" or dtype in _EXTRA_CODES):
        return dtype
    found = np.dtype(dtype)
    return "string" if found.kind in "SUTO" else found.name


def _numpy_dtype(name: str) -> np.dtype[Any]:
    if name not in _EXTRA_CODES:
        return np.dtype(name)
    try:
        extra: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except (ImportError, AttributeError):
        raise SchemaError(f"the tensor is of type {name}; pip install -U ml_dtypes") from None
    return extra


def _shape(message: Any) -> tuple[tuple[int, ...], int]:
    """The shape, and how many elements it has."""
    shape = tuple(dim.size for dim in message.tensor_shape.dim)
    product = 1
    for size in shape:
        product *= size
        if size < 0 or product >= 2**63:
            raise DecodeError("the tensor's shape has a negative or too large dimension")
    if len(shape) > 254:
        raise DecodeError(f"the tensor has {len(shape)} dimensions; 254 is the most")
    return shape, product


def _from_content(content: bytes | memoryview, dtype: np.dtype[Any], count: int) -> Array:
    """Exactly ``count`` elements from tensor_content."""
    if dtype.kind == "O":
        return _strings_from_content(bytes(content), count)
    if len(content) != count * dtype.itemsize:
        raise DecodeError(
            f"the tensor's content has {len(content)} bytes; its shape needs {count * dtype.itemsize}"
        )
    if dtype == np.bool_ and np.frombuffer(content, np.uint8).max() > 1:
        raise DecodeError("the tensor's content has a boolean that is neither 0 nor 1")
    return np.frombuffer(content, dtype.newbyteorder("<")).astype(dtype)


def _strings_from_content(content: bytes, count: int) -> Array:
    """The strings in the old form of tensor_content: all lengths as varints of 32 bits, then all bytes."""
    lengths = []
    position = 0
    for _ in range(count):
        try:
            length, position = read_varint(content, position, min(position + MAX_TAG, len(content)))
        except DecodeError:
            raise DecodeError("the tensor's content ends inside the lengths of its strings") from None
        lengths.append(length & 0xFFFFFFFF)
    if position + sum(lengths) != len(content):
        raise DecodeError("the strings in the tensor's content are shorter or longer than it")
    ends = accumulate(lengths, initial=position)
    return object_array([content[begin:end] for begin, end in pairwise(ends)])


def _from_fields(message: Any, name: str, dtype: np.dtype[Any], count: int) -> Array:
    """Up to ``count`` elements from the field for this type; other fields are ignored."""
    if name == "string":
        return object_array(message.string_val[:count])
    if name.startswith(("float8", "float4")):
        codes: Array = np.frombuffer(message.float8_val, np.uint8)[:count].copy()
        return codes.view(dtype)
    field, stored = _FIELDS.get(name, _INT_FIELD)
    values: Array = np.array(getattr(message, field), stored)
    if dtype.kind == "c":
        values = values[: values.size // 2 * 2].view(dtype)
    elif stored == np.int32 and dtype != np.int32:
        # The low bits are kept and reinterpreted, as a cast in C does.
        values = values.astype(f"u{dtype.itemsize}").view(dtype)
    return values[:count]


def _expand(values: Array, count: int) -> Array:
    """``values``, extended to ``count`` with the last one, or with zeros (``b""``) if there are none."""
    if values.size == count:
        return values
    whole = np.empty(count, values.dtype)
    whole[: values.size] = values
    whole[values.size :] = values[-1] if values.size else (b"" if values.dtype.kind == "O" else 0)
    return whole
