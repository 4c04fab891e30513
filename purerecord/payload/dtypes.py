"""The three types that an Example can hold, and default values of these types.

Any name of a type is converted to one form, and a default value to its type without silent loss. This
module does not know the specs that use them.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import EncodeError
from .values import Array, to_float32

# np.int64, np.float32 or bytes; values of type bytes are held in object arrays.
DType = type
_NAMES: dict[DType, str] = {np.int64: "int64", np.float32: "float32", bytes: "string"}
_ALIASES: dict[Any, DType] = {
    int: np.int64,
    float: np.float32,
    str: bytes,
    object: bytes,
    "int": np.int64,
    "float": np.float32,
    "bytes": bytes,
    "string": bytes,
}


def as_dtype(dtype: Any) -> DType:
    """``np.int64``, ``np.float32`` or ``bytes``, from any name of one of them.

    A name is TensorFlow's ("int64", "float32", "string"), a numpy dtype, ``int``, ``float``, ``str`` or
    one of TensorFlow's own ``DType`` objects.
    """
    dtype = getattr(dtype, "as_numpy_dtype", dtype)
    if dtype is None:
        raise ValueError("the dtype is missing; it must be int64, float32 or bytes")
    if isinstance(dtype, (type, str)) and dtype in _ALIASES:
        return _ALIASES[dtype]
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"dtype must be int64, float32 or bytes, not {dtype!r}") from None
    if found.kind in "SUO":
        return bytes
    for known in (np.int64, np.float32):
        if found == known:
            return known
    raise ValueError(f"dtype must be int64, float32 or bytes, the types an Example can hold, not {found}")


def array_dtype(dtype: DType) -> np.dtype[Any]:
    """The dtype of the arrays that hold values of ``dtype``."""
    return np.dtype(object if dtype is bytes else dtype)


def dtype_name(dtype: DType) -> str:
    """TensorFlow's name of ``dtype``: "int64", "float32", "string"; "int32" for row splits."""
    return _NAMES.get(dtype) or np.dtype(dtype).name


def constant(value: Any, dtype: DType, shape: tuple[int, ...]) -> Array:
    """``value`` as an array of ``dtype`` and ``shape``; numbers stay exact, and nothing is broadcast."""
    items = [_convert(item, dtype) for item in _flatten(value)]
    if len(items) != math.prod(shape):
        raise ValueError(
            f"default_value has {len(items)} elements, but shape {shape} needs {math.prod(shape)}"
        )
    array = np.empty(len(items), array_dtype(dtype))
    array[:] = items
    return array.reshape(shape)


def _flatten(value: Any) -> list[Any]:
    if hasattr(value, "__array__"):
        value = np.asarray(value).ravel().tolist()
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in _flatten(part)]
    return [value]


def _convert(item: Any, dtype: DType) -> Any:
    if dtype is bytes:
        if isinstance(item, (bytes, str)):
            try:
                return item.encode() if isinstance(item, str) else item
            except UnicodeEncodeError:
                raise ValueError(f"default_value {item!r} cannot be encoded as UTF-8") from None
    elif not isinstance(item, bool):
        if dtype is np.int64 and isinstance(item, Integral) and -(2**63) <= int(item) < 2**63:
            return int(item)
        if dtype is np.float32 and isinstance(item, Real):
            return _float32(item)
    raise TypeError(f"default_value {item!r} is not a {dtype_name(dtype)}")


def _float32(item: Real) -> Any:
    """A float rounded to float32, or an integer, which must be exact; else ValueError."""
    try:
        value = to_float32(np.array(float(item)))[()]
    except (OverflowError, EncodeError):
        raise ValueError(f"default_value {item!r} is too large for float32") from None
    if isinstance(item, Integral) and int(value) != int(item):
        raise ValueError(f"default_value {item!r} is not exact as float32; give a float if it may be rounded")
    return value


def frozen(value: Any) -> Any:
    """``value`` with nested lists as nested tuples."""
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value
