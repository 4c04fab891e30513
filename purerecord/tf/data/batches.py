"""Many elements to one batch, and a batch to its rows: ``batch``, ``padded_batch``, ``unbatch``.

Each tensor of a batch has one dimension more than the tensors of its elements; of ragged tensors that
dimension is ragged. This module does not know how a dataset groups its elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...dataset.engine.structure import stack
from ...payload.ragged import Ragged
from ...payload.values import Array, filled
from .._values.nest import apply, flatten, is_nested, pack
from .._values.ragged_sparse import RaggedTensor, SparseTensor, unwrap, wrap
from .._values.rows import Row, stacked_rows, stacked_tensors
from .._values.shapes import RaggedTensorSpec, TensorShape, TensorSpec
from .._values.tensor import EagerTensor, convert_to_tensor
from ..dtypes import DType
from ..errors import DataLossError, invalid
from .structure import Element, Spec, spec_of


def stacked(elements: Sequence[Element], spec: Spec | None, component: int = 0) -> Element:
    """A batch of the elements. A known ``spec`` says which dense tensors are rows of a ragged tensor.

    ``component`` is the number of their first tensor, for errors.
    """
    first = elements[0]
    if type(first) is Row and (arrays := stacked_rows(elements)) is not None:
        return _stack_rows(elements, arrays, spec, component)
    if type(first) is tuple and Row in map(type, first) and set(map(type, elements)) == {tuple}:
        parts = []
        for number, part in enumerate(zip(*elements, strict=True)):
            parts.append(stacked(part, None if spec is None else spec[number], component))
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
    if isinstance(first, SparseTensor):
        return wrap(stack([unwrap(leaf) for leaf in leaves]))
    if isinstance(first, RaggedTensor) or isinstance(spec, RaggedTensorSpec):
        splits = first.row_splits.dtype if spec is None else spec.row_splits_dtype
        return wrap(_stack_ragged([unwrap(leaf) for leaf in leaves], splits.as_numpy_dtype))
    together = stacked_tensors(leaves)
    if together is not None:
        return EagerTensor(together)
    arrays = [leaf._array for leaf in leaves]
    shape = arrays[0].shape
    for number, array in enumerate(arrays):
        if array.shape != shape:
            raise invalid(
                f"Cannot batch tensors with different shapes in component {component}. First element had "
                f"shape {list(shape)} and element {number} had shape {list(array.shape)}.",
            )
    return EagerTensor(_stack_dense(arrays))


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


def _concatenate(parts: list[Any]) -> Any:
    """The rows of all parts, which are arrays or Ragged."""
    if not isinstance(parts[0], Ragged):
        return np.concatenate(parts)
    lengths = np.concatenate([part.row_lengths() for part in parts])
    splits = np.zeros(len(lengths) + 1, parts[0].row_splits.dtype)
    np.cumsum(lengths, out=splits[1:])
    return Ragged(_concatenate([part.values for part in parts]), splits)


# --- Padding ----------------------------------------------------------------------------------------


class Padding:
    """The shapes and the values to which ``padded_batch`` pads the tensors of a batch."""

    def __init__(self, shapes: Any, values: Any) -> None:
        self._shapes = shapes
        self._values = values

    def checked(self, spec: Spec) -> tuple[list[TensorShape], list[Any]]:
        """A shape and a value for every component of ``spec``. One that does not match is an error."""
        components = flatten(spec)
        for component in components:
            if not isinstance(component, TensorSpec):
                raise TypeError(
                    "`padded_batch` is only supported for datasets that produce tensor elements but type "
                    "spec of elements in the input dataset is not a subclass of TensorSpec: "
                    f"`{component}`."
                )
        shapes = [component.shape for component in components]
        if self._shapes is not None:
            shapes = [_as_shape(shape) for shape in _flatten_up_to(spec, self._shapes)]
        for shape, component in zip(shapes, components, strict=True):
            if not _ranks_agree(shape, component.shape):
                raise ValueError(
                    f"The padded shape {shape} is not compatible with the shape {component.shape} of the "
                    "corresponding input component."
                )
        values = [self._values] * len(components)
        if is_nested(self._values):
            values = _flatten_up_to(spec, self._values)
        pairs = zip(values, components, strict=True)
        return shapes, [_padding_value(value, component.dtype) for value, component in pairs]

    def batch(self, elements: list[Element]) -> Element:
        """A batch of the elements."""
        shapes, values = self.checked(apply(spec_of, elements[0]))
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


def _flatten_up_to(spec: Spec, given: Any) -> list[Any]:
    """The parts of ``given`` at the leaves of ``spec``. A part may be a list or a tuple itself."""
    if isinstance(spec, Mapping):
        if not isinstance(given, Mapping) or spec.keys() != given.keys():
            raise ValueError("The two structures don't have the same keys.")
        return [leaf for key in sorted(spec) for leaf in _flatten_up_to(spec[key], given[key])]
    if isinstance(spec, tuple):
        if not isinstance(given, tuple):
            kind = type(given).__name__
            raise TypeError(
                "If shallow structure is a sequence, input must also be a sequence. "
                f"Input has type: '{kind}'."
            )
        if len(spec) != len(given):
            raise ValueError(
                "The two structures don't have the same sequence length. Input structure has length "
                f"{len(given)}, while shallow structure has length {len(spec)}."
            )
        return [leaf for part in zip(spec, given, strict=True) for leaf in _flatten_up_to(*part)]
    return [given]


def _as_shape(shape: Any) -> TensorShape:
    """A TensorShape. -1 stands for an unknown length."""
    if isinstance(shape, EagerTensor):
        shape = shape.numpy().tolist()
    if isinstance(shape, (list, tuple)):
        shape = [None if size == -1 else size for size in shape]
    return TensorShape(shape)


def _ranks_agree(padded: TensorShape, shape: TensorShape) -> bool:
    return None in (padded.rank, shape.rank) or padded.rank == shape.rank


def _padding_value(value: Any, dtype: DType) -> Any:
    """``value`` as a numpy scalar. None stands for zero or the empty string."""
    if value is None:
        return None
    tensor = convert_to_tensor(value)
    if tensor.ndim:
        raise ValueError(
            f"Invalid `padding_values`. `padding_values` values should be scalars, but got {value}."
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
    columns = [_rows(leaf) for leaf in leaves]
    if not is_nested(element):
        yield from columns[0]
        return
    for _ in range(count):
        yield pack(element, [next(column) for column in columns])


def row_count(leaves: list[Any]) -> int:
    """The number of rows of the tensors. They must agree."""
    counts = []
    for leaf in leaves:
        shape = leaf.shape
        if not shape.rank:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        counts.append(shape[0])
    for count in counts:
        if count != counts[0]:
            raise ValueError(f"Dimensions {counts[0]} and {count} are not compatible")
    return int(counts[0])


def _rows(leaf: Any) -> Iterator[Any]:
    if isinstance(leaf, EagerTensor):
        array = leaf._array
        # The ellipsis makes the row of a vector a zero-dimensional array. Strings stay ``bytes`` in it.
        return (EagerTensor(array[row, ...]) for row in range(len(array)))
    return map(wrap, unwrap(leaf))
