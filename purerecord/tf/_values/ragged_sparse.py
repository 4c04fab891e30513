"""``tf.RaggedTensor`` and ``tf.SparseTensor``: the core's ``Ragged`` and ``Sparse`` with TensorFlow's API.

``wrap`` turns a value of the core into a tensor, ``unwrap`` does the reverse. This module does not know how
such values are parsed.
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
from ..dtypes import DType, as_dtype, int64, of_numpy
from ..errors import invalid
from .convert import Array
from .shapes import RaggedTensorSpec, SparseTensorSpec, TensorShape, TypeSpec
from .tensor import EagerTensor, Tensor, constant, convert_to_tensor, of_array, spec_of


@public
class RaggedTensor(Tensor):
    """Rows of different lengths."""

    __slots__ = ("_ragged",)
    __array_priority__ = 101

    def __init__(self, ragged: Ragged) -> None:
        """A tensor of the core's ``Ragged``. Programs use the class methods."""
        self._ragged = ragged

    # --- Construction ---------------------------------------------------------------------------

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``."""
        inner = values._ragged if isinstance(values, RaggedTensor) else convert_to_tensor(values)._array
        splits = _partition(row_splits)
        if len(splits) and splits[-1] != len(inner):
            raise invalid(
                "Arguments to _from_row_partition do not form a valid RaggedTensor\n"
                "Condition x == y did not hold.\n"
                f"First 1 elements of x:\n[{splits[-1]}]\nFirst 1 elements of y:\n[{len(inner)}]"
            )
        try:
            return cls(Ragged(inner, splits))
        except ValueError as error:
            raise invalid(f"Arguments to from_row_splits do not form a valid RaggedTensor: {error}") from None

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Row ``i`` has ``row_lengths[i]`` values."""
        lengths = _partition(row_lengths)
        splits = np.zeros(len(lengths) + 1, lengths.dtype)
        np.cumsum(lengths, out=splits[1:])
        return cls.from_row_splits(values, splits)

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
        ids = _partition(value_rowids)
        count = (int(ids[-1]) + 1 if len(ids) else 0) if nrows is None else int(nrows)
        if bool((ids[1:] < ids[:-1]).any()) or (len(ids) and not 0 <= ids[-1] < count):
            raise invalid("Arguments to from_value_rowids do not form a valid RowPartition.")
        return cls.from_row_lengths(values, np.bincount(ids, minlength=count).astype(ids.dtype))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> RaggedTensor:
        """The rows of a dense tensor, all of one length."""
        array = convert_to_tensor(tensor)._array
        splits = np.arange(len(array) + 1, dtype=np.int64) * array.shape[1]
        return cls(Ragged(array.reshape(-1, *array.shape[2:]), splits))

    # --- Properties -----------------------------------------------------------------------------

    @property
    def shape(self) -> TensorShape:
        """The shape, with None for a length that varies."""
        inner = self.values.shape
        return TensorShape([len(self._ragged), None, *inner[1:]])

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return of_numpy(self._ragged.flat_values.dtype)

    @property
    def values(self) -> Any:
        """The concatenated rows: a tensor, or a ragged tensor if the rows are ragged."""
        return wrap(self._ragged.values)

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
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self._ragged.nested_row_splits)

    def nrows(self, out_type: Any = None) -> EagerTensor:
        """The number of rows."""
        dtype = self._ragged.row_splits.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype
        return of_array(np.array(len(self._ragged), dtype))

    def row_lengths(self, axis: int = 1) -> Any:
        """The length of each row; for a further dimension, a ragged tensor of the lengths along it."""
        ndim = len(self.shape)
        if not -ndim <= axis < ndim:
            raise ValueError(f"axis={axis} out of bounds: expected {-ndim}<=axis<{ndim}")
        place = axis % ndim
        if place == 0:
            return self.nrows()
        if place == 1:
            return of_array(self._ragged.row_lengths())
        values = self.values
        if isinstance(values, RaggedTensor):
            lengths = values.row_lengths(place - 1)
        else:
            length = values.shape[place - 1]
            lengths = of_array(np.full(values.shape[: place - 1], length, self._ragged.row_splits.dtype))
        return RaggedTensor(Ragged(unwrap(lengths), self._ragged.row_splits))

    def row_starts(self) -> EagerTensor:
        """The offset in ``values`` at which each row begins."""
        return of_array(self._ragged.row_splits[:-1])

    def row_limits(self) -> EagerTensor:
        """The offset in ``values`` at which each row ends."""
        return of_array(self._ragged.row_splits[1:])

    def value_rowids(self) -> EagerTensor:
        """The row of each value."""
        rows = np.arange(len(self._ragged), dtype=self._ragged.row_splits.dtype)
        return of_array(np.repeat(rows, self._ragged.row_lengths()))

    def bounding_shape(self) -> EagerTensor:
        """The shape of ``to_tensor()``."""
        return of_array(np.array(self._ragged.to_dense().shape, self._ragged.row_splits.dtype))

    # --- Conversion and operators ---------------------------------------------------------------

    def to_list(self) -> list[Any]:
        """Nested lists."""
        return self._ragged.to_list()

    def to_tensor(self, default_value: Any = None, name: str | None = None, shape: Any = None) -> EagerTensor:
        """A dense tensor. Short rows are padded; ``shape`` may fix lengths to cut or pad to."""
        fill = None if default_value is None else convert_to_tensor(default_value, self.dtype)._array[()]
        dense = self._ragged.to_dense(fill)
        if shape is not None:
            lengths = TensorShape(shape).as_list()
            target = [have if want is None else want for have, want in zip(dense.shape, lengths, strict=True)]
            whole = filled(tuple(target), dense.dtype, fill)
            part = tuple(slice(min(have, want)) for have, want in zip(dense.shape, target, strict=True))
            whole[part] = dense[part]
            dense = whole
        return of_array(dense)

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The same values with their indices."""
        dense = self._ragged.to_dense()
        places = Ragged(np.arange(len(self._ragged.flat_values)) + 1, self._ragged.row_splits)
        if self.ragged_rank > 1:
            raise invalid("to_sparse is here for one ragged dimension only; use to_tensor")
        indices = np.argwhere(places.to_dense() > 0)
        return SparseTensor(indices, self._ragged.flat_values, dense.shape)

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
        return map(wrap, self._ragged)

    def __getitem__(self, key: Any) -> Any:
        """A row for an index, a ragged tensor for a slice. Further indices apply to each row."""
        first, rest = (key[0], key[1:]) if isinstance(key, tuple) else (key, ())
        part = wrap(self._ragged[first if isinstance(first, slice) else operator.index(first)])
        if not rest:
            return part
        if not isinstance(first, slice):
            return part[rest if len(rest) > 1 else rest[0]]
        if not isinstance(rest[0], slice):
            raise ValueError("Cannot index into an inner ragged dimension.")
        rows = [row[rest if len(rest) > 1 else rest[0]]._array for row in part]
        lengths = np.array([len(row) for row in rows], self._ragged.row_splits.dtype)
        values = np.concatenate(rows) if rows else self._ragged.flat_values[:0]
        return RaggedTensor.from_row_lengths(values, lengths)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other innermost values."""
        return RaggedTensor(_with_flat(self._ragged, convert_to_tensor(new_values)._array))

    def _map(self, function: Callable[[Any, Any], Any], other: Any) -> RaggedTensor:
        """``function`` of the flat values and a scalar or a ragged tensor with the same row lengths."""
        if isinstance(other, RaggedTensor):
            if not all(map(np.array_equal, self.nested_row_splits, other.nested_row_splits)):
                raise invalid("Incompatible shapes: the rows of the two ragged tensors differ in length")
            other = other.flat_values
        return self.with_flat_values(function(self.flat_values, other))

    def __add__(self, other: Any) -> RaggedTensor:
        return self._map(operator.add, other)

    def __sub__(self, other: Any) -> RaggedTensor:
        return self._map(operator.sub, other)

    def __mul__(self, other: Any) -> RaggedTensor:
        return self._map(operator.mul, other)

    def __truediv__(self, other: Any) -> RaggedTensor:
        return self._map(operator.truediv, other)

    def __eq__(self, other: object) -> Any:
        return self._map(operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._map(operator.ne, other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        with np.printoptions(formatter={"all": _element_text}):
            return f"<tf.RaggedTensor {_element_text(self.numpy())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RaggedTensor, (self._ragged,)


def _partition(value: Any) -> Array:
    """A row partition as an array. Arrays and tensors keep int32, lists become int64."""
    if isinstance(value, (np.ndarray, EagerTensor)):
        return convert_to_tensor(value)._array
    return convert_to_tensor(value, int64)._array


def _with_flat(ragged: Ragged, values: Array) -> Ragged:
    inner = _with_flat(ragged.values, values) if isinstance(ragged.values, Ragged) else values
    return Ragged(inner, ragged.row_splits)


def _element_text(element: Any) -> str:
    """An element or a row in the repr of a ragged tensor."""
    if not isinstance(element, np.ndarray):
        return str(element)
    if not element.size:
        return repr(element.tolist())
    return np.array2string(element, separator=", ")


@public
class SparseTensor(Tensor):
    """A tensor that stores only some entries: ``values[i]`` at ``indices[i]``."""

    __slots__ = ("_sparse",)

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        places = convert_to_tensor(indices, int64)._array
        stored = convert_to_tensor(values)._array
        shape = convert_to_tensor(dense_shape, int64)._array
        for one, two in ((places.shape[0], stored.shape[0]), (places.shape[-1], len(shape))):
            if one != two:
                raise ValueError(f"Dimensions {one} and {two} are not compatible")
        self._sparse = Sparse(places, stored, tuple(shape.tolist()))

    @classmethod
    def of(cls, sparse: Sparse) -> SparseTensor:
        """A tensor of the core's ``Sparse``, which is not copied."""
        made = cls.__new__(cls)
        made._sparse = sparse
        return made

    @property
    def indices(self) -> EagerTensor:
        """The indices of the values, one row for each."""
        return of_array(self._sparse.indices)

    @property
    def values(self) -> EagerTensor:
        """The stored values."""
        return of_array(self._sparse.values)

    @property
    def dense_shape(self) -> EagerTensor:
        """The shape of the dense tensor, as a tensor."""
        return of_array(np.array(self._sparse.dense_shape, np.int64))

    @property
    def shape(self) -> TensorShape:
        """The shape of the dense tensor."""
        return TensorShape(self._sparse.dense_shape)

    def get_shape(self) -> TensorShape:
        """The shape of the dense tensor."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return of_numpy(self._sparse.values.dtype)

    def __repr__(self) -> str:
        indices, values, shape = map(str, (self.indices, self.values, self.dense_shape))
        return f"SparseTensor(indices={indices}, values={values}, dense_shape={shape})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseTensor.of, (self._sparse,)


def wrap(value: Any) -> Any:
    """A value of the core as a tensor: an array, a scalar, ``bytes``, a ``Ragged`` or a ``Sparse``."""
    if isinstance(value, np.generic):
        return EagerTensor(np.asarray(value))
    if isinstance(value, Ragged):
        return RaggedTensor(value)
    if isinstance(value, Sparse):
        return SparseTensor.of(value)
    return value if isinstance(value, Tensor) else of_array(value)


def unwrap(value: Any) -> Any:
    """A tensor as a value of the core: its array, ``Ragged`` or ``Sparse``. Other values stay as they are."""
    if isinstance(value, EagerTensor):
        return value._array
    if isinstance(value, RaggedTensor):
        return value._ragged
    return value._sparse if isinstance(value, SparseTensor) else value


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, or of a value that can become one."""
    if isinstance(value, RaggedTensor):
        splits = of_numpy(value._ragged.row_splits.dtype)
        return RaggedTensorSpec(value.shape, value.dtype, value.ragged_rank, splits)
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    return spec_of(convert_to_tensor(value))


def ragged_constant(  # noqa: PLR0917 - TensorFlow's signature
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:
    """A ragged tensor of nested lists; ``ragged_rank`` limits its ragged dimensions."""
    if inner_shape is not None:
        raise NotImplementedError("ragged.constant with inner_shape is not in purerecord.tf")
    depth = _depth(pylist)
    rank = depth - 1 if ragged_rank is None else ragged_rank
    if rank <= 0:
        return constant(pylist, dtype)
    splits_type = as_dtype(row_splits_dtype).as_numpy_dtype
    levels = []
    rows = list(pylist)
    for _ in range(rank):
        levels.append(np.cumsum([0, *map(len, rows)], dtype=splits_type))
        rows = [element for row in rows for element in row]
    ragged: Any = constant(rows, dtype)._array
    for splits in reversed(levels):
        ragged = Ragged(ragged, splits)
    return RaggedTensor(ragged)


def _depth(value: Any) -> int:
    if not isinstance(value, (list, tuple)) and not getattr(value, "ndim", 0):
        return 0
    return 1 + max(map(_depth, value), default=0)
