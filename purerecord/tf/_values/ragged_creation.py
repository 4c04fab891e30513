"""New ragged tensors: ``tf.ragged.constant``, ``range``, ``cross`` and conversions of segment ids.

This module does not know how ragged tensors are combined.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..dtypes import as_dtype, int32, int64
from ..errors import invalid
from .convert import strings
from .ragged_rows import row_of_each
from .ragged_tensor import RaggedTensor, as_rows
from .row_partition import as_partition, splits_of_lengths
from .sparse_tensor import SparseTensor
from .tensor import EagerTensor, Tensor, constant, convert_to_tensor, of_array


def ragged_constant(  # noqa: PLR0917 - TensorFlow's signature
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:
    """A ragged tensor of nested lists; ``ragged_rank`` limits its ragged dimensions."""
    if isinstance(pylist, RaggedTensor):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    inner = None if inner_shape is None else tuple(inner_shape)
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner)}")
        return constant(pylist, dtype, ())
    _check_depths(pylist, ragged_rank, inner)
    leaf, deepest = _depths(pylist)
    if ragged_rank == 0 or (ragged_rank is None and deepest - len(inner or ()) < 2):
        return constant(pylist, dtype, inner_shape)
    rank = ragged_rank
    if rank is None:
        rank = builtins.max(1, (deepest if leaf is None else leaf) - 1 - len(inner or ()))
    levels, rows = [], [*pylist]
    for level in builtins.range(rank):
        if not all(map(_is_list, rows)):
            raise ValueError(
                f"pylist has scalar values depth {level + 1}, but ragged_rank={rank} requires scalar value "
                f"depth greater than {rank}"
            )
        levels.append(np.array([len(row) for row in rows], as_dtype(row_splits_dtype).as_numpy_dtype))
        rows = [element for row in rows for element in row]
    if inner is None:
        inner = _inner_shape(rows) if ragged_rank is not None else ()
    values: Any = constant(rows, dtype, (len(rows), *inner))
    for lengths in reversed(levels):
        values = RaggedTensor._of(values, splits_of_lengths(lengths))
    return values


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or np.ndim(value) != 0


def _depths(value: Any) -> tuple[int | None, int]:
    """How deep the scalars lie, None if there are none, and how deep the deepest list."""
    if not _is_list(value):
        return 0, 0
    leaf, deepest = None, 1
    for child in value:
        inner_leaf, inner_deepest = _depths(child)
        if inner_leaf is not None:
            if leaf not in (None, inner_leaf + 1):
                raise ValueError("all scalar values must have the same nesting depth")
            leaf = inner_leaf + 1
        deepest = builtins.max(deepest, inner_deepest + 1)
    return leaf, deepest


def _check_depths(pylist: Any, ragged_rank: int | None, inner: tuple[int, ...] | None) -> None:
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    leaf, deepest = _depths(pylist)
    if leaf is not None:
        if deepest > leaf:
            raise ValueError(
                f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
            )
        if ragged_rank is not None and deepest < ragged_rank:
            raise ValueError(f"Invalid pylist={pylist}, max depth smaller than ragged_rank={ragged_rank}")
    if inner is not None and ragged_rank is not None:
        expected = ragged_rank + len(inner) + 1
        if (leaf is not None and expected != leaf) or (leaf is None and expected < deepest):
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner)}"
            )


def _inner_shape(rows: list[Any]) -> tuple[int, ...]:
    """The shape that all rows have."""

    def of(item: Any) -> tuple[int, ...]:
        if not _is_list(item):
            return ()
        return (len(item), *of(item[0])) if len(item) else (0,)

    def check(item: Any, shape: tuple[int, ...]) -> None:
        if _is_list(item) != bool(shape) or (shape and len(item) != shape[0]):
            raise ValueError("inner values have inconsistent shape")
        for child in item if shape else ():
            check(child, shape[1:])

    shape = of(rows)
    check(rows, shape)
    return shape[1:]


def ragged_range(  # noqa: PLR0917 - TensorFlow's signature
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> RaggedTensor:
    """For each row the numbers from a start up to a limit in steps of a delta."""
    if limits is None:
        starts, limits = 0, starts
    wanted = None if dtype is None else as_dtype(dtype)
    ends = [convert_to_tensor(end, wanted)._array for end in (starts, limits, deltas)]
    order = ("int32", "int64", "float32", "float64")
    kind = np.dtype(builtins.max((end.dtype.name for end in ends), key=order.index))
    for name_, end in zip(("starts", "limits", "deltas"), ends, strict=True):
        if end.ndim > 1:
            raise invalid(f"{name_} must be a scalar or vector")
    sizes = {len(end) for end in ends if end.ndim}
    if len(sizes) > 1:
        raise invalid("starts, limits, and deltas must have the same shape")
    firsts, lasts, steps = (np.broadcast_to(end, next(iter(sizes), 1)).tolist() for end in ends)
    rows = []
    for first, last, step in zip(firsts, lasts, steps, strict=True):
        if step == 0:
            raise invalid("Requires delta != 0")
        count = builtins.max(0, int(np.ceil((last - first) / step)))
        rows.append((np.arange(count) * kind.type(step) + kind.type(first)).astype(kind))
    lengths = np.array([len(row) for row in rows], as_dtype(row_splits_dtype).as_numpy_dtype)
    values = np.concatenate(rows) if rows else np.zeros(0, kind)
    return RaggedTensor._of(of_array(values), splits_of_lengths(lengths))


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> EagerTensor:
    """The row of each value."""
    array = as_partition(splits, "splits")
    if not len(array):
        raise ValueError("Invalid row_splits: []")
    dtype = array.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype
    return of_array(row_of_each(array).astype(dtype))


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> EagerTensor:
    """The row splits of values that belong to the rows ``segment_ids``, which rise."""
    if out_type is None:
        given = next((part for part in (segment_ids, num_segments) if isinstance(part, Tensor)), None)
        out_type = int64 if given is None else given.dtype  # type: ignore[attr-defined]
    ids = convert_to_tensor(segment_ids, dtype_hint=int32)._array
    if ids.dtype.kind not in "iu":
        raise TypeError(f"segment_ids must be integers, not {ids.dtype}")
    if ids.ndim != 1:
        raise ValueError(f"Shape {ids.shape} must have rank 1")
    count = 0 if num_segments is None else int(convert_to_tensor(num_segments)._array)
    sizes = np.bincount(ids, minlength=count)
    sizes = sizes if num_segments is None else sizes[:count]
    return of_array(splits_of_lengths(sizes.astype(as_dtype(out_type).as_numpy_dtype)))


def cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """All combinations of one value of each input, row by row, joined by ``_X_``."""
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")
    if not inputs:
        raise ValueError("At least one input is required")
    columns = [_rows_of_text(part) for part in inputs]
    if len({len(column) for column in columns}) > 1:
        raise invalid("inputs must have the same number of rows")
    rows = []
    for parts in zip(*columns, strict=True):
        combined = [b""]
        for place, part in enumerate(parts):
            combined = [head + (b"_X_" if place else b"") + text for head in combined for text in part]
        rows.append(combined)
    texts = [text for row in rows for text in row]
    lengths = np.array([len(row) for row in rows], np.int64)
    return RaggedTensor._of(of_array(strings(texts, (len(texts),))), splits_of_lengths(lengths))


def _rows_of_text(value: Any) -> list[list[bytes]]:
    if isinstance(value, SparseTensor):
        nested = value._sparse.to_list()
    else:
        rows = as_rows(value)
        if not isinstance(value, RaggedTensor) and getattr(rows, "ndim", 2) != 2:
            raise ValueError("tf.ragged.cross only supports inputs with rank=2.")
        nested = rows.to_list() if isinstance(value, RaggedTensor) else rows.tolist()  # type: ignore[union-attr]
    return [[part if isinstance(part, bytes) else str(part).encode() for part in row] for row in nested]
