"""Functions along one dimension: ``tf.cumsum``, ``tf.math.softmax``, ``tf.math.top_k`` and so on.

This module does not know reductions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..dtypes import as_dtype, int32, of_numpy
from ..errors import AbortedError, invalid
from . import ragged_operations
from .convert import Array
from .dispatch import for_ragged
from .operators import check_kind, in_float32, kernel_name, normalized_axis, shape_text
from .ragged_tensor import RaggedTensor
from .reductions import reduced_axes
from .sparse_tensor import SparseTensor
from .tensor import EagerTensor, axis_number, convert_to_tensor, of_array, to_numpy


def _cumulative(op: str, step: Callable[..., Any], begin: int, doc: str) -> Callable[..., Any]:
    def operation(
        x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
    ) -> EagerTensor:
        array = to_numpy(x)
        check_kind(op, array, "fiuc")
        place = _scan_axis(axis, array.ndim)
        turned = np.flip(array, place) if reverse else array
        if exclusive and array.size:
            first = np.full_like(np.take(turned, [0], place), begin)
            kept = np.take(turned, range(turned.shape[place] - 1), place)
            turned = np.concatenate([first, kept], place)
        with np.errstate(all="ignore"):
            result = step(turned, place, dtype=array.dtype)
        return of_array(np.flip(result, place) if reverse else result)

    operation.__doc__ = doc
    return operation


def _scan_axis(axis: Any, ndim: int) -> int:
    place = axis_number(axis)
    if not -ndim <= place < ndim:
        raise invalid(f"ScanOp: Expected scan axis in the range [{-ndim}, {ndim}), but got {place}")
    return place % ndim


cumsum = for_ragged(ragged_operations.cumsum)(
    _cumulative(
        "Cumsum",
        np.cumsum,
        0,
        "The cumulative sum along a dimension; ``exclusive`` leaves out the element itself.",
    )
)
cumprod = _cumulative(
    "Cumprod",
    np.cumprod,
    1,
    "The cumulative product along a dimension; ``exclusive`` leaves out the element itself.",
)


def cumulative_logsumexp(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None
) -> EagerTensor:
    """The logarithm of the cumulative sum of exponentials along a dimension."""
    array = to_numpy(x)
    check_kind("CumulativeLogsumexp", array, "f")
    place = _scan_axis(axis, array.ndim)
    turned = np.flip(array, place) if reverse else array
    result = np.logaddexp.accumulate(turned, place)
    if exclusive and array.size:
        first = np.full_like(np.take(result, [0], place), -np.inf)
        result = np.concatenate([first, np.take(result, range(result.shape[place] - 1), place)], place)
    return of_array(np.flip(result, place) if reverse else result)


# --- Softmax and norms ------------------------------------------------------------------------------


def _softmax(array: Array, place: int) -> Array:
    most = np.max(array, place, keepdims=True, initial=-np.inf)
    raised = np.exp(array - most)
    return np.asarray(raised / np.sum(raised, place, keepdims=True))


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """The exponentials divided by their sum along a dimension."""
    if isinstance(logits, RaggedTensor):
        return logits.with_flat_values(_ragged_softmax(logits, axis))
    return _along("Softmax", _softmax, logits, axis)


def _ragged_softmax(logits: RaggedTensor, axis: Any) -> Array:
    if len(logits.shape) > logits.ragged_rank + 1 and axis in (None, -1, len(logits.shape) - 1):
        return _along("Softmax", _softmax, logits.flat_values, -1)._array
    if axis not in (None, -1, logits.ragged_rank) or len(logits.shape) != logits.ragged_rank + 1:
        raise NotImplementedError("softmax of a ragged tensor is here along its last dimension only")
    splits = logits._ragged.nested_row_splits[-1].tolist()
    flat = logits._ragged.flat_values
    rows = [_softmax(flat[a:b], 0) for a, b in itertools.pairwise(splits)]
    return np.concatenate(rows) if rows else flat


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """The logarithm of the softmax along a dimension."""

    def function(array: Array, place: int) -> Array:
        shifted = array - np.max(array, place, keepdims=True, initial=-np.inf)
        return np.asarray(shifted - np.log(np.sum(np.exp(shifted), place, keepdims=True)))

    return _along("LogSoftmax", function, logits, axis)


def _along(op: str, function: Callable[[Array, int], Array], logits: Any, axis: Any) -> EagerTensor:
    array = to_numpy(logits)
    check_kind(op, array, "f")
    if not array.ndim:
        raise AbortedError(None, None, f"Input dims must be >= 1, got {shape_text(array.shape)}")
    place = normalized_axis(-1 if axis is None else axis, array.ndim)
    with np.errstate(all="ignore"):
        return of_array(in_float32(function, array, place).astype(array.dtype, copy=False))


def l2_normalize(
    x: Any, axis: Any = None, epsilon: Any = 1e-12, name: str | None = None, dim: Any = None
) -> EagerTensor:
    """The tensor divided by its Euclidean norm along dimensions."""
    axis = dim if axis is None else axis
    array = to_numpy(x)
    check_kind("Rsqrt", array, "fc")
    places = reduced_axes(axis, array.ndim)
    squares = np.sum(np.abs(array) ** 2, places, keepdims=True)
    root = np.sqrt(np.maximum(squares, array.real.dtype.type(epsilon)))
    return of_array(np.asarray(array / root).astype(array.dtype))


# --- Order and counts -------------------------------------------------------------------------------


class TopKV2(NamedTuple):
    """The greatest elements and their indices."""

    values: EagerTensor
    indices: EagerTensor


def top_k(
    input: Any,  # noqa: A002 - TensorFlow's name
    k: Any = 1,
    sorted: bool = True,  # noqa: A002 - TensorFlow's name
    index_type: Any = int32,
    name: str | None = None,
) -> TopKV2:
    """The ``k`` greatest elements along the last dimension, and their indices."""
    array, count = to_numpy(input), to_numpy(k)
    check_kind("TopKV2", array, "fiu")
    if count.ndim:
        raise invalid(f"k must be scalar, got shape {shape_text(count.shape)}")
    if count.dtype.kind not in "iu":
        raise invalid("Value for attr 'Tk' is not in the list of allowed values: int16, int32, int64")
    if int(count) < 0:
        raise invalid(f"Need k >= 0, got {int(count)}")
    if not array.ndim:
        raise invalid("input must be >= 1-D, got shape []")
    if array.shape[-1] < int(count):
        raise invalid(f"input must have at least k columns. Had {array.shape[-1]}, needed {int(count)}")
    size = array.shape[-1]
    # From the end, so that of equal elements the first comes first.
    order = (size - 1 - np.argsort(array[..., ::-1], -1, kind="stable"))[..., ::-1][..., : int(count)]
    values = np.take_along_axis(array, order, -1)
    return TopKV2(of_array(values), of_array(order.astype(as_dtype(index_type).as_numpy_dtype)))


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> EagerTensor:
    """For each row whether the prediction of the target is among the ``k`` greatest."""
    rows, wanted, count = to_numpy(predictions), to_numpy(targets), int(to_numpy(k))
    if rows.dtype != np.float32 or wanted.dtype not in (np.int32, np.int64):
        raise invalid("predictions must be float32, and targets int32 or int64")
    if rows.ndim != 2:
        raise invalid("predictions must be 2-dimensional")
    if wanted.ndim != 1:
        raise invalid("targets must be 1-dimensional")
    if len(rows) != len(wanted):
        raise invalid(
            f"First dimension of predictions {len(rows)} must match length of targets {len(wanted)}"
        )
    inside = (wanted >= 0) & (wanted < rows.shape[1])
    chosen = rows[np.arange(len(rows)), np.where(inside, wanted, 0)]
    greater = (rows > chosen[:, None]).sum(1)
    finite = np.isfinite(chosen) & ~np.isnan(rows).any(1)
    return of_array(inside & finite & (greater < count))


def bincount(  # noqa: PLR0917 - TensorFlow's signature
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> EagerTensor:
    """How often each number occurs, or the sum of its weights."""
    if isinstance(arr, SparseTensor):
        arr = arr.values
    numbers = arr._ragged.flat_values if isinstance(arr, RaggedTensor) else to_numpy(arr)
    if numbers.dtype.kind in "fb":
        numbers = numbers.astype(np.int32)
    if numbers.dtype not in (np.int32, np.int64):
        raise invalid(
            f"Value for attr 'Tidx' of {kernel_name(of_numpy(numbers.dtype))} is not in "
            "the list of allowed values"
        )
    if axis == -1 and numbers.ndim == 2:
        return _bincount_of_rows(numbers, weights, minlength, maxlength, dtype, binary_output)
    if axis not in (None, 0):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    size = _bins(numbers, minlength, maxlength)
    flat = numbers.reshape(-1)
    if flat.size and int(flat.min()) < 0:
        raise invalid("Input arr must be non-negative!")
    kept = flat < size
    if weights is not None:
        heavy = to_numpy(weights).reshape(-1)
        if len(heavy) != len(flat):
            raise invalid("weights must be the same shape as arr or a length-0 `Tensor`")
        total = np.zeros(size, heavy.dtype)
        np.add.at(total, flat[kept], heavy[kept])
        return of_array(total)
    counts = np.bincount(flat[kept], minlength=size)
    if binary_output:
        counts = np.minimum(counts, 1)
    return of_array(counts.astype(as_dtype(dtype).as_numpy_dtype))


def _bins(numbers: Array, minlength: Any, maxlength: Any) -> int:
    size = int(numbers.max()) + 1 if numbers.size else 0
    if minlength is not None:
        size = max(size, int(to_numpy(minlength)))
    return size if maxlength is None else min(size, int(to_numpy(maxlength)))


def _bincount_of_rows(  # noqa: PLR0917
    numbers: Array, weights: Any, minlength: Any, maxlength: Any, dtype: Any, binary: bool
) -> EagerTensor:
    size = _bins(numbers, minlength, maxlength)
    heavy = [None] * len(numbers) if weights is None else list(to_numpy(weights))
    rows = [
        bincount(row, weight, size, size, dtype, binary_output=binary)._array
        for row, weight in zip(numbers, heavy, strict=True)
    ]
    return of_array(np.stack(rows) if rows else np.zeros((0, size), as_dtype(dtype).as_numpy_dtype))


def invert_permutation(x: Any, name: str | None = None) -> EagerTensor:
    """The permutation that takes ``x`` back."""
    array = to_numpy(x)
    if array.dtype not in (np.int32, np.int64):
        raise invalid("Value for attr 'T' is not in the list of allowed values: int32, int64")
    if array.ndim != 1:
        raise invalid("invert_permutation expects a 1D vector.")
    if not np.array_equal(np.sort(array), np.arange(len(array))):
        raise invalid(f"{array.tolist()} is not a permutation of 0 to {len(array) - 1}")
    return of_array(np.argsort(array).astype(array.dtype))


def _rises(x: Any, strictly: bool) -> EagerTensor:
    flat = to_numpy(x).reshape(-1)
    steps = flat[1:] > flat[:-1] if strictly else flat[1:] >= flat[:-1]
    return of_array(np.asarray(steps.all()))


def is_non_decreasing(x: Any, name: str | None = None) -> EagerTensor:
    """Whether no element is less than the one before it."""
    return _rises(x, False)


def is_strictly_increasing(x: Any, name: str | None = None) -> EagerTensor:
    """Whether each element is greater than the one before it."""
    return _rises(x, True)


def polyval(coeffs: Any, x: Any, name: str | None = None) -> EagerTensor:
    """The polynomial with these coefficients, of the highest power first, at ``x``."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    at = convert_to_tensor(x)
    if not coeffs:
        return of_array(np.zeros_like(at._array))
    total = convert_to_tensor(coeffs[0])
    for coefficient in coeffs[1:]:
        total = convert_to_tensor(coefficient) + total * at
    return total
