"""What functions of tensors do with ragged ones: concat, stack, gather, reductions and so on.

Each handler gets the function for dense tensors, then the arguments of the call; ``dispatch.for_ragged``
calls it. The work is done on rows, in ``ragged_rows``. This module does not know how functions are named.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...payload.ragged import Ragged
from ..dtypes import int32
from ..errors import UnimplementedError, invalid
from . import segments
from .convert import Array, strings
from .ragged_rows import (
    Rows,
    Segments,
    aligned,
    as_ragged,
    combined,
    depth,
    flat,
    joined,
    rank,
    reduced,
    row_of_each,
    taken,
    tiled,
    with_flat,
)
from .ragged_tensor import (
    RaggedTensor,
    _coordinates,
    as_rows,
    of_rows,
    one_splits_dtype,
    positive_axis,
)
from .row_partition import splits_of_lengths
from .tensor import EagerTensor, convert_to_tensor, of_array

Dense = Callable[..., Any]


# --- Shape ------------------------------------------------------------------------------------------


def size(dense: Dense, input: Any, out_type: Any = int32, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The number of innermost values."""
    made: EagerTensor = dense(input.flat_values, out_type)
    return made


def rank_of(dense: Dense, input: Any, name: str | None = None) -> EagerTensor:  # noqa: A002
    """The number of dimensions."""
    return of_array(np.array(len(input.shape), np.int32))


def expand_dims(dense: Dense, input: Any, axis: Any, name: str | None = None) -> Any:  # noqa: A002
    """A new dimension of length 1."""
    place = positive_axis(axis, len(input.shape) + 1, "rank(input)")
    count = len(input._ragged)
    splits_type = input._ragged.row_splits.dtype
    if place == 0:
        return RaggedTensor._of(input, np.array([0, count], splits_type), count)
    if place == 1:
        return RaggedTensor._of(input, np.arange(count + 1).astype(splits_type), 1)
    values = input.values
    inner = (
        expand_dims(dense, values, place - 1)
        if isinstance(values, RaggedTensor)
        else dense(values, place - 1)
    )
    return input.with_values(inner)


def squeeze(dense: Dense, input: Any, axis: Any = None, name: str | None = None) -> Any:  # noqa: A002
    """The tensor without some dimensions of length 1."""
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    if isinstance(axis, int):
        axis = [axis]
    elif not isinstance(axis, (list, tuple)) or not all(isinstance(place, int) for place in axis):
        raise TypeError("Axis must be a list or tuple of integers.")
    places = {
        positive_axis(place, len(input.shape), "rank(input)", f"axis[{number}]")
        for number, place in enumerate(axis)
    }
    levels = input.ragged_rank
    lengths = [np.array([len(input._ragged)]), *map(np.diff, input._ragged.nested_row_splits)]
    for place, level in enumerate(lengths):
        if place in places and bool((level != 1).any()):
            raise invalid(f"assertion failed: [the given axis (axis = {place}) is not squeezable!]")
    values = input.flat_values
    inner = [place - levels for place in places if place > levels]
    if inner:
        values = dense(values, inner)
    kept = [splits for place, splits in enumerate(input.nested_row_splits) if place + 1 not in places]
    if kept and 0 in places:
        kept.pop(0)
    made = RaggedTensor.from_nested_row_splits(values, kept)
    return dense(made, [0]) if set(range(levels + 1)) <= places else made


def one_hot(  # noqa: PLR0917 - TensorFlow's signature
    dense: Dense,
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """A new dimension inside of the ragged ones."""
    if isinstance(axis, int) and axis >= 0:
        if axis <= indices.ragged_rank:
            raise ValueError(
                f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank})."
            )
        axis -= indices.ragged_rank
    return indices.with_flat_values(dense(indices.flat_values, depth, on_value, off_value, axis, dtype))


def tile(dense: Dense, input: Any, multiples: Any, name: str | None = None) -> Any:  # noqa: A002
    """The whole tensor repeated in each dimension."""
    times = convert_to_tensor(multiples)._array
    if times.dtype.kind not in "iu":
        raise TypeError(f"multiples must be integers, not {times.dtype}")
    if times.ndim != 1:
        raise ValueError(f"Shape {times.shape} must have rank 1")
    if len(times) != len(input.shape):
        raise invalid(
            f"Expected multiples argument to be a vector of length {len(input.shape)} "
            f"but got length {len(times)}"
        )
    return of_rows(tiled(input._ragged, times.tolist()))


def reverse(dense: Dense, tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The tensor reversed along dimensions."""
    if isinstance(axis, EagerTensor):
        axis = axis.numpy().tolist()
    elif not (isinstance(axis, (list, tuple)) and all(isinstance(place, int) for place in axis)):
        raise TypeError(
            "`axis` must be a list of int or a constant tensor when reversing axes in a ragged tensor"
        )
    places = [
        positive_axis(place, len(tensor.shape), "rank(tensor)", f"axis[{number}]")
        for number, place in enumerate(axis)
    ]
    keys = [builtins.slice(None)] * (builtins.max(places, default=-1) + 1)
    for place in places:
        keys[place] = builtins.slice(None, None, -1)
    return tensor[tuple(keys)]


def split(  # noqa: PLR0917
    dense: Dense, value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str | None = None
) -> Any:
    """Parts along a dimension that is not ragged."""
    if isinstance(num_or_size_splits, int) and num_or_size_splits == 1:
        return [value]
    sizes = convert_to_tensor(num_or_size_splits)._array
    if sizes.dtype.kind not in "iu":
        raise TypeError("`num_or_size_splits` must be an `int` or 1-D list or `Tensor` of integers.")
    place = positive_axis(axis, len(value.shape))
    length = value.shape[place]
    if length is None:
        raise ValueError(
            f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` {place}."
        )
    if isinstance(num_or_size_splits, int):
        if num_or_size_splits < 1:
            raise ValueError(
                f"`num_or_size_splits` must be >=1 if it is an `int`.Received {num_or_size_splits}."
            )
        sizes = np.full(num_or_size_splits, length // num_or_size_splits)
    elif sizes.ndim != 1:
        raise TypeError(
            f"`num_or_size_splits` must be an `int` or 1-D list or `Tensor`. Received {num_or_size_splits}."
        )
    elif num not in (None, len(sizes)):
        raise ValueError(
            "`num` does not match the size of `num_or_size_split`. Received `num`: "
            f"{num} and size of `num_or_size_split`: {len(sizes)}."
        )
    if bool((sizes < 0).any()):
        raise invalid("`num_or_size_splits` must be non-negative.")
    if int(sizes.sum()) != length:
        raise invalid(
            "Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`."
        )
    ends = np.cumsum([0, *sizes.tolist()]).tolist()
    before = (builtins.slice(None),) * place
    keys = [(*before, builtins.slice(a, b)) for a, b in itertools.pairwise(ends)]
    return [value[key] for key in keys]


# --- Joining ----------------------------------------------------------------------------------------


def concat(dense: Dense, values: Any, axis: Any, name: str | None = None) -> Any:
    """Ragged and dense tensors concatenated along a dimension."""
    return _join(dense, values, axis, stacked=False)


def stack(dense: Dense, values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """Ragged and dense tensors stacked along a new dimension."""
    return _join(dense, values, axis, stacked=True)


def _join(dense: Dense, values: Any, axis: Any, *, stacked: bool) -> Any:
    parts = list(values) if isinstance(values, (list, tuple)) else [values]
    if not parts:
        raise ValueError("rt_inputs may not be empty.")
    parts = [part if isinstance(part, RaggedTensor) else convert_to_tensor(part) for part in parts]
    splits_type = one_splits_dtype(*parts).as_numpy_dtype
    if len(parts) == 1 and not stacked:
        return parts[0]
    ndim = len(parts[0].shape)
    for part in parts:
        if len(part.shape) != ndim:
            raise ValueError(f"Shape {part.shape} must have rank {ndim}")
        if part.dtype != parts[0].dtype:
            raise invalid(
                f"cannot compute ConcatV2 as input #1(zero-based) was expected to be a {parts[0].dtype.name} "
                f"tensor but is a {part.dtype.name} tensor"
            )
    place = positive_axis(axis, ndim + stacked)
    rows = [as_rows(part) for part in parts]
    if stacked and ndim == 1 and place == 0:
        lengths = np.array([len(part) for part in rows], np.int32)
        return RaggedTensor._of(of_array(joined(rows)), splits_of_lengths(lengths))
    if not any(isinstance(part, RaggedTensor) for part in parts) and place in (ndim + stacked - 1, ndim - 1):
        return dense(parts, place)
    return of_rows(_joined(rows, place, stacked, splits_type))


def _joined(parts: list[Rows], axis: int, stacked: bool, splits_type: Any) -> Rows:
    ndim = rank(parts[0])
    if (
        axis in (ndim - 1, ndim + stacked - 1)
        and axis
        and not any(isinstance(part, Ragged) for part in parts)
    ):
        return np.stack(parts, axis) if stacked else np.concatenate(parts, axis)  # type: ignore[arg-type]
    levels = builtins.max(1, *(depth(part) for part in parts))
    if ndim == 1:
        return _joined_vectors(parts, axis, stacked, splits_type)
    parts = [as_ragged(part, levels, splits_type) for part in parts]
    if axis == 0:
        whole = joined(parts)
        counts = np.array([len(part) for part in parts], splits_type)
        return Ragged(whole, splits_of_lengths(counts)) if stacked else whole
    count = len(parts[0])
    if axis == 1:
        for part in parts:
            if len(part) != count:
                raise invalid("Input tensors have incompatible shapes: another number of rows")
        order = np.arange(count * len(parts)).reshape(len(parts), count).T.reshape(-1)
        turned = taken(joined(parts), order)
        assert isinstance(turned, Ragged)
        if stacked:
            return Ragged(turned, (np.arange(count + 1) * len(parts)).astype(splits_type))
        return Ragged(turned.values, turned.row_splits[:: len(parts)])
    inner = []
    for part in parts:
        assert isinstance(part, Ragged)
        if not np.array_equal(part.row_splits, parts[0].row_splits):  # type: ignore[union-attr]
            raise invalid("Inputs must have identical ragged splits")
        inner.append(part.values)
    return Ragged(_joined(inner, axis - 1, stacked, splits_type), parts[0].row_splits)  # type: ignore[union-attr]


def _joined_vectors(parts: list[Rows], axis: int, stacked: bool, splits_type: Any) -> Rows:
    """Vectors, which have no rows of their own: stacked along dimension 1, element by element."""
    arrays = [flat(part) for part in parts]
    if not stacked:
        return np.concatenate(arrays)
    if len({len(array) for array in arrays}) > 1:
        raise invalid("Input tensors have incompatible shapes")
    return np.stack(arrays, axis)


# --- Elements ---------------------------------------------------------------------------------------


def gather(  # noqa: PLR0917 - TensorFlow's signature
    dense: Dense,
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """The elements at ``indices`` along a dimension."""
    rows, places = (x if isinstance(x, RaggedTensor) else convert_to_tensor(x) for x in (params, indices))
    one_splits_dtype(rows, places)
    if not places.dtype.is_integer:
        raise invalid(
            f"Value for attr 'Tindices' of {places.dtype.name} is not in the list of "
            "allowed values: int32, int64"
        )
    ndim = len(places.shape)
    batch = batch_dims
    if batch != ndim:
        batch = positive_axis(batch_dims, ndim, "rank(indices)", "batch_dims")
    if batch >= len(rows.shape):
        raise ValueError("batch_dims must be less than rank(params)")
    along = positive_axis(batch if axis is None else axis, len(rows.shape), "rank(params)")
    if along < batch:
        raise ValueError("axis must be greater than or equal to batch_dims")
    return of_rows(_gathered(as_rows(rows), as_rows(places), along, batch))


def _gathered(rows: Rows, places: Rows, axis: int, batch: int) -> Rows:  # noqa: PLR0911
    if batch > 1 or (batch and axis > 1):
        return _gathered_deep(rows, places, axis, batch)
    if axis > 1:
        outer = as_ragged(rows, 1)
        assert isinstance(outer, Ragged)
        return Ragged(_gathered(outer.values, places, axis - 1, 0), outer.row_splits)
    if axis == 1:
        outer = as_ragged(rows, 1)
        assert isinstance(outer, Ragged)
        starts = outer.row_splits[:-1]
        if batch:
            if len(places) != len(rows):
                raise ValueError("batch shape from indices does not match params shape")
            own = as_ragged(places, 1) if rank(places) > 1 else places
            shift = _inner_ids(own)[0] if isinstance(own, Ragged) else np.arange(len(own))
            moved = flat(own) + starts[shift].reshape(-1, *(1,) * (flat(own).ndim - 1))
            moved_rows = with_flat(own, moved)
            if not isinstance(places, Ragged):
                moved_rows = moved.reshape(places.shape)
            return _gathered(outer.values, moved_rows, 0, 0)
        copies = [with_flat(places, np.asarray(flat(places) + start)) for start in starts]
        if not isinstance(places, Ragged):
            made = (
                np.stack([np.asarray(copy) for copy in copies])
                if copies
                else np.zeros((0, *places.shape), int)
            )
            return _gathered(outer.values, made, 0, 0)
        whole = joined(copies)
        splits = (np.arange(len(copies) + 1) * len(places)).astype(places.row_splits.dtype)
        return _gathered(outer.values, Ragged(whole, splits), 0, 0)
    if isinstance(places, Ragged):
        return Ragged(_gathered(rows, places.values, 0, 0), places.row_splits)
    return _rows_at(rows, places)


def _inner_ids(rows: Ragged) -> list[Array]:
    return _coordinates(rows)


def _gathered_deep(rows: Rows, places: Rows, axis: int, batch: int) -> Rows:
    outer = as_ragged(rows, 1)
    assert isinstance(outer, Ragged)
    if batch > 1:
        inner = as_ragged(places, 1)
        assert isinstance(inner, Ragged)
        if not np.array_equal(outer.row_splits, inner.row_splits):
            raise ValueError("batch shape from indices does not match params shape")
        return Ragged(_gathered(outer.values, inner.values, axis - 1, batch - 1), outer.row_splits)
    repeated = Ragged(taken(places, row_of_each(outer.row_splits)), outer.row_splits)
    return _gathered(outer, repeated, axis, batch + 1)


def _rows_at(rows: Rows, places: Array) -> Rows:
    outside = (places < 0) | (places >= len(rows))
    if bool(outside.any()):
        first = np.argwhere(np.atleast_1d(outside))[0].tolist()
        where = "" if not places.ndim else f"[{','.join(map(str, first))}]"
        raise invalid(f"indices{where} = {places[outside].flat[0]} is not in [0, {len(rows)})")
    found = taken(rows, places.reshape(-1))
    if isinstance(found, Ragged):
        if not places.ndim:
            row: Rows = found[0]
            return row
        for length in places.shape[:0:-1]:
            count = len(found) // length if length else 0
            found = Ragged(found, (np.arange(count + 1) * length).astype(found.row_splits.dtype))
        return found
    return found.reshape(places.shape + found.shape[1:])


def gather_nd(  # noqa: PLR0911, PLR0917
    dense: Dense,
    params: Any,
    indices: Any,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Any:
    """The elements at index vectors."""
    if batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    rows, places = (x if isinstance(x, RaggedTensor) else convert_to_tensor(x) for x in (params, indices))
    ndim = len(places.shape)
    if ndim == 0:
        raise ValueError("indices.rank must be at least 1.")
    if isinstance(places, RaggedTensor):
        if ndim == places.ragged_rank + 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        return places.with_flat_values(gather_nd(dense, rows, places.flat_values))
    if not isinstance(rows, RaggedTensor):
        return dense(rows, places)
    if ndim > 2:
        nested = RaggedTensor.from_tensor(
            places, ragged_rank=ndim - 2, row_splits_dtype=rows.row_splits.dtype
        )
        made = gather_nd(dense, rows, nested)
        return made.to_tensor() if made.ragged_rank == ndim - 2 else made
    array = places._array
    if not array.shape[-1]:
        return tile(dense, expand_dims(dense, rows, 0), [*array.shape[:-1], *[1] * len(rows.shape)])
    if array.shape[-1] == 1:
        return gather(dense, rows, array.reshape(-1))
    inner: Rows = rows._ragged
    found = array[..., 0].astype(np.int64)
    for column in range(1, array.shape[-1]):
        if not isinstance(inner, Ragged):
            rest = np.concatenate([found[..., None], array[..., column:]], axis=-1)
            return dense(of_array(inner), of_array(rest))
        lengths = inner.row_lengths()
        outside = (found < 0) | (found >= len(lengths))
        if bool(np.any(outside)) or bool(np.any(array[..., column] >= lengths[np.where(outside, 0, found)])):
            raise invalid(f"indices = {array.tolist()} do not index into a tensor of shape {rows.shape}")
        found = inner.row_splits[found] + array[..., column]
        inner = inner.values
    if not isinstance(inner, Ragged):
        return of_array(np.asarray(_rows_at(inner, np.asarray(found))))
    return of_rows(_rows_at(inner, np.asarray(found)))


def where(dense: Dense, condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """``x`` where the condition is true, else ``y``; without these, the indices of true elements."""
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    chosen = condition if isinstance(condition, RaggedTensor) else convert_to_tensor(condition)
    if x is None:
        hits = dense(chosen.flat_values)._array
        places = [place[hits[:, 0]] for place in _coordinates(chosen._ragged)]
        return of_array(np.concatenate([np.stack(places, axis=1), hits[:, 1:]], axis=1).astype(np.int64))
    one, two = (part if isinstance(part, RaggedTensor) else convert_to_tensor(part) for part in (x, y))
    one_splits_dtype(chosen, one, two)
    rows = [as_rows(part) for part in (chosen, one, two)]
    for a, b in ((0, 1), (0, 2), (1, 2), (0, 1)):
        rows[a], rows[b] = aligned(rows[a], rows[b])
    result = dense(*(of_array(flat(part)) for part in rows))
    return of_rows(with_flat(builtins.max(rows, key=depth), result._array))


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements for which the mask is true; with a mask of two dimensions or more, a ragged tensor."""
    values = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
    chosen = mask if isinstance(mask, RaggedTensor) else convert_to_tensor(mask, "bool")
    if not chosen.dtype.is_bool:
        raise ValueError(f"Tensor conversion requested dtype bool for Tensor with dtype {chosen.dtype.name}")
    splits_type = one_splits_dtype(values, chosen).as_numpy_dtype
    if not len(chosen.shape):
        raise ValueError("mask cannot be scalar.")
    return of_rows(_masked(as_rows(values), as_rows(chosen), splits_type))


def _masked(rows: Rows, mask: Rows, splits_type: Any) -> Rows:
    if rank(mask) == 1:
        kept = flat(mask)
        if len(kept) != len(rows):
            raise ValueError(f"Shapes ({len(rows)},) and ({len(kept)},) are incompatible")
        return taken(rows, np.flatnonzero(kept))
    if rank(rows) < 2:
        raise ValueError(f"Shapes {flat(rows).shape} and {flat(mask).shape} are incompatible")
    outer, inner = as_ragged(rows, 1, splits_type), as_ragged(mask, 1, splits_type)
    assert isinstance(outer, Ragged)
    assert isinstance(inner, Ragged)
    if not np.array_equal(outer.row_splits, inner.row_splits):
        if not isinstance(rows, Ragged) and not isinstance(mask, Ragged):
            raise ValueError(f"Shapes {rows.shape} and {mask.shape} are incompatible")
        raise invalid("Inputs must have identical ragged splits")
    values = _masked(outer.values, inner.values, splits_type)
    if rank(mask) > 2:
        return Ragged(values, outer.row_splits)
    kept = flat(inner.values)
    counts = segments.total(kept.astype(splits_type), row_of_each(inner.row_splits), len(inner))
    return Ragged(values, splits_of_lengths(counts))


def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """For each partition the elements that belong to it, in their order."""
    values = data if isinstance(data, RaggedTensor) else convert_to_tensor(data)
    groups = partitions if isinstance(partitions, RaggedTensor) else convert_to_tensor(partitions)
    count = int(convert_to_tensor(num_partitions)._array)
    rows, ids = as_rows(values), as_rows(groups)
    while rank(ids) > 1:
        outer, inner = as_ragged(rows, 1), as_ragged(ids, 1)
        assert isinstance(outer, Ragged)
        assert isinstance(inner, Ragged)
        if not np.array_equal(outer.row_splits, inner.row_splits):
            raise invalid("data and partitions have incompatible ragged shapes")
        rows, ids = outer.values, inner.values
    flat_ids = flat(ids)
    if not flat_ids.ndim:
        rows, flat_ids = np.asarray(rows)[None], flat_ids[None]
    if len(flat_ids) != len(rows):
        raise ValueError(f"Shapes ({len(rows)},) and ({len(flat_ids)},) are incompatible")
    if bool((flat_ids >= count).any()):
        raise invalid("partitions must be less than num_partitions")
    if bool((flat_ids < 0).any()):
        raise invalid("partitions must be non-negative.")
    order = np.argsort(flat_ids, kind="stable")
    ragged = [part for part in (values, groups) if isinstance(part, RaggedTensor)]
    splits_type = one_splits_dtype(*ragged).as_numpy_dtype if ragged else flat_ids.dtype
    sizes = np.bincount(flat_ids, minlength=count).astype(splits_type)
    return RaggedTensor(Ragged(taken(rows, order), splits_of_lengths(sizes)))


# --- Reductions -------------------------------------------------------------------------------------


def reduction(combine: Segments) -> Callable[..., Any]:
    """The handler of a reduction that combines the rows of segments by ``combine``."""

    def handler(
        dense: Dense, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
    ) -> Any:
        return reduce(dense, combine, input_tensor, axis, bool(keepdims))

    return handler


def reduce(dense: Dense, combine: Segments, tensor: RaggedTensor, axis: Any, keepdims: bool) -> Any:
    """The tensor combined along dimensions, or of all elements."""
    if axis is None:
        result = dense(tensor.flat_values, None, keepdims)
        return of_array(result._array[(None,) * (len(tensor.shape) - 1)]) if keepdims else result
    if isinstance(axis, (list, tuple)):
        if not axis:
            return tensor
        ndim = len(tensor.shape)
        places = [
            positive_axis(place, ndim, "rank(input_tensor)", f"axis[{n}]") for n, place in enumerate(axis)
        ]
        result = tensor
        for place in sorted(places, reverse=True):
            if isinstance(result, RaggedTensor):
                result = reduce(dense, combine, result, place, keepdims)
            else:
                result = dense(result, place, keepdims)
        return result
    place = positive_axis(axis, len(tensor.shape), "rank(input_tensor)")
    # Checks the dtype, with the error of the function.
    dense(of_array(tensor._ragged.flat_values[:1].reshape(-1)[:1]), 0)
    rows = reduced(tensor._ragged, place, combine, lambda array, axis: dense(of_array(array), axis)._array)
    result = of_rows(rows, tensor._uniform[: depth(rows)] if place > 1 else ())
    return _kept(result, place) if keepdims else result


def _kept(result: Any, place: int) -> Any:
    if isinstance(result, RaggedTensor):
        return expand_dims(lambda value, axis: of_array(np.expand_dims(value._array, axis)), result, place)
    return of_array(np.expand_dims(result._array, place))


def check_axes(tensor: RaggedTensor, axis: Any) -> None:
    """Raise an error unless the tensor has the dimensions."""
    if axis is not None:
        many = isinstance(axis, (list, tuple))
        for number, place in enumerate(axis if many else [axis]):
            positive_axis(place, len(tensor.shape), name=f"axis[{number}]" if many else "axis")


def _sums(tensor: RaggedTensor, axis: Any, keepdims: Any) -> Any:
    def dense(x: Any, axis: Any = None, keepdims: bool = False) -> EagerTensor:
        array = x._array
        places = tuple(axis) if isinstance(axis, (list, tuple)) else axis
        return of_array(np.asarray(np.sum(array, places, dtype=array.dtype, keepdims=keepdims)))

    if tensor.dtype.is_bool or tensor.dtype.name == "string":
        raise invalid(
            f"Value for attr 'T' of {tensor.dtype.name} is not in the list of allowed values of Sum"
        )
    return reduce(dense, segments.total, tensor, axis, bool(keepdims))


def reduce_mean(
    dense: Dense, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Any:
    """The mean along dimensions, a float also for integers."""
    total = _sums(input_tensor, axis, keepdims)
    ones = input_tensor.with_flat_values(np.ones_like(input_tensor._ragged.flat_values))
    count = _sums(ones, axis, keepdims)
    if isinstance(total, RaggedTensor):
        values = (total.flat_values / count.flat_values)._array
        return of_rows(with_flat(total._ragged, values))
    return total / count


def reduce_variance(
    dense: Dense, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Any:
    """The variance along dimensions: the mean of squares without the square of the mean."""
    if input_tensor.dtype.is_complex:
        raise ValueError("reduce_variance is not supported for RaggedTensors with complex dtypes.")
    mean_of_squares = reduce_mean(dense, input_tensor * input_tensor, axis, keepdims)
    mean = reduce_mean(dense, input_tensor, axis, keepdims)
    variance = mean_of_squares - mean * mean
    return _of_flat(variance, lambda array: np.maximum(array, 0))


def reduce_std(
    dense: Dense, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Any:
    """The standard deviation along dimensions."""
    return _of_flat(reduce_variance(dense, input_tensor, axis, keepdims), np.sqrt)


def _of_flat(value: Any, function: Callable[[Array], Any]) -> Any:
    if isinstance(value, RaggedTensor):
        return value.with_flat_values(np.asarray(function(value._ragged.flat_values)))
    return of_array(np.asarray(function(value._array)))


def truth(combine: Segments) -> Callable[..., Any]:
    """The handler of ``reduce_any`` and ``reduce_all``: ``combine`` of the booleans as integers."""

    def handler(
        dense: Dense, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
    ) -> Any:
        flat_values = input_tensor._ragged.flat_values
        if flat_values.dtype == object:
            raise UnimplementedError(None, None, "Cast string to int32 is not supported")
        tensor = input_tensor.with_flat_values(of_array(flat_values.astype(np.int32) != 0))
        return reduce(dense, of_booleans, tensor, axis, bool(keepdims))

    def of_booleans(array: Array, ids: Array, count: int) -> Array:
        return np.asarray(combine(array.astype(np.int32), ids, count) != 0)

    return handler


def reduce_join(  # noqa: PLR0917
    dense: Dense,
    inputs: Any,
    axis: Any = None,
    keepdims: Any = False,
    separator: Any = "",
    name: str | None = None,
) -> Any:
    """The strings joined along dimensions, or all of them."""
    between: Any = convert_to_tensor(separator)._array[()]

    def join(array: Array, ids: Array, count: int) -> Array:
        groups: list[list[bytes]] = [[] for _ in range(count)]
        for text, number in zip(array.tolist(), ids.tolist(), strict=True):
            groups[number].append(text)
        return strings([between.join(group) for group in groups], (count,))

    def inner(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return dense(x, axis, keepdims, separator)

    return reduce(inner, join, inputs, axis, bool(keepdims))


def logsumexp(
    dense: Dense, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
) -> Any:
    """The logarithm of the sum of exponentials along dimensions."""

    def greatest(x: Any, axis: Any = None, keepdims: bool = False) -> EagerTensor:
        places = tuple(axis) if isinstance(axis, list) else axis
        return of_array(np.asarray(np.max(x._array, places, keepdims=keepdims, initial=-np.inf)))

    check_axes(input_tensor, axis)
    if not input_tensor.dtype.is_floating:
        raise invalid(f"Value for attr 'T' of {input_tensor.dtype.name} is not in the list of allowed values")
    most = reduce(greatest, segments.maximum, input_tensor, axis, True)
    most = _of_flat(most, lambda array: np.where(np.isfinite(array), array, 0).astype(array.dtype))
    raised = _of_flat(input_tensor - most, np.exp)
    with np.errstate(all="ignore"):
        sums = _of_flat(_sums(raised, axis, True), np.log) + most
    if keepdims:
        return sums
    shape = _sums(raised, axis, False)
    if isinstance(shape, RaggedTensor):
        return shape.with_flat_values(
            np.asarray(flat(as_rows(sums))).reshape(shape._ragged.flat_values.shape)
        )
    return of_array(flat(as_rows(sums)).reshape(shape._array.shape))


def segment_means(power: float) -> Callable[..., Any]:
    """The handler of ``unsorted_segment_mean`` and ``unsorted_segment_sqrt_n``."""
    total_of = segments_of(segments.total)

    def handler(dense: Dense, data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        if not isinstance(data, RaggedTensor):
            raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged.")
        total = total_of(dense, data, segment_ids, num_segments)
        ones = data.with_flat_values(np.ones_like(data._ragged.flat_values))
        count = total_of(dense, ones, segment_ids, num_segments)
        if not isinstance(total, RaggedTensor):
            return total / count
        divisor = count._ragged.flat_values
        if power != 1:
            divisor = np.sqrt(divisor.astype(np.result_type(divisor, np.float32))).astype(divisor.dtype)
        return total.with_flat_values(total.flat_values / of_array(divisor))

    return handler


def repeat(dense: Dense, input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:  # noqa: A002
    """The innermost values, each repeated."""
    if axis is None:
        return dense(input.flat_values, repeats)
    place = positive_axis(axis, len(input.shape))
    if place:
        raise NotImplementedError("repeat of a ragged tensor is here along dimension 0 only")
    counts = convert_to_tensor(repeats)._array
    return of_rows(taken(input._ragged, np.repeat(np.arange(len(input._ragged)), counts)))


def reshape(dense: Dense, tensor: Any, shape: Any, name: str | None = None) -> Any:
    """A ragged tensor without its rows: only the shape ``[-1]`` is possible."""
    lengths = convert_to_tensor(shape)._array.reshape(-1).tolist()
    if lengths != [-1]:
        raise invalid(f"a ragged tensor can be reshaped to [-1] only, not to {lengths}")
    return dense(tensor.flat_values, [-1])


def matmul(dense: Dense, a: Any, b: Any, *options: Any, **named: Any) -> Any:
    """The product of matrices whose rows all have one length."""
    both = [x if isinstance(x, RaggedTensor) else convert_to_tensor(x) for x in (a, b)]
    if both[0].dtype != both[1].dtype:
        raise ValueError("`a` and `b` must have the same dtype.")
    if len(both[0].shape) != len(both[1].shape) or len(both[0].shape) < 2:
        raise ValueError("`a` and `b` must have the same rank.")
    if len(both[0].shape) > 2:
        raise NotImplementedError("matmul of ragged tensors is here for matrices only")
    arrays = []
    for part in both:
        array = part.to_tensor() if isinstance(part, RaggedTensor) else part
        if isinstance(part, RaggedTensor) and array._array.size != part._ragged.flat_values.size:
            raise invalid("The matrices in `a` and `b` may not be ragged in their innermost dimension.")
        arrays.append(array)
    return dense(*arrays, *options, **named)


def segments_of(combine: Segments) -> Callable[..., Any]:
    """The handler of ``unsorted_segment_sum`` and so on."""

    def handler(dense: Dense, data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        rows, ids = data, segment_ids
        rows, ids = (x if isinstance(x, RaggedTensor) else convert_to_tensor(x) for x in (rows, ids))
        one_splits_dtype(rows, ids)
        if ids.dtype not in ("int32", "int64"):
            raise ValueError("segment_ids must have dtype int32 or int64.")
        inner_rows, inner_ids = as_rows(rows), as_rows(ids)
        while isinstance(inner_ids, Ragged):
            if not isinstance(inner_rows, Ragged):
                raise ValueError(
                    "segment_ids.shape must be a prefix of data.shape, but segment_ids "
                    "is ragged and data is not."
                )
            if not np.array_equal(inner_ids.row_splits, inner_rows.row_splits):
                raise invalid("segment_ids.shape must be a prefix of data.shape")
            inner_rows, inner_ids = inner_rows.values, inner_ids.values
        count = int(convert_to_tensor(num_segments)._array)
        if len(inner_ids) != len(inner_rows):
            raise invalid(
                f"data.shape does not start with segment_ids.shape: {len(inner_rows)} and {len(inner_ids)}"
            )
        if rows.dtype.is_bool or rows.dtype.name == "string":
            raise invalid(f"Value for attr 'T' of {rows.dtype.name} is not in the list of allowed values")
        if bool((inner_ids >= count).any()):
            raise invalid(f"segment_ids are not in [0, {count})")
        return of_rows(combined(inner_rows, inner_ids, count, combine))

    return handler


def cumsum(  # noqa: PLR0917
    dense: Dense,
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """The cumulative sum along a dimension."""
    place = positive_axis(axis, len(x.shape), "rank")
    if place > x.ragged_rank:
        return x.with_flat_values(dense(x.flat_values, place - x.ragged_rank, exclusive, reverse))
    if place < x.ragged_rank:
        sums = dense(x.to_tensor(), place, exclusive, reverse)
        return RaggedTensor.from_tensor(sums, lengths=x.nested_row_lengths())
    splits = x._ragged.nested_row_splits[-1].tolist()
    rows = [
        dense(of_array(x._ragged.flat_values[a:b]), 0, exclusive, reverse)._array
        for a, b in itertools.pairwise(splits)
    ]
    return x.with_flat_values(np.concatenate(rows) if rows else x.flat_values)


def each_value(dense: Dense, *args: Any, **named: Any) -> Any:
    """A function of the values of ragged tensors with the same rows."""
    first: RaggedTensor | None = None

    def values(argument: Any) -> Any:
        nonlocal first
        if isinstance(argument, (list, tuple)):
            return type(argument)(map(values, argument))
        if not isinstance(argument, RaggedTensor):
            return argument
        if first is None:
            first = argument
        if argument.ragged_rank != first.ragged_rank:
            raise ValueError(
                f"Inputs must have the same ragged_rank: {first.ragged_rank} and {argument.ragged_rank}"
            )
        one_splits_dtype(first, argument)
        if not all(map(np.array_equal, first.nested_row_splits, argument.nested_row_splits)):
            raise invalid("Inputs must have identical ragged splits")
        return argument.flat_values

    inner = [values(argument) for argument in args]
    inner_named = {key: values(argument) for key, argument in named.items()}
    result = dense(*inner, **inner_named)
    return result if first is None else first.with_flat_values(result)
