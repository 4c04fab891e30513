"""``Ragged`` and ``Sparse``: what a column is when its rows differ in length.

Both are a few arrays with a reading: nothing is copied when one is made, and nothing may be assigned
afterwards. This module knows numpy and nothing else: no specs, no messages, no records.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Union, cast

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Offsets = npt.NDArray[np.int64]

# Rows and values that a repr shows before it says "...".
_SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Rows of different lengths: row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``.

    ``values`` is an array (its first dimension is cut into rows, further ones stay as they are) or a
    Ragged, which nests. ``row_splits`` starts at 0, never falls and ends at ``len(values)``.

    >>> Ragged([1, 2, 3], [0, 2, 2, 3]).to_list()
    [[1, 2], [], [3]]
    """

    values: Union[Array, Ragged]
    row_splits: Offsets

    def __post_init__(self) -> None:
        values = self.values if isinstance(self.values, Ragged) else as_values(self.values)
        splits = np.asarray(self.row_splits)
        if splits.ndim != 1 or not len(splits):
            raise ValueError("row_splits must be a vector of at least one element")
        if splits.dtype not in (np.int64, np.int32):
            if splits.dtype.kind not in "iu":
                raise TypeError(f"row_splits must be integers, not {splits.dtype}")
            splits = splits.astype(np.int64)
        if splits[0] != 0 or splits[-1] != len(values) or bool((splits[1:] < splits[:-1]).any()):
            raise ValueError(f"row_splits must rise from 0 to {len(values)}, the number of values")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "row_splits", splits)

    @classmethod
    def from_rows(cls, rows: Iterable[Any], dtype: npt.DTypeLike | None = None) -> Ragged:
        """A Ragged of the given rows, each a sequence of numbers or of ``bytes``."""
        rows = [as_values(row) for row in rows]
        splits = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=splits[1:])
        # An empty list says nothing about the dtype, so it must not decide it either.
        filled = [row for row in rows if len(row)]
        values = np.concatenate(filled) if filled else np.empty(0, np.float32)
        return cls(values if dtype is None else values.astype(dtype), splits)

    @property
    def flat_values(self) -> Array:
        """The innermost values, all rows one after the other."""
        return self.values.flat_values if isinstance(self.values, Ragged) else self.values

    @property
    def nested_row_splits(self) -> tuple[Offsets, ...]:
        """The row splits of every ragged dimension, outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, Ragged) else ()
        return (self.row_splits, *inner)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values; ``object`` for bytes."""
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The length of each dimension, None where it differs from row to row."""
        return (len(self), None, *self.values.shape[1:])

    def row_lengths(self) -> Offsets:
        """The length of each row."""
        return np.diff(self.row_splits)

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __iter__(self) -> Iterator[Array | Ragged]:
        splits = self.row_splits.tolist()
        return (self.values[a:b] for a, b in pairwise(splits))

    def __getitem__(self, key: Any) -> Any:
        """A row for an index; a Ragged for a slice, a list or array of indices, or a mask."""
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                begin, end = self.row_splits[start], self.row_splits[stop]
                return Ragged(self.values[begin:end], self.row_splits[start : stop + 1] - begin)
            key = np.arange(start, stop, step)
        if isinstance(key, (list, np.ndarray)):
            return self._take(np.arange(len(self))[key])
        index = range(len(self))[key]
        return self.values[self.row_splits[index] : self.row_splits[index + 1]]

    def _take(self, rows: Offsets) -> Ragged:
        lengths = self.row_lengths()[rows]
        splits = np.zeros(len(rows) + 1, self.row_splits.dtype)
        np.cumsum(lengths, out=splits[1:])
        shift = np.repeat(self.row_splits[:-1][rows] - splits[:-1], lengths)
        return Ragged(self.values[np.arange(splits[-1]) + shift], splits)

    def to_list(self) -> list[Any]:
        """Nested lists of Python numbers or ``bytes``."""
        values = self.values.to_list() if isinstance(self.values, Ragged) else self.values.tolist()
        splits = self.row_splits.tolist()
        return [values[a:b] for a, b in pairwise(splits)]

    def to_dense(self, default_value: Any = None) -> Array:
        """One array, short rows filled up at the end with ``default_value`` (0 or ``b""``)."""
        inner = self.values.to_dense(default_value) if isinstance(self.values, Ragged) else self.values
        lengths = self.row_lengths()
        width = int(lengths.max()) if len(lengths) else 0
        dense = filled((len(self), width, *inner.shape[1:]), inner.dtype, default_value)
        dense[np.arange(width) < lengths[:, None]] = inner
        return dense

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ragged):
            return NotImplemented
        if isinstance(self.values, Ragged) or isinstance(other.values, Ragged):
            same = bool(self.values == other.values)
        else:
            same = np.array_equal(self.values, other.values)
        return same and np.array_equal(self.row_splits, other.row_splits)

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # an array does not compare itself with a Ragged element by element

    def __repr__(self) -> str:
        return f"<Ragged {_shape_text(self.shape)} {self.dtype}: {_brief(self[: _SHOWN + 1].to_list())}>"


@dataclass(frozen=True, eq=False, repr=False)
class Sparse:
    """A tensor of ``dense_shape`` of which only some entries are kept: ``values[i]`` at ``indices[i]``.

    The indices are not checked against ``dense_shape``, nor for repetition, as in TensorFlow: they are
    data. ``to_dense`` does check.

    >>> Sparse([[0, 0], [2, 1]], [7, 8], (3, 2)).to_dense().tolist()
    [[7, 0], [0, 0], [0, 8]]
    """

    indices: Offsets
    values: Array
    dense_shape: tuple[int, ...]

    def __post_init__(self) -> None:
        shape = tuple(int(size) for size in self.dense_shape)
        values = as_values(self.values)
        indices = np.asarray(self.indices, np.int64)
        if not shape:
            raise ValueError("dense_shape must have at least one dimension")
        if not indices.size and indices.ndim != 2:
            indices = indices.reshape(0, len(shape))
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
        chosen = first == range(len(self))[key]
        if len(self.dense_shape) == 1:
            values = self.values[chosen]
            return values[-1] if len(values) else filled((1,), self.dtype, None)[0]
        return Sparse(self.indices[chosen, 1:], self.values[chosen], self.dense_shape[1:])

    def to_list(self) -> list[Any]:
        """The kept values of each row as nested lists, without padding.

        The last dimension holds only what is kept, so this suits what ``VarLenFeature`` gives; where
        the positions matter, use ``indices`` or ``to_dense``.
        """
        *outer, _ = self.dense_shape
        self._check_range()
        rows: list[list[Any]] = [[] for _ in range(int(np.prod(outer, dtype=np.int64)))]
        flat = np.zeros(len(self.values), np.int64)
        for size, index in zip(outer, self.indices.T):  # noqa: B905 - the last dimension is left out
            flat = flat * size + index
        for row, value in zip(flat.tolist(), self.values.tolist(), strict=True):
            rows[row].append(value)
        return cast("list[Any]", _nest(rows, outer))

    def to_dense(self, default_value: Any = None) -> Array:
        """One array, with ``default_value`` (0 or ``b""``) where nothing is kept."""
        self._check_range()
        dense = filled(self.dense_shape, self.dtype, default_value)
        place = tuple(self.indices.T)
        taken = np.zeros(self.dense_shape, bool)
        taken[place] = True
        if np.count_nonzero(taken) != len(self.values):
            raise ValueError("two values have the same index, so there is no dense form")
        dense[place] = self.values
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
            f"{tuple(index)}: {_brief(value)}"
            for index, value in zip(
                self.indices[:_SHOWN].tolist(), self.values[:_SHOWN].tolist(), strict=True
            )
        ]
        more = [f"... {len(self.values)} values"] if len(self.values) > _SHOWN else []
        return f"<Sparse {self.dense_shape} {self.dtype}: {{{', '.join(entries + more)}}}>"


def as_values(values: Any) -> Array:
    """``values`` as an array; text and bytes as objects, since numpy's own kind drops trailing NULs."""
    if not isinstance(values, np.ndarray):
        items: Sequence[Any] = values if hasattr(values, "__array__") else list(values)
        if any(isinstance(item, (bytes, str)) for item in items):
            array = np.empty(len(items), object)
            array[:] = items
            return array
        values = np.asarray(items)
    if values.ndim == 0:
        raise ValueError("values must have at least one dimension")
    return cast(Array, values)


def filled(shape: tuple[int, ...], dtype: np.dtype[Any], default_value: Any) -> Array:
    """A new array full of ``default_value``, or of the dtype's natural nothing: 0, or ``b""``."""
    if default_value is None:
        default_value = b"" if dtype.kind == "O" else 0
    # Put into an array of the dtype first: np.full would make numpy's own kind of bytes of it, and so
    # drop trailing NULs.
    value = np.empty((), dtype)
    value[()] = default_value
    array = np.empty(shape, dtype)
    array[...] = value
    return array


def _nest(rows: list[Any], outer: Sequence[int]) -> Any:
    """The flat list ``rows`` as nested lists of the shape ``outer``."""
    if not outer:
        return rows[0]
    if len(outer) == 1:
        return rows
    size = len(rows) // outer[0] if outer[0] else 0
    return [_nest(rows[i * size : (i + 1) * size], outer[1:]) for i in range(outer[0])]


def _brief(value: Any) -> str:
    brief = reprlib.Repr()
    brief.maxlist = _SHOWN
    brief.maxother = brief.maxstring = 40
    return brief.repr(value)


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('None' if size is None else str(size) for size in shape)})"
