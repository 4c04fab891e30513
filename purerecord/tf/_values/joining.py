"""Several tensors to one, and parts of one: ``tf.stack``, ``tf.concat``, ``tf.gather`` and so on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...payload.values import filled
from ..dtypes import int32, int64, of_numpy
from .convert import Array
from .making import lengths_of
from .operators import check_kind, invalid, kernel_name, shape_text, within
from .tensor import EagerTensor, convert_to_tensor, of_array, to_numpy


def matching(op: str, values: Any) -> list[Array]:
    """The arrays of tensors that must have one dtype; what is no tensor yet takes that of the first."""
    parts = list(values)
    first = next((part for part in parts if isinstance(part, EagerTensor)), None)
    hint = first.dtype if first is not None else convert_to_tensor(parts[0]).dtype
    arrays = [
        (part if isinstance(part, EagerTensor) else convert_to_tensor(part, hint))._array for part in parts
    ]
    for number, array in enumerate(arrays):
        if array.dtype != arrays[0].dtype:
            wanted, found = (kernel_name(of_numpy(one.dtype)) for one in (arrays[0], array))
            raise invalid(
                f"cannot compute {op} as input #{number}(zero-based) was expected to be a {wanted} tensor "
                f"but is a {found} tensor"
            )
    return arrays


def stack(values: Any, axis: int = 0, name: str = "stack") -> EagerTensor:
    """Tensors of one shape side by side, in a new dimension."""
    parts = list(values)
    if not parts and axis != 0:
        raise IndexError("there is nothing to stack")
    if axis == 0:  # what can be a tensor as it stands becomes that one, whose dtype may be another
        try:
            return convert_to_tensor(parts)
        except (TypeError, ValueError):
            pass
    arrays = matching("Pack", parts)
    first = arrays[0].shape
    for number, array in enumerate(arrays):
        if array.shape != first:
            raise invalid(
                f"Shapes of all inputs must match: values[0].shape = {shape_text(first)} != "
                f"values[{number}].shape = {shape_text(array.shape)}"
            )
    ndim = len(first) + 1
    if not -ndim <= axis < ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-ndim}, {ndim})")
    return of_array(np.stack(arrays, axis))


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[EagerTensor]:
    """The tensors along a dimension, as a list."""
    array = to_numpy(value)
    if not -array.ndim <= axis < array.ndim:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-array.ndim}, {array.ndim})")
    return list(of_array(np.moveaxis(array, axis, 0)))


def concat(values: Any, axis: Any, name: str = "concat") -> EagerTensor:
    """Tensors one behind the other along a dimension."""
    parts = list(values) if isinstance(values, (list, tuple)) else [values]
    if len(parts) == 1:
        return convert_to_tensor(parts[0])
    arrays = matching("ConcatV2", parts)
    ndim = arrays[0].ndim
    place = int(axis)
    if not -ndim <= place < ndim:
        low = 0 if not ndim else -ndim
        raise invalid(
            f"ConcatOp : Expected concatenating dimensions in the range [{low}, {ndim}), but got {place}"
        )
    for number, array in enumerate(arrays):
        _check_joint(arrays[0].shape, array.shape, number, place % ndim)
    return of_array(np.concatenate(arrays, place))


def _check_joint(first: tuple[int, ...], other: tuple[int, ...], number: int, place: int) -> None:
    shapes = f"shape[0] = {shape_text(first)} vs. shape[{number}] = {shape_text(other)}"
    if len(first) != len(other):
        raise invalid(f"ConcatOp : Ranks of all input tensors should match: {shapes}")
    for dimension, (one, two) in enumerate(zip(first, other, strict=True)):
        if one != two and dimension != place:
            raise invalid(f"ConcatOp : Dimension {dimension} in both shapes must be equal: {shapes}")


def split(
    value: Any, num_or_size_splits: Any, axis: int = 0, num: int | None = None, name: str = "split"
) -> list[EagerTensor]:
    """Parts along a dimension: so many of one size, or of the sizes given, of which one may be -1."""
    array = to_numpy(value)
    sizes = to_numpy(num_or_size_splits)
    if not -array.ndim <= axis < array.ndim:
        ndim = array.ndim
        raise invalid(f"-input rank(-{ndim}) <= split_dim < input rank ({ndim}), but got {axis}")
    length = array.shape[axis]
    if not sizes.ndim:
        count = int(sizes)
        if length % count:
            raise invalid(
                "Number of ways to split should evenly divide the split dimension, but got "
                f"split_dim {axis % array.ndim} (size = {length}) and num_split {count}"
            )
        return [of_array(part) for part in np.split(array, count, axis)]
    parts = sizes.tolist()
    if -1 in parts:
        parts[parts.index(-1)] = length - sum(part for part in parts if part != -1)
    if sum(parts) != length or min(parts, default=0) < 0:
        raise invalid(
            "Determined shape must either match input shape along split_dim exactly if fully specified, "
            "or be less than the size of the input along split_dim if not fully specified.  Got: "
            f"{sum(parts)}"
        )
    return [of_array(part) for part in np.split(array, np.cumsum(parts)[:-1], axis)]


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> EagerTensor:  # noqa: A001
    """``size`` elements from ``begin`` in each dimension; -1 is all that follow."""
    array = to_numpy(input_)
    if not len(lengths_of(begin)) == len(lengths_of(size)) == array.ndim:
        raise invalid(
            f"Expected begin and size arguments to be 1-D tensors of size {array.ndim}, but got shapes "
            f"[{len(lengths_of(begin))}] and [{len(lengths_of(size))}] instead."
        )
    key: tuple[Any, ...] = ()
    for place, (first, count) in enumerate(zip(lengths_of(begin), lengths_of(size), strict=True)):
        last = array.shape[place] if count == -1 else first + count
        if not 0 <= first <= last <= array.shape[place]:
            raise invalid(f"Expected size[{place}] in [0, {array.shape[place] - first}], but got {count}")
        key += (np.s_[first:last],)
    return of_array(array[key])


def gather(  # noqa: PLR0917 - TensorFlow's signature
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> EagerTensor:
    """The elements at ``indices`` along a dimension."""
    array, places = to_numpy(params), to_numpy(indices)
    if batch_dims:
        raise NotImplementedError("gather with batch_dims is not in purerecord.tf")
    dimension = within(0 if axis is None else axis, array.ndim)
    length = array.shape[dimension]
    outside = (places < 0) | (places >= length)
    if outside.any():
        first = np.argwhere(np.atleast_1d(outside))[0].tolist()
        where = "" if not places.ndim else f"[{','.join(map(str, first))}]"
        raise invalid(f"indices{where} = {places[outside].flat[0]} is not in [0, {length})")
    taken = np.take(array, places.reshape(-1), dimension)
    return of_array(taken.reshape(array.shape[:dimension] + places.shape + array.shape[dimension + 1 :]))


def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask") -> EagerTensor:
    """The elements where the mask is true."""
    array, chosen = to_numpy(tensor), convert_to_tensor(mask, "bool")._array
    if not chosen.ndim:
        raise ValueError("mask cannot be scalar.")
    place = axis or 0
    if array.shape[place : place + chosen.ndim] != chosen.shape:
        shown = f"{array.shape[place : place + chosen.ndim]} and {chosen.shape}"
        raise ValueError(f"Shapes {shown} are incompatible")
    return of_array(array[(np.s_[:],) * place + (chosen,)])


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> EagerTensor:
    """``x`` where the condition is true, ``y`` elsewhere; without these, where it is true."""
    chosen = to_numpy(condition)
    if x is None and y is None:
        if not chosen.ndim:
            raise invalid("WhereOp : Unhandled input dimensions: 0")
        return of_array(np.argwhere(chosen).astype(np.int64))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    chosen = convert_to_tensor(condition, "bool")._array
    one, two = matching("SelectV2", [x, y])
    try:
        np.broadcast_shapes(chosen.shape, one.shape, two.shape)
    except ValueError:
        shapes = [shape_text(array.shape) for array in (chosen, one, two)]
        raise invalid("condition {}, then {}, and else {} must be broadcastable".format(*shapes)) from None
    return of_array(np.asarray(np.where(chosen, one, two)).astype(one.dtype, copy=False))


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> EagerTensor:
    """With so many elements more before and after, in each dimension."""
    array = to_numpy(tensor)
    widths = [tuple(pair) for pair in to_numpy(paddings).tolist()]
    if len(widths) != array.ndim:
        shapes = f"[{len(widths)},2] {shape_text(array.shape)}"
        raise invalid(f"The first dimension of paddings must be the rank of inputs{shapes}")
    if mode.upper() == "CONSTANT":
        given = isinstance(constant_values, EagerTensor) or constant_values != 0
        fill = to_numpy(convert_to_tensor(constant_values, of_numpy(array.dtype)))[()] if given else None
        shape = tuple(a + length + b for (a, b), length in zip(widths, array.shape, strict=True))
        padded = filled(shape, array.dtype, fill)
        padded[tuple(np.s_[a : a + length] for (a, _), length in zip(widths, array.shape, strict=True))] = (
            array
        )
        return of_array(padded)
    modes: dict[str, Any] = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}
    if mode.upper() not in modes:
        raise ValueError(
            "Value of argument `mode` expected to be one of `CONSTANT`, `REFLECT`, or `SYMMETRIC`. "
            f"Received `mode` = {mode}"
        )
    return of_array(np.pad(array, widths, mode=modes[mode.upper()]))


def tile(input: Any, multiples: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Repeated as a whole, so many times in each dimension."""
    array, times = to_numpy(input), lengths_of(multiples)
    if len(times) != array.ndim:
        raise invalid(
            f"Expected multiples argument to be a vector of length {array.ndim} but got length {len(times)}"
        )
    return of_array(np.tile(array, times))


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> EagerTensor:  # noqa: A002
    """Each element repeated."""
    array, counts = to_numpy(input), np.array(lengths_of(repeats), np.int64)
    if axis is not None and not -array.ndim <= axis < array.ndim:
        raise ValueError(f"axis={axis} out of bounds: expected {-array.ndim}<=axis<{array.ndim}")
    return of_array(np.repeat(array, counts, axis))


def reverse(tensor: Any, axis: Any, name: str | None = None) -> EagerTensor:
    """Backwards along the dimensions given."""
    array = to_numpy(tensor)
    return of_array(np.flip(array, tuple(within(place, array.ndim) for place in lengths_of(axis))))


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> EagerTensor:
    """Sorted along a dimension."""
    array = to_numpy(values)
    check_kind("Sort", array, "fiu")
    array = np.sort(array, within(axis, array.ndim))
    return of_array(array if direction == "ASCENDING" else np.flip(array, axis))


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> EagerTensor:
    """The indices that sort a dimension."""
    array = to_numpy(values)
    check_kind("ArgSort", array, "fiu")
    axis = within(axis, array.ndim)
    if direction != "ASCENDING":  # equal elements stay in their order also when sorted downwards
        backwards = np.flip(array, axis)
        order = array.shape[axis] - 1 - np.flip(np.argsort(backwards, axis, kind="stable"), axis)
    else:
        order = np.argsort(array, axis, kind="stable")
    return of_array(order.astype(np.int32))


def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> tuple[EagerTensor, EagerTensor]:
    """The distinct elements as they first appear, and for each element the number of its own."""
    found: dict[Any, int] = {}
    array = to_numpy(x)
    if array.ndim != 1:
        raise invalid("unique expects a 1D vector.")
    numbers = [found.setdefault(element, len(found)) for element in array.tolist()]
    distinct = np.empty(len(found), array.dtype)
    distinct[:] = list(found)
    return of_array(distinct), of_array(np.array(numbers, np.int64 if out_idx == int64 else np.int32))


def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = None, name: str | None = None
) -> EagerTensor:
    """For each length, so many times true and then false, up to ``maxlen``."""
    counts = to_numpy(lengths)
    check_kind("SequenceMask", counts, "fiu")
    width = int(np.ceil(np.max(counts, initial=0))) if maxlen is None else int(maxlen)
    mask = np.arange(width) < counts[..., None]
    return of_array(mask if dtype is None else mask.astype(np.dtype(dtype)))
