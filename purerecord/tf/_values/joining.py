"""Tensors joined, split and repeated: ``tf.stack``, ``tf.concat``, ``tf.split``, ``tf.pad``, ``tf.tile``, ...

This module knows neither the values of tensors nor arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...payload.values import filled
from ..dtypes import of_numpy
from ..errors import invalid
from . import ragged_operations
from .dispatch import for_ragged
from .operators import kernel_name, shape_text
from .tensor import (
    EagerTensor,
    arrays_of_one_dtype,
    axis_number,
    convert_to_tensor,
    of_array,
    shape_tuple,
    to_numpy,
)


@for_ragged(ragged_operations.stack)
def stack(values: Any, axis: int = 0, name: str = "stack") -> EagerTensor:
    """Tensors of one shape, stacked along a new dimension."""
    if not isinstance(values, (list, tuple)) and axis == 0:
        return convert_to_tensor(values)
    parts = list(values)
    if not parts and axis != 0:
        raise IndexError("there is nothing to stack")
    if axis == 0:  # like TensorFlow, first try to convert the whole list, which may give another dtype
        try:
            return convert_to_tensor(parts)
        except (TypeError, ValueError):
            pass
    arrays = arrays_of_one_dtype("Pack", parts)
    first = arrays[0].shape
    for number, array in enumerate(arrays):
        if array.shape != first:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {shape_text(first)} != "
                f"values[{number}].shape = {shape_text(array.shape)}"
            )
    ndim = len(first) + 1
    if not -ndim <= axis < ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-ndim}, {ndim})")
    return of_array(np.stack(arrays, axis))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[EagerTensor]:
    """A list of the tensors along a dimension."""
    array = to_numpy(value)
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-array.ndim}, {array.ndim})")
    return list(of_array(np.moveaxis(array, axis, 0)))


@for_ragged(ragged_operations.concat)
def concat(values: Any, axis: Any, name: str = "concat") -> EagerTensor:
    """Tensors concatenated along a dimension."""
    parts = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(parts) == 1:
        return convert_to_tensor(parts[0])
    if not parts:
        raise invalid("OpKernel 'ConcatV2' needs at least one tensor")
    arrays = arrays_of_one_dtype("ConcatV2", parts)
    ndim = arrays[0].ndim
    place = axis_number(axis)
    if not -ndim <= place < ndim:
        low = 0 if not ndim else -ndim
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{low}, {ndim}), but got {place}"
        )
    for number, array in enumerate(arrays):
        _check_concat(arrays[0].shape, array.shape, number, place % ndim)
    return of_array(np.concatenate(arrays, place))


def _check_concat(first: tuple[int, ...], other: tuple[int, ...], number: int, place: int) -> None:
    shapes = f"shape[0] = {shape_text(first)} vs. shape[{number}] = {shape_text(other)}"
    if len(first) != len(other):
        raise invalid(f"ConcatOp : Ranks of all input tensors should match: {shapes}")
    for dimension, (one, two) in enumerate(zip(first, other, strict=True)):
        if one != two and dimension != place:
            raise invalid(f"ConcatOp : Dimension {dimension} in both shapes must be equal: {shapes}")


@for_ragged(ragged_operations.split)
def split(
    value: Any, num_or_size_splits: Any, axis: int = 0, num: int | None = None, name: str = "split"
) -> list[EagerTensor]:
    """Parts along a dimension: a number of equal ones, or of given sizes, one of which may be -1."""
    array = to_numpy(value)
    sizes = to_numpy(num_or_size_splits)
    if not sizes.ndim and (sizes.dtype.kind not in "iu" or isinstance(num_or_size_splits, EagerTensor)):
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument "
            f"provided: {num_or_size_splits}"
        )
    if sizes.dtype not in (np.int32, np.int64):
        name = kernel_name(of_numpy(sizes.dtype))
        raise invalid(f"Value for attr 'Tlen' of {name} is not in the list of allowed values: int32, int64")
    axis = axis_number(axis)
    if not -array.ndim <= axis < array.ndim:
        ndim = array.ndim
        raise invalid(f"-input rank(-{ndim}) <= split_dim < input rank ({ndim}), but got {axis}")
    length = array.shape[axis]
    if not sizes.ndim:
        count = int(sizes)
        if count < 1:
            raise invalid(f"Value for attr 'num_split' of {count} must be at least minimum 1")
        if length % count:
            raise invalid(
                "Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {axis % array.ndim} (size = {length}) and num_split {count}"
            )
        return [of_array(part) for part in np.split(array, count, axis)]
    if sizes.ndim > 1 or num not in (None, sizes.size):
        raise invalid(
            "size of the split_tensor must be 1-D and have the same elements as outputs got "
            f"{sizes.ndim} -D and {sizes.size} elements"
        )
    parts = sizes.tolist()
    if parts.count(-1) > 1:
        raise invalid("There can only be one -1 in the input.")
    given = sum(part for part in parts if part != -1)
    if -1 in parts:
        parts[parts.index(-1)] = length - given
    if sum(parts) != length or min(parts, default=0) < 0:
        raise invalid(
            "Determined shape must either match input shape along split_dim exactly if fully specified, "
            "or be less than the size of the input along split_dim if not fully specified.  Got: "
            f"{given}"
        )
    return [of_array(part) for part in np.split(array, np.cumsum(parts)[:-1], axis)]


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> EagerTensor:
    """The tensor padded with elements before and after it in each dimension."""
    array = to_numpy(tensor)
    widths = _padding_widths(paddings, array, "" if mode.upper() == "CONSTANT" else ",")
    if mode.upper() == "CONSTANT":
        given = isinstance(constant_values, EagerTensor) or constant_values != 0
        fill = to_numpy(convert_to_tensor(constant_values, of_numpy(array.dtype)))[()] if given else None
        shape = tuple(a + length + b for (a, b), length in zip(widths, array.shape, strict=True))
        padded = filled(shape, array.dtype, fill)
        padded[tuple(np.s_[a : a + length] for (a, _), length in zip(widths, array.shape, strict=True))] = (
            array
        )
        return of_array(padded)
    modes: dict[str, Any] = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}
    if mode.upper() not in modes:
        raise ValueError(
            "Value of argument `mode` expected to be one of `CONSTANT`, `REFLECT`, or `SYMMETRIC`. "
            f"Received `mode` = {mode}"
        )
    most = "less than" if mode.upper() == "REFLECT" else "no greater than"
    for (before, after), length in zip(widths, array.shape, strict=True):
        if before < 0 or after < 0:
            raise invalid(f"paddings must be non-negative: {before} {after}")
        if max(before, after) > length - (mode.upper() == "REFLECT"):
            beyond = f"{'not less' if mode.upper() == 'REFLECT' else 'greater'} than {length}"
            raise invalid(f"paddings must be {most} the dimension size: {before}, {after} {beyond}")
    return of_array(np.pad(array, widths, mode=modes[mode.upper()]))


def _padding_widths(paddings: Any, array: Any, separator: str) -> list[tuple[int, int]]:
    """Pairs of widths, one for each dimension of ``array``."""
    widths = to_numpy(paddings)
    if widths.dtype not in (np.int32, np.int64):
        kind = kernel_name(of_numpy(widths.dtype))
        allowed = "int32, int64"
        raise invalid(f"Value for attr 'Tpaddings' of {kind} is not in the list of allowed values: {allowed}")
    if widths.ndim != 2 or widths.shape[1] != 2:
        raise invalid(f"paddings must be a matrix with 2 columns: {shape_text(widths.shape)}")
    if len(widths) != array.ndim:
        shapes = f"{shape_text(widths.shape)}{separator} {shape_text(array.shape)}"
        raise invalid(f"The first dimension of paddings must be the rank of inputs{shapes}")
    pairs = [(before, after) for before, after in widths.tolist()]
    for before, after in pairs if not separator else ():
        if before < 0 or after < 0:
            raise invalid(f"Paddings must be non-negative: {before} {after}")
    return pairs


@for_ragged(ragged_operations.tile)
def tile(input: Any, multiples: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The whole tensor repeated ``multiples`` times in each dimension."""
    array, times = to_numpy(input), shape_tuple(multiples)
    if isinstance(multiples, int) or getattr(multiples, "ndim", 1) != 1:
        raise invalid(f"Expected multiples to be 1-D, but got {multiples}")
    if len(times) != array.ndim:
        raise invalid(
            f"Expected multiples argument to be a vector of length {array.ndim} but got length {len(times)}"
        )
    return of_array(np.tile(array, times))


@for_ragged(ragged_operations.repeat)
def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Each element repeated ``repeats`` times."""
    array, given = to_numpy(input), to_numpy(repeats)
    if given.dtype.kind not in "iu":
        raise TypeError(f"Argument `tensor` (name: repeats) must be of type integer. Received {given.dtype}.")
    if given.ndim > 1:
        raise ValueError(f"Shape {given.shape} must have rank at most 1")
    counts = given.reshape(-1).astype(np.int64)
    if bool((counts < 0).any()):
        raise invalid(f"repeats must not be negative: {counts.tolist()}")
    if axis is not None and not -array.ndim <= axis < array.ndim:
        raise ValueError(f"axis={axis} out of bounds: expected {-array.ndim}<=axis<{array.ndim}")
    return of_array(np.repeat(array, counts, axis))
