"""Sparse tensors and numbers: to dense ones and back, sums, products and reductions.

This module does not know how sparse tensors are cut and joined.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...payload.sparse import Sparse
from ...payload.values import filled
from ..dtypes import of_numpy
from ..errors import invalid
from . import segments
from .convert import Array
from .operators import check_kind, shape_text
from .sparse_operations import as_sparse, in_order, made
from .sparse_tensor import SparseTensor
from .tensor import EagerTensor, convert_to_tensor, of_array, shape_tuple, to_numpy


def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> EagerTensor:
    """A dense tensor, with ``default_value`` (0 or an empty string) where no value is stored."""
    if not isinstance(sp_input, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    sparse = sp_input._sparse
    _check(sparse.indices, sparse.dense_shape, validate_indices)
    fill = None if default_value is None else convert_to_tensor(default_value, sp_input.dtype)._array
    if fill is not None and fill.ndim:
        raise invalid("default_value should be a scalar.")
    dense = filled(sparse.dense_shape, sparse.dtype, None if fill is None else fill[()])
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
    return made(np.argwhere(nonzero), array[nonzero], array.shape)


def sparse_to_dense(  # noqa: PLR0917
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> EagerTensor:
    """A dense tensor with values at some indices, in TensorFlow 1."""
    places, values = to_numpy(sparse_indices), to_numpy(sparse_values)
    shape = shape_tuple(output_shape)
    default = default_value
    if not isinstance(default, EagerTensor) and values.dtype == object and default == 0:
        default = ""
    fill = convert_to_tensor(default, of_numpy(values.dtype))._array
    if places.ndim > 2:
        raise invalid(
            f"sparse_indices should be a scalar, vector, or matrix, got shape {shape_text(places.shape)}"
        )
    rows = places.reshape(-1, 1) if places.ndim < 2 else places
    if rows.shape[1] != len(shape):
        raise invalid(
            f"output_shape has incorrect number of elements: {len(shape)} should be: {rows.shape[1]}"
        )
    if values.ndim > 1 or (values.ndim and len(values) != len(rows)):
        raise invalid(
            f"sparse_values has incorrect shape {shape_text(values.shape)}, should be [] or [{len(rows)}]"
        )
    _check(rows, shape, validate_indices)
    dense = filled(shape, values.dtype, fill[()])
    dense[tuple(rows.T)] = values
    return of_array(dense)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """``op`` of the values of the sparse tensors among the arguments, which have the same indices."""
    found = [value for value in (*args, *kwargs.values()) if isinstance(value, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    for other in found[1:]:
        if not np.array_equal(other._sparse.indices, found[0]._sparse.indices):
            raise invalid("the sparse tensors have different indices")

    def values(argument: Any) -> Any:
        return argument.values if isinstance(argument, SparseTensor) else argument

    made_values = convert_to_tensor(
        op(*map(values, args), **{key: values(part) for key, part in kwargs.items()})
    )
    if made_values._array.shape[:1] != found[0]._sparse.values.shape:
        raise ValueError(f"Shapes {found[0]._sparse.values.shape} and {made_values.shape} are incompatible")
    return found[0].with_values(made_values)


def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> EagerTensor:
    """For each row whether each number below ``vocab_size`` is among its values."""
    sparse = as_sparse(sp_input)
    if sparse.dtype.kind not in "iu":
        raise ValueError(f"values must have integer type, not {sparse.dtype}")
    size = int(to_numpy(vocab_size))
    outside = (sparse.values < 0) | (sparse.values >= size)
    if outside.any():
        raise invalid(f"value {sparse.values[outside][0]} is out of bounds: need 0 <= value < {size}")
    dense = np.zeros((*sparse.dense_shape[:-1], size), np.bool_)
    places = (*sparse.indices[:, :-1].T, sparse.values)
    dense[places] = True
    return of_array(dense)


# --- Arithmetic -------------------------------------------------------------------------------------


def _merged(one: Sparse, two: Sparse, combine: Callable[[Array, Array], Array]) -> Sparse:
    """The entries of both, combined where both have one; what is not stored is 0."""
    if len(one.dense_shape) != len(two.dense_shape):
        raise invalid("Ranks of input tensors must match")
    if one.dense_shape != two.dense_shape:
        raise invalid(f"Input shapes do not match: {one.dense_shape} vs {two.dense_shape}")
    if one.dtype != two.dtype:
        raise invalid(f"the dtypes {one.dtype} and {two.dtype} differ")
    places = [
        np.ravel_multi_index(tuple(part.indices.T), part.dense_shape)
        if len(part.indices)
        else np.zeros(0, np.int64)
        for part in (one, two)
    ]
    union = np.unique(np.concatenate(places))
    columns = []
    for part, place in zip((one, two), places, strict=True):
        column = np.zeros(len(union), part.dtype)
        np.add.at(column, np.searchsorted(union, place), part.values)
        columns.append(column)
    indices = np.stack(np.unravel_index(union, one.dense_shape), axis=-1)
    return Sparse(indices.astype(np.int64), combine(*columns), one.dense_shape)


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum; of two sparse tensors without entries below ``threshold``."""
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        check_kind("SparseAdd", a._sparse.values, "fiuc")
        total = _merged(a._sparse, b._sparse, np.add)
        limit = to_numpy(convert_to_tensor(threshold, of_numpy(total.dtype)))
        kept = np.abs(total.values) >= limit
        if not limit:
            kept[:] = True
        return made(total.indices[kept], total.values[kept], total.dense_shape)
    sparse, other = (a, b) if isinstance(a, SparseTensor) else (b, a)
    dense = convert_to_tensor(other)
    if dense.dtype != sparse.dtype:
        raise invalid(f"the dtypes {sparse.dtype.name} and {dense.dtype.name} differ")
    check_kind("SparseTensorDenseAdd", dense._array, "fiuc")
    if dense._array.shape != sparse._sparse.dense_shape:
        raise invalid(
            f"Dimensions of a and b do not match: {sparse._sparse.dense_shape} and {dense._array.shape}"
        )
    total_array = dense._array.copy()
    np.add.at(total_array, tuple(sparse._sparse.indices.T), sparse._sparse.values)
    return of_array(total_array)


def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The greater of each two elements; what is not stored is 0."""
    return SparseTensor.of(_merged(as_sparse(sp_a), as_sparse(sp_b), np.maximum))


def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The lesser of each two elements; what is not stored is 0."""
    return SparseTensor.of(_merged(as_sparse(sp_a), as_sparse(sp_b), np.minimum))


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> EagerTensor:
    """The product of a sparse and a dense matrix."""
    arrays = []
    for value, turned in ((sp_a, adjoint_a), (b, adjoint_b)):
        if isinstance(value, SparseTensor):
            array = np.zeros(value._sparse.dense_shape, value._sparse.dtype)
            np.add.at(array, tuple(value._sparse.indices.T), value._sparse.values)
        else:
            array = to_numpy(value)
        if array.ndim != 2:
            raise invalid(f"Tensor 'b' is not a matrix: {shape_text(array.shape)}")
        arrays.append(np.conj(array.T) if turned else array)
    if arrays[0].dtype != arrays[1].dtype:
        raise invalid(f"the dtypes {arrays[0].dtype} and {arrays[1].dtype} differ")
    if arrays[0].shape[1] != arrays[1].shape[0]:
        raise invalid(
            "Cannot multiply A and B because inner dimension does not match: "
            f"{arrays[0].shape[1]} vs. {arrays[1].shape[0]}."
        )
    return of_array(np.matmul(*arrays))


def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The softmax of the stored values of each row."""
    sparse = as_sparse(sp_input)
    check_kind("SparseSoftmax", sparse.values, "f")
    outer = sparse.indices[:, :-1]
    order = in_order(sparse)
    _, rows = np.unique(outer, axis=0, return_inverse=True)
    rows = rows.reshape(-1)
    most = segments.maximum(sparse.values, rows, int(rows.max(initial=-1)) + 1)
    raised = np.exp(sparse.values - most[rows])
    total = segments.total(raised, rows, len(most))
    return made(sparse.indices[order], (raised / total[rows])[order], sparse.dense_shape)


def _reduced(sp_input: Any, axis: Any, keepdims: Any, sparse_output: bool, combine: Any) -> Any:
    sparse = as_sparse(sp_input)
    check_kind("SparseReduceSum", sparse.values, "fiuc")
    ndim = len(sparse.dense_shape)
    places = list(range(ndim)) if axis is None else np.atleast_1d(to_numpy(axis)).tolist()
    for place in places:
        if not -ndim <= place < ndim:
            raise invalid(f"Invalid reduction dimension {place}, for input with {ndim} dimensions.")
    axes = {place % ndim for place in places}
    kept = [place for place in range(ndim) if place not in axes]
    shape = [sparse.dense_shape[place] for place in kept]
    columns = sparse.indices[:, kept]
    flat = np.ravel_multi_index(tuple(columns.T), tuple(shape)) if kept else np.zeros(len(columns), np.int64)
    count = int(np.prod(shape, dtype=np.int64))
    dense = combine(sparse.values, flat, count)
    stored = np.zeros(count, np.bool_)
    stored[flat] = True
    dense[~stored] = 0
    final = (
        [1 if place in axes else length for place, length in enumerate(sparse.dense_shape)]
        if keepdims
        else shape
    )
    if not sparse_output:
        return of_array(dense.reshape(final))
    found = np.flatnonzero(stored)
    indices = np.stack(np.unravel_index(found, tuple(final)), axis=-1) if final else np.zeros((len(found), 0))
    return made(indices, dense[found], final)


def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The sum along dimensions, or of all elements."""
    return _reduced(sp_input, axis, keepdims, output_is_sparse, segments.total)


def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: Any = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The maximum of the stored values along dimensions, or of all."""
    return _reduced(sp_input, axis, keepdims, output_is_sparse, segments.maximum)
