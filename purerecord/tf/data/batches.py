"""Many elements to one batch, and a batch to its rows: ``batch``, ``padded_batch``, ``unbatch``.

Each tensor of a batch has one dimension more than the tensors of its elements; of ragged tensors that
dimension is ragged. This module does not know how a dataset groups its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from ...dataset.engine.structure import stack
from ...payload.ragged import Ragged
from ...payload.values import Array, filled
from .._values.nest import apply, children, flatten, is_nested, pack
from .._values.ragged_sparse import RaggedTensor, SparseTensor, unwrap, wrap
from .._values.rows import Row, stacked_rows, stacked_tensors
from .._values.shapes import RaggedTensorSpec, SparseTensorSpec, TensorShape, TensorSpec, TypeSpec
from .._values.tensor import EagerTensor, convert_to_tensor
from ..dtypes import DType, int64
from ..errors import DataLossError, invalid
from .structure import (
    Element,
    Spec,
    batched_spec,
    dtype_of,
    has_spec,
    is_tensor_spec,
    spec_of,
    unbatched_spec,
)


def stacked(elements: Sequence[Element], row_spec: Callable[[], Spec | None]) -> Element:
    """A batch. A known ``row_spec()`` says which dense tensors are rows of a ragged tensor."""
    return _stacked(elements, row_spec(), 0)


def _stacked(elements: Sequence[Element], spec: Spec | None, component: int) -> Element:
    """A batch; ``component`` is the number of the first tensor of the elements, for errors."""
    first = elements[0]
    if type(first) is Row and (arrays := stacked_rows(elements)) is not None:
        return _stack_rows(elements, arrays, spec, component)
    if type(first) is tuple and Row in map(type, first) and set(map(type, elements)) == {tuple}:
        parts = []
        for number, part in enumerate(zip(*elements, strict=True)):
            parts.append(_stacked(part, None if spec is None else spec[number], component))
            component += len(part[0]) if type(part[0]) is Row else len(flatten(part[0]))
        return tuple(parts)
    columns = list(zip(*map(flatten, elements), strict=True))
    specs = [None] * len(columns) if spec is None else flatten(spec)
    leaves = [
        _stack_leaves(column, component + number, specs[number]) for number, column in enumerate(columns)
    ]
    return pack(first, leaves)


def _stack_rows(
    rows: Sequence[Row], arrays: dict[str, Array | None], spec: Spec | None, component: int
) -> Element:
    """A batch of rows, of which ``arrays`` has the dense columns."""
    batch = {}
    for number, key in enumerate(sorted(arrays), component):
        array, expected = arrays[key], None if spec is None else spec[key]
        if array is None or isinstance(expected, RaggedTensorSpec):
            batch[key] = _stack_leaves(tuple([row[key] for row in rows]), number, expected)
        else:
            batch[key] = EagerTensor(array)
    return {key: batch[key] for key in arrays}


def _stack_leaves(leaves: tuple[Any, ...], component: int, spec: Any) -> Any:
    first = leaves[0]
    if first is None:
        return None
    if has_spec(first):
        return ObjectBatch(leaves)
    if isinstance(first, SparseTensor):
        return wrap(stack([unwrap(leaf) for leaf in leaves]))
    if isinstance(spec, RaggedTensorSpec):
        dtype = spec.row_splits_dtype.as_numpy_dtype
        return wrap(
            _stack_ragged([_ragged_row(unwrap(leaf), spec.ragged_rank, dtype) for leaf in leaves], dtype)
        )
    if isinstance(first, RaggedTensor):
        return wrap(_stack_ragged([unwrap(leaf) for leaf in leaves], first.row_splits.dtype.as_numpy_dtype))
    together = stacked_tensors(leaves)
    return EagerTensor(_stack_dense_leaves(leaves, component) if together is None else together)


def _stack_dense_leaves(leaves: tuple[Any, ...], component: int) -> Array:
    arrays = [leaf._array for leaf in leaves]
    shape = arrays[0].shape
    for number, array in enumerate(arrays):
        if array.shape != shape:
            raise invalid(
                f"Cannot batch tensors with different shapes in component {component}. First element had "
                f"shape {list(shape)} and element {number} had shape {list(array.shape)}.",
            )
    return _stack_dense(arrays)


class ObjectBatch:
    """A batch of datasets. It can be unbatched."""

    def __init__(self, objects: tuple[Any, ...]) -> None:
        self.objects = objects

    @property
    def _type_spec(self) -> TypeSpec:
        return batched_spec(spec_of(self.objects[0]), len(self.objects))

    def __len__(self) -> int:
        return len(self.objects)


def _stack_dense(arrays: list[Array]) -> Array:
    if arrays[0].ndim:
        return np.stack(arrays)
    batch = np.empty(len(arrays), arrays[0].dtype)
    batch[:] = [array[()] for array in arrays]
    return batch


def _stack_ragged(rows: list[Any], splits_dtype: Any) -> Ragged:
    """A Ragged of the rows, which are arrays or Ragged. TensorFlow, unlike the core, keeps int32 splits."""
    splits = np.zeros(len(rows) + 1, splits_dtype)
    np.cumsum([len(row) for row in rows], out=splits[1:])
    return Ragged(_concatenate(rows), splits)


def _ragged_row(row: Any, ragged_rank: int, splits_dtype: Any) -> Any:
    """A row, which may be dense, with so many ragged dimensions."""
    if isinstance(row, Ragged) or not ragged_rank:
        return row
    splits = np.arange(row.shape[0] + 1, dtype=splits_dtype) * row.shape[1]
    return Ragged(_ragged_row(row.reshape(-1, *row.shape[2:]), ragged_rank - 1, splits_dtype), splits)


def _concatenate(parts: list[Any]) -> Any:
    """The rows of all parts, which are arrays or Ragged."""
    if not isinstance(parts[0], Ragged):
        return np.concatenate(parts)
    lengths = np.concatenate([part.row_lengths() for part in parts])
    splits = np.zeros(len(lengths) + 1, parts[0].row_splits.dtype)
    np.cumsum(lengths, out=splits[1:])
    return Ragged(_concatenate([part.values for part in parts]), splits)


def ragged_spec(spec: TypeSpec, row_splits_dtype: DType) -> TypeSpec:
    """The spec of an element's tensor as a row of a ragged batch: ragged up to its last unknown length."""
    if not isinstance(spec, TensorSpec) or spec.shape.rank is None or spec.shape.is_fully_defined():
        return spec
    ragged_rank = max(axis for axis, size in enumerate(spec.shape) if size is None)
    return RaggedTensorSpec(spec.shape, spec.dtype, ragged_rank, row_splits_dtype)


# --- Sparse batches -----------------------------------------------------------------------------------


def sparse_spec(spec: Spec, row_shape: TensorShape) -> SparseTensorSpec:
    """The spec of the batches of ``sparse``."""
    if is_nested(spec):
        raise TypeError(
            "`dense_to_sparse_batch` requires an input dataset whose elements have a single component, but the "  # noqa: E501
            f"given dataset has the following component types: {apply(dtype_of, spec)}."
        )
    return SparseTensorSpec(TensorShape([None]).concatenate(row_shape), spec.dtype)


def sparse(elements: list[Element], shape: TensorShape) -> SparseTensor:
    """A sparse batch that holds all values of the elements, which are dense."""
    sparse_spec(spec_of(elements[0]) if not is_nested(elements[0]) else elements[0], shape)
    arrays = [element._array for element in elements]
    for array in arrays:
        fits = array.ndim == shape.rank and all(
            limit is None or size <= limit for size, limit in zip(array.shape, shape, strict=True)
        )
        if array.ndim != shape.rank:
            raise invalid(
                f"Input element had shape ({list(array.shape)}) that is incompatible with the row shape ({shape.as_list()})."  # noqa: E501
            )
        if not fits:
            raise DataLossError(
                None,
                None,
                f"Input element had shape ({list(array.shape)}) that is larger than the row shape ({shape.as_list()}).",  # noqa: E501
            )
    rows = np.repeat(np.arange(len(arrays)), [array.size for array in arrays])
    places = np.concatenate([np.indices(array.shape).reshape(array.ndim, -1).T for array in arrays])
    largest = [
        max(array.shape[axis] for array in arrays) if size is None else size
        for axis, size in enumerate(shape)
    ]
    indices = np.concatenate([rows[:, None], places], axis=1).astype(np.int64)
    values = np.concatenate([array.reshape(-1) for array in arrays])
    return SparseTensor(indices, EagerTensor(values), [len(arrays), *largest])


# --- New sizes ----------------------------------------------------------------------------------------


def as_sizes(batch_sizes: Any) -> list[int]:
    """The sizes that ``rebatch`` takes in turn."""
    sizes = convert_to_tensor(batch_sizes, int64).numpy()
    if sizes.ndim > 1:
        raise ValueError(
            "Invalid `batch_sizes`. Expected `batch_sizes` to be a scalar or a vector. Received `batch_sizes` "  # noqa: E501
            f"of rank {sizes.ndim}."
        )
    return [int(size) for size in sizes.reshape(-1)]


def rebatched_length(spec: Spec, sizes: list[int], drop: bool) -> int | None:
    """The length of all batches that ``rebatch`` makes of batches of this spec, if it is known."""
    if len({*sizes}) > 1:
        return None
    if drop:
        return sizes[0]
    shapes = [leaf.shape for leaf in flatten(spec) if is_tensor_spec(leaf) and leaf.shape.rank is not None]
    if any(not shape.rank for shape in shapes):
        raise ValueError(
            "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar "
            "elements. Fix the issue by adding the `batch` transformation to the dataset."
        )
    lengths = [shape[0] for shape in shapes if shape[0] is not None]
    if any(length != lengths[0] for length in lengths):
        raise ValueError(
            f"Invalid `input_dataset.` The batch dimension of component 0 is {lengths[0]}, while the batch "
            f"dimension of component i is {lengths}."
        )
    return sizes[0] if lengths and lengths[0] % sizes[0] == 0 else None


# --- Padding ----------------------------------------------------------------------------------------


class Padding:
    """The shapes and the values to which ``padded_batch`` pads the tensors of a batch."""

    def __init__(self, shapes: Any, values: Any) -> None:
        self._shapes = shapes
        self._values = values

    def checked(self, spec: Spec, given: bool = True) -> tuple[list[TensorShape], list[Any]]:
        """A shape and a value for every component of ``spec``. One that does not match is an error.

        Unless ``given``, ``spec`` is that of one element and not that of all, and says nothing of lengths.
        """
        components = flatten(spec)
        for component in components:
            _check_component(component)
        shapes = [component.shape for component in components]
        if self._shapes is not None:
            wanted = _flatten_up_to(spec, self._shapes)
            pairs = zip(wanted, shapes, strict=True)
            shapes = [
                _padded_shape(shape, of if given else TensorShape([None] * of.rank)) for shape, of in pairs
            ]
        for number, shape in enumerate(shapes):
            if shape.rank is None and self._shapes is None:
                raise ValueError(
                    f"You must provide `padded_shapes` argument because component {number} has unknown rank."
                )
        values = [self._values] * len(components)
        if is_nested(self._values):
            values = _flatten_up_to(spec, self._values, none_is_all=True)
        pairs = zip(values, components, strict=True)
        return shapes, [_padding_value(value, component.dtype) for value, component in pairs]

    def batch(self, elements: list[Element]) -> Element:
        """A batch of the elements."""
        shapes, values = self.checked(apply(spec_of, elements[0]), given=False)
        columns = zip(*map(flatten, elements), strict=True)
        leaves = []
        for column, shape, value in zip(columns, shapes, values, strict=True):
            arrays = [leaf._array for leaf in column]
            # Without given shapes, the shape is that of the first element only.
            known: list[int | None] = [None] * arrays[0].ndim
            if self._shapes is not None and shape.rank is not None:
                known = shape.as_list()
            leaves.append(EagerTensor(_stack_padded(arrays, known, value)))
        return pack(elements[0], leaves)


def _stack_padded(arrays: list[Array], shape: list[int | None], value: Any) -> Array:
    largest = np.max([array.shape for array in arrays], axis=0).tolist() if shape else []
    target = [most if size is None else size for most, size in zip(largest, shape, strict=True)]
    if any(size < most for size, most in zip(target, largest, strict=True)):
        raise DataLossError(None, None, "Attempted to pad to a smaller size than the input element.")
    batch = filled((len(arrays), *target), arrays[0].dtype, value)
    for row, array in zip(batch, arrays, strict=True) if target else ():
        row[tuple(map(slice, array.shape))] = array
    if not target:
        batch[:] = [array[()] for array in arrays]
    return batch


def _check_component(spec: TypeSpec) -> None:
    if isinstance(spec, TensorSpec):
        return
    if hasattr(spec, "element_spec"):
        raise TypeError("`padded_batch` is not supported for datasets of datasets")
    raise TypeError(
        "`padded_batch` is only supported for datasets that produce tensor elements but type spec of elements in "  # noqa: E501
        f"the input dataset is not a subclass of TensorSpec: `{spec}`."
    )


def _flatten_up_to(spec: Spec, given: Any, none_is_all: bool = False) -> list[Any]:
    """The parts of ``given`` at the leaves of ``spec``. A part may be a list or a tuple itself.

    With ``none_is_all``, None in the place of a structure stands for None at all of its leaves.
    """
    if given is None and none_is_all:
        return [None] * len(flatten(spec))
    if isinstance(spec, Mapping):
        if not isinstance(given, Mapping):
            raise TypeError(
                "If shallow structure is a sequence, input must also be a sequence. Input has type: "
                f"'{type(given).__name__}'."
            )
        if spec.keys() != given.keys():
            raise ValueError(
                "The two structures don't have the same keys. Input structure has keys "
                f"{[*given]}, while shallow structure has keys {[*spec]}."
            )
        return [leaf for key in sorted(spec) for leaf in _flatten_up_to(spec[key], given[key], none_is_all)]
    if is_nested(spec):
        parts = children(spec)
        if not is_nested(given):
            raise TypeError(
                "If shallow structure is a sequence, input must also be a sequence. Input has type: "
                f"'{type(given).__name__}'."
            )
        if len(parts) != len(children(given)):
            raise ValueError(
                "The two structures don't have the same sequence length. Input structure has length "
                f"{len(children(given))}, while shallow structure has length {len(parts)}."
            )
        pairs = zip(parts, children(given), strict=True)
        return [leaf for pair in pairs for leaf in _flatten_up_to(*pair, none_is_all)]
    return [given]


def _padded_shape(given: Any, of: TensorShape) -> TensorShape:
    """``given`` as a shape to which values of the shape ``of`` can be padded. -1 is an unknown length."""
    try:
        shape = TensorShape(given)
    except (TypeError, ValueError):
        tensor = _int64_if_possible(given)
        if tensor.ndim != 1:
            raise ValueError(
                f"Padded shape {given} must be a `tf.int64` vector tensor, but its shape was {tensor.shape}."
            ) from None
        if tensor.dtype != int64:
            raise TypeError(
                f"Padded shape {given} must be a `tf.int64` vector tensor, but its element type was "
                f"{tensor.dtype.name}."
            ) from None
        shape = TensorShape([None if size == -1 else size for size in tensor.numpy().tolist()])
    if None not in (shape.rank, of.rank) and (
        shape.rank != of.rank
        or any(
            None not in (wanted, size) and int(wanted or 0) < int(size or 0)
            for wanted, size in zip(shape, of, strict=True)
        )
    ):
        raise ValueError(
            f"The padded shape {shape} is not compatible with the shape {of} of the corresponding input component."  # noqa: E501
        )
    return shape


def _int64_if_possible(value: Any) -> EagerTensor:
    try:
        return convert_to_tensor(value, int64)
    except (TypeError, ValueError):
        return convert_to_tensor(value)


def _padding_value(value: Any, dtype: DType) -> Any:
    """``value`` as a numpy scalar. None stands for zero or the empty string."""
    if value is None:
        return None
    tensor = convert_to_tensor(value)
    if tensor.ndim:
        raise ValueError(
            f"Invalid `padding_values`. `padding_values` values should be scalars, but got {tensor.shape}."
        )
    if tensor.dtype != dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {tensor.dtype} does not match type "
            f"{dtype} of the corresponding input component."
        )
    return tensor._array[()]


# --- Rows -------------------------------------------------------------------------------------------


def rows_of(element: Element) -> Iterator[Element]:
    """The rows of an element: structures of one row of each tensor."""
    leaves = flatten(element)
    count = row_count(leaves)
    columns = [_rows(leaf, count) for leaf in leaves]
    if not is_nested(element):
        yield from columns[0]
        return
    for _ in range(count):
        yield pack(element, [next(column) for column in columns])


def row_count(leaves: list[Any]) -> int:
    """The number of rows of the tensors. They must agree."""
    counts = []
    for leaf in leaves:
        if leaf is None:
            continue
        if has_spec(leaf):
            unbatched_spec(spec_of(leaf))  # raises an error unless it is a batch
            counts.append(len(leaf))
            continue
        shape = leaf.shape
        if not shape.rank:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        counts.append(shape[0])
    for count in counts:
        if count != counts[0]:
            raise ValueError(f"Dimensions {counts[0]} and {count} are not compatible")
    return int(counts[0])


def _rows(leaf: Any, count: int) -> Iterator[Any]:
    if leaf is None:
        return repeat(None, count)
    if isinstance(leaf, ObjectBatch):
        return iter(leaf.objects)
    if isinstance(leaf, EagerTensor):
        array = leaf._array
        # The ellipsis makes the row of a vector a zero-dimensional array. Strings stay ``bytes`` in it.
        return (EagerTensor(array[row, ...]) for row in range(len(array)))
    return map(wrap, unwrap(leaf))
