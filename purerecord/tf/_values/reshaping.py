"""The shapes of tensors: ``tf.shape``, ``tf.reshape``, ``tf.squeeze``, ``tf.transpose`` and so on.

The elements stay as they are. This module does not know arithmetic.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..dtypes import as_dtype, int32
from ..errors import invalid
from . import ragged_operations
from .casting import cast
from .dispatch import for_ragged, older_names
from .operators import shape_text
from .ragged_shape import DynamicRaggedShape
from .ragged_tensor import RaggedTensor
from .shapes import TensorShape
from .sparse_tensor import SparseTensor
from .tensor import EagerTensor, arrays_of_one_dtype, convert_to_tensor, of_array, shape_tuple, to_numpy

newaxis = None


def identity(input: Any, name: str | None = None) -> Any:  # noqa: A002 - TensorFlow's name
    """The tensor itself."""
    return input if isinstance(input, (RaggedTensor, SparseTensor)) else convert_to_tensor(input)


def shape(input: Any, out_type: Any = int32, name: str | None = None) -> Any:  # noqa: A002
    """The shape as a tensor; of a ragged tensor a ``DynamicRaggedShape``."""
    if isinstance(input, RaggedTensor):
        return DynamicRaggedShape.from_tensor(input, out_type)
    if isinstance(input, SparseTensor):
        return cast(input.dense_shape, out_type)
    return of_array(np.array(to_numpy(input).shape, as_dtype(out_type).as_numpy_dtype))


def identity_n(input: Any, name: str | None = None) -> list[Any]:  # noqa: A002 - TensorFlow's name
    """The tensors themselves."""
    return [identity(part) for part in input]


stop_gradient = identity


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The values of a tensor as an array."""
    return tensor.numpy() if isinstance(tensor, EagerTensor) else tensor


def shape_n(input: Any, out_type: Any = int32, name: str | None = None) -> list[Any]:  # noqa: A002
    """The shape of each tensor."""
    return [shape(part, out_type) for part in input]


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape to which two shapes are broadcast."""
    one, two = TensorShape(shape_x), TensorShape(shape_y)
    if one.rank is None or two.rank is None:
        return TensorShape(None)
    ndim = max(len(one), len(two))
    lengths: list[int | None] = []
    for a, b in zip(*([*[1] * (ndim - len(part)), *part] for part in (one, two)), strict=True):
        if a is not None and b is not None and a != b and 1 not in (a, b):
            raise ValueError(
                f"Incompatible shapes for broadcasting. Two shapes {one} and {two} are not compatible."
            )
        known = [length for length in (a, b) if length not in (None, 1)]
        lengths.append(known[0] if known else None if None in (a, b) else 1)
    return TensorShape(lengths)


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> EagerTensor:
    """The shape to which two shapes, given as tensors, are broadcast."""
    one, two = arrays_of_one_dtype("BroadcastArgs", [shape_x, shape_y])
    try:
        made = np.broadcast_shapes(tuple(one.tolist()), tuple(two.tolist()))
    except ValueError:
        raise invalid(
            f"Incompatible shapes: [{','.join(map(str, one))}] and [{','.join(map(str, two))}]"
        ) from None
    return of_array(np.array(made, one.dtype))


@for_ragged(ragged_operations.size)
def size(input: Any, out_type: Any = int32, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The number of elements."""
    if isinstance(input, SparseTensor):
        count = math.prod(input._sparse.dense_shape)
        return of_array(np.array(count, as_dtype(out_type).as_numpy_dtype))
    return of_array(np.array(to_numpy(input).size, as_dtype(out_type).as_numpy_dtype))


@for_ragged(ragged_operations.rank_of)
def rank(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The number of dimensions."""
    if isinstance(input, SparseTensor):
        return of_array(np.array(len(input._sparse.dense_shape), np.int32))
    return of_array(np.array(to_numpy(input).ndim, np.int32))


@for_ragged(ragged_operations.reshape)
def reshape(tensor: Any, shape: Any, name: str | None = None) -> EagerTensor:
    """The same elements in another shape; one length may be -1, for the rest."""
    array = to_numpy(tensor)
    lengths = shape_tuple(shape)
    known = int(np.prod([length for length in lengths if length != -1], dtype=np.int64))
    if lengths.count(-1) > 1:
        first, second = [place for place, length in enumerate(lengths) if length == -1][:2]
        raise invalid(f"Only one input size may be -1, not both {first} and {second}")
    if -1 in lengths:
        if not known and array.size:
            raise invalid("reshape cannot infer the missing input size for an empty tensor")
        if known and array.size % known:
            raise invalid(
                f"Input to reshape is a tensor with {array.size} values, but the requested shape requires "
                f"a multiple of {known}"
            )
    elif known != array.size:
        raise invalid(
            f"Input to reshape is a tensor with {array.size} values, but the requested shape has {known}"
        )
    if -1 in lengths and not known:
        # Next to a 0, -1 is ambiguous. TensorFlow computes it as if there were no zeros.
        rest = _without_zeros(array.shape) // _without_zeros(abs(length) for length in lengths)
        lengths = tuple(rest if length == -1 else length for length in lengths)
    return of_array(array.reshape(lengths))


def _without_zeros(shape: Iterable[int]) -> int:
    return math.prod(length for length in shape if length)


@older_names(dim="axis")
@for_ragged(ragged_operations.expand_dims)
def expand_dims(input: Any, axis: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The tensor with a new dimension of length 1 at ``axis``."""
    array = to_numpy(input)
    places = to_numpy(axis)
    if places.dtype.kind not in "iu":
        raise invalid("Value for attr 'Tdim' of float is not in the list of allowed values: int32, int64")
    if places.size != 1:
        raise invalid(f"'dim' input to expand_dims must be a tensor with a single value, got {places.size}")
    place = int(places.reshape(-1)[0])
    if not -array.ndim - 1 <= place <= array.ndim:
        raise invalid(f"Tried to expand dim index {place} for tensor with {array.ndim} dimensions.")
    return of_array(np.expand_dims(array, place))


@older_names(squeeze_dims="axis")
@for_ragged(ragged_operations.squeeze)
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The tensor without dimensions of length 1: without all, or without those in ``axis``."""
    array = to_numpy(input)
    if axis is None or (isinstance(axis, (list, tuple)) and not axis):
        return of_array(array.reshape([length for length in array.shape if length != 1]))
    try:
        places = [operator.index(place) for place in (axis if isinstance(axis, (list, tuple)) else [axis])]
    except TypeError:
        raise TypeError(f"Expected int for argument 'axis' not {axis!r}.") from None
    for place in places:
        if not -array.ndim <= place < array.ndim:
            raise invalid(f"Tried to squeeze dim index {place} for tensor with {array.ndim} dimensions.")
        if array.shape[place] != 1:
            raise invalid(
                f"Can not squeeze dim[{place % array.ndim}], expected a dimension of 1, "
                f"got {array.shape[place]}"
            )
    return of_array(np.squeeze(array, tuple({place % array.ndim for place in places})))


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> EagerTensor:
    """The tensor with its dimensions permuted, by default reversed."""
    order = None if perm is None else shape_tuple(perm)
    array = to_numpy(a)
    if order is not None and len(order) != array.ndim:
        raise invalid(
            f"transpose expects a vector of size {array.ndim}. But input(1) is a vector of size {len(order)}"
        )
    for place in order or ():
        if not -array.ndim <= place < array.ndim:
            raise invalid(f"{place} is out of range [0 .. {array.ndim})")
        if list(order or ()).count(place) > 1:
            raise invalid(f"{place} is repeated in the permutation")
    array = np.transpose(array, order)
    return of_array(np.conjugate(array) if conjugate else array)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The tensor broadcast to ``shape``: repeated along missing dimensions and those of length 1."""
    array, lengths = to_numpy(input), shape_tuple(shape)
    if isinstance(shape, int) or getattr(shape, "ndim", 1) != 1:
        raise invalid(f"shape must be a vector, not {shape}")
    try:
        return of_array(np.array(np.broadcast_to(array, lengths)))
    except ValueError:
        raise invalid(f"Incompatible shapes: {shape_text(array.shape)} vs. {shape_text(lengths)}") from None


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> EagerTensor:
    """The tensor itself; an error if it does not have the shape."""
    tensor = convert_to_tensor(x)
    wanted = TensorShape(shape)
    if not tensor.shape.is_compatible_with(wanted):
        shown = "[" + ",".join("?" if length is None else str(length) for length in wanted) + "]"
        raise invalid(
            f"Shape of tensor input {shape_text(tensor._array.shape)} is not compatible with expected shape "
            f"{shown}."
        )
    return tensor
