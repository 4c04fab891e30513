"""``Ragged``: a column whose rows differ in length.

It consists of two arrays, the values and the row splits. Making one does not copy the values, and its
attributes cannot be assigned. This module knows only numpy: no specs, no messages, no payloads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import public
from ..bytes_column import BytesColumn, chosen_numbers
from .row_index import row_number
from .short_repr import MAX_ITEMS, short_repr
from .values import Array, Mask, Offsets, as_values, converted, filled, padding


@public
@dataclass(frozen=True, eq=False, repr=False)
class Ragged:
    """Rows of different lengths: row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``.

    ``values`` is an array, whose first dimension is divided into rows, a ``BytesColumn``, or a Ragged, which
    gives one more ragged dimension. ``row_splits`` starts at 0, never falls and ends at ``len(values)``. All
    other code relies on that, so it is a read-only copy of the argument.

    ``missing`` is None, or a mask of the empty rows that stand for no list at all: their record lacks the
    feature. ``untyped`` is None, or a mask of the missing rows whose record has the feature, but without a
    type. ``decode_examples`` sets both, and ``encode_examples`` writes such rows as they were.

    >>> Ragged([1, 2, 3], [0, 2, 2, 3]).to_list()
    [[1, 2], [], [3]]
    """

    values: Any  # an array, a BytesColumn or a Ragged
    row_splits: Offsets
    missing: Mask | None = None
    untyped: Mask | None = None

    def __post_init__(self) -> None:
        values = self.values
        if not isinstance(values, (Ragged, BytesColumn)):
            values = as_values(values)
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
        if self.missing is not None or self.untyped is not None:
            self._check_masks()

    def _check_masks(self) -> None:
        """Checks ``missing`` and ``untyped``, and replaces them by read-only copies; by None if all False."""
        masks = [_as_mask(name, getattr(self, name), len(self)) for name in ("missing", "untyped")]
        missing, untyped = masks
        if missing is not None and bool((missing & (self.row_lengths() > 0)).any()):
            raise ValueError("a row with values cannot be missing")
        if untyped is not None and (missing is None or bool((untyped & ~missing).any())):
            raise ValueError("a row that is untyped must be missing, too")
        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "untyped", untyped)

    def _masks(self, rows: Any) -> tuple[Mask | None, Mask | None]:
        """``missing`` and ``untyped`` of some rows."""
        missing, untyped = self.missing, self.untyped
        return None if missing is None else missing[rows], None if untyped is None else untyped[rows]

    @classmethod
    def from_rows(cls, rows: Iterable[Any], dtype: npt.DTypeLike | None = None) -> Ragged:
        """A Ragged of the given rows, each a sequence of numbers or of ``bytes``.

        Without a ``dtype``, numpy chooses one that holds all of them. A number that would change is a
        ValueError, except for floats that are rounded to a smaller float dtype.
        """
        rows = [as_values(row) for row in rows]
        splits = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=splits[1:])
        # An empty list has no meaningful dtype, so it must not take part in the choice.
        parts = [row for row in rows if len(row)]
        if dtype is None:
            dtype = _common_dtype(parts)
        elif dtype in (bytes, str):
            dtype = object
        return cls(np.concatenate([converted(part, dtype) for part in parts] or [np.empty(0, dtype)]), splits)

    @property
    def flat_values(self) -> Any:
        """The innermost values: those of all rows, one after the other."""
        return self.values.flat_values if isinstance(self.values, Ragged) else self.values

    @property
    def nested_row_splits(self) -> tuple[Offsets, ...]:
        """The row splits of every ragged dimension, outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, Ragged) else ()
        return (self.row_splits, *inner)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values; ``object`` for bytes."""
        dtype: np.dtype[Any] = self.flat_values.dtype
        return dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The length of each dimension; None for one that differs from row to row."""
        return (len(self), None, *self.values.shape[1:])

    def row_lengths(self) -> Offsets:
        """The length of each row."""
        return np.diff(self.row_splits)

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __iter__(self) -> Iterator[Array | Ragged | BytesColumn]:
        splits = self.row_splits.tolist()
        return (self.values[a:b] for a, b in pairwise(splits))

    def __getitem__(self, key: Any) -> Any:
        """A row for an index; a Ragged for a slice, a list or array of indices, or a mask.

        A second slice cuts every row: ``ragged[:, :512]`` holds the first 512 values of each.
        """
        if isinstance(key, tuple):
            return self._cut(key)
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                stop = max(start, stop)
                begin, end = self.row_splits[start], self.row_splits[stop]
                splits = self.row_splits[start : stop + 1] - begin
                return Ragged(self.values[begin:end], splits, *self._masks(slice(start, stop)))
            return self._take(np.arange(start, stop, step))
        if isinstance(key, list) or (isinstance(key, np.ndarray) and key.ndim):
            return self._take(chosen_numbers(key, len(self), "row"))
        index = row_number(key, len(self), "Ragged", " a list or array of integers, a mask")
        return self.values[self.row_splits[index] : self.row_splits[index + 1]]

    def _cut(self, key: tuple[Any, ...]) -> Any:
        """The rows of ``key[0]``, each cut by the slice ``key[1]``."""
        if len(key) != 2 or not isinstance(key[1], slice) or key[1].step not in (None, 1):
            raise TypeError("rows are cut by one slice without a step, as in ragged[:, :512]")
        rows, part = key
        if not isinstance(rows, slice) and np.ndim(rows) == 0:
            return self[rows][part]
        chosen: Ragged = self[rows]
        begins, lengths = chosen.row_splits[:-1], chosen.row_lengths()
        starts, stops = _bound(part.start, lengths, 0), _bound(part.stop, lengths, lengths)
        kept = np.maximum(stops - starts, 0)
        return chosen._gathered(begins + starts, kept, chosen._masks(slice(None)))

    def _take(self, rows: Offsets) -> Ragged:
        return self._gathered(self.row_splits[:-1][rows], self.row_lengths()[rows], self._masks(rows))

    def _gathered(self, begins: Offsets, lengths: Offsets, masks: tuple[Mask | None, Mask | None]) -> Ragged:
        """Rows of these ``lengths`` that begin at these places among the values."""
        splits = np.zeros(len(lengths) + 1, self.row_splits.dtype)
        np.cumsum(lengths, out=splits[1:])
        shift = np.repeat(begins - splits[:-1], lengths)
        return Ragged(self.values[np.arange(splits[-1]) + shift], splits, *masks)

    def to_list(self) -> list[Any]:
        """Nested lists of Python numbers or ``bytes``."""
        values = self.values.to_list() if isinstance(self.values, Ragged) else self.values.tolist()
        splits = self.row_splits.tolist()
        return [values[a:b] for a, b in pairwise(splits)]

    def to_dense(self, default_value: Any = None, *, length: int | None = None) -> Array:
        """One array, in which short rows are padded at the end with ``default_value`` (0 or an empty string).

        The dtype must be able to hold the default: 0.5 among integers is a ValueError. Rows get the length of
        the longest, or ``length``; if one is longer, that is a ValueError: ``ragged[:, :length]`` cuts it.
        """
        default_value = padding(self.flat_values, default_value)
        inner = self.values.to_dense(default_value) if isinstance(self.values, Ragged) else self.values
        lengths = self.row_lengths()
        width = int(lengths.max()) if len(lengths) else 0
        if length is not None:
            if length < 0:
                raise ValueError(f"length must not be negative, not {length}")
            if width > length:
                row = int((lengths > length).argmax())
                raise ValueError(
                    f"row {row} has {lengths[row]} values; cut the rows first: ragged[:, :{length}]"
                )
            width = length
        dense = filled((len(self), width, *inner.shape[1:]), inner.dtype, default_value)
        dense[np.arange(width) < lengths[:, None]] = np.asarray(inner)
        return dense

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ragged):
            return NotImplemented
        either = (type(self.values), type(other.values))
        if Ragged in either or either == (BytesColumn, BytesColumn):
            same = bool(self.values == other.values)
        else:
            same = np.array_equal(np.asarray(self.values), np.asarray(other.values))
        return (
            same
            and np.array_equal(self.row_splits, other.row_splits)
            and _same_mask(self.missing, other.missing)
            and _same_mask(self.untyped, other.untyped)
        )

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # so that array == Ragged asks Ragged instead of comparing its elements

    def __repr__(self) -> str:
        rows = short_repr(self[: MAX_ITEMS + 1].to_list())
        missing = "" if self.missing is None else f", {np.count_nonzero(self.missing)} missing"
        untyped = "" if self.untyped is None else f" ({np.count_nonzero(self.untyped)} untyped)"
        return f"<Ragged {_shape_text(self.shape)} {self.dtype}: {rows}{missing}{untyped}>"

    def _repr_html_(self) -> str:
        from ..notebook import show_ragged  # noqa: PLC0415 - only a notebook asks for it

        return show_ragged(self)


def concatenated(parts: Sequence[Ragged]) -> Ragged:
    """The rows of all ``parts``, one after the other."""
    inner: list[Any] = [part.values for part in parts]
    values: Array | Ragged | BytesColumn
    if isinstance(inner[0], Ragged):
        values = concatenated(inner)
    elif all(isinstance(part, BytesColumn) for part in inner):
        values = BytesColumn.concat(inner)
    else:
        values = np.concatenate([np.asarray(part) for part in inner])
    lengths = np.concatenate([part.row_lengths() for part in parts])
    masks = (_joined_masks([getattr(part, name) for part in parts], parts) for name in ("missing", "untyped"))
    return Ragged(values, np.append(0, np.cumsum(lengths)), *masks)


def _bound(bound: Any, lengths: Offsets, default: Any) -> Any:
    """Where a bound of a slice lies in rows of these ``lengths``, counted from the begin of each."""
    if bound is None:
        return default
    place = index(bound)
    return np.clip(place if place >= 0 else lengths + place, 0, lengths)


def _joined_masks(masks: Sequence[Mask | None], parts: Sequence[Ragged]) -> Mask | None:
    if all(mask is None for mask in masks):
        return None
    whole = [
        np.zeros(len(part), bool) if mask is None else mask for mask, part in zip(masks, parts, strict=True)
    ]
    return np.concatenate(whole)


def _as_mask(name: str, mask: Any, rows: int) -> Mask | None:
    """``mask`` as a read-only array; None if it is None, or False everywhere."""
    if mask is None:
        return None
    mask = np.array(mask)
    if mask.dtype != bool or mask.shape != (rows,):
        raise ValueError(f"{name} must be a mask of {rows} booleans, one for each row")
    mask.flags.writeable = False
    return mask if mask.any() else None


def _same_mask(one: Mask | None, other: Mask | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def _common_dtype(parts: Sequence[Array]) -> np.dtype[Any]:
    """The dtype that holds all parts."""
    if not parts:
        return np.dtype(np.float32)
    dtype = np.result_type(*{part.dtype for part in parts})
    kinds = {part.dtype.kind for part in parts}
    if dtype.kind == "f" and "f" not in kinds:
        raise ValueError(
            "no dtype holds integers beyond 2**63 and smaller ones; give the dtype that you want"
        )
    return dtype


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('None' if size is None else str(size) for size in shape)})"
