"""New tensors: ``tf.zeros``, ``tf.fill``, ``tf.range``, ``tf.one_hot`` and so on.

Each is a few lines of numpy with TensorFlow's signature, dtypes and errors. This module does not know how
tensors are combined.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..dtypes import DType, as_dtype, float32, string
from ..errors import UnimplementedError, invalid
from .convert import Array
from .dispatch import each_element, for_ragged, older_names
from .operators import check_kind, check_shapes, kernel_name, shape_text
from .ragged_operations import one_hot as ragged_one_hot
from .shapes import TensorShape
from .tensor import EagerTensor, constant, convert_to_tensor, of_array, shape_tuple, to_numpy


def zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> EagerTensor:
    """A tensor of zeros, or of empty strings."""
    wanted = as_dtype(dtype)
    return fill(shape, constant("" if wanted is string else np.int8(0), wanted))


def ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> EagerTensor:
    """A tensor of ones."""
    wanted = as_dtype(dtype)
    if wanted is string:
        raise invalid("Value for attr 'T' of string is not in the list of allowed values of OnesLike")
    return fill(shape, constant(np.int8(1), wanted))


@older_names(tensor="input")
@each_element
def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Zeros in the shape of ``input``."""
    tensor = convert_to_tensor(input)
    return zeros(tensor.shape, tensor.dtype if dtype is None else dtype)


@older_names(tensor="input")
@each_element
def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Ones in the shape of ``input``."""
    tensor = convert_to_tensor(input)
    return ones(tensor.shape, tensor.dtype if dtype is None else dtype)


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> EagerTensor:
    """A tensor of shape ``dims`` filled with ``value``."""
    scalar = to_numpy(value)
    if scalar.size == 1:
        scalar = scalar.reshape(())
    if scalar.ndim:
        raise invalid(f"value must be a scalar, got shape {shape_text(scalar.shape)}")
    lengths = shape_tuple(dims)
    if not isinstance(dims, (TensorShape, Mapping)) and to_numpy(dims).ndim > 1:
        raise invalid(f"dims must be a vector, got shape {shape_text(to_numpy(dims).shape)}")
    for length in lengths:
        if length < 0:
            raise invalid(f"Dimension {length} must be >= 0")
    return of_array(np.array(np.broadcast_to(scalar, lengths)))


def range(  # noqa: A001 - TensorFlow's name
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None
) -> EagerTensor:
    """The numbers from ``start`` up to ``limit`` in steps of ``delta``; ``range(limit)`` begins at 0."""
    if limit is None:
        start, limit = 0, start
    ends = [convert_to_tensor(end)._array for end in (start, limit, delta)]
    order = ("int32", "int64", "float32", "float64")
    for end in ends:
        if end.dtype.name not in order:
            raise AssertionError(f"tf.range is for numbers of {', '.join(order)}, not of {end.dtype.name}")
        if end.ndim:
            raise invalid(f"start, limit and delta must be scalars, not of shape {shape_text(end.shape)}")
    found = builtins.max((end.dtype.name for end in ends), key=order.index)
    numpy = np.dtype(found if dtype is None else as_dtype(dtype).as_numpy_dtype)
    first, stop, step = (end[()].item() for end in ends)
    if step == 0:
        raise invalid("Requires delta != 0: 0")
    if (first > stop) if step > 0 else (first < stop):
        relation, sense = ("<=", ">") if step > 0 else (">=", "<")
        raise invalid(f"Requires start {relation} limit when delta {sense} 0: {first}/{stop}")
    count = builtins.max(0, int(np.ceil((stop - first) / step)))
    return of_array((np.arange(count) * numpy.type(step) + numpy.type(first)).astype(numpy))


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> EagerTensor:
    """``num`` numbers from ``start`` to ``stop``, both included; whole numbers become float64."""
    first = convert_to_tensor(start)
    last = convert_to_tensor(stop, first.dtype)._array
    count = to_numpy(num)
    if count.dtype.kind not in "iu":
        raise TypeError(f"num must be a whole number, not {num}")
    if first.dtype.name == "string":
        raise UnimplementedError(None, None, "Cast string to float is not supported")
    check_kind("LinSpace", first._array, "fi")
    if int(count) <= 0:
        raise invalid(f"Requires num > 0: {int(count)}")
    kind = first._array.dtype if first.dtype.is_floating else np.dtype(np.float64)
    check_shapes("LinSpace", first._array, last)
    return of_array(
        np.linspace(first._array.astype(kind), last.astype(kind), int(count), dtype=kind, axis=axis)
    )


@for_ragged(ragged_one_hot)
def one_hot(  # noqa: PLR0917 - TensorFlow's signature
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """A new dimension of length ``depth``: ``on_value`` at the index, ``off_value`` elsewhere."""
    on, off = _on_and_off(on_value, off_value, None if dtype is None else as_dtype(dtype))
    lengths = convert_to_tensor(depth, "int32")._array
    if lengths.ndim:
        raise invalid(f"depth must be a scalar, but got: {shape_text(lengths.shape)}")
    if lengths < 0:
        raise invalid(f"depth must be non-negative, got: {lengths}")
    array = to_numpy(indices)
    if array.dtype.kind == "f" and not isinstance(indices, np.ndarray) and array.size:
        if isinstance(indices, float):
            raise TypeError(f"Cannot convert {indices} to EagerTensor of dtype int64")
        kind = kernel_name(as_dtype(array.dtype))
        allowed = "uint8, int8, int32, int64"
        raise invalid(f"Value for attr 'TI' of {kind} is not in the list of allowed values: {allowed}")
    if (array.dtype.kind == "f" and not array.size) or isinstance(indices, bool):
        array = array.astype(np.int64)
    if array.dtype.name not in ("uint8", "int8", "int32", "int64"):
        kind = kernel_name(as_dtype(array.dtype))
        raise invalid(
            f"Value for attr 'TI' of {kind} is not in the list of allowed values: uint8, int8, int32"
        )
    place = array.ndim if axis in (None, -1) else int(axis or 0)
    if not 0 <= place <= array.ndim:
        raise invalid(f"Expected axis to be -1 or between [0, {array.ndim + 1}).  But received: {place}")
    shape = [1] * (array.ndim + 1)
    shape[place] = int(depth)
    hot = np.expand_dims(array, place) == np.arange(int(depth)).reshape(shape)
    return of_array(np.asarray(np.where(hot, on, off)).astype(on.dtype, copy=False))


def _on_and_off(on_value: Any, off_value: Any, wanted: DType | None) -> tuple[Array, Array]:
    """The two values of ``one_hot``, which must have one dtype."""
    given = []
    for what, value in (("on_value", on_value), ("off_value", off_value)):
        if value is None:
            continue
        try:
            tensor = convert_to_tensor(value, dtype_hint=wanted)
        except (TypeError, ValueError):
            tensor = convert_to_tensor(value)
        if wanted is not None and tensor.dtype != wanted:
            raise TypeError(f"dtype {tensor.dtype} of {what} does not match dtype parameter {wanted}")
        if tensor.ndim:
            raise invalid(f"{what} must be a scalar, but got: {shape_text(tensor._array.shape)}")
        given.append(tensor.dtype)
    if len(given) == 2 and given[0] != given[1]:
        raise TypeError(f"dtype {given[0]} of on_value does not match dtype {given[1]} of off_value")
    dtype = wanted or (given[0] if given else float32)
    on = convert_to_tensor(1 if on_value is None else on_value, dtype)._array
    return on, convert_to_tensor(0 if off_value is None else off_value, dtype)._array
