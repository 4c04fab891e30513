"""``tf.RaggedTensor``: the core's ``Ragged`` with TensorFlow's API.

A dimension of rows may be known to be uniform: then its length is part of the shape. This module does not
know functions of ragged tensors; it has their operators, which broadcast.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ... import public
from ...payload.ragged import Ragged
from ...payload.sparse import Sparse
from ...payload.values import filled, object_array
from ..dtypes import DType, as_dtype, int32, int64, of_numpy
from ..errors import invalid
from . import row_partition as partition
from .convert import Array
from .ragged_rows import Rows, aligned, depth, flat, positions, row_of_each, taken, with_flat
from .row_partition import as_partition
from .shapes import RaggedTensorSpec, TensorShape
from .sparse_tensor import SparseTensor
from .tensor import EagerTensor, Tensor, convert_to_tensor, of_array

Uniform = tuple["int | None", ...]


@public
class RaggedTensor(Tensor):
    """Rows of different lengths."""

    __slots__ = ("__weakref__", "_ragged", "_uniform")
    __array_priority__ = 102

    def __init__(self, ragged: Ragged, uniform: Uniform = ()) -> None:
        """A tensor of the core's ``Ragged``, and the known lengths. Programs use the class methods."""
        self._ragged = ragged
        self._uniform = uniform or (None,) * depth(ragged)

    # --- Construction ---------------------------------------------------------------------------

    @classmethod
    def _of(cls, values: Any, splits: Array, length: int | None = None) -> RaggedTensor:
        """The rows of ``values`` that ``splits`` divides; all of ``length``, if it is given."""
        inner = values._ragged if isinstance(values, RaggedTensor) else values._array
        if isinstance(values, RaggedTensor) and inner.row_splits.dtype != splits.dtype:
            raise ValueError(
                "Argument `row_partition` of RaggedTensor must have same dtype as Argument `values`. "
                f"({splits.dtype} vs. {inner.row_splits.dtype})."
            )
        if splits[-1] != len(inner):
            raise invalid(
                "Arguments to _from_row_partition do not form a valid RaggedTensor\n"
                "Condition x == y did not hold.\n"
                f"First 1 elements of x:\n[{splits[-1]}]\nFirst 1 elements of y:\n[{len(inner)}]"
            )
        deeper = values._uniform if isinstance(values, RaggedTensor) else ()
        return cls(Ragged(inner, splits), (length, *deeper))

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``."""
        rows = as_values(values)
        splits = as_partition(row_splits, "row_splits", _splits_hint(rows))
        return cls._of(rows, partition.check_splits(splits))

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` has ``row_lengths[i]`` values."""
        rows = as_values(values)
        return cls._of(
            rows, partition.of_lengths(as_partition(row_lengths, "row_lengths", _splits_hint(rows)))
        )

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` begins at ``values[row_starts[i]]``."""
        rows = as_values(values)
        starts = as_partition(row_starts, "row_starts", _splits_hint(rows))
        return cls._of(rows, partition.of_starts(starts, _count(rows)))

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` ends before ``values[row_limits[i]]``."""
        rows = as_values(values)
        return cls._of(rows, partition.of_limits(as_partition(row_limits, "row_limits", _splits_hint(rows))))

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Value ``i`` belongs to row ``value_rowids[i]``."""
        rows = as_values(values)
        ids = as_partition(value_rowids, "value_rowids", _splits_hint(rows))
        if len(ids) != _count(rows):
            raise ValueError(f"Shapes ({_count(rows)},) and ({len(ids)},) are incompatible")
        return cls._of(rows, partition.of_rowids(ids, nrows))

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> RaggedTensor:
        """Every row has ``uniform_row_length`` values."""
        rows = as_values(values)
        length = as_partition(uniform_row_length, "uniform_row_length", _splits_hint(rows), 0)
        return cls._of(rows, partition.of_uniform_length(length, nrows, _count(rows)), int(length))

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """A ragged dimension for each element of ``nested_row_splits``, outermost first."""
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, "nested_row_splits")

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """A ragged dimension for each element of ``nested_row_lengths``, outermost first."""
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, "nested_row_lengths")

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """A ragged dimension for each element of ``nested_value_rowids``, outermost first."""
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else nested_nrows
        if isinstance(counts, Tensor):
            raise TypeError(f"Argument `nested_nrows` must be a list of Tensors. Received {counts}.")
        if len(counts) != len(nested_value_rowids):
            raise ValueError(
                "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. "
                f"len(nested_nrows) = {len(counts)} vs. len(nested_values_rowids) = "
                f"{len(nested_value_rowids)}."
            )
        left = list(counts)[::-1]
        return _nested(
            lambda values, ids: cls.from_value_rowids(values, ids, left.pop(0)),
            flat_values,
            nested_value_rowids,
            "nested_value_rowids",
        )

    @classmethod
    def from_tensor(  # noqa: PLR0917
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = int64,
    ) -> Any:
        """The rows of a dense tensor, of given ``lengths`` or without the ``padding`` at their ends."""
        array = convert_to_tensor(tensor)._array
        splits_type = as_dtype(row_splits_dtype).as_numpy_dtype
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both.")
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if ragged_rank <= 0:
            raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
        if array.ndim < 2:
            raise ValueError(
                "The rank of a RaggedTensor must be greater than 1, i.e., a list of "
                "scalars won't have ragged "
                f"dimensions. Received argument `tensor` with rank {array.ndim}."
            )
        if array.ndim <= ragged_rank:
            raise ValueError(f"Shape {array.shape} must have rank at least {ragged_rank + 1}")
        if isinstance(lengths, (list, tuple)) and len(lengths) and not isinstance(lengths[0], (int, float)):
            return _of_nested_lengths(array, lengths, ragged_rank)
        if ragged_rank > 1:
            outer = int(np.prod(array.shape[:ragged_rank], dtype=np.int64))
            flattened = array.reshape(outer, *array.shape[ragged_rank:])
            inner = cls.from_tensor(flattened, lengths, padding, row_splits_dtype=row_splits_dtype)
            for place in range(ragged_rank - 1, 0, -1):
                count = int(np.prod(array.shape[:place], dtype=np.int64))
                splits = (np.arange(count + 1) * array.shape[place]).astype(splits_type)
                inner = cls._of(inner, splits, array.shape[place])
            return inner
        if padding is not None:
            lengths = _lengths_without_padding(array, padding)
        if lengths is None:
            splits = (np.arange(len(array) + 1) * array.shape[1]).astype(splits_type)
            flattened = array.reshape(len(array) * array.shape[1], *array.shape[2:])
            return cls._of(of_array(flattened), splits, array.shape[1])
        counts = np.clip(_integers(lengths, splits_type), 0, array.shape[1]).astype(splits_type)
        if counts.shape != array.shape[:1]:
            raise ValueError(f"Shapes {array.shape[:1]} and {counts.shape} are incompatible")
        kept = np.arange(array.shape[1]) < counts[:, None]
        return cls._of(of_array(array[kept]), partition.splits_of_lengths(counts))

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = int64
    ) -> RaggedTensor:
        """The rows of a sparse matrix whose values stand at the begin of each row."""
        if not isinstance(st_input, SparseTensor):
            raise TypeError(
                f"Argument `st_input` must be of type SparseTensor, but is of type {type(st_input).__name__}."
            )
        sparse = st_input._sparse
        if len(sparse.dense_shape) != 2:
            raise ValueError("rank(st_input) must be 2.")
        rows, columns = sparse.indices.T
        begins = np.append(True, rows[1:] != rows[:-1])[: len(rows)]
        if (
            bool((rows[1:] < rows[:-1]).any())
            or bool((columns[begins] != 0).any())
            or bool((columns[1:] - columns[:-1] != 1)[~begins[1:]].any())
        ):
            raise invalid("SparseTensor is not right-ragged")
        ids = rows.astype(as_dtype(row_splits_dtype).as_numpy_dtype)
        return cls.from_value_rowids(st_input.values, of_array(ids), sparse.dense_shape[0])

    # --- Properties -----------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """The shape, with None for a length that varies."""
        return TensorShape([len(self._ragged), *self._uniform, *self._ragged.flat_values.shape[1:]])

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return of_numpy(self._ragged.flat_values.dtype)

    @property
    def spec(self) -> RaggedTensorSpec:
        """The ``RaggedTensorSpec`` of the tensor."""
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    _type_spec = spec

    @property
    def values(self) -> Any:
        """The concatenated rows: a tensor, or a ragged tensor if the rows are ragged."""
        return of_rows(self._ragged.values, self._uniform[1:])

    @property
    def flat_values(self) -> EagerTensor:
        """The innermost values."""
        return of_array(self._ragged.flat_values)

    @property
    def row_splits(self) -> EagerTensor:
        """The offsets in ``values`` at which rows begin and end."""
        return of_array(self._ragged.row_splits)

    @property
    def nested_row_splits(self) -> tuple[EagerTensor, ...]:
        """The row splits of every ragged dimension, outermost first."""
        return tuple(map(of_array, self._ragged.nested_row_splits))

    @property
    def uniform_row_length(self) -> EagerTensor | None:
        """The length of every row, if the tensor was made of rows of one length; else None."""
        length = self._uniform[0]
        return None if length is None else of_array(np.array(length, self._ragged.row_splits.dtype))

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self._uniform)

    def nrows(self, out_type: Any = None, name: str | None = None) -> EagerTensor:
        """The number of rows."""
        dtype = self._ragged.row_splits.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype
        return of_array(np.array(len(self._ragged), dtype))

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The length of each row; for a further dimension, a ragged tensor of the lengths along it."""
        place = positive_axis(axis, len(self.shape), "rank(self)")
        if place == 0:
            return self.nrows()
        if place == 1:
            return of_array(self._ragged.row_lengths())
        values = self.values
        if isinstance(values, RaggedTensor):
            return self.with_values(values.row_lengths(place - 1))
        lengths = np.full(values.shape[: place - 1], values.shape[place - 1], self._ragged.row_splits.dtype)
        return self.with_values(of_array(lengths))

    def nested_row_lengths(self, name: str | None = None) -> tuple[EagerTensor, ...]:
        """The row lengths of every ragged dimension, outermost first."""
        return tuple(of_array(np.diff(splits)) for splits in self._ragged.nested_row_splits)

    def row_starts(self, name: str | None = None) -> EagerTensor:
        """The offset in ``values`` at which each row begins."""
        return of_array(self._ragged.row_splits[:-1])

    def row_limits(self, name: str | None = None) -> EagerTensor:
        """The offset in ``values`` at which each row ends."""
        return of_array(self._ragged.row_splits[1:])

    def value_rowids(self, name: str | None = None) -> EagerTensor:
        """The row of each value."""
        return self.nested_value_rowids()[0]

    def nested_value_rowids(self, name: str | None = None) -> tuple[EagerTensor, ...]:
        """The row of each value, for every ragged dimension, outermost first."""
        return tuple(
            of_array(row_of_each(splits).astype(splits.dtype)) for splits in self._ragged.nested_row_splits
        )

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> EagerTensor:
        """The shape of ``to_tensor()``, or its length along ``axis``."""
        dtype = self._ragged.row_splits.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype
        lengths = np.array(_bounds(self._ragged), dtype)
        if axis is None:
            return of_array(lengths)
        places = convert_to_tensor(axis)._array
        if bool(((places < 0) | (places >= len(lengths))).any()):
            raise invalid(f"indices = {places} is not in [0, {len(lengths)})")
        return of_array(lengths[places])

    def consumers(self) -> list[Any]:
        """An empty list, as there are no graphs."""
        return []

    # --- Other values and partitions --------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other values: as many, but they may be ragged."""
        values = as_values(new_values)
        if _count(values) != _count(self.values):
            raise ValueError(f"Shapes ({_count(self.values)},) and ({_count(values)},) are incompatible")
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != self.row_splits.dtype:
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use "
                "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
            )
        return RaggedTensor._of(values, self._ragged.row_splits, self._uniform[0])

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other innermost values."""
        values = self.values
        return self.with_values(
            values.with_flat_values(new_values) if isinstance(values, RaggedTensor) else new_values
        )

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same tensor with row splits of int32 or int64."""
        wanted = as_dtype(dtype)
        if wanted not in (int32, int64):
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {wanted}.")

        def changed(rows: Rows) -> Rows:
            if not isinstance(rows, Ragged):
                return rows
            return Ragged(changed(rows.values), rows.row_splits.astype(wanted.as_numpy_dtype))

        made: Any = changed(self._ragged)
        return RaggedTensor(made, self._uniform)

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The tensor with the dimensions from ``outer_axis`` to ``inner_axis`` made into one."""
        ndim = len(self.shape)
        outer, inner = (positive_axis(axis, ndim, "rank(self)") for axis in (outer_axis, inner_axis))
        if outer > inner:
            raise ValueError(
                f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner})."
            )
        return merged(self, outer, inner)

    # --- Conversion ---------------------------------------------------------------------------

    def to_list(self) -> list[Any]:
        """Nested lists."""
        return self._ragged.to_list()

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> EagerTensor:
        """A dense tensor. Short rows are padded; ``shape`` may fix lengths to cut or pad to."""
        fill = None if default_value is None else convert_to_tensor(default_value, self.dtype)._array
        have = _bounds(self._ragged)
        lengths = _wanted_lengths(shape, len(have))
        target = [here if want is None else want for here, want in zip(have, lengths, strict=True)]
        dense = filled(tuple(target), self._ragged.flat_values.dtype, None)
        if fill is not None:
            try:
                dense[...] = fill
            except ValueError:
                raise invalid(f"default_value of shape {fill.shape} does not fit into {target}") from None
        places = _coordinates(self._ragged)
        if target[len(places) :] != have[len(places) :]:
            raise invalid(f"Inner dimensions {have[len(places) :]} and {target[len(places) :]} differ")
        kept = np.all([place < want for place, want in zip(places, target, strict=False)], axis=0)
        inner = tuple(slice(min(here, want)) for here, want in zip(have, target, strict=True))[len(places) :]
        into: Any = tuple(place[kept] for place in places) + inner
        taken_from: Any = (slice(None), *inner)
        dense[into] = self._ragged.flat_values[kept][taken_from]
        return of_array(dense)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The same values with their indices."""
        values = self._ragged.flat_values
        places = _coordinates(self._ragged)
        inner = np.indices((1, *values.shape[1:])).reshape(values.ndim, -1)[1:]
        count = int(np.prod(values.shape[1:], dtype=np.int64))
        columns = [np.repeat(place, count) for place in places]
        columns += [np.tile(column, len(values)) for column in inner]
        indices = np.stack(columns, axis=-1).astype(np.int64)
        return SparseTensor.of(Sparse(indices, values.reshape(-1), tuple(_bounds(self._ragged))))

    def numpy(self) -> Array:
        """An array of arrays, or one array if all rows have the same length."""
        values = self.values.numpy()
        splits = self._ragged.row_splits
        rows = [values[splits[i] : splits[i + 1]] for i in range(len(splits) - 1)]
        if not rows:
            return np.zeros((0, 0, *values.shape[1:]), values.dtype)
        if all(len(row) == len(rows[0]) for row in rows):
            return np.array(rows)
        return object_array(rows)

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self._ragged)))

    def __getitem__(self, key: Any) -> Any:
        """A row for an index, a ragged tensor for a slice. Further indices apply to each row."""
        return _sliced(self, list(key) if isinstance(key, (list, tuple)) else [key])

    # --- Operators ------------------------------------------------------------------------------

    def _with(self, operation: Callable[[Any, Any], Any], other: Any) -> Any:
        return broadcast(operation, self, other)

    def __add__(self, other: Any) -> Any:
        return self._with(operator.add, other)

    def __radd__(self, other: Any) -> Any:
        return broadcast(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._with(operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return broadcast(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return broadcast(_product, self, other)

    def __rmul__(self, other: Any) -> Any:
        return broadcast(_product, other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return broadcast(operator.truediv, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._with(operator.floordiv, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return broadcast(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Any:
        return self._with(operator.mod, other)

    def __rmod__(self, other: Any) -> Any:
        return broadcast(operator.mod, other, self)

    def __pow__(self, other: Any) -> Any:
        return self._with(operator.pow, other)

    def __rpow__(self, other: Any) -> Any:
        return broadcast(operator.pow, other, self)

    def __lt__(self, other: Any) -> Any:
        return self._with(operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._with(operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._with(operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._with(operator.ge, other)

    def __and__(self, other: Any) -> Any:
        return broadcast(_logical(operator.and_), self, other)

    def __rand__(self, other: Any) -> Any:
        return broadcast(_logical(operator.and_), other, self)

    def __or__(self, other: Any) -> Any:
        return broadcast(_logical(operator.or_), self, other)

    def __ror__(self, other: Any) -> Any:
        return broadcast(_logical(operator.or_), other, self)

    def __xor__(self, other: Any) -> Any:
        return broadcast(_logical(operator.xor), self, other)

    def __rxor__(self, other: Any) -> Any:
        return broadcast(_logical(operator.xor), other, self)

    def __neg__(self) -> RaggedTensor:
        return self.with_flat_values(-self.flat_values)

    def __abs__(self) -> RaggedTensor:
        return self.with_flat_values(abs(self.flat_values))

    def __invert__(self) -> RaggedTensor:
        return self.with_flat_values(~_boolean(self.flat_values))

    def __eq__(self, other: object) -> Any:
        return False if other is None else self._compared(operator.eq, other, False)

    def __ne__(self, other: object) -> Any:
        return True if other is None else self._compared(operator.ne, other, True)

    def _compared(self, operation: Callable[[Any, Any], Any], other: Any, otherwise: bool) -> Any:
        """The comparison; what cannot be compared is different."""
        try:
            return self._with(operation, other)
        except ValueError:
            return otherwise

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __repr__(self) -> str:
        with np.printoptions(formatter={"all": _element_text}):
            return f"<tf.RaggedTensor {_element_text(self.numpy())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RaggedTensor, (self._ragged, self._uniform)


# --- Values -----------------------------------------------------------------------------------------


def of_rows(rows: Rows, uniform: Uniform = ()) -> Any:
    """A tensor of an array, or a ragged tensor of the core's ``Ragged``."""
    return RaggedTensor(rows, uniform) if isinstance(rows, Ragged) else of_array(rows)


def as_rows(value: Any) -> Rows:
    """The array of a value, or the ``Ragged`` of a ragged tensor."""
    return value._ragged if isinstance(value, RaggedTensor) else convert_to_tensor(value)._array


def as_values(value: Any) -> Any:
    """A value as a tensor or ragged tensor that can be divided into rows."""
    values = value if isinstance(value, RaggedTensor) else convert_to_tensor(value)
    if not len(values.shape):
        raise ValueError(f"Shape {values.shape} must have rank at least 1")
    return values


def positive_axis(axis: Any, ndim: int, ndims_name: str = "ndims", name: str = "axis") -> int:
    """``axis`` as a number from 0 to ``ndim - 1``. Any other is TensorFlow's error for ragged tensors."""
    if not isinstance(axis, int):
        raise TypeError(f"{name} must be an int; got {type(axis).__name__}")
    if not -ndim <= axis < ndim:
        raise ValueError(f"{name}={axis} out of bounds: expected {-ndim}<={name}<{ndim}")
    return axis % ndim


def one_splits_dtype(*values: Any) -> DType:
    """The dtype of the row splits of all the ragged tensors, which must be the same."""
    kinds = {value.row_splits.dtype for value in values if isinstance(value, RaggedTensor)}
    if len(kinds) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() "
            "to convert them to compatible dtypes."
        )
    return kinds.pop() if kinds else int64


def broadcast(operation: Callable[[Any, Any], Any], one: Any, two: Any) -> Any:
    """``operation`` of two values of which at least one is ragged, with broadcasting."""
    known = next(value for value in (one, two) if isinstance(value, RaggedTensor))
    first, second = (
        value if isinstance(value, RaggedTensor) else _converted(value, known.dtype) for value in (one, two)
    )
    one_splits_dtype(first, second)
    left, right = aligned(as_rows(first), as_rows(second))
    result = operation(of_array(flat(left)), of_array(flat(right)))
    if not isinstance(result, EagerTensor):
        return result
    rows = with_flat(left if isinstance(left, Ragged) else right, result._array)
    shapes = [value._uniform for value in (first, second) if isinstance(value, RaggedTensor)]
    levels = depth(rows)
    uniform = next((shape for shape in shapes if len(shape) == levels), ())
    if len(shapes) == 2 and len(shapes[0]) == len(shapes[1]):
        uniform = tuple(a if a == b else None for a, b in zip(*shapes, strict=True))
    return of_rows(rows, uniform)


def _converted(value: Any, dtype: DType) -> EagerTensor:
    try:
        return convert_to_tensor(value, None if isinstance(value, EagerTensor) else dtype)
    except (TypeError, ValueError):
        return convert_to_tensor(value)


def _boolean(values: EagerTensor) -> EagerTensor:
    if not values.dtype.is_bool:
        raise invalid(
            f"cannot compute LogicalNot as input #0(zero-based) was expected to be a bool tensor but is a "
            f"{values.dtype.name} tensor"
        )
    return values


def _product(x: EagerTensor, y: EagerTensor) -> EagerTensor:
    if x.dtype.is_bool:
        raise invalid("Value for attr 'T' of bool is not in the list of allowed values of Mul")
    return x * y


def _logical(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: operation(_boolean(x), _boolean(y))


def _splits_hint(values: Any) -> DType | None:
    return values.row_splits.dtype if isinstance(values, RaggedTensor) else None


def _count(values: Any) -> int:
    return len(values._ragged) if isinstance(values, RaggedTensor) else len(values._array)


def _nested(make: Callable[[Any, Any], Any], flat_values: Any, partitions: Any, name: str) -> Any:
    if isinstance(partitions, Tensor):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {partitions}.")
    result = flat_values
    for part in reversed(list(partitions)):
        result = make(result, part)
    return result


def _integers(value: Any, dtype: Any) -> Array:
    array = convert_to_tensor(value)._array
    if array.dtype.kind not in "iu":
        if array.size:
            raise TypeError(f"lengths must be integers, not {array.dtype}")
        array = array.astype(np.int64)
    if array.ndim != 1:
        raise ValueError(f"Shape {array.shape} must have rank 1")
    return array.astype(dtype)


def _of_nested_lengths(array: Array, lengths: Any, ragged_rank: int) -> Any:
    if ragged_rank not in (1, len(lengths)):
        raise ValueError(
            "If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): "
            f"{len(lengths)}. Received ragged_rank: {ragged_rank}."
        )
    if array.ndim <= len(lengths):
        raise ValueError(f"Shape {array.shape} must have rank at least {len(lengths) + 1}")
    count = int(convert_to_tensor(lengths[-1])._array.sum())
    mask = RaggedTensor.from_nested_row_lengths(np.ones(count, np.bool_), lengths).to_tensor(False)._array
    if mask.shape != array.shape[: mask.ndim]:
        raise ValueError(f"Shapes {array.shape[: mask.ndim]} and {mask.shape} are incompatible")
    return RaggedTensor.from_nested_row_lengths(array[mask], lengths)


def _lengths_without_padding(array: Array, padding: Any) -> Array:
    value = convert_to_tensor(padding, of_numpy(array.dtype))._array
    if value.shape != array.shape[2:]:
        raise ValueError(f"Shapes {value.shape} and {array.shape[2:]} are incompatible")
    same = np.asarray(array == value).astype(np.bool_)
    kept = (
        ~same.reshape(*array.shape[:2], -1).all(axis=2) if array.size else np.zeros(array.shape[:2], np.bool_)
    )
    lengths: Array = np.max(kept * np.arange(1, array.shape[1] + 1), axis=1, initial=0)
    return lengths


def _bounds(rows: Rows) -> list[int]:
    """The greatest length of each dimension."""
    if not isinstance(rows, Ragged):
        return list(rows.shape)
    longest = [int(np.diff(splits).max(initial=0)) for splits in rows.nested_row_splits]
    return [len(rows), *longest, *rows.flat_values.shape[1:]]


def _coordinates(rows: Ragged) -> list[Array]:
    """For each ragged dimension and the outermost one, where each innermost value stands."""
    places = [np.arange(len(rows))]
    for splits in rows.nested_row_splits:
        ids = row_of_each(splits)
        places = [place[ids] for place in places] + [positions(splits)]
    return places


def _wanted_lengths(shape: Any, ndim: int) -> list[int | None]:
    """The lengths that ``to_tensor`` shall give, None where they are free."""
    if shape is None:
        return [None] * ndim
    if isinstance(shape, EagerTensor):
        lengths: list[Any] = [
            None if length < 0 else length for length in np.atleast_1d(shape._array).tolist()
        ]
        if not shape.ndim and lengths == [None]:
            return [None] * ndim
    else:
        given = (
            shape
            if isinstance(shape, TensorShape)
            else [
                None if part is None or int(part) == -1 else int(part)
                for part in np.atleast_1d(np.array(shape, object)).tolist()
            ]
        )
        made = TensorShape(given)
        if made.rank is None:
            return [None] * ndim
        lengths = made.as_list()
    if len(lengths) != ndim:
        raise invalid(f"shape {lengths} must have rank {ndim}")
    return lengths


def merged(value: Any, outer: int, inner: int) -> Any:
    """A tensor with the dimensions from ``outer`` to ``inner`` made into one."""
    if outer == inner:
        return value
    if not isinstance(value, RaggedTensor):
        shape = value._array.shape
        whole = int(np.prod(shape[outer : inner + 1], dtype=np.int64))
        return of_array(value._array.reshape(*shape[:outer], whole, *shape[inner + 1 :]))
    if outer == 0:
        return merged(value.values, 0, inner - 1)
    if outer > 1:
        return value.with_values(merged(value.values, outer - 1, inner - 1))
    values, splits = value.values, value._ragged.row_splits
    length = value._uniform[0]
    for _ in range(inner - 1):
        if isinstance(values, RaggedTensor):
            splits = values._ragged.row_splits[splits]
            length = None if length is None or values._uniform[0] is None else length * values._uniform[0]
            values = values.values
        else:
            width = values._array.shape[1]
            splits = (splits * width).astype(splits.dtype)
            length = None if length is None else length * width
            values = merged(values, 0, 1)
    return RaggedTensor._of(values, splits, length)


# --- Slices -----------------------------------------------------------------------------------------


def _sliced(value: Any, keys: list[Any]) -> Any:
    """``value[keys]``: the first key is for the rows, the others for their dimensions."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return value[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _sliced(value, _without_ellipsis(keys, len(value.shape) - 1))
    if first is None:
        inner = _sliced(value, rest)
        count = inner.shape[0]
        splits_type = value._ragged.row_splits.dtype
        return RaggedTensor._of(inner, np.array([0, count], splits_type), count)
    if isinstance(first, slice):
        rows = value if first == slice(None) else _row_slice(value, first)
        return _sliced_inside(rows, rest)
    return _sliced(_row(value, first), rest)


def _row(value: RaggedTensor, key: Any) -> Any:
    if isinstance(key, bool):
        raise ValueError("mask cannot be scalar.")
    try:
        number = operator.index(key)
    except TypeError:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
            f"tf.int32/tf.int64 tensors are valid indices, got {key!r}"
        ) from None
    count = len(value._ragged)
    if number >= count:
        raise IndexError(f"Row key {number} out of bounds")
    if number < -count:
        raise invalid(f"slice index {number + count} of dimension 0 out of bounds.")
    return of_rows(value._ragged[number], value._uniform[1:])


def _row_slice(value: RaggedTensor, key: slice) -> RaggedTensor:
    chosen = taken(value._ragged, np.arange(len(value._ragged))[_plain(key)])
    assert isinstance(chosen, Ragged)
    return RaggedTensor(chosen, value._uniform)


def _plain(key: slice) -> slice:
    """A slice of integers."""
    parts = []
    for what, end in (("offsets", key.start), ("offsets", key.stop), ("strides", key.step)):
        try:
            parts.append(None if end is None else operator.index(end))
        except TypeError:
            raise TypeError(f"slice {what} must be integers or None") from None
    if parts[2] == 0:
        raise invalid("strides[0] must be non-zero")
    return slice(*parts)


def _sliced_inside(value: Any, keys: list[Any]) -> Any:
    """Each row of ``value`` with the keys applied to it."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        key = (slice(None), *keys)
        return value[key]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return _sliced_inside(value, _without_ellipsis(keys, len(value.values.shape) - 1))
    if first is None:
        inner = _sliced_inside(value, rest)
        count = inner.shape[0]
        return RaggedTensor._of(inner, np.arange(count + 1).astype(value._ragged.row_splits.dtype), 1)
    if isinstance(first, slice):
        rows = value if first == slice(None) else _column_slice(value, _plain(first))
        return rows.with_values(_sliced_inside(rows.values, rest))
    length = value._uniform[0]
    if length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    column = operator.index(first)
    if not -length <= column < length:
        raise invalid("Index out of bounds when indexing into a ragged tensor")
    places = np.arange(len(value._ragged)) * length + column % length
    return _sliced_inside(of_rows(taken(value._ragged.values, places), value._uniform[1:]), rest)


def _column_slice(value: RaggedTensor, key: slice) -> RaggedTensor:
    splits = value._ragged.row_splits
    parts = [np.arange(a, b)[key] for a, b in zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)]
    lengths = np.array([len(part) for part in parts], splits.dtype)
    places = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    length = value._uniform[0]
    return RaggedTensor(
        Ragged(taken(value._ragged.values, places), partition.splits_of_lengths(lengths)),
        (None if length is None else len(range(length)[key]), *value._uniform[1:]),
    )


def _without_ellipsis(keys: list[Any], inner: int) -> list[Any]:
    """The keys with slices in place of the ellipsis, which is the first; ``inner`` dimensions follow."""
    given = sum(1 for key in keys[1:] if key is not None)
    if given > inner + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return [slice(None)] * (inner + 1 - given) + keys[1:]


def _element_text(element: Any) -> str:
    """An element or a row in the repr of a ragged tensor."""
    if not isinstance(element, np.ndarray):
        return str(element)
    if not element.size:
        return repr(element.tolist())
    return np.array2string(element, separator=", ")
