"""Elements in other places: ``tf.roll``, ``tf.meshgrid``, ``tf.dynamic_partition``, ``tf.searchsorted``, ...

This module does not know arithmetic.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any

import numpy as np

from ..dtypes import as_dtype, int32, of_numpy
from ..errors import invalid
from .convert import Array
from .dispatch import each_element, for_ragged, older_names
from .indexing import unique
from .operators import check_kind, kernel_name, shape_text
from .ragged_operations import stack_dynamic_partitions
from .tensor import EagerTensor, arrays_of_one_dtype, convert_to_tensor, of_array, shape_tuple, to_numpy


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The elements moved along dimensions; those that leave at the end come in at the begin."""
    array, steps, places = to_numpy(input), to_numpy(shift), to_numpy(axis)
    for what, value in (("shift", steps), ("axis", places)):
        if value.dtype not in (np.int32, np.int64):
            name = kernel_name(of_numpy(value.dtype))
            raise invalid(
                f"Value for attr 'T{what}' of {name} is not in the list of allowed values: int32, int64"
            )
        if value.ndim > 1:
            raise invalid(f"{what} must be a scalar or a 1-D vector. Found: {shape_text(value.shape)}")
    if not array.ndim:
        raise invalid("input must be 1-D or higher")
    if steps.shape != places.shape:
        raise invalid("shift and axis must have the same size")
    for place in places.reshape(-1).tolist():
        if not -array.ndim <= place < array.ndim:
            raise invalid(f"axis {place} is out of range")
    return of_array(
        np.roll(array, tuple(np.atleast_1d(steps).tolist()), tuple(np.atleast_1d(places).tolist()))
    )


@older_names(seq_dim="seq_axis", batch_dim="batch_axis")
def reverse_sequence(
    input: Any,  # noqa: A002 - TensorFlow's name
    seq_lengths: Any,
    seq_axis: Any = None,
    batch_axis: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """For each entry of the batch the first ``seq_lengths`` elements reversed."""
    array, lengths = to_numpy(input), to_numpy(seq_lengths)
    if seq_axis is None:
        raise TypeError("Expected int for argument 'seq_dim' not None.")
    along, batch = seq_axis, batch_axis or 0
    if lengths.ndim != 1:
        raise invalid(f"seq_lengths must be 1-dim, not {lengths.ndim}")
    if along == batch:
        raise invalid(f"batch_dim == seq_dim == {along}")
    if not 0 <= along < array.ndim or not 0 <= batch < array.ndim:
        raise invalid(f"seq_dim and batch_dim must be < input rank ({array.ndim})")
    if len(lengths) != array.shape[batch]:
        raise invalid(
            f"Length of seq_lengths != input.dims({batch}), ({len(lengths)} vs. {array.shape[batch]})"
        )
    made = np.moveaxis(array.copy(), (batch, along), (0, 1))
    for row, length in zip(made, lengths.tolist(), strict=True):
        if not 0 <= length <= array.shape[along]:
            raise invalid(f"seq_lens({length}) is not in [0, {array.shape[along]}]")
        row[:length] = row[:length][::-1].copy()
    return of_array(np.moveaxis(made, (0, 1), (batch, along)))


def meshgrid(*args: Any, **kwargs: Any) -> list[EagerTensor]:
    """A grid of coordinates for each vector; ``indexing`` is "xy" or "ij"."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    vectors = [to_numpy(vector).reshape(-1) for vector in args]
    return [of_array(np.array(grid)) for grid in np.meshgrid(*vectors, indexing=indexing)]


@each_element
def bitcast(input: Any, type: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The same bytes as another dtype. A smaller dtype adds a dimension, a larger one takes the last away."""
    array, wanted = to_numpy(input), as_dtype(type)
    if array.dtype == object or wanted.name in ("string", "bool") or array.dtype == np.bool_:
        raise invalid(
            f"Value for attr 'T' of {kernel_name(of_numpy(array.dtype))} is not in the list of allowed values"
        )
    target = np.dtype(wanted.as_numpy_dtype)
    own, new = array.dtype.itemsize, target.itemsize
    flat = np.ascontiguousarray(array).reshape(-1)
    if own == new:
        return of_array(flat.view(target).reshape(array.shape))
    if own > new:
        return of_array(flat.view(target).reshape(*array.shape, own // new))
    if not array.ndim or array.shape[-1] != new // own:
        raise invalid(
            f"Cannot bitcast from {kernel_name(of_numpy(array.dtype))} to {kernel_name(wanted)}: "
            f"shape {shape_text(array.shape)}"
        )
    return of_array(flat.view(target).reshape(array.shape[:-1]))


# --- Order ------------------------------------------------------------------------------------------


def searchsorted(
    sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = int32, name: str | None = None
) -> EagerTensor:
    """For each value where it belongs in the sorted last dimension."""
    rows, wanted = arrays_of_one_dtype(
        "LowerBound", [convert_to_tensor(sorted_sequence), convert_to_tensor(values)]
    )
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
    check_kind("LowerBound", rows, "fiu")
    if not rows.ndim or not wanted.ndim:
        raise invalid("sorted_sequence and values must have at least one dimension")
    count = math.prod(rows.shape[:-1])
    if count != math.prod(wanted.shape[:-1]):
        raise invalid(
            f"Leading dim_size of both tensors must match: {shape_text(rows.shape)} and "
            f"{shape_text(wanted.shape)}"
        )
    flat_rows = rows.reshape(count, rows.shape[-1])
    flat_values = wanted.reshape(count, wanted.shape[-1])
    one_side: Any = side
    found = [np.searchsorted(row, value, one_side) for row, value in zip(flat_rows, flat_values, strict=True)]
    whole = np.concatenate([np.zeros(0, np.int64), *found]).reshape(wanted.shape)
    return of_array(whole.astype(as_dtype(out_type).as_numpy_dtype))


def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """The distinct elements, the index of each element among them, and how often each occurs."""
    distinct, numbers = unique(x, out_idx)
    counts = np.bincount(numbers._array, minlength=len(distinct._array)).astype(numbers._array.dtype)
    return UniqueWithCounts(distinct, numbers, of_array(counts))


UniqueWithCounts = namedtuple("UniqueWithCounts", "y idx count")
UniqueWithCounts.__doc__ = "The distinct elements, the index of each element among them, and the counts."


def setdiff1d(x: Any, y: Any, index_dtype: Any = int32, name: str | None = None) -> Any:
    """The elements of ``x`` that are not in ``y``, and their indices."""
    one, two = arrays_of_one_dtype("ListDiff", [x, y])
    for array, what in ((one, "x"), (two, "y")):
        if array.ndim != 1:
            raise invalid(f"{what} should be a 1D vector.")
    other = set(two.tolist())
    places = np.array([place for place, value in enumerate(one.tolist()) if value not in other], np.int64)
    return of_array(one[places]), of_array(places.astype(as_dtype(index_dtype).as_numpy_dtype))


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> EagerTensor:
    """The coordinates of flat indices in a tensor of shape ``dims``, one row for each dimension."""
    flat, shape = arrays_of_one_dtype("UnravelIndex", [indices, dims])
    if flat.dtype not in (np.int32, np.int64):
        raise invalid("Value for attr 'Tidx' is not in the list of allowed values: int32, int64")
    if shape.ndim != 1:
        raise invalid(
            f"The indices can only be scalar or vector; dims must be a vector, not {shape_text(shape.shape)}"
        )
    if bool((shape == 0).any()):
        raise invalid(f"input dims cannot contain a dim of zero, but got {shape.tolist()}")
    size = int(np.prod(shape, dtype=np.int64))
    if bool(((flat < 0) | (flat >= size)).any()):
        raise invalid(f"index is out of bound as with dims of {size} elements")
    made = np.stack([np.asarray(part) for part in np.unravel_index(flat, tuple(shape.tolist()))])
    return of_array(made.astype(flat.dtype))


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32, name: str | None = None
) -> EagerTensor:
    """How many values lie in each of ``nbins`` bins of equal width; the outer bins take those beyond."""
    array, ends = arrays_of_one_dtype("HistogramFixedWidth", [values, value_range])
    if ends.shape != (2,):
        raise invalid("value_range should be a vector of 2 elements.")
    if not ends[0] < ends[1]:
        raise invalid(
            f"value_range should satisfy value_range[0] < value_range[1], but got '{ends.tolist()}'"
        )
    count = int(to_numpy(nbins))
    if count <= 0:
        raise invalid(f"nbins should be a positive number, but got '{count}'")
    step = (float(ends[1]) - float(ends[0])) / count
    bins = np.clip(((array.reshape(-1).astype(np.float64) - float(ends[0])) / step), 0, count - 1).astype(
        np.int64
    )
    return of_array(np.bincount(bins, minlength=count).astype(as_dtype(dtype).as_numpy_dtype))


# --- Partitions -------------------------------------------------------------------------------------


def _ragged_partition(
    dense: Any, data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> list[Any]:
    stacked = stack_dynamic_partitions(data, partitions, num_partitions)
    return [stacked[number] for number in range(int(num_partitions))]


@for_ragged(_ragged_partition)
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[EagerTensor]:
    """For each partition the elements that belong to it."""
    array = to_numpy(data)
    groups = to_numpy(
        partitions
        if isinstance(partitions, (EagerTensor, np.ndarray))
        else convert_to_tensor(partitions, int32)
    )
    if groups.dtype != np.int32:
        found = kernel_name(of_numpy(groups.dtype))
        raise invalid(
            "cannot compute DynamicPartition as input #1(zero-based) was expected to "
            f"be a int32 tensor but is a {found} tensor"
        )
    if num_partitions < 1:
        raise invalid(f"Value for attr 'num_partitions' of {num_partitions} must be at least minimum 1")
    if array.shape[: groups.ndim] != groups.shape:
        raise invalid(
            "data.shape must start with partitions.shape, got data.shape = "
            f"{shape_text(array.shape)}, partitions.shape = {shape_text(groups.shape)}"
        )
    outside = (groups < 0) | (groups >= num_partitions)
    if outside.any():
        raise invalid(f"partitions = {groups[outside].flat[0]} is not in [0, {num_partitions})")
    rows = array.reshape(groups.size, *array.shape[groups.ndim :])
    return [of_array(rows[groups.reshape(-1) == number]) for number in range(num_partitions)]


def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> EagerTensor:
    """The rows of several tensors at their indices in one tensor; later ones replace earlier ones."""
    places = [to_numpy(part) for part in indices]
    arrays = arrays_of_one_dtype("DynamicStitch", data)
    if len(places) != len(arrays):
        raise ValueError(
            f"List argument 'data' to 'dynamic_stitch' Op with length {len(arrays)} must match length "
            f"{len(places)} of argument 'indices'."
        )
    inner = arrays[0].shape[places[0].ndim :]
    for number, (place, array) in enumerate(zip(places, arrays, strict=True)):
        if array.shape[: place.ndim] != place.shape:
            raise invalid(
                f"data[{number}].shape = {shape_text(array.shape)} does not start with "
                f"indices[{number}].shape = "
                f"{shape_text(place.shape)}"
            )
        if array.shape[place.ndim :] != inner:
            raise invalid(f"Need data[0].shape[1:] = data[{number}].shape[1:], got {shape_text(array.shape)}")
    size = max((int(place.max()) + 1 for place in places if place.size), default=0)
    made: Array = np.zeros((size, *inner), arrays[0].dtype)
    for place, array in zip(places, arrays, strict=True):
        if place.size and int(place.min()) < 0:
            raise invalid(f"indices = {int(place.min())} is out of range")
        made[place.reshape(-1)] = array.reshape(place.size, *inner)
    return of_array(made)


def strided_slice(  # noqa: PLR0917 - TensorFlow's signature
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """Slices from ``begin`` up to ``end`` in steps of ``strides``; the masks are bits for dimensions."""
    first, last = shape_tuple(begin), shape_tuple(end)
    steps = (1,) * len(first) if strides is None else shape_tuple(strides)
    if not len(first) == len(last) == len(steps):
        raise invalid("Expected begin, end, and strides to be 1D equal size tensors")
    keys: list[Any] = []
    for place, (a, b, step) in enumerate(zip(first, last, steps, strict=True)):
        bit = 1 << place
        if ellipsis_mask & bit:
            keys.append(Ellipsis)
        elif new_axis_mask & bit:
            keys.append(None)
        elif shrink_axis_mask & bit:
            keys.append(a)
        else:
            keys.append(slice(None if begin_mask & bit else a, None if end_mask & bit else b, step))
    return convert_to_tensor(input_)[tuple(keys)]
