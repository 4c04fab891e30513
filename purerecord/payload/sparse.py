"""``Sparse``: the values of a dense array at some indices.

This module knows only numpy: no specs, no messages, no records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import index as as_index
from typing import Any, cast

import numpy as np

from .. import public
from .row_index import row_number
from .short_repr import MAX_ITEMS, short_repr
from .values import Array, Offsets, as_values, converted, filled, padding


@public
@dataclass(frozen=True, eq=False, repr=False)
class Sparse:
    """A tensor of ``dense_shape`` that stores only some elements: ``values[i]`` at ``indices[i]``.

    As in TensorFlow, indices may lie outside of ``dense_shape`` or occur twice. ``to_dense`` refuses both.

    >>> Sparse([[0, 0], [2, 1]], [7, 8], (3, 2)).to_dense().tolist()
    [[7, 0], [0, 0], [0, 8]]
    """

    indices: Offsets
    values: Array
    dense_shape: tuple[int, ...]

    def __post_init__(self) -> None:
        shape = tuple(map(as_index, self.dense_shape))
        values = as_values(self.values)
        indices = np.asarray(self.indices)
        if not shape:
            raise ValueError("dense_shape must have at least one dimension")
        if min(shape) < 0:
            raise ValueError(f"the dimensions of dense_shape must not be negative: {shape}")
        if not indices.size and indices.ndim != 2:
            indices = indices.reshape(0, len(shape))
        if indices.size and indices.dtype.kind not in "iu":
            raise TypeError(f"indices must be integers, not {indices.dtype}")
        indices = converted(indices, np.int64)
        if values.ndim != 1 or indices.shape != (len(values), len(shape)):
            raise ValueError(
                f"indices must have shape {(len(values), len(shape))}, one row for each value and one "
                f"column for each dimension; got {indices.shape}"
            )
        object.__setattr__(self, "indices", indices)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "dense_shape", shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """The dense shape."""
        return self.dense_shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values; ``object`` for bytes."""
        return self.values.dtype

    def __len__(self) -> int:
        return self.dense_shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Row ``key``: a Sparse with one dimension less, or a value; a slice keeps the dimensions."""
        first = self.indices[:, 0]
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError("a Sparse is sliced with step 1 only")
            stop = max(start, stop)
            chosen = (first >= start) & (first < stop)
            indices = self.indices[chosen]
            indices[:, 0] -= start
            return Sparse(indices, self.values[chosen], (stop - start, *self.dense_shape[1:]))
        chosen = first == row_number(key, len(self), "Sparse")
        if len(self.dense_shape) == 1:
            values = self.values[chosen]
            return values[-1] if len(values) else filled((1,), self.dtype, None)[0]
        return Sparse(self.indices[chosen, 1:], self.values[chosen], self.dense_shape[1:])

    def to_list(self) -> list[Any]:
        """The stored values of each row as nested lists, without padding.

        The last dimension holds only stored values, which suits the output of ``VarLenFeature``. If their
        positions matter, use ``indices`` or ``to_dense``.
        """
        *outer, _ = self.dense_shape
        self._check_range()
        rows: list[list[Any]] = [[] for _ in range(int(np.prod(outer, dtype=np.int64)))]
        flat = np.zeros(len(self.values), np.int64)
        for size, index in zip(outer, self.indices.T):  # noqa: B905 - the last dimension is left out
            flat = flat * size + index
        for row, value in zip(flat.tolist(), self.values.tolist(), strict=True):
            rows[row].append(value)
        return cast("list[Any]", _nested(rows, outer))

    def to_dense(self, default_value: Any = None) -> Array:
        """One array, with ``default_value`` (0 or an empty string) where no value is stored."""
        self._check_range()
        dense = filled(self.dense_shape, self.dtype, padding(self.values, default_value))
        index = tuple(self.indices.T)
        stored = np.zeros(self.dense_shape, bool)
        stored[index] = True
        if np.count_nonzero(stored) != len(self.values):
            raise ValueError("two values have the same index, so there is no dense form")
        dense[index] = self.values
        return dense

    def _check_range(self) -> None:
        outside = ((self.indices < 0) | (self.indices >= self.dense_shape)).any(axis=1)
        if outside.any():
            index = tuple(self.indices[int(outside.argmax())].tolist())
            raise ValueError(f"index {index} is outside of the dense shape {self.dense_shape}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sparse):
            return NotImplemented
        return (
            self.dense_shape == other.dense_shape
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.values, other.values)
        )

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def __repr__(self) -> str:
        entries = [
            f"{tuple(index)}: {short_repr(value)}"
            for index, value in zip(
                self.indices[:MAX_ITEMS].tolist(), self.values[:MAX_ITEMS].tolist(), strict=True
            )
        ]
        more = [f"... {len(self.values)} values"] if len(self.values) > MAX_ITEMS else []
        return f"<Sparse {self.dense_shape} {self.dtype}: {{{', '.join(entries + more)}}}>"

    def _repr_html_(self) -> str:
        from ..notebook import show_sparse  # noqa: PLC0415 - only a notebook asks for it

        return show_sparse(self)


def _nested(rows: list[Any], outer: Sequence[int]) -> Any:
    """The flat list ``rows`` as nested lists of the shape ``outer``."""
    if not outer:
        return rows[0]
    if len(outer) == 1:
        return rows
    size = len(rows) // outer[0] if outer[0] else 0
    return [_nested(rows[i * size : (i + 1) * size], outer[1:]) for i in range(outer[0])]
