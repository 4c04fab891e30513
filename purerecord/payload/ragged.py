"""``Ragged``: what a column is when its rows differ in length.

Both are a few arrays with a reading: values are not copied when one is made, and nothing may be assigned
afterwards. This module knows numpy and nothing else: no specs, no messages, no records.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from operator import index as as_index
from typing import Any, Union, cast

import numpy as np
import numpy.typing as npt

from .values import converted

Array = npt.NDArray[Any]
Offsets = npt.NDArray[np.int64]

_NO_DTYPE = "no dtype holds all of these integers; those beyond 2**63 need unsigned ones"
# Rows and values that a repr shows before it says "...".
SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Rows of different lengths: row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``.

    ``values`` is an array (its first dimension is cut into rows, further ones stay as they are) or a
    Ragged, which nests. ``row_splits`` starts at 0, never falls and ends at ``len(values)``; since all
    else rests on that, it is a copy of what was given, and cannot be changed.

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
            splits = converted(splits, np.int64)
        splits = splits.copy()
        splits.flags.writeable = False
        if splits[0] != 0 or splits[-1] != len(values) or bool((splits[1:] < splits[:-1]).any()):
            raise ValueError(f"row_splits must rise from 0 to {len(values)}, the number of values")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "row_splits", splits)

    @classmethod
    def from_rows(cls, rows: Iterable[Any], dtype: npt.DTypeLike | None = None) -> Ragged:
        """A Ragged of the given rows, each a sequence of numbers or of ``bytes``.

        Without a ``dtype`` it is the one in which numpy has all of them. Numbers that would change are
        a ValueError, but for floats that are rounded to a smaller float dtype.
        """
        rows = [as_values(row) for row in rows]
        splits = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=splits[1:])
        # An empty list says nothing about the dtype, so it must not decide it either.
        parts = [row for row in rows if len(row)]
        if dtype is None:
            dtype = _common_dtype(parts)
        elif dtype in (bytes, str):
            dtype = object
        return cls(np.concatenate([converted(part, dtype) for part in parts] or [np.empty(0, dtype)]), splits)

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
            return self._take(np.arange(start, stop, step))
        if isinstance(key, list) or (isinstance(key, np.ndarray) and key.ndim):
            return self._take(_row_numbers(key, len(self)))
        index = row_number(key, self)
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
        """One array, short rows filled up at the end with ``default_value`` (0 or ``b""``).

        The default must be one that the dtype can hold: 0.5 among integers is a ValueError.
        """
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
        return f"<Ragged {_shape_text(self.shape)} {self.dtype}: {brief(self[: SHOWN + 1].to_list())}>"


def as_values(values: Any) -> Array:
    """``values`` as an array; text and bytes as objects, since numpy's own kind drops trailing NULs."""
    if not isinstance(values, np.ndarray):
        if isinstance(values, (bytes, str)) or not isinstance(values, Iterable):
            raise TypeError(f"values must be a list or an array of them, not a {type(values).__name__}")
        values = np.asarray(values) if hasattr(values, "__array__") else _from_list(list(values))
    if values.ndim == 0:
        raise ValueError("values must have at least one dimension")
    return cast(Array, values)


def _from_list(items: list[Any]) -> Array:
    strings = [isinstance(item, (bytes, str)) for item in items]
    if any(strings):
        if not all(strings):
            raise ValueError("numbers and strings cannot be the values of one array")
        array = np.empty(len(items), object)
        array[:] = items
        return array
    try:
        array = np.asarray(items)
    except ValueError:
        raise ValueError("the values differ in shape; only what lies in rows may") from None
    if array.dtype == object:
        raise ValueError("values must be strings, or numbers of up to 64 bits")
    if array.dtype.kind == "f" and not all(type(item) is float for item in items):
        given = np.asarray(items, object).ravel().tolist()
        if all(isinstance(item, Integral) for item in given):
            raise ValueError(_NO_DTYPE)
        for item, kept in zip(given, array.ravel().tolist(), strict=True):
            if isinstance(item, Integral) and item != kept:
                raise ValueError(f"{item} cannot stay exact beside the other values")
    return array


def _common_dtype(parts: Sequence[Array]) -> np.dtype[Any]:
    """The dtype that can hold all parts."""
    if not parts:
        return np.dtype(np.float32)
    dtype = np.result_type(*{part.dtype for part in parts})
    kinds = {part.dtype.kind for part in parts}
    if dtype.kind == "f" and "f" not in kinds:
        raise ValueError(
            "no dtype holds integers beyond 2**63 and smaller ones; give the dtype that you want"
        )
    return dtype


def filled(shape: tuple[int, ...], dtype: np.dtype[Any], default_value: Any) -> Array:
    """A new array full of ``default_value``, or of the dtype's natural nothing: 0, or ``b""``."""
    if default_value is None and dtype.kind != "O":
        return np.zeros(shape, dtype)  # memory that is new is full of zeros already
    # Put into an array of the dtype first: np.full would make numpy's own kind of bytes of it, and so
    # drop trailing NULs.
    value = np.zeros((), dtype)
    if dtype.kind == "O":
        if not isinstance(default_value, (bytes, str, type(None))):
            raise TypeError(f"strings are filled up with bytes, not with a {type(default_value).__name__}")
        value[()] = b"" if default_value is None else default_value
    elif default_value is not None:
        value[()] = converted(np.asarray(default_value), dtype)
    array = np.empty(shape, dtype)
    array[...] = value
    return array


def row_number(key: Any, column: Any) -> int:
    """The number of the row that ``key`` means, from 0 on; ``column`` is a ``Ragged`` or a ``Sparse``."""
    kind, count = type(column).__name__, len(column)
    try:
        index = as_index(key)
    except TypeError:
        several = " a list or array of integers, a mask" if isinstance(column, Ragged) else ""
        raise TypeError(
            f"a {kind} is indexed with an integer,{several} or a slice, not with a {type(key).__name__}"
        ) from None
    if not -count <= index < count:
        raise IndexError(f"row {index} of a {kind} that has {count}")
    return index % count


def _row_numbers(keys: Any, count: int) -> Offsets:
    """The rows that a list or array of integers, or a mask, chooses of so many."""
    try:
        numbers = np.asarray(keys)
    except ValueError:
        raise TypeError("rows are chosen with a vector of integers or a mask, not with lists") from None
    if not numbers.size:
        numbers = numbers.astype(np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biu":
        raise TypeError(f"rows are chosen with a vector of integers or a mask, not with {numbers.dtype}")
    if numbers.dtype.kind == "b":
        if len(numbers) != count:
            raise IndexError(f"a mask of {len(numbers)} for a Ragged of {count} rows")
        return np.flatnonzero(numbers)
    outside = (numbers < -count) | (numbers >= count)
    if outside.any():
        raise IndexError(f"row {numbers[outside][0]} of a Ragged that has {count}")
    return np.where(numbers < 0, numbers + count, numbers).astype(np.int64)


def nest(rows: list[Any], outer: Sequence[int]) -> Any:
    """The flat list ``rows`` as nested lists of the shape ``outer``."""
    if not outer:
        return rows[0]
    if len(outer) == 1:
        return rows
    size = len(rows) // outer[0] if outer[0] else 0
    return [nest(rows[i * size : (i + 1) * size], outer[1:]) for i in range(outer[0])]


def brief(value: Any) -> str:
    """``value`` as a repr shows it, cut if it is long."""
    shown = reprlib.Repr()
    shown.maxlist = SHOWN
    shown.maxother = shown.maxstring = 40
    return shown.repr(value)


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('None' if size is None else str(size) for size in shape)})"
