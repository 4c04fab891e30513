"""Reductions: ``tf.reduce_sum``, ``tf.reduce_any``, ``tf.argmax`` and so on, and those by segments.

Sums of float32 may differ from TensorFlow's in the last bits, because they are added in another order. As in
TensorFlow, the mean of integers is an integer. This module does not know two operands.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import as_dtype, int64, of_numpy
from ..errors import invalid
from . import operators, ragged_operations, segments
from .arithmetic import booleans
from .convert import Array
from .dispatch import for_ragged, older_names
from .operators import check_kind, in_float32, is_kind, normalized_axis
from .ragged_rows import Segments
from .tensor import EagerTensor, convert_to_tensor, of_array, to_numpy

Function = Callable[[Array, "tuple[int, ...]", builtins.bool], Any]


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions to reduce; all if ``axis`` is None."""
    if axis is None:
        return tuple(range(ndim))
    places = np.atleast_1d(to_numpy(axis))
    if places.dtype.kind not in "iu":
        if places.size:
            name = operators.kernel_name(of_numpy(places.dtype))
            raise invalid(
                f"Value for attr 'Tidx' of {name} is not in the list of allowed values: int32, int64"
            )
        places = places.astype(np.int64)
    axes = places.reshape(-1).tolist()
    for place in axes:
        if not -ndim <= place < ndim:
            raise invalid(f"Invalid reduction dimension ({place} for input with {ndim} dimension(s)")
    axes = [place % ndim for place in axes]
    for place in axes:
        if axes.count(place) > 1:
            raise invalid(f"Invalid reduction arguments: Axes contains duplicate dimension: {place}")
    return tuple(axes)


def _decorated(operation: Any, doc: str, handler: Callable[..., Any]) -> Callable[..., Any]:
    operation.__doc__ = doc
    named = older_names(reduction_indices="axis", keep_dims="keepdims")
    decorated: Callable[..., Any] = named(for_ragged(handler)(operation))
    return decorated


def _reduction(
    op: str, function: Function, doc: str, handler: Callable[..., Any], kinds: str = "fiuc"
) -> Callable[..., Any]:
    def operation(
        input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
    ) -> EagerTensor:
        array = booleans(op, 0, input_tensor) if kinds == "b" else to_numpy(input_tensor)
        check_kind(op, array, kinds)
        axes = reduced_axes(axis, array.ndim)
        with np.errstate(all="ignore"):
            result = in_float32(function, array, axes, bool(keepdims))
        return of_array(result.astype(array.dtype, copy=False))

    return _decorated(operation, doc, handler)


def _sum(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.sum(array, axes, dtype=array.dtype, keepdims=keepdims)


def _prod(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.prod(array, axes, dtype=array.dtype, keepdims=keepdims)


def _mean(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    if array.dtype.kind in "fc":
        if not all(array.shape[axis] for axis in axes):
            return np.sum(array, axes, keepdims=keepdims) * np.nan
        return np.mean(array, axes, dtype=array.dtype, keepdims=keepdims)
    count = int(np.prod([array.shape[axis] for axis in axes], dtype=np.int64))
    return np.trunc(np.sum(array, axes, dtype=array.dtype, keepdims=keepdims) / max(count, 1))


def _limit(array: Array, greatest: builtins.bool) -> Any:
    if array.dtype.kind == "f":
        return np.inf if greatest else -np.inf
    return np.iinfo(array.dtype).max if greatest else np.iinfo(array.dtype).min


def _max(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.max(array, axes, keepdims=keepdims, initial=_limit(array, False))


def _min(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.min(array, axes, keepdims=keepdims, initial=_limit(array, True))


def _any(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.any(array, axes, keepdims=keepdims)


def _all(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    return np.all(array, axes, keepdims=keepdims)


def _norm(array: Array, axes: tuple[int, ...], keepdims: bool) -> Any:
    squares = np.abs(array) ** 2 if array.dtype.kind == "c" else array * array
    return np.sqrt(np.sum(squares, axes, keepdims=keepdims))


_ragged = ragged_operations.reduction
reduce_sum = _reduction("Sum", _sum, "The sum along dimensions, or of all elements.", _ragged(segments.total))
reduce_prod = _reduction(
    "Prod", _prod, "The product along dimensions, or of all elements.", _ragged(segments.product)
)
reduce_mean = _reduction(
    "Mean",
    _mean,
    "The mean along dimensions, or of all elements; of integers an integer.",
    ragged_operations.reduce_mean,
)
reduce_max = _reduction(
    "Max", _max, "The maximum along dimensions, or of all elements.", _ragged(segments.maximum), "fiu"
)
reduce_min = _reduction(
    "Min", _min, "The minimum along dimensions, or of all elements.", _ragged(segments.minimum), "fiu"
)
reduce_any = _reduction(
    "Any", _any, "Whether at least one element is true.", ragged_operations.truth(segments.total), "b"
)
reduce_all = _reduction(
    "All", _all, "Whether all elements are true.", ragged_operations.truth(segments.product), "b"
)


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> EagerTensor:
    """The square root of the sum of squares along dimensions, or of all elements."""
    array = to_numpy(input_tensor)
    check_kind("EuclideanNorm", array, "fiuc")
    axes = reduced_axes(axis, array.ndim)
    with np.errstate(all="ignore"):
        return of_array(in_float32(_norm, array, axes, bool(keepdims)).astype(array.dtype))


def _spread(input_tensor: Any, axis: Any, keepdims: bool, root: bool) -> EagerTensor:
    array = to_numpy(input_tensor)
    check_kind("Mean", array, "fiuc")
    if not is_kind(array.dtype, "fc"):
        raise TypeError(
            f"Input must be either real or complex. Received integer type {of_numpy(array.dtype)}."
        )
    axes = reduced_axes(axis, array.ndim)

    def variance(numbers: Array) -> Any:
        if not all(numbers.shape[place] for place in axes):
            return np.sum(np.abs(numbers), axes, keepdims=keepdims) * np.nan
        return np.var(numbers, axes, keepdims=keepdims)

    with np.errstate(all="ignore"):
        result = in_float32(lambda numbers: np.sqrt(variance(numbers)) if root else variance(numbers), array)
    return of_array(np.asarray(result, array.real.dtype))


@older_names(reduction_indices="axis", keep_dims="keepdims")
@for_ragged(ragged_operations.reduce_variance)
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> EagerTensor:
    """The variance along dimensions, or of all elements."""
    return _spread(input_tensor, axis, bool(keepdims), False)


@older_names(reduction_indices="axis", keep_dims="keepdims")
@for_ragged(ragged_operations.reduce_std)
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> EagerTensor:
    """The standard deviation along dimensions, or of all elements."""
    return _spread(input_tensor, axis, bool(keepdims), True)


@older_names(reduction_indices="axis", keep_dims="keepdims")
@for_ragged(ragged_operations.logsumexp)
def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> EagerTensor:
    """The logarithm of the sum of exponentials along dimensions, or of all elements."""
    array = to_numpy(input_tensor)
    check_kind("Max", array, "fiu")
    axes = reduced_axes(axis, array.ndim)
    check_kind("Exp", array, "fc")
    with np.errstate(all="ignore"):
        most = np.max(array, axes, keepdims=True, initial=-np.inf)
        most = np.where(np.isfinite(most), most, 0).astype(array.dtype)
        result = np.log(np.sum(np.exp(array - most), axes, keepdims=True)) + most
    result = result if keepdims else result.reshape(np.sum(array, axes).shape)
    return of_array(np.asarray(result).astype(array.dtype))


def count_nonzero(
    input: Any,  # noqa: A002 - TensorFlow's name
    axis: Any = None,
    keepdims: bool = False,
    dtype: Any = int64,
    name: str | None = None,
) -> EagerTensor:
    """The number of elements that are not zero or an empty string."""
    array = to_numpy(input)
    counts = np.sum(array.astype(np.bool_), reduced_axes(axis, array.ndim), keepdims=keepdims)
    return of_array(np.asarray(counts).astype(as_dtype(dtype).as_numpy_dtype))


count_nonzero = older_names(input_tensor="input", reduction_indices="axis", keep_dims="keepdims")(
    count_nonzero
)


def zero_fraction(value: Any, name: str | None = None) -> EagerTensor:
    """The fraction of elements that are zero, as float32."""
    array = to_numpy(value)
    with np.errstate(all="ignore"):
        zeros = array.size - np.count_nonzero(array)
        return of_array(np.float32(zeros) / np.float32(array.size))


# --- Places -----------------------------------------------------------------------------------------


def _index_along(
    op: str, function: Callable[..., Any], array: Array, axis: Any, output_type: Any
) -> EagerTensor:
    """The indices that ``function`` finds along a dimension."""
    check_kind(op, array, "fiubc")
    wanted = as_dtype(output_type)
    if wanted.name not in ("int16", "uint16", "int32", "int64"):
        name = operators.kernel_name(wanted)
        raise invalid(
            f"Value for attr 'output_type' of {name} is not in the list of allowed values: int16, uint16"
        )
    dimension = normalized_axis(0 if axis is None else axis, array.ndim)
    if not array.shape[dimension]:
        raise invalid(f"Reduction axis {dimension} is empty in shape {operators.shape_text(array.shape)}")
    wide = array.astype(np.float32) if array.dtype.kind == "V" else array
    indices = np.asarray(function(wide, dimension))
    return of_array(indices.astype(as_dtype(output_type).as_numpy_dtype))


@older_names(dimension="axis")
def argmax(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The index of the maximum along a dimension; of the first if there are several."""
    return _index_along("ArgMax", np.argmax, to_numpy(input), axis, output_type)


@older_names(dimension="axis")
def argmin(input: Any, axis: Any = None, output_type: Any = int64, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The index of the minimum along a dimension; of the first if there are several."""
    return _index_along("ArgMin", np.argmin, to_numpy(input), axis, output_type)


# --- Segments ---------------------------------------------------------------------------------------


def _ids(op: str, segment_ids: Any) -> Array:
    ids = to_numpy(segment_ids)
    if ids.dtype not in (np.int32, np.int64):
        name = operators.kernel_name(of_numpy(ids.dtype))
        raise invalid(
            f"Value for attr 'Tindices' of {name} is not in the list of allowed values: int32, int64"
        )
    return ids


def _by_segments(
    op: str, combine: Segments, doc: str, kinds: str = "fiuc", ragged: Any = None
) -> Callable[..., Any]:
    def operation(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> EagerTensor:
        array, ids = to_numpy(data), _ids(op, segment_ids)
        check_kind(op, array, kinds)
        if array.shape[: ids.ndim] != ids.shape:
            shapes = " does not start with segment_ids.shape = ".join(
                map(operators.shape_text, (array.shape, ids.shape))
            )
            raise invalid(f"data.shape = {shapes}")
        count = int(convert_to_tensor(num_segments)._array)
        if count < 0:
            raise invalid("Input num_segments == -1 must not be negative.")
        if bool((ids >= count).any()):
            raise invalid(f"segment_ids = {ids.max()} is not in [0, {count})")
        rows = array.reshape(ids.size, *array.shape[ids.ndim :])
        return of_array(combine(rows, ids.reshape(-1), count))

    operation.__doc__ = doc
    return for_ragged(ragged or ragged_operations.segments_of(combine))(operation)


def _divided(power: float, whole: builtins.bool = True) -> Segments:
    def combine(array: Array, ids: Array, count: int) -> Array:
        counts = np.maximum(segments.sizes(ids, count), 1).reshape(-1, *(1,) * (array.ndim - 1)) ** power
        total = segments.total(array, ids, count)
        divided = np.asarray(total / counts)
        if not whole and array.dtype.kind in "iu":
            return divided
        return np.asarray(divided if array.dtype.kind in "fc" else np.trunc(divided)).astype(array.dtype)

    return combine


unsorted_segment_sum = _by_segments(
    "UnsortedSegmentSum", segments.total, "The sum of the rows of each segment."
)
unsorted_segment_prod = _by_segments(
    "UnsortedSegmentProd", segments.product, "The product of the rows of each segment."
)
unsorted_segment_max = _by_segments(
    "UnsortedSegmentMax", segments.maximum, "The maximum of the rows of each segment.", "fiu"
)
unsorted_segment_min = _by_segments(
    "UnsortedSegmentMin", segments.minimum, "The minimum of the rows of each segment.", "fiu"
)
unsorted_segment_mean = _by_segments(
    "UnsortedSegmentMean",
    _divided(1.0, whole=False),
    "The mean of the rows of each segment; of integers a float.",
    ragged=ragged_operations.segment_means(1),
)
unsorted_segment_sqrt_n = _by_segments(
    "UnsortedSegmentSqrtN",
    _divided(0.5),
    "The sum of the rows of each segment, divided by the root of their number.",
    ragged=ragged_operations.segment_means(0.5),
)


def _by_sorted_segments(op: str, combine: Segments, doc: str, kinds: str = "fiuc") -> Callable[..., Any]:
    def operation(data: Any, segment_ids: Any, name: str | None = None) -> EagerTensor:
        array, ids = to_numpy(data), _ids(op, segment_ids)
        check_kind(op, array, kinds)
        if ids.ndim != 1:
            raise invalid("segment_ids should be a vector.")
        if len(ids) != (len(array) if array.ndim else -1):
            raise invalid("segment_ids should be the same size as dimension 0 of input.")
        if bool((ids[1:] < ids[:-1]).any()):
            raise invalid("segment ids are not increasing")
        if len(ids) and ids[0] < 0:
            raise invalid("segment ids must be >= 0")
        count = int(ids[-1]) + 1 if len(ids) else 0
        result = combine(array, ids, count)
        if op != "SegmentProd":
            result[segments.sizes(ids, count) == 0] = 0  # a segment without rows
        return of_array(result)

    operation.__doc__ = doc
    return operation


segment_sum = _by_sorted_segments(
    "SegmentSum", segments.total, "The sum of the rows of each segment; ids rise."
)
segment_prod = _by_sorted_segments(
    "SegmentProd", segments.product, "The product of the rows of each segment; ids rise."
)
segment_max = _by_sorted_segments(
    "SegmentMax", segments.maximum, "The maximum of the rows of each segment; ids rise.", "fiu"
)
segment_min = _by_sorted_segments(
    "SegmentMin", segments.minimum, "The minimum of the rows of each segment; ids rise.", "fiu"
)
segment_mean = _by_sorted_segments(
    "SegmentMean", _divided(1.0), "The mean of the rows of each segment; ids rise."
)
