"""Making tensors and changing their shape: ``tf.reshape``, ``tf.stack``, ``tf.one_hot`` and so on.

Each is a few lines of numpy with TensorFlow's signature, dtypes and errors. Mathematics is in ``math``.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..dtypes import as_dtype, float32, int32, string
from ..errors import UnimplementedError
from .operators import invalid, kernel_name, shape_text
from .ragged_sparse import RaggedTensor, SparseTensor
from .shapes import TensorShape
from .tensor import EagerTensor, constant, convert_to_tensor, of_array, to_numpy

newaxis = None


def lengths_of(shape: Any) -> tuple[int, ...]:
    """A shape given as a tensor, a TensorShape, a list or a number."""
    if isinstance(shape, TensorShape):
        return tuple(to_numpy(shape).tolist())
    lengths = to_numpy(shape)
    if lengths.dtype.kind == "f" and not lengths.size:
        return ()
    return tuple(lengths.reshape(-1).tolist())


# --- Types and values -------------------------------------------------------------------------------


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """``x`` with another dtype; fractions are cut off, what does not fit wraps around."""
    wanted = as_dtype(dtype)
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(cast(x.flat_values, wanted))
    if isinstance(x, SparseTensor):
        return SparseTensor(x.indices, cast(x.values, wanted), x.dense_shape)
    tensor = convert_to_tensor(x)
    if tensor.dtype is wanted:
        return tensor
    if string in (tensor.dtype, wanted):
        raise UnimplementedError(
            None, None, f"Cast {kernel_name(tensor.dtype)} to {kernel_name(wanted)} is not supported"
        )
    array = tensor._array
    with np.errstate(all="ignore"):
        if array.dtype.kind == "c" and not wanted.is_complex:
            array = array.real
        return of_array(array.astype(wanted.as_numpy_dtype))


def to_float(x: Any, name: str | None = None) -> Any:
    """``x`` as float32; TensorFlow 1 had this."""
    return cast(x, float32)


def to_int32(x: Any, name: str | None = None) -> Any:
    """``x`` as int32; TensorFlow 1 had this."""
    return cast(x, int32)


def to_int64(x: Any, name: str | None = None) -> Any:
    """``x`` as int64; TensorFlow 1 had this."""
    return cast(x, "int64")


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> EagerTensor:
    """``cast``, with what does not fit replaced by the nearest number that does."""
    wanted = as_dtype(dtype)
    array = to_numpy(value)
    if wanted.is_integer:
        array = np.clip(array, wanted.min, wanted.max)
    made: EagerTensor = cast(array, wanted)
    return made


def identity(input: Any, name: str | None = None) -> Any:  # noqa: A002 - TensorFlow's name
    """The tensor itself."""
    return input if isinstance(input, (RaggedTensor, SparseTensor)) else convert_to_tensor(input)


def zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> EagerTensor:
    """A tensor of zeros, or of empty strings."""
    wanted = as_dtype(dtype)
    return fill(shape, constant("" if wanted is string else np.int8(0), wanted))


def ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> EagerTensor:
    """A tensor of ones."""
    wanted = as_dtype(dtype)
    return fill(shape, constant(np.int8(1), wanted))


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Zeros in the shape of another tensor."""
    tensor = convert_to_tensor(input)
    return zeros(tensor.shape, tensor.dtype if dtype is None else dtype)


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Ones in the shape of another tensor."""
    tensor = convert_to_tensor(input)
    return ones(tensor.shape, tensor.dtype if dtype is None else dtype)


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> EagerTensor:
    """A tensor full of one value."""
    return of_array(np.array(np.broadcast_to(to_numpy(value), lengths_of(dims))))


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32) -> EagerTensor:
    """A matrix of zeros with ones on its diagonal."""
    columns = None if num_columns is None else int(num_columns)
    matrix = np.eye(int(num_rows), columns, dtype=as_dtype(dtype).as_numpy_dtype)
    shape = (*lengths_of([] if batch_shape is None else batch_shape), *matrix.shape)
    return of_array(np.array(np.broadcast_to(matrix, shape)))


def range(  # noqa: A001 - TensorFlow's name
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None
) -> EagerTensor:
    """The numbers from ``start`` up to ``limit`` in steps of ``delta``; from 0 if only one is given."""
    if limit is None:
        start, limit = 0, start
    ends = [convert_to_tensor(end)._array for end in (start, limit, delta)]
    order = ("int32", "int64", "float32", "float64")
    found = builtins.max((end.dtype.name for end in ends), key=order.index)
    numpy = np.dtype(found if dtype is None else as_dtype(dtype).as_numpy_dtype)
    first, stop, step = (end[()].item() for end in ends)
    if step == 0:
        raise invalid("Requires delta != 0: 0")
    if (first > stop) if step > 0 else (first < stop):
        relation, sense = ("<=", ">") if step > 0 else (">=", "<")
        raise invalid(f"Requires start {relation} limit when delta {sense} 0: {first}/{stop}")
    count = builtins.max(0, int(np.ceil((stop - first) / step)))
    return of_array((np.arange(count) * numpy.type(step) + numpy.type(first)).astype(numpy))


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> EagerTensor:
    """``num`` numbers from ``start`` to ``stop``, both included."""
    first = to_numpy(start)
    return of_array(np.linspace(first, to_numpy(stop), int(num), dtype=first.dtype, axis=axis))


def one_hot(  # noqa: PLR0917 - TensorFlow's signature
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> EagerTensor:
    """A new dimension of ``depth``: ``on_value`` where the index is, ``off_value`` elsewhere."""
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is None:
        given = next((value for value in (on_value, off_value) if value is not None), None)
        wanted = float32 if given is None else convert_to_tensor(given).dtype
    on = convert_to_tensor(1 if on_value is None else on_value, wanted)._array
    off = convert_to_tensor(0 if off_value is None else off_value, wanted)._array
    array = to_numpy(indices)
    if array.dtype.kind == "f" and not isinstance(indices, np.ndarray):
        if isinstance(indices, float):
            raise TypeError(f"Cannot convert {indices} to EagerTensor of dtype int64")
        kind = kernel_name(as_dtype(array.dtype))
        allowed = "uint8, int8, int32, int64"
        raise invalid(f"Value for attr 'TI' of {kind} is not in the list of allowed values: {allowed}")
    if array.dtype.kind not in "iu":
        array = convert_to_tensor(array, "int64")._array
    place = array.ndim if axis in (None, -1) else int(axis or 0)
    if not 0 <= place <= array.ndim:
        raise invalid(f"Expected axis to be -1 or between [0, {array.ndim + 1}).  But received: {place}")
    shape = [1] * (array.ndim + 1)
    shape[place] = int(depth)
    hot = np.expand_dims(array, place) == np.arange(int(depth)).reshape(shape)
    return of_array(np.asarray(np.where(hot, on, off)).astype(on.dtype, copy=False))


# --- Shapes -----------------------------------------------------------------------------------------


def shape(input: Any, out_type: Any = int32, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The shape as a tensor."""
    if isinstance(input, SparseTensor):
        return cast_dense(input.dense_shape, out_type)
    return of_array(np.array(to_numpy(input).shape, as_dtype(out_type).as_numpy_dtype))


def cast_dense(x: Any, dtype: Any) -> EagerTensor:
    """``cast`` of a dense tensor."""
    made: EagerTensor = cast(x, dtype)
    return made


def size(input: Any, out_type: Any = int32, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The number of elements."""
    return of_array(np.array(to_numpy(input).size, as_dtype(out_type).as_numpy_dtype))


def rank(input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The number of dimensions."""
    return of_array(np.array(to_numpy(input).ndim, np.int32))


def reshape(tensor: Any, shape: Any, name: str | None = None) -> EagerTensor:
    """The same elements in another shape; one length may be -1, for what is left."""
    array = to_numpy(tensor)
    lengths = lengths_of(shape)
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
        # Beside a 0 it could be anything; it is what fits if all zeros are left out.
        rest = _without_zeros(array.shape) // _without_zeros(abs(length) for length in lengths)
        lengths = tuple(rest if length == -1 else length for length in lengths)
    return of_array(array.reshape(lengths))


def _without_zeros(shape: Iterable[int]) -> int:
    return math.prod(length for length in shape if length)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """With a new dimension of length 1 at ``axis``."""
    array = to_numpy(input)
    place = int(axis)
    if not -array.ndim - 1 <= place <= array.ndim:
        raise invalid(f"Tried to expand dim index {place} for tensor with {array.ndim} dimensions.")
    return of_array(np.expand_dims(array, place))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Without the dimensions of length 1, or without those given, which must be of length 1."""
    array = to_numpy(input)
    if axis is None or (isinstance(axis, (list, tuple)) and not axis):
        return of_array(array.reshape([length for length in array.shape if length != 1]))
    places = [int(place) for place in (axis if isinstance(axis, (list, tuple)) else [axis])]
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
    """The dimensions in another order, reversed by default."""
    order = None if perm is None else lengths_of(perm)
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
    """Repeated along dimensions of length 1, or missing ones, up to ``shape``."""
    array, lengths = to_numpy(input), lengths_of(shape)
    try:
        return of_array(np.array(np.broadcast_to(array, lengths)))
    except ValueError:
        raise invalid(f"Incompatible shapes: {shape_text(array.shape)} vs. {shape_text(lengths)}") from None


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> EagerTensor:
    """The tensor itself, which must have the shape."""
    tensor = convert_to_tensor(x)
    wanted = TensorShape(shape)
    if not tensor.shape.is_compatible_with(wanted):
        shown = "[" + ",".join("?" if length is None else str(length) for length in wanted) + "]"
        raise invalid(
            f"Shape of tensor input {shape_text(tensor._array.shape)} is not compatible with expected shape "
            f"{shown}."
        )
    return tensor
