"""``tf.TensorShape`` and the type specs: shape and dtype of a tensor without its values.

As in TensorFlow, a shape is not a tuple, but it equals one, is iterable, and numpy accepts it. This module
does not know tensors, only that they have a ``shape`` and a ``dtype``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

from ... import public
from ..dtypes import DType, as_dtype, float32, int64

Dims = tuple["int | None", ...]


def _dimension(value: Any) -> int | None:
    if value is None:
        return None
    try:
        size = operator.index(value)
    except (TypeError, AttributeError):
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, "
            f"got value '{value!r}' with type '{type(value)!r}'"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


@public
class TensorShape:
    """The lengths of a tensor's dimensions, None if unknown; the rank may be unknown, too.

    >>> TensorShape([2, None]).as_list()
    [2, None]
    """

    __slots__ = ("_dims",)
    _dims: Dims | None

    def __init__(self, dims: Any) -> None:
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif dims is None:
            self._dims = None
        elif isinstance(dims, (str, bytes)):
            raise TypeError(
                f"Failed to convert '{dims!r}' to a shape: '{dims!r}'could not be converted to a dimension. "
                "A shape should either be single dimension (e.g. 10), or an iterable of dimensions "
                "(e.g. [1, 10, None])."
            )
        elif hasattr(dims, "__iter__") and getattr(dims, "ndim", 1) != 0:
            self._dims = tuple(map(_dimension, dims))
        else:
            self._dims = (_dimension(dims),)

    @classmethod
    def of(cls, dims: Dims) -> TensorShape:
        """The shape of an array. Its dimensions need no check."""
        shape = cls.__new__(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if unknown."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self) -> list[int | None] | None:
        """The lengths as a list; None if the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    def as_list(self) -> list[int | None]:
        """The lengths as a list."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def is_fully_defined(self) -> bool:
        """Whether every length is known."""
        return self._dims is not None and None not in self._dims

    def num_elements(self) -> int | None:
        """The number of elements; None if unknown."""
        if self._dims is None or None in self._dims:
            return None
        return math.prod(size for size in self._dims if size is not None)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor can have both this shape and the other."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            None in (one, two) or one == two for one, two in zip(self._dims, other._dims, strict=True)
        )

    def merge_with(self, other: Any) -> TensorShape:
        """The shape that is known from this one and the other together."""
        other = as_shape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if self._dims is None or other._dims is None:
            return other if self._dims is None else self
        return TensorShape(
            [two if one is None else one for one, two in zip(self._dims, other._dims, strict=True)]
        )

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The most specific shape of which this one and the other are cases."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape(None)
        return TensorShape(
            [one if one == two else None for one, two in zip(self._dims, other._dims, strict=True)]
        )

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of this shape, then those of the other."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, which must have ``rank`` dimensions."""
        if self._dims is None:
            return TensorShape([None] * rank)
        if len(self._dims) != rank:
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape, which must have ``rank`` dimensions or more."""
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise an error unless this shape can have ``rank`` dimensions."""
        self.with_rank(rank)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise an error unless a tensor can have both this shape and the other."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_is_fully_defined(self) -> None:
        """Raise an error unless every length is known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self) -> Iterator[int | None]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        part = self._dims[key]
        return TensorShape(part) if isinstance(key, slice) else part

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)


def as_shape(shape: Any) -> TensorShape:
    """``shape`` as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


@public
class TypeSpec:
    """The base class of type specs: immutable, comparable, hashable."""

    __slots__ = ("_arguments",)
    _arguments: tuple[Any, ...]

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        shape: TensorShape = self._arguments[0]
        return shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        dtype: DType = self._arguments[1]
        return dtype

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or every value of a spec, can match this spec."""
        return bool(self.dtype == spec_or_value.dtype and self.shape.is_compatible_with(spec_or_value.shape))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._arguments == other._arguments

    def __hash__(self) -> int:
        return hash((type(self), self._arguments))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._arguments))})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


@public
class TensorSpec(TypeSpec):
    """A dense tensor of ``shape`` and ``dtype``."""

    __slots__ = ()

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._arguments = (TensorShape(shape), as_dtype(dtype), name)

    @property
    def name(self) -> str | None:
        """The name. It does not describe the tensor."""
        name: str | None = self._arguments[2]
        return name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A spec of the shape and dtype of another."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


@public
class RaggedTensorSpec(TypeSpec):
    """A ragged tensor: the first ``ragged_rank`` dimensions after the outermost one vary."""

    __slots__ = ()

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = int64,
    ) -> None:
        shape = TensorShape(shape)
        if ragged_rank is None:
            if shape.rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = shape.rank - 1
        self._arguments = (shape, as_dtype(dtype), ragged_rank, as_dtype(row_splits_dtype))

    @property
    def ragged_rank(self) -> int:
        """The number of dimensions with row splits."""
        rank: int = self._arguments[2]
        return rank

    @property
    def row_splits_dtype(self) -> DType:
        """The type of the row splits."""
        dtype: DType = self._arguments[3]
        return dtype


@public
class SparseTensorSpec(TypeSpec):
    """A sparse tensor of the dense ``shape``."""

    __slots__ = ()

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._arguments = (TensorShape(shape), as_dtype(dtype))
