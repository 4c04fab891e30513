"""Elements by index, mask or order: ``tf.gather``, ``tf.where``, ``tf.sort``, ``tf.unique`` and so on.

This module does not know arithmetic.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..dtypes import int32, int64, of_numpy
from ..errors import invalid
from . import ragged_operations
from .convert import Array
from .dispatch import for_ragged
from .operators import check_kind, kernel_name, normalized_axis, shape_text
from .tensor import (
    EagerTensor,
    arrays_of_one_dtype,
    axis_number,
    convert_to_tensor,
    of_array,
    shape_tuple,
    to_numpy,
)


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> EagerTensor:  # noqa: A001
    """``size`` elements from ``begin`` on in each dimension; -1 means all the rest."""
    array = to_numpy(input_)
    if not len(shape_tuple(begin)) == len(shape_tuple(size)) == array.ndim:
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {array.ndim}, but got shapes "
            f"[{len(shape_tuple(begin))}] and [{len(shape_tuple(size))}] instead."
        )
    key: tuple[Any, ...] = ()
    for place, (first, count) in enumerate(zip(shape_tuple(begin), shape_tuple(size), strict=True)):
        last = array.shape[place] if count == -1 else first + count
        if not 0 <= first <= last <= array.shape[place]:
            raise invalid(f"Expected size[{place}] in [0, {array.shape[place] - first}], but got {count}")
        key += (np.s_[first:last],)
    return of_array(array[key])


@for_ragged(ragged_operations.gather)
def gather(  # noqa: PLR0917 - TensorFlow's signature
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> EagerTensor:
    """The elements at ``indices`` along a dimension."""
    array, places = to_numpy(params), to_numpy(indices)
    if places.dtype != np.int16:
        check_index(places, "Tindices")
    if not array.ndim:
        raise invalid("params must be at least 1 dimensional")
    batch = operator.index(batch_dims)
    if not -places.ndim <= batch <= places.ndim:
        raise invalid(f"Expected batch_dims in the range [{-places.ndim}, {places.ndim}], but got {batch}")
    batch = batch + places.ndim if batch < 0 else batch
    dimension = _gather_axis(batch if axis is None else axis, array.ndim)
    if batch:
        return _gathered_in_batches(array, places, dimension, batch)
    length = array.shape[dimension]
    outside = (places < 0) | (places >= length)
    if outside.any():
        first = np.argwhere(np.atleast_1d(outside))[0].tolist()
        where = "" if not places.ndim else f"[{','.join(map(str, first))}]"
        raise invalid(f"indices{where} = {places[outside].flat[0]} is not in [0, {length})")
    taken = np.take(array, places.reshape(-1), dimension)
    return of_array(taken.reshape(array.shape[:dimension] + places.shape + array.shape[dimension + 1 :]))


def check_index(array: Array, attribute: str) -> None:
    """Raise an error unless the indices are of int32 or int64."""
    if array.dtype not in (np.int32, np.int64):
        name = kernel_name(of_numpy(array.dtype))
        raise invalid(
            f"Value for attr '{attribute}' of {name} is not in the list of allowed values: int32, int64"
        )


def _gather_axis(axis: Any, ndim: int) -> int:
    place = axis_number(axis)
    if not -ndim <= place < ndim:
        raise invalid(f"Expected axis in the range [{-ndim}, {ndim}), but got {place}")
    return place % ndim


def _gathered_in_batches(array: Array, places: Array, axis: int, batch: int) -> EagerTensor:
    """Elements along ``axis``; each entry of the first ``batch`` dimensions has its own indices."""
    if batch >= array.ndim:
        raise invalid(f"batch_dims ({batch}) must be less than rank(params) ({array.ndim}).")
    if axis < batch:
        raise invalid(f"batch_dims ({batch}) must be less than or equal to axis ({axis}).")
    if array.shape[:batch] != places.shape[:batch]:
        place = next(i for i in range(batch) if array.shape[i] != places.shape[i])
        raise invalid(
            f"params.shape[{place}]: {array.shape[place]} should be equal to indices.shape[{place}]: "
            f"{places.shape[place]}"
        )
    outside = (places < 0) | (places >= array.shape[axis])
    if outside.any():
        raise invalid(f"indices = {places[outside].flat[0]} is not in [0, {array.shape[axis]})")
    batches, outer, inner = (
        math.prod(array.shape[a:b]) for a, b in ((0, batch), (batch, axis), (axis + 1, array.ndim))
    )
    flat = array.reshape(batches, outer, array.shape[axis], inner)
    chosen = places.reshape(batches, 1, math.prod(places.shape[batch:]))
    taken = flat[np.arange(batches)[:, None, None], np.arange(outer)[None, :, None], chosen]
    return of_array(taken.reshape(*array.shape[:axis], *places.shape[batch:], *array.shape[axis + 1 :]))


def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask") -> EagerTensor:
    """The elements for which the mask is true."""
    array, chosen = to_numpy(tensor), to_numpy(mask)
    if not chosen.ndim:
        raise ValueError("mask cannot be scalar.")
    check_kind("Where", chosen, "fiucb")
    chosen = chosen.astype(np.bool_)
    place = axis or 0
    if array.shape[place : place + chosen.ndim] != chosen.shape:
        shown = f"{array.shape[place : place + chosen.ndim]} and {chosen.shape}"
        raise ValueError(f"Shapes {shown} are incompatible")
    return of_array(array[(np.s_[:],) * place + (chosen,)])


@for_ragged(ragged_operations.where)
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> EagerTensor:
    """``x`` where the condition is true, else ``y``; without these, the indices of true elements."""
    chosen = to_numpy(condition)
    if x is None and y is None:
        if not chosen.ndim:
            raise invalid("WhereOp : Unhandled input dimensions: 0")
        check_kind("Where", chosen, "fiucb")
        return of_array(np.argwhere(chosen).astype(np.int64))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    chosen = convert_to_tensor(condition, "bool")._array
    one, two = arrays_of_one_dtype("SelectV2", [x, y])
    try:
        np.broadcast_shapes(chosen.shape, one.shape, two.shape)
    except ValueError:
        shapes = [shape_text(array.shape) for array in (chosen, one, two)]
        raise invalid("condition {}, then {}, and else {} must be broadcastable".format(*shapes)) from None
    return of_array(np.asarray(np.where(chosen, one, two)).astype(one.dtype, copy=False))


@for_ragged(ragged_operations.reverse)
def reverse(tensor: Any, axis: Any, name: str | None = None) -> EagerTensor:
    """The tensor reversed along the dimensions ``axis``."""
    array = to_numpy(tensor)
    places = shape_tuple(axis)
    if isinstance(axis, int) or getattr(axis, "ndim", 1) != 1:
        raise invalid(f"'dims' must be 1-dimension, not {axis}")
    if not array.ndim:
        return of_array(array)
    return of_array(np.flip(array, tuple(normalized_axis(place, array.ndim) for place in places)))


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> EagerTensor:
    """The elements sorted along a dimension."""
    convert_to_tensor(axis)
    array = to_numpy(values)
    check_kind("Sort", array, "fiu")
    array = np.sort(array, normalized_axis(axis, array.ndim))
    return of_array(array if direction == "ASCENDING" else np.flip(array, axis))


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> EagerTensor:
    """The indices that sort the elements along a dimension."""
    convert_to_tensor(axis)
    array = to_numpy(values)
    check_kind("ArgSort", array, "fiu")
    axis = normalized_axis(axis, array.ndim)
    if direction != "ASCENDING":  # equal elements keep their order when sorting downwards, too
        backwards = np.flip(array, axis)
        order = array.shape[axis] - 1 - np.flip(np.argsort(backwards, axis, kind="stable"), axis)
    else:
        order = np.argsort(array, axis, kind="stable")
    return of_array(order.astype(np.int32))


def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> tuple[EagerTensor, EagerTensor]:
    """The distinct elements in order of appearance, and the index of each element among them."""
    found: dict[Any, int] = {}
    array = to_numpy(x)
    if array.ndim != 1:
        raise invalid("unique expects a 1D vector.")
    numbers = [found.setdefault(element, len(found)) for element in array.tolist()]
    distinct = np.empty(len(found), array.dtype)
    distinct[:] = list(found)
    return of_array(distinct), of_array(np.array(numbers, np.int64 if out_idx == int64 else np.int32))


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = None, name: str | None = None
) -> EagerTensor:
    """For each length a row of ``maxlen`` booleans, of which the first ``length`` are true."""
    counts = to_numpy(lengths)
    check_kind("SequenceMask", counts, "fiu")
    most = np.max(counts, initial=0) if maxlen is None else to_numpy(maxlen)
    if np.ndim(most):
        raise ValueError("Argument `maxlen` must be scalar for sequence_mask")
    check_kind("SequenceMask", np.asarray(most), "fiu")
    width = int(np.ceil(max(most, 0)))
    mask = np.arange(width) < counts[..., None]
    return of_array(mask if dtype is None else mask.astype(np.dtype(dtype)))
