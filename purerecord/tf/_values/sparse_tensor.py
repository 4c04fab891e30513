"""``tf.SparseTensor``: the core's ``Sparse`` with TensorFlow's API.

This module does not know ragged tensors.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import public
from ...payload.sparse import Sparse
from ..dtypes import DType, int64, of_numpy
from .convert import Array
from .shapes import SparseTensorSpec, TensorShape
from .tensor import EagerTensor, Tensor, convert_to_tensor, of_array


@public
class SparseTensor(Tensor):
    """A tensor that stores only some entries: ``values[i]`` at ``indices[i]``."""

    __slots__ = ("__weakref__", "_sparse")
    __array_priority__ = 101

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        places = convert_to_tensor(indices, int64)._array
        stored = convert_to_tensor(values)._array
        shape = convert_to_tensor(dense_shape, int64)._array
        for array, rank in ((places, 2), (stored, 1), (shape, 1)):
            if array.ndim != rank:
                raise ValueError(f"Shape {TensorShape(array.shape)} must have rank {rank}")
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

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """The sparse tensor itself, or one with the attributes of another object."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not all(hasattr(sparse_tensor_value, name) for name in ("indices", "values", "dense_shape")):
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value} is neither a SparseTensor nor "
                "SparseTensorValue."
            )
        value = sparse_tensor_value
        return cls(value.indices, value.values, value.dense_shape)

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

    def set_shape(self, shape: Any) -> None:
        """Raise an error unless the tensor has this shape."""
        self.shape.assert_is_compatible_with(shape)

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return of_numpy(self._sparse.values.dtype)

    @property
    def spec(self) -> SparseTensorSpec:
        """The ``SparseTensorSpec`` of the tensor."""
        return SparseTensorSpec(self.shape, self.dtype)

    _type_spec = spec

    def with_values(self, new_values: Any) -> SparseTensor:
        """The same indices with other values."""
        values = convert_to_tensor(new_values)._array
        if values.shape != self._sparse.values.shape:
            raise ValueError(f"Shapes {self._sparse.values.shape} and {values.shape} are incompatible")
        return SparseTensor.of(Sparse(self._sparse.indices, values, self._sparse.dense_shape))

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The tensor itself, as there are no sessions."""
        return self

    # --- Operators: with a dense tensor that broadcasts to the shape --------------------------------

    def _combined(self, operation: Callable[[Any, Any], Any], other: Any) -> SparseTensor:
        dense = np.broadcast_to(
            convert_to_tensor(other, dtype_hint=self.dtype)._array, self._sparse.dense_shape
        )
        beside: Array = dense[tuple(self._sparse.indices.T)]
        return self.with_values(operation(self.values, of_array(beside)))

    def __mul__(self, other: Any) -> SparseTensor:
        return self._combined(operator.mul, other)

    def __truediv__(self, other: Any) -> SparseTensor:
        return self._combined(operator.truediv, other)

    def __repr__(self) -> str:
        indices, values, shape = map(str, (self.indices, self.values, self.dense_shape))
        return f"SparseTensor(indices={indices}, values={values}, dense_shape={shape})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseTensor.of, (self._sparse,)
