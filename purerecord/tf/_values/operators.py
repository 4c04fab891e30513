"""TensorFlow's operators and slices, on arrays: operands of one dtype, and results of that dtype.

There is no promotion, and integers wrap around. What TensorFlow refuses raises its error. This module does
not know tensors; ``tensor`` converts the operands.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import EllipsisType
from typing import Any, cast

import numpy as np

from ..dtypes import DType, of_numpy, string
from ..errors import invalid
from .convert import Array

# TensorFlow's kernels have other names for these types.
_KERNEL_NAMES = {"float32": "float", "float64": "double", "float16": "half"}
_COMPARISONS = ("Less", "LessEqual", "Greater", "GreaterEqual")
_BITWISE = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Invert")
_SIGNED = ("Neg", "Abs", "Sign")

_INDEX = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
    "are valid indices, got {!r}"
)


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as TensorFlow's kernels write it: ``[2,3]``."""
    return f"[{','.join(map(str, shape))}]"


def kernel_name(dtype: DType) -> str:
    """A dtype's name in the texts of TensorFlow's kernels."""
    return _KERNEL_NAMES.get(dtype.name, dtype.name)


def _is_unsupported(op: str, dtype: DType) -> bool:
    """Whether TensorFlow does not have the operation for this type."""
    if op in ("Equal", "NotEqual"):
        return False
    if op in _BITWISE:
        return not (dtype.is_integer or dtype.is_bool)
    if op == "Pow" and dtype.is_unsigned:
        return True
    if dtype.name == "string":
        return op != "AddV2"
    if dtype.is_bool:
        return op != "Mul"  # which is "and" for booleans
    return (op in _COMPARISONS and dtype.is_complex) or (op in _SIGNED and dtype.is_unsigned)


def _check(op: str, dtype: DType) -> None:
    if _is_unsupported(op, dtype):
        raise invalid(
            f"Value for attr 'T' of {kernel_name(dtype)} is not in the list of allowed values of {op}"
        )


def is_kind(dtype: np.dtype[Any], kinds: str) -> bool:
    """Whether a dtype is of one of these kinds, given as letters of numpy. bfloat16 is a float."""
    return (dtype.kind if dtype.kind != "V" else "f") in kinds


def check_kind(op: str, array: Array, kinds: str) -> None:
    """Raise an error unless the kind of the array is one of these letters of numpy."""
    if not is_kind(array.dtype, kinds):
        name = kernel_name(of_numpy(array.dtype))
        raise invalid(f"Value for attr 'T' of {name} is not in the list of allowed values of {op}")


def in_float32(function: Callable[..., Any], array: Array, *rest: Any) -> Array:
    """``function`` of the array, computed in float32 if it is of bfloat16."""
    if array.dtype.kind != "V":
        return np.asarray(function(array, *rest))
    return np.asarray(function(array.astype(np.float32), *rest)).astype(array.dtype)


def normalized_axis(axis: Any, ndim: int) -> int:
    """``axis`` as a number from 0 to ``ndim - 1``. Any other axis is an error."""
    place = operator.index(axis)
    if not -ndim <= place < ndim:
        raise invalid(f"Expected dimension in the range [{-ndim}, {ndim}), but got {place}")
    return place % ndim


def binary(op: str, function: Callable[..., Any], x: Array, y: Array) -> Array:
    """``function(x, y)``, element by element with broadcasting."""
    kinds = of_numpy(x.dtype), of_numpy(y.dtype)
    if kinds[0] is not kinds[1]:
        wanted, found = map(kernel_name, kinds)
        shown = "Add" if wanted == "string" and op == "AddV2" else op
        raise invalid(
            f"cannot compute {shown} as input #1(zero-based) was expected to be a {wanted} tensor "
            f"but is a {found} tensor"
        )
    _check(op, kinds[0])
    check_shapes(op, x, y)
    if kinds[0].is_integer:
        if op in ("FloorDiv", "FloorMod") and not y.all():
            raise invalid("Integer division by zero")
        if op == "Pow" and bool((y < 0).any()):
            raise invalid("Integers to negative integer powers are not allowed")
    if kinds[0].is_floating:
        function = _OF_FLOATS.get(op, function)
    if kinds[0] is string and op == "AddV2":
        # With ``out``, a single result stays ``bytes`` in an array of objects.
        joined = np.empty(np.broadcast_shapes(x.shape, y.shape), object)
        return cast(Array, function(x, y, out=joined))
    with np.errstate(all="ignore"):
        return np.asarray(function(x, y))


def _floor_of_quotient(x: Array, y: Array) -> Array:
    return np.asarray(np.floor(x / y))


def _remainder(x: Array, y: Array) -> Array:
    rest = np.fmod(x, y)
    return np.asarray(np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest))


_OF_FLOATS: dict[str, Callable[..., Any]] = {"FloorDiv": _floor_of_quotient, "FloorMod": _remainder}


def check_shapes(op: str, x: Array, y: Array) -> None:
    """Raise TensorFlow's error unless the shapes of the operands fit together."""
    if op == "MatMul":
        for number, operand in enumerate((x, y)):
            if operand.ndim < 2:
                raise invalid(f"In[{number}] ndims must be >= 2")
        if x.shape[-1] != y.shape[-2]:
            shapes = f"In[0]: {shape_text(x.shape)}, In[1]: {shape_text(y.shape)}"
            raise invalid(f"Matrix size-incompatible: {shapes}")
        return
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        raise invalid(f"Incompatible shapes: {shape_text(x.shape)} vs. {shape_text(y.shape)}") from None


def unary(op: str, function: Callable[..., Any], x: Array) -> Array:
    """``function(x)``, element by element."""
    _check(op, of_numpy(x.dtype))
    with np.errstate(all="ignore"):
        return np.asarray(function(x))


def divide(x: Array, y: Array) -> Array:
    """True division. Integers of 8 and 16 bits become float32, larger ones float64."""
    dtype = of_numpy(x.dtype)
    other = of_numpy(y.dtype)
    if dtype is not other:
        raise TypeError(f"`x` and `y` must have the same dtype, got {dtype!r} != {other!r}.")
    if dtype.is_integer:
        wide = np.float32 if dtype.size < 4 else np.float64
        x, y = x.astype(wide), y.astype(wide)
    elif dtype.is_bool or dtype.name == "string":
        raise TypeError(f"`x` and `y` must be numbers, got {dtype!r}.")
    return binary("RealDiv", np.true_divide, x, y)


# --- Slices -----------------------------------------------------------------------------------------


def sliced(array: Array, key: Any) -> Array:
    """``array[key]`` for the keys of TensorFlow: integers, slices, ``...``, None, or one mask."""
    if isinstance(key, (bool, np.bool_)):
        raise ValueError("mask cannot be scalar.")
    mask = _as_mask(key)
    if mask is not None:
        return np.asarray(array[mask])
    if isinstance(key, (tuple, list)) and sum(1 for part in key if part is Ellipsis) > 1:
        raise invalid("Multiple ellipses in slice not allowed")
    keys = tuple(map(_as_key, key if isinstance(key, (tuple, list)) else (key,)))
    taken = sum(1 for part in keys if part is not None and part is not Ellipsis)
    if taken and not array.ndim:
        raise invalid("Attempting to slice scalar input.")
    if taken > array.ndim:
        raise invalid(f"Index out of range using input dim {array.ndim}; input has only {array.ndim} dims")
    _check_bounds(array.shape, keys, array.ndim - taken)
    # With an ellipsis, numpy returns a single element as an array, too.
    return array[keys if Ellipsis in keys else (*keys, ...)]


def _as_mask(key: Any) -> Array | None:
    if hasattr(key, "__array__") and not isinstance(key, np.generic):
        array = np.asarray(key)
        if array.dtype == np.bool_:
            return array
    return None


def _as_key(part: Any) -> Any:
    """One index, as numpy takes it."""
    if part is None or isinstance(part, EllipsisType):
        return part
    if isinstance(part, slice):
        return slice(*(end if end is None else _as_index(end) for end in (part.start, part.stop, part.step)))
    return _as_index(part)


def _as_index(part: Any) -> int:
    if getattr(part, "ndim", 0) or isinstance(part, (bool, float, str, bytes)):
        raise TypeError(_INDEX.format(part))
    try:
        return operator.index(part)
    except (TypeError, AttributeError):
        raise TypeError(_INDEX.format(part)) from None


def _check_bounds(shape: tuple[int, ...], keys: tuple[Any, ...], spare: int) -> None:
    dimension = 0
    for part in keys:
        if part is None:
            continue
        if part is Ellipsis:
            dimension += spare
            continue
        if isinstance(part, slice):
            if part.step == 0:
                raise invalid(f"strides[{dimension}] must be non-zero")
        elif not -shape[dimension] <= part < shape[dimension]:
            shown = part + shape[dimension] if part < 0 else part
            raise invalid(f"slice index {shown} of dimension {dimension} out of bounds.")
        dimension += 1
