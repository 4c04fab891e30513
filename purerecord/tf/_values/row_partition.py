"""How values are divided into rows: row splits from lengths, starts, limits or the row of each value.

What TensorFlow refuses raises its error. This module does not know ragged tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import int64
from ..errors import invalid
from .convert import Array
from .tensor import EagerTensor, convert_to_tensor


def as_partition(value: Any, name: str, hint: Any = None, rank: int = 1) -> Array:
    """A row partition as an array of int32 or int64. Arrays and tensors keep theirs; lists take ``hint``."""
    if isinstance(value, EagerTensor) or (isinstance(value, np.ndarray) and value.dtype == np.int32):
        array = convert_to_tensor(value)._array
    else:
        array = convert_to_tensor(value, dtype_hint=hint or int64)._array
    if array.dtype not in (np.int32, np.int64):
        raise ValueError(f"Argument `{name}` must have dtype int32 or int64. Received {array.dtype}.")
    if array.ndim != rank:
        raise ValueError(f"Shape {array.shape} must have rank {rank}")
    return array


def splits_of_lengths(lengths: Array) -> Array:
    """The row splits of rows of these lengths."""
    splits = np.zeros(len(lengths) + 1, lengths.dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def check_splits(splits: Array) -> Array:
    """The splits, if they begin at 0 and never fall."""
    if not len(splits):
        raise ValueError("row_splits tensor may not be empty.")
    if splits[0] != 0:
        raise refused("from_row_splits", f"row_splits must begin with 0, not {splits[0]}")
    if bool((splits[1:] < splits[:-1]).any()):
        raise refused("from_row_splits", "row_splits must not fall")
    return splits


def of_lengths(lengths: Array) -> Array:
    """The splits of rows of these lengths, none of which may be negative."""
    if bool((lengths < 0).any()):
        raise refused("from_row_lengths", "a row length is negative")
    return splits_of_lengths(lengths)


def of_starts(starts: Array, count: int) -> Array:
    """The splits of ``count`` values in rows that begin at ``starts``."""
    splits = np.append(starts, starts.dtype.type(count)).astype(starts.dtype)
    if splits[0] != 0 or bool((splits[1:] < splits[:-1]).any()):
        raise refused("from_row_starts", "row_starts must rise from 0 and not exceed the number of values")
    return splits


def of_limits(limits: Array) -> Array:
    """The splits of rows that end at ``limits``."""
    splits = np.concatenate([np.zeros(1, limits.dtype), limits])
    if bool((splits[1:] < splits[:-1]).any()):
        raise refused("from_row_limits", "row_limits must rise from 0")
    return splits


def of_rowids(ids: Array, nrows: Any) -> Array:
    """The splits of values that belong to the rows ``ids``."""
    if nrows is None:
        count = int(ids[-1]) + 1 if len(ids) else 0
    else:
        given = convert_to_tensor(nrows, dtype_hint=ids.dtype)._array
        if given.ndim:
            raise ValueError(f"Shape {given.shape} must have rank 0")
        count = int(given)
        if count < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")
        if len(ids) and int(ids[-1]) >= count:
            raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, {ids[-1]}")
    if len(ids) and (ids[0] < 0 or bool((ids[1:] < ids[:-1]).any())):
        raise refused("from_value_rowids", "value_rowids must rise from 0")
    return splits_of_lengths(np.bincount(ids, minlength=count).astype(ids.dtype))


def of_uniform_length(length: Array, nrows: Any, count: int) -> Array:
    """The splits of ``count`` values in rows of one length."""
    size = int(length)
    if size < 0:
        raise ValueError("uniform_row_length must be >= 0.")
    if nrows is None:
        rows = count // size if size else 0
    else:
        rows = int(as_partition(nrows, "nrows", length.dtype, 0))
        if rows < 0:
            raise ValueError(f"nrows must not be negative: {rows}")
    if rows * size != count:
        raise ValueError(f"uniform_row_length={size} times nrows={rows} must equal nvals={count}")
    return (np.arange(rows + 1) * size).astype(length.dtype)


def refused(what: str, why: str) -> Exception:
    """TensorFlow's error for a partition that is none."""
    return invalid(f"Arguments to {what} do not form a valid RaggedTensor: {why}")
