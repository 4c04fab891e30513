"""``tf.sparse``: conversions of sparse tensors to dense ones and back.

This module does not know Examples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..payload.values import filled
from ._missing import missing
from ._values.operators import shape_text
from ._values.ragged_sparse import SparseTensor
from ._values.tensor import EagerTensor, convert_to_tensor, of_array, to_numpy
from .errors import invalid

__all__ = ["SparseTensor", "from_dense", "reorder", "reshape", "to_dense"]


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> EagerTensor:
    """A dense tensor, with ``default_value`` (0 or an empty string) where no value is stored."""
    if not isinstance(sp_input, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    sparse = sp_input._sparse
    _check(sparse.indices, sparse.dense_shape, validate_indices)
    fill = None if default_value is None else convert_to_tensor(default_value, sp_input.dtype)._array[()]
    dense = filled(sparse.dense_shape, sparse.dtype, fill)
    dense[tuple(sparse.indices.T)] = sparse.values
    return of_array(dense)


def _check(indices: Any, shape: tuple[int, ...], check_order: bool) -> None:
    """Raise an error unless the indices are in bounds and, if ``check_order``, sorted and distinct."""
    outside = ((indices < 0) | (indices >= shape)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        place = shape_text(tuple(indices[row].tolist()))
        raise invalid(f"indices[{row}] = {place} is out of bounds: need 0 <= index < {shape_text(shape)}")
    if not check_order or len(indices) < 2:
        return
    flat = np.ravel_multi_index(tuple(indices.T), shape)
    wrong = flat[1:] <= flat[:-1]
    if wrong.any():
        row = int(wrong.argmax()) + 1
        place = shape_text(tuple(indices[row].tolist()))
        if flat[row] == flat[row - 1]:
            raise invalid(f"indices[{row}] = {place} is repeated")
        raise invalid(
            f"indices[{row}] = {place} is out of order. Many sparse ops require sorted indices.\n"
            "    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
        )


def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """A sparse tensor of the elements that are not zero or an empty string."""
    array = to_numpy(tensor)
    if not array.ndim:
        raise invalid("WhereOp : Unhandled input dimensions: 0")
    nonzero = array.astype(np.bool_)
    return SparseTensor(
        np.argwhere(nonzero).astype(np.int64), array[nonzero], np.array(array.shape, np.int64)
    )


def reorder(sp_input: SparseTensor, name: str | None = None) -> SparseTensor:
    """The sparse tensor with its entries sorted by index."""
    sparse = sp_input._sparse
    order = np.lexsort(sparse.indices.T[::-1])
    shape = np.array(sparse.dense_shape, np.int64)
    return SparseTensor(sparse.indices[order], sparse.values[order], shape)


def reshape(sp_input: SparseTensor, shape: Any, name: str | None = None) -> SparseTensor:
    """The sparse tensor in another shape."""
    sparse = sp_input._sparse
    target = np.empty(sparse.dense_shape, np.bool_).reshape(to_numpy(shape).tolist()).shape
    flat = np.ravel_multi_index(tuple(sparse.indices.T), sparse.dense_shape)
    indices = np.stack(np.unravel_index(flat, target), axis=-1)
    return SparseTensor(indices.astype(np.int64), sparse.values, np.array(target, np.int64))


__getattr__ = missing("sparse")
