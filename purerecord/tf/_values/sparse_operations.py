"""Sparse tensors in other shapes: concatenated, cut, transposed, reshaped, with other entries.

The values stay as they are. This module does not know arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...payload.sparse import Sparse
from ..dtypes import as_dtype, float32, of_numpy
from ..errors import invalid
from .convert import Array
from .dispatch import older_names
from .operators import shape_text
from .sparse_tensor import SparseTensor
from .tensor import EagerTensor, convert_to_tensor, of_array, shape_tuple, to_numpy


def as_sparse(value: Any) -> Sparse:
    """The core's ``Sparse`` of a sparse tensor. Any other value is a ``TypeError``."""
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor. Received: {type(value).__name__}")
    return value._sparse


def made(indices: Array, values: Array, shape: Any) -> SparseTensor:
    """A sparse tensor of arrays."""
    return SparseTensor.of(Sparse(indices.astype(np.int64), values, tuple(int(length) for length in shape)))


def in_order(sparse: Sparse) -> Array:
    """The numbers of the entries in the order of their indices."""
    order: Array = np.lexsort(sparse.indices.T[::-1])
    return order


def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The sparse tensor with its entries sorted by index."""
    sparse = as_sparse(sp_input)
    order = in_order(sparse)
    return made(sparse.indices[order], sparse.values[order], sparse.dense_shape)


def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The sparse tensor in another shape."""
    sparse = as_sparse(sp_input)
    target = list(shape_tuple(shape))
    size = int(np.prod(sparse.dense_shape, dtype=np.int64))
    known = int(np.prod([length for length in target if length != -1], dtype=np.int64))
    if target.count(-1) > 1:
        raise invalid("only one output dimension may be -1")
    if any(length < -1 for length in target):
        raise invalid(f"size {min(target)} must be non-negative")
    if -1 in target:
        if not known or size % known:
            raise invalid(
                f"Input to reshape is a SparseTensor with {size} dense values, but the "
                "requested shape requires a "
                f"multiple of {known}"
            )
        target[target.index(-1)] = size // known
    elif known != size:
        raise invalid(
            f"Input to reshape is a tensor with {size} dense values, but the requested shape has {known}"
        )
    flat = (
        np.ravel_multi_index(tuple(sparse.indices.T), sparse.dense_shape)
        if len(sparse.indices)
        else np.zeros(0, int)
    )
    indices = (
        np.stack(np.unravel_index(flat, tuple(target)), axis=-1) if size else np.zeros((0, len(target)), int)
    )
    return made(indices, sparse.values, target)


def _axis(axis: Any, ndim: int) -> int:
    place = int(to_numpy(axis))
    if not -ndim <= place < ndim:
        raise invalid(f"Concat dimension must be in range [{-ndim}, {ndim}), got {place}")
    return place % ndim


@older_names(expand_nonconcat_dim="expand_nonconcat_dims", concat_dim="axis")
def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Sparse tensors concatenated along a dimension."""
    parts = [as_sparse(part) for part in sp_inputs]
    if not parts:
        raise ValueError("sp_inputs may not be empty")
    if len(parts) == 1:
        return SparseTensor.of(parts[0])
    ndim = len(parts[0].dense_shape)
    place = _axis(axis, ndim)
    shape = list(parts[0].dense_shape)
    for number, part in enumerate(parts):
        if len(part.dense_shape) != ndim:
            raise invalid(
                f"Ranks of all input tensors must match: expected {ndim} but got "
                f"{len(part.dense_shape)} at position {number}"
            )
        if part.dtype != parts[0].dtype:
            raise invalid(f"cannot compute SparseConcat: dtypes {parts[0].dtype} and {part.dtype} differ")
        for dimension, length in enumerate(part.dense_shape):
            if dimension == place or length == shape[dimension]:
                continue
            if not expand_nonconcat_dims:
                raise invalid(
                    f"Input shapes must match: expected {shape[dimension]} for "
                    f"dimension {dimension} but got {length} at position {number}"
                )
            shape[dimension] = max(shape[dimension], length)
    offset, indices = 0, []
    for part in parts:
        moved = part.indices.copy()
        moved[:, place] += offset
        indices.append(moved)
        offset += part.dense_shape[place]
    shape[place] = offset
    whole = Sparse(np.concatenate(indices), np.concatenate([part.values for part in parts]), tuple(shape))
    return reorder(SparseTensor.of(whole))


def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """Equal parts along a dimension; the first ones are longer if they cannot be equal."""
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("sp_input, num_split and axis are required")
    sparse = as_sparse(sp_input)
    place = _axis(axis, len(sparse.dense_shape))
    count, length = int(num_split), sparse.dense_shape[place]
    if count < 1:
        raise invalid(f"Value for attr 'num_split' of {count} must be at least minimum 1")
    if count > length:
        raise invalid(
            "Input num_split should be less than or equal to the split dimension size, "
            f"got {count} > {length}"
        )
    sizes = [length // count + (number < length % count) for number in range(count)]
    parts, begin = [], 0
    for size in sizes:
        start = [0] * len(sparse.dense_shape)
        lengths = list(sparse.dense_shape)
        start[place], lengths[place] = begin, size
        parts.append(slice(sp_input, start, lengths))
        begin += size
    return parts


def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:  # noqa: A001
    """The entries from ``start`` on, ``size`` in each dimension."""
    sparse = as_sparse(sp_input)
    begin, lengths = (np.array(shape_tuple(part), np.int64) for part in (start, size))
    if len(begin) != len(sparse.dense_shape) or len(lengths) != len(begin):
        raise invalid(f"Expected start and size to be vectors of length {len(sparse.dense_shape)}")
    end = begin + lengths
    kept = ((sparse.indices >= begin) & (sparse.indices < end)).all(axis=1)
    shape = np.maximum(np.minimum(sparse.dense_shape, end) - begin, 0)
    return made(sparse.indices[kept] - begin, sparse.values[kept], shape)


def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """The sparse tensor with its dimensions permuted, by default reversed."""
    sparse = as_sparse(sp_input)
    ndim = len(sparse.dense_shape)
    order = list(range(ndim))[::-1] if perm is None else list(shape_tuple(perm))
    if sorted(place % ndim for place in order) != list(range(ndim)):
        raise invalid(f"{order} is not a permutation of {ndim} dimensions")
    shape = [sparse.dense_shape[place] for place in order]
    return reorder(SparseTensor.of(Sparse(sparse.indices[:, order], sparse.values, tuple(shape))))


def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A new dimension of length 1 at ``axis``, by default the last one."""
    sparse = as_sparse(sp_input)
    ndim = len(sparse.dense_shape)
    place = -1 if axis is None else int(to_numpy(axis))
    if not -ndim - 1 <= place <= ndim:
        raise invalid(f"axis {place} is out of range for a sparse tensor of rank {ndim}")
    place = place + ndim + 1 if place < 0 else place
    indices = np.insert(sparse.indices, place, 0, axis=1)
    shape = list(sparse.dense_shape)
    shape.insert(place, 1)
    return made(indices, sparse.values, shape)


def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: str | None = None
) -> SparseTensor:
    """A sparse identity matrix."""
    rows = int(to_numpy(num_rows))
    columns = rows if num_columns is None else int(to_numpy(num_columns))
    size = min(rows, columns)
    places = np.repeat(np.arange(size)[:, None], 2, axis=1)
    return made(places, np.ones(size, as_dtype(dtype).as_numpy_dtype), (rows, columns))


def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The entries for which ``to_retain`` is true."""
    sparse = as_sparse(sp_input)
    kept = to_numpy(to_retain)
    if kept.dtype != np.bool_:
        kept = convert_to_tensor(to_retain, "bool")._array
    if kept.ndim != 1:
        raise ValueError(f"Shape {kept.shape} must have rank 1")
    if len(kept) != len(sparse.values):
        raise ValueError(f"Dimensions {len(sparse.values)} and {len(kept)} are not compatible")
    return made(sparse.indices[kept], sparse.values[kept], sparse.dense_shape)


def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same entries in a larger shape, by default in the smallest that holds them."""
    sparse = as_sparse(sp_input)
    if new_shape is None:
        shape = sparse.indices.max(axis=0, initial=-1) + 1
        return made(sparse.indices, sparse.values, shape)
    wanted = np.array(shape_tuple(new_shape), np.int64)
    if len(wanted) != len(sparse.dense_shape):
        raise ValueError(f"Shapes {sparse.dense_shape} and {tuple(wanted)} must have one rank")
    if bool((wanted < sparse.dense_shape).any()):
        raise ValueError(f"New dimension {tuple(wanted.tolist())} is smaller than {sparse.dense_shape}")
    return made(sparse.indices, sparse.values, wanted)


def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, EagerTensor]:
    """The sparse tensor with ``default_value`` in each row without entries, and which rows these are."""
    sparse = as_sparse(sp_input)
    fill = convert_to_tensor(default_value, of_numpy(sparse.dtype))._array
    if fill.ndim:
        raise invalid(f"default_value must be a scalar, saw shape: {shape_text(fill.shape)}")
    rows = sparse.dense_shape[0]
    first = sparse.indices[:, 0]
    outside = (first < 0) | (first >= rows)
    if outside.any():
        place = int(outside.argmax())
        raise invalid(f"indices({place}, 0) is invalid: {first[place]} >= {rows}")
    empty = np.bincount(first, minlength=rows) == 0
    added = np.zeros((int(empty.sum()), sparse.indices.shape[1]), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    new = np.empty(len(added), sparse.dtype)
    new[:] = fill[()]
    indices = np.concatenate([sparse.indices, added])
    order = np.argsort(indices[:, 0], kind="stable")
    values = np.concatenate([sparse.values, new])
    return made(indices[order], values[order], sparse.dense_shape), of_array(empty)
