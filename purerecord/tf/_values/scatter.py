"""Elements at index vectors: ``tf.gather_nd``, ``tf.scatter_nd``, ``tf.tensor_scatter_nd_update`` and so on.

This module does not know indices along one dimension.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import invalid
from . import ragged_operations
from .convert import Array
from .dispatch import for_ragged
from .indexing import check_index
from .operators import check_kind, shape_text
from .tensor import EagerTensor, arrays_of_one_dtype, of_array, shape_tuple, to_numpy


def _flat_places(indices: Array, shape: tuple[int, ...], what: str) -> Array:
    """The place of each index vector among the slices of a tensor."""
    width = indices.shape[-1]
    vectors = indices.reshape(math.prod(indices.shape[:-1]), width).astype(np.int64)
    bounds = np.array(shape[:width], np.int64)
    outside = ((vectors < 0) | (vectors >= bounds)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        at = np.unravel_index(row, indices.shape[:-1]) if indices.ndim > 1 else ()
        where = "" if not at else f"[{','.join(str(int(place)) for place in at)}]"
        found = vectors[row].tolist()
        raise invalid(
            f"indices{where} = {shape_text(tuple(found))} does not index into {what} {shape_text(shape)}"
        )
    if not width:
        return np.zeros(len(vectors), np.int64)
    places: Array = np.ravel_multi_index(tuple(vectors.T), tuple(max(bound, 1) for bound in shape[:width]))
    return places


@for_ragged(ragged_operations.gather_nd)
def gather_nd(
    params: Any, indices: Any, batch_dims: Any = 0, name: str | None = None, bad_indices_policy: str = ""
) -> EagerTensor:
    """The elements or slices at index vectors."""
    array, places = to_numpy(params), to_numpy(indices)
    batch = operator.index(batch_dims) if not isinstance(batch_dims, EagerTensor) else int(batch_dims)
    check_index(places, "Tindices")
    if batch:
        if not 0 <= batch < min(places.ndim, array.ndim + 1) or array.shape[:batch] != places.shape[:batch]:
            raise ValueError(f"batch_dims={batch} does not fit shapes {array.shape} and {places.shape}")
        count = math.prod(array.shape[:batch])
        rows = [
            gather_nd(one, two, 0)._array
            for one, two in zip(
                array.reshape(count, *array.shape[batch:]),
                places.reshape(count, *places.shape[batch:]),
                strict=True,
            )
        ]
        if not rows:
            inner = array.shape[batch + places.shape[-1] :]
            return of_array(np.zeros((*places.shape[:-1], *inner), array.dtype))
        return of_array(np.stack(rows).reshape(*array.shape[:batch], *rows[0].shape))
    if not array.ndim:
        raise invalid("params must be at least a vector")
    if not places.ndim:
        raise invalid("indices must be at least a vector")
    if places.shape[-1] > array.ndim:
        raise invalid(
            "index innermost dimension length must be <= params rank; saw: "
            f"{places.shape[-1]} vs. {array.ndim}"
        )
    flat = _flat_places(places, array.shape, "param shape")
    inner = array.shape[places.shape[-1] :]
    slices = array.reshape(math.prod(array.shape[: places.shape[-1]]), *inner)
    return of_array(slices[flat].reshape(places.shape[:-1] + inner))


def _scattered(
    op: str, target: Array, indices: Any, updates: Any, change: Callable[[Array, Array, Array], None]
) -> EagerTensor:
    """A copy of ``target`` changed by ``change(slices, places, updates)``."""
    places, new = to_numpy(indices), updates
    check_index(places, "Tindices")
    if not places.ndim or not target.ndim:
        raise invalid(f"Output must be at least 1-D, got shape: {shape_text(target.shape)}")
    width = places.shape[-1]
    if width > target.ndim:
        raise invalid(
            f"Inner dimensions of output shape must match: index of length {width} into "
            f"{shape_text(target.shape)}"
        )
    inner = target.shape[width:]
    if new.shape != (*places.shape[:-1], *inner):
        raise invalid(
            f"Dimensions [0,{places.ndim - 1}) of "
            f"indices[shape={shape_text(places.shape)}] must match dimensions "
            f"[0,{places.ndim - 1}) of updates[shape={shape_text(new.shape)}]"
        )
    flat = _flat_places(places, target.shape, "shape")
    made = target.copy()
    change(made.reshape(math.prod(target.shape[:width]), *inner), flat, new.reshape(len(flat), *inner))
    return of_array(made)


def _add(slices: Array, places: Array, updates: Array) -> None:
    if slices.dtype == object:
        for place, update in zip(places.tolist(), updates, strict=True):
            slices[place] = slices[place] + update
    elif slices.dtype == np.bool_:
        np.logical_or.at(slices, places, updates)
    else:
        np.add.at(slices, places, updates)


def _set(slices: Array, places: Array, updates: Array) -> None:
    slices[places] = updates


def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> EagerTensor:
    """A tensor of zeros with ``updates`` added at index vectors."""
    new = to_numpy(updates)
    places = to_numpy(indices)
    check_index(places, "Tindices")
    lengths = to_numpy(shape)
    if lengths.ndim != 1:
        raise invalid(f"shape must be 1-D, got shape {shape_text(lengths.shape)}")
    dims = shape_tuple(shape)
    for place, length in enumerate(dims):
        if length < 0:
            raise invalid(f"Dimension {place} in shape must be >= 0, got {length}")
    zeros = np.full(dims, b"", object) if new.dtype == object else np.zeros(dims, new.dtype)
    if not zeros.size and new.size:
        raise invalid(f"Indices and updates specified for empty output: {shape_text(dims)}")
    return _scattered("ScatterNd", zeros, indices, new, _add)


def _tensor_scatter(
    op: str, change: Callable[[Array, Array, Array], None], doc: str, kinds: str
) -> Callable[..., EagerTensor]:
    def operation(
        tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
    ) -> EagerTensor:
        target, new = arrays_of_one_dtype(op, [tensor, updates])
        check_kind(op, target, kinds)
        return _scattered(op, target, indices, new, change)

    operation.__doc__ = doc
    return operation


def _with_ufunc(function: Any) -> Callable[[Array, Array, Array], None]:
    change: Callable[[Array, Array, Array], None] = function.at
    return change


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> EagerTensor:
    """The tensor with other elements or slices at index vectors."""
    target, new = arrays_of_one_dtype("TensorScatterUpdate", [tensor, updates])
    return _scattered("TensorScatterUpdate", target, indices, new, _set)


tensor_scatter_nd_add = _tensor_scatter(
    "TensorScatterAdd", _add, "The tensor with ``updates`` added at index vectors.", "fiucbO"
)
tensor_scatter_nd_sub = _tensor_scatter(
    "TensorScatterSub",
    _with_ufunc(np.subtract),
    "The tensor with ``updates`` subtracted at index vectors.",
    "fiuc",
)
tensor_scatter_nd_max = _tensor_scatter(
    "TensorScatterMax",
    _with_ufunc(np.maximum),
    "The tensor with the maximum of itself and ``updates`` at index vectors.",
    "fiu",
)
tensor_scatter_nd_min = _tensor_scatter(
    "TensorScatterMin",
    _with_ufunc(np.minimum),
    "The tensor with the minimum of itself and ``updates`` at index vectors.",
    "fiu",
)
