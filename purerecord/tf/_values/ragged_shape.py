"""``DynamicRaggedShape``: the shape of a ragged tensor, which ``tf.shape`` returns.

This module does not know functions of ragged tensors.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..dtypes import as_dtype, int32
from .ragged_tensor import RaggedTensor
from .shapes import TensorShape
from .tensor import EagerTensor, convert_to_tensor, of_array


class DynamicRaggedShape:
    """The lengths of all dimensions; those of a ragged one as a vector."""

    def __init__(self, lengths: list[Any], partitions: int, dtype: Any = int32) -> None:
        self._lengths = lengths
        self._partitions = partitions
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a tensor."""
        if not isinstance(t, RaggedTensor):
            return cls(list(convert_to_tensor(t)._array.shape), 0, dtype or int32)
        uniform = t._uniform
        lengths: list[Any] = [len(t._ragged)]
        for splits, length in zip(t._ragged.nested_row_splits, uniform, strict=True):
            lengths.append(np.diff(splits) if length is None else length)
        lengths += t._ragged.flat_values.shape[1:]
        return cls(lengths, len(uniform), dtype or t.row_splits.dtype)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._lengths)

    @property
    def dtype(self) -> Any:
        """The type of the lengths."""
        return self._dtype

    @property
    def num_row_partitions(self) -> int:
        """The number of dimensions that are stored as rows."""
        return self._partitions

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """The lengths as numbers; those of ragged dimensions as tuples, or None."""
        return [
            (tuple(length.tolist()) if ragged_lengths else None) if isinstance(length, np.ndarray) else length
            for length in self._lengths
        ]

    def is_uniform(self, axis: int) -> bool:
        """Whether all rows of a dimension have one length."""
        return not isinstance(self._lengths[axis], np.ndarray)

    def to_tensor_shape(self) -> TensorShape:
        """The shape, with None for a length that varies."""
        return TensorShape(self.static_lengths(ragged_lengths=False))

    def __getitem__(self, index: Any) -> EagerTensor:
        place = operator.index(index)
        if not -self.rank <= place < self.rank:
            raise IndexError(f"Index must not be negative or beyond the rank: {place}")
        length = self._lengths[place]
        if isinstance(length, np.ndarray):
            raise ValueError(f"Index {place} is not uniform")
        return of_array(np.array(length, self._dtype.as_numpy_dtype))

    def __eq__(self, other: object) -> Any:
        return isinstance(other, DynamicRaggedShape) and self.static_lengths() == other.static_lengths()

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        texts = [
            f"({', '.join(map(str, length))}{',' if len(length) == 1 else ''})"
            if isinstance(length, tuple)
            else str(length)
            for length in self.static_lengths()
        ]
        return f"<DynamicRaggedShape lengths=[{', '.join(texts)}] num_row_partitions={self._partitions}>"
