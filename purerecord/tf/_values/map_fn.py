"""``tf.map_fn``: a function of every row of a tensor, or of the rows of several tensors together.

Unlike in ``nest``, a list is a structure here, like a tuple or a dictionary. This module does not know
datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..dtypes import DType, as_dtype
from ..errors import invalid
from .convert import Array
from .eager import wrap_value
from .joining import stack
from .ragged_sparse import RaggedTensor
from .seeds import bodies
from .shapes import RaggedTensorSpec
from .tensor import EagerTensor, of_array

Leaf = Any


def map_fn(fn: Callable[[Any], Any], elems: Any, dtype: Any = None, **options: Any) -> Any:
    """The stacked results of ``fn`` for each row; ``fn_output_signature`` gives their types."""
    leaves = [wrap_value(leaf) for leaf in _flatten(elems)]
    if not leaves:
        raise ValueError(f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems}")
    if any(isinstance(leaf, EagerTensor) and not leaf.ndim for leaf in leaves):
        raise ValueError("Elements in elems must be 1+ dimensional Tensors, not scalars")
    rows = [list(leaf) for leaf in leaves]
    for column in rows:
        if len(column) != len(rows[0]):
            raise ValueError(f"Dimensions {len(rows[0])} and {len(column)} are not compatible")
    wanted = options.get("fn_output_signature")
    wanted = dtype if wanted is None else wanted
    if wanted is None:
        wanted = _pack(elems, [leaf if isinstance(leaf, RaggedTensor) else leaf.dtype for leaf in leaves])
    (body,) = bodies(fn)
    results = [body(_pack(elems, row)) for row in zip(*rows, strict=True)]
    for result in results:
        if not _same(wanted, result):
            raise ValueError("The two structures don't have the same nested structure.")
    places = _flatten(wanted)
    columns = zip(*map(_flatten, results), strict=True) if results else [() for _ in places]
    return _pack(wanted, [_stack(list(parts), place) for parts, place in zip(columns, places, strict=True)])


def _stack(parts: list[Any], wanted: Any) -> Any:
    """One tensor of the results for one leaf of the signature."""
    kind = as_dtype(getattr(wanted, "dtype", wanted))
    tensors = [wrap_value(part) for part in parts]
    for tensor in tensors:
        if tensor.dtype != kind:
            raise invalid(
                f"TensorArray dtype is {kind.name} but Op is trying to write dtype {tensor.dtype.name} "
            )
    if tensors and all(isinstance(tensor, RaggedTensor) for tensor in tensors):
        return stack(tensors)
    arrays = [tensor._array for tensor in tensors]
    if isinstance(wanted, (RaggedTensorSpec, RaggedTensor)):
        if any(not array.ndim for array in arrays):
            raise invalid("a function of the rows of a ragged tensor must return rows, not scalars")
        lengths = [len(array) for array in arrays]
        splits = wanted.row_splits.dtype if isinstance(wanted, RaggedTensor) else wanted.row_splits_dtype
        return RaggedTensor.from_row_lengths(
            _concatenate(arrays, kind), np.array(lengths, splits.as_numpy_dtype)
        )
    for array in arrays:
        if array.shape != arrays[0].shape:
            raise ValueError(f"Incompatible shape for value ({array.shape}), expected ({arrays[0].shape})")
    return of_array(np.stack(arrays) if arrays else np.zeros(0, kind.as_numpy_dtype))


def _concatenate(arrays: list[Array], kind: DType) -> Array:
    return np.concatenate(arrays) if arrays else np.zeros(0, kind.as_numpy_dtype)


# --- Structures -------------------------------------------------------------------------------------


def _flatten(structure: Any) -> list[Leaf]:
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in _flatten(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in _flatten(part)]
    return [structure]


def _pack(structure: Any, leaves: Any) -> Any:
    """A structure of the same form with other leaves."""
    left = iter(leaves)

    def build(part: Any) -> Any:
        if isinstance(part, Mapping):
            made = {key: build(part[key]) for key in sorted(part)}
            return {key: made[key] for key in part}
        if isinstance(part, (list, tuple)):
            fields = [build(inner) for inner in part]
            return type(part)(*fields) if hasattr(part, "_fields") else type(part)(fields)
        return next(left)

    return build(structure)


def _same(one: Any, other: Any) -> bool:
    """Whether two structures have their leaves in the same places."""
    if isinstance(one, Mapping):
        keys = isinstance(other, Mapping) and one.keys() == other.keys()
        return keys and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        alike = isinstance(other, (list, tuple)) and len(one) == len(other)
        return alike and all(_same(*pair) for pair in zip(one, other, strict=True))
    return not isinstance(other, (Mapping, list, tuple))
