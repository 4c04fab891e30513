"""Any value as an array of the dtype that TensorFlow chooses for it.

numpy arrays keep their dtype. Python integers become int32, or int64 if they need it, and floats become
float32. Text becomes an array of ``bytes`` objects. The errors and their texts are TensorFlow's. This module
does not know tensors: for it, a tensor is an object with ``__array__``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dtypes import DType, of_numpy, string

Array = npt.NDArray[Any]

_SEQUENCES = (list, tuple, range)
_UNSUPPORTED = "Attempt to convert a value ({!r}) with an unsupported type ({!r}) to a Tensor."

# What TensorFlow's error calls the numpy types that it does not support.
_UNSUPPORTED_NUMPY = {
    "M": "type: NPY_DATETIME",
    "m": "type: NPY_TIMEDELTA",
    "g": "type: NPY_LONGDOUBLE",
    "G": "type: NPY_CLONGDOUBLE",
}


def to_array(value: Any, dtype: DType | None = None) -> Array:
    """``value`` as a new array, with ``dtype`` or the dtype that TensorFlow chooses."""
    if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, (bytes, str)):
        return _from_numpy(np.array(value), dtype)
    if isinstance(value, (bool, int, float, complex, str, bytes, *_SEQUENCES)):
        return _from_python(value, dtype)
    if isinstance(value, (bytearray, memoryview)):
        return _from_python(list(value), dtype)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _from_numpy(np.array(value), dtype)
    if hasattr(value, "__len__") and hasattr(value, "__getitem__") and not hasattr(value, "keys"):
        return _from_python([value[i] for i in range(len(value))], dtype)
    raise ValueError(_UNSUPPORTED.format(value, type(value)))


# --- Arrays -----------------------------------------------------------------------------------------


def _from_numpy(array: Array, dtype: DType | None) -> Array:
    if dtype is string or (dtype is None and array.dtype.kind in "SUTO"):
        return strings(array.reshape(-1).tolist(), array.shape)
    if array.dtype.kind not in "SUTO" and not _is_known(array.dtype):
        what = _UNSUPPORTED_NUMPY.get(array.dtype.char, "data type")
        raise ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported numpy {what}).")
    target = array.dtype.newbyteorder("=") if dtype is None else np.dtype(dtype.as_numpy_dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        return array.astype(target, copy=False)


def _is_known(dtype: np.dtype[Any]) -> bool:
    try:
        of_numpy(dtype)
    except TypeError:
        return False
    return True


def strings(values: list[Any], shape: tuple[int, ...]) -> Array:
    """An array of ``bytes`` objects; text is encoded as UTF-8."""
    array = np.empty(len(values), object)
    for position, value in enumerate(values):
        if isinstance(value, str):
            array[position] = value.encode()
        elif isinstance(value, bytes):
            array[position] = bytes(value)
        else:
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported object type "
                f"{type(value).__name__})."
            )
    return array.reshape(shape)


# --- Python values ----------------------------------------------------------------------------------


def _from_python(value: Any, dtype: DType | None) -> Array:
    shape = _shape(value)
    if 0 in shape:
        return np.zeros(shape, np.float32 if dtype is None else dtype.as_numpy_dtype)
    leaves = list(_leaves(value, len(shape)))
    # Without a dtype, TensorFlow refuses a list of booleans and numbers that begins with a boolean.
    kind = _kind(
        leaves, ["int", "float", "complex"] if dtype is None else ["bool", "int", "float", "complex"]
    )
    if kind == "string":
        if dtype not in (None, string):
            raise _cannot_convert(value, dtype)
        return strings(leaves, shape)
    if dtype is None:
        return _with_default_dtype(leaves, kind).reshape(shape)
    fits = {
        "bool": dtype is not string,
        "int": dtype is not string and not dtype.is_bool,
        "float": dtype.is_floating or dtype.is_complex,
        "complex": dtype.is_complex,
    }
    if not fits[kind]:
        raise _cannot_convert(value, dtype)
    return _with_dtype(leaves, kind, dtype).reshape(shape)


def _cannot_convert(value: Any, dtype: DType | None) -> TypeError:
    name = "string" if dtype is None else dtype.name
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {name}")


def _is_sequence(value: Any) -> bool:
    return isinstance(value, _SEQUENCES) or (
        getattr(value, "ndim", 0) > 0 and hasattr(value, "__array__") and hasattr(value, "__len__")
    )


def _shape(value: Any) -> tuple[int, ...]:
    """The shape by the first elements. As in TensorFlow, an empty list is the last dimension."""
    shape = []
    while _is_sequence(value):
        shape.append(len(value))
        if not len(value):
            break
        value = value[0]
    return tuple(shape)


def _leaves(value: Any, depth: int) -> Iterator[Any]:
    """The scalars at ``depth`` levels of lists. Any other depth of a scalar is an error."""
    if _is_sequence(value) != bool(depth):
        if depth:
            raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if not depth:
        yield value[()] if isinstance(value, np.ndarray) else value
        return
    if isinstance(value, np.ndarray) and value.ndim == depth:
        yield from value.reshape(-1)
        return
    length = None
    for element in value:
        if depth > 1:
            if length is None:
                length = len(element) if _is_sequence(element) else -1
            if _is_sequence(element) and len(element) != length and length:
                raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
        yield from _leaves(element, depth - 1)


def _kind(leaves: list[Any], order: list[str]) -> str:
    """The kind of the leaves: the one that they share, or the last of ``order`` among those that occur."""
    kind = _kind_of(type(leaves[0]))
    if kind is None:
        raise ValueError(_UNSUPPORTED.format(leaves[0], type(leaves[0])))
    for leaf_type in set(map(type, leaves)):
        other = _kind_of(leaf_type)
        if other is None:
            leaf = next(leaf for leaf in leaves if type(leaf) is leaf_type)
            raise ValueError(_UNSUPPORTED.format(leaf, leaf_type))
        if other == "bool" and kind in order:
            continue
        if other != kind:
            if kind not in order or other not in order:
                raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
            kind = max(kind, other, key=order.index)
    return kind


def _kind_of(leaf_type: type) -> str | None:
    return next((name for name, types in _KINDS.items() if issubclass(leaf_type, types)), None)


_KINDS: dict[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "int": (int, np.integer),
    "float": (float, np.floating),
    "complex": (complex, np.complexfloating),
    "string": (str, bytes),
}


def _with_default_dtype(leaves: list[Any], kind: str) -> Array:
    """The leaves with the dtype that TensorFlow chooses for them."""
    if kind == "bool":
        return np.array(leaves, np.bool_)
    if kind == "complex":
        return np.array(leaves, np.complex128)
    if kind == "float":
        wide = np.array(leaves, np.float64)
        if isinstance(leaves[0], (np.float64, np.float16)):
            return wide.astype(type(leaves[0]))
        with np.errstate(over="ignore"):
            narrow = wide.astype(np.float32)
        if bool((np.isinf(narrow) != np.isinf(wide)).any()):
            raise ValueError(
                "Can't convert Python sequence with a value out of range for a double-precision float."
            )
        return narrow
    whole = _integers(leaves, np.int64)
    small = bool((whole == whole.astype(np.int32)).all())
    return whole.astype(np.int32) if small else whole


def _integers(leaves: list[Any], numpy: Any) -> Array:
    try:
        return np.array([int(leaf) for leaf in leaves], numpy)
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None


def _with_dtype(leaves: list[Any], kind: str, dtype: DType) -> Array:
    """The leaves with ``dtype``, which fits their kind. Integers that are too large lose their upper bits."""
    numpy = dtype.as_numpy_dtype
    if dtype.is_integer:
        return _integers(leaves, np.uint64 if numpy is np.uint64 else np.int64).astype(numpy)
    with np.errstate(over="ignore"):
        return np.array(leaves, np.complex128 if kind == "complex" else np.float64).astype(numpy)
