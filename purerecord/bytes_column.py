"""``BytesColumn``: many byte strings in one buffer, with the offsets of each.

A million short strings need no million Python objects that way, and a large one is not copied before
somebody asks for it. ``Records`` is such a column that also knows where its payloads come from. This module
knows neither records nor Examples.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import accumulate, islice
from operator import eq
from operator import index as as_index
from typing import Any, SupportsIndex, Union, overload

import numpy as np
import numpy.typing as npt

from . import public
from .memory.copying import copy_ranges

BytesLike = Union[bytes, bytearray, memoryview]
Offsets = npt.NDArray[np.int64]
# What chooses several elements: numbers, or a mask.
Chosen = Union[npt.NDArray[Any], list[int], list[bool]]

# Strings of a smaller mean length are read through a stream over a copy of all, larger ones one by one.
_COPIED_MEAN = 4096
# Up to so many strings are copied one by one.
_JOINED_COUNT = 256
_SHOWN = 6  # strings, and
_SHOWN_BYTES = 20  # bytes of each, that a repr shows


@public
class BytesColumn(Sequence[bytes]):
    """The strings ``buffer[begins[i]:ends[i]]``; nothing is copied.

    It is a ``Sequence[bytes]``: indexing and iterating make ``bytes`` that belong to the caller; a slice, an
    array of numbers or a mask gives a column over the same buffer. ``views()`` gives memoryviews without a
    copy, ``np.asarray`` an array of ``bytes`` objects. ``buffer`` is any contiguous bytes-like object that
    does not change any more.

    >>> BytesColumn.of([b"one", b"two"])[::-1]
    <BytesColumn: 2 strings, 6 bytes: [b'two', b'one']>
    """

    __slots__ = ("begins", "buffer", "ends")

    ndim = 1
    dtype = np.dtype(object)  # of the array that ``np.asarray`` makes
    __array_ufunc__ = None  # so that array == column asks the column
    _element = "string"

    def __init__(self, buffer: Any, begins: npt.ArrayLike, ends: npt.ArrayLike) -> None:
        self.buffer = buffer
        self.begins: Offsets = np.asarray(begins, np.int64)
        self.ends: Offsets = np.asarray(ends, np.int64)
        if self.begins.ndim != 1 or self.begins.shape != self.ends.shape:
            raise ValueError("begins and ends must be vectors of the same length")
        if not memoryview(buffer).contiguous:
            raise ValueError("the buffer must be contiguous")
        if len(self.begins) and (
            int(self.begins.min()) < 0
            or bool((self.begins > self.ends).any())
            or int(self.ends.max()) > memoryview(buffer).nbytes
        ):
            raise ValueError("begins and ends must be ranges inside the buffer")

    @classmethod
    def of(cls, strings: BytesColumn | Iterable[BytesLike]) -> BytesColumn:
        """``strings`` as a column: unchanged if they are one, else joined into one buffer."""
        if isinstance(strings, BytesColumn):
            return strings
        parts = list(strings)
        if wrong := [part for part in parts if not isinstance(part, (bytes, bytearray, memoryview))]:
            raise TypeError(f"a column of bytes cannot hold a {type(wrong[0]).__name__}")
        if set(map(type, parts)) - {bytes}:
            parts = [octets(part) for part in parts]
        ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)))
        begins = np.append(0, ends[:-1]) if parts else ends
        return BytesColumn(b"".join(parts), begins, ends)

    @classmethod
    def concat(cls, columns: Iterable[BytesColumn]) -> BytesColumn:
        """All strings of ``columns`` in one; a single column or a shared buffer is not copied."""
        parts = [column for column in columns if len(column)]
        if len(parts) == 1:
            return parts[0]
        buffer, begins, ends = joined(parts)
        return BytesColumn(b"".join(buffer) if isinstance(buffer, list) else buffer, begins, ends)

    @property
    def lengths(self) -> Offsets:
        """The length of each in bytes."""
        return self.ends - self.begins

    @property
    def nbytes(self) -> int:
        """The sum of the lengths."""
        return int(self.lengths.sum())

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.begins)

    @property
    def shape(self) -> tuple[int]:
        """The shape of the array that ``np.asarray`` makes."""
        return (len(self.begins),)

    def views(self) -> Iterator[memoryview]:
        """All of them as memoryviews into the buffer, without a copy."""
        view = memoryview(self.buffer).cast("B")
        return map(view.__getitem__, map(slice, self.begins.tolist(), self.ends.tolist()))

    def tolist(self) -> list[bytes]:
        """All of them as ``bytes``."""
        return list(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("an array of bytes objects is always a copy of the column")
        array = np.fromiter(self, object, len(self))
        return array if dtype is None else array.astype(dtype, copy=False)

    def __len__(self) -> int:
        return len(self.begins)

    def __iter__(self) -> Iterator[bytes]:
        gaps = self.begins[1:] - self.ends[:-1]
        inside = isinstance(self.buffer, bytes)
        if not len(self) or (gaps < 0).any() or not (inside or self.nbytes < _COPIED_MEAN * len(self)):
            return map(bytes, self.views())
        # Reading a stream forward, gap by gap and string by string, takes half the time of slicing.
        first = int(self.begins[0])
        if inside:
            source = BytesIO(self.buffer)
            source.seek(first)
        else:  # a copy of all costs little beside a copy of each
            source = BytesIO(memoryview(self.buffer).cast("B")[first : int(self.ends[-1])])
        if not gaps.any():
            return map(source.read, self.lengths.tolist())
        steps = np.zeros(2 * len(self), np.int64)
        steps[2::2] = gaps
        steps[1::2] = self.lengths
        return islice(map(source.read, steps.tolist()), 1, None, 2)

    @overload
    def __getitem__(self, key: int) -> bytes: ...
    @overload
    def __getitem__(self, key: slice | Chosen) -> BytesColumn: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, key: SupportsIndex) -> bytes: ...
    def __getitem__(self, key: SupportsIndex | slice | Chosen) -> bytes | BytesColumn:
        if isinstance(key, slice):
            return self.take(key)
        try:
            index = as_index(key)  # type: ignore[arg-type]
        except TypeError:
            return self.take(chosen_numbers(key, len(self), self._element))
        return bytes(memoryview(self.buffer).cast("B")[self.begins[index] : self.ends[index]])

    def take(self, indices: npt.NDArray[Any] | slice) -> BytesColumn:
        """Those with these indices, or where a mask is true, over the same buffer."""
        return BytesColumn(self.buffer, self.begins[indices], self.ends[indices])

    def packed(self) -> BytesColumn:
        """The same strings one right after the other; a copy unless they are."""
        if len(self) and not bool((self.begins[1:] == self.ends[:-1]).all()):
            ends = np.cumsum(self.lengths)
            if len(self) < _JOINED_COUNT:
                return BytesColumn(b"".join(self.views()), ends - self.lengths, ends)
            buffer = np.empty(int(ends[-1]), np.uint8)
            copy_ranges(self.buffer, self.begins, buffer, ends - self.lengths, self.lengths)
            return BytesColumn(buffer.data.toreadonly(), ends - self.lengths, ends)
        return self

    def without_waste(self) -> BytesColumn:
        """The same strings; packed, if they are less than half of the buffer that they would keep alive."""
        if 2 * self.nbytes >= memoryview(self.buffer).nbytes:
            return self
        packed = self.packed()
        if packed is not self:
            return packed
        low, high = used_range(self)
        return BytesColumn(
            bytes(memoryview(self.buffer).cast("B")[low:high]), self.begins - low, self.ends - low
        )

    def _compact(self) -> tuple[Any, Offsets, Offsets]:
        """The part of the buffer that they use, or a copy of the strings, and the begins and ends there."""
        low, high = used_range(self)
        if high - low > 2 * self.nbytes + 64 * len(self):  # they use little of that part
            packed = self.packed()
            low, high = used_range(packed)
            return memoryview(packed.buffer).cast("B")[low:high], packed.begins - low, packed.ends - low
        return memoryview(self.buffer).cast("B")[low:high], self.begins - low, self.ends - low

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BytesColumn):
            return np.array_equal(self.lengths, other.lengths) and all(map(eq, self, other))
        if isinstance(other, (list, tuple)):
            return len(self) == len(other) and all(map(eq, self, other))
        if isinstance(other, (bytes, str, np.ndarray)):
            raise TypeError(
                f"a {type(self).__name__} is compared as a whole, with a list or another column; to compare "
                "each value, make an array of it: np.asarray(column)"
            )
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        # A pickle holds only the bytes that are used. With protocol 5 they can stay out of it.
        buffer, begins, ends = self._compact()
        return BytesColumn, (picklable(buffer, protocol), begins, ends)

    def __repr__(self) -> str:
        texts = [
            repr(bytes(view[:_SHOWN_BYTES])) + ("..." if len(view) > _SHOWN_BYTES else "")
            for view in self[:_SHOWN].views()
        ]
        more = ["..."] if len(self) > _SHOWN else []
        return f"<BytesColumn: {len(self)} strings, {self.nbytes} bytes: [{', '.join(texts + more)}]>"


def used_range(column: BytesColumn) -> tuple[int, int]:
    """The part of the buffer in which the strings lie."""
    return (int(column.begins.min()), int(column.ends.max())) if len(column) else (0, 0)


def picklable(buffer: Any, protocol: SupportsIndex) -> Any:
    """The bytes of a buffer for a pickle, read-only."""
    return pickle.PickleBuffer(buffer.toreadonly()) if as_index(protocol) >= 5 else bytes(buffer)


def joined(columns: Sequence[BytesColumn]) -> tuple[Any, Offsets, Offsets]:
    """(the buffer that all share, or the list of buffers to be joined; all begins and ends in it)."""
    none = np.empty(0, np.int64)
    if columns and all(column.buffer is columns[0].buffer for column in columns):
        begins, ends = [column.begins for column in columns], [column.ends for column in columns]
        return columns[0].buffer, np.concatenate(begins), np.concatenate(ends)
    parts = [column._compact() for column in columns]
    places = list(accumulate((len(buffer) for buffer, _, _ in parts), initial=0))
    begins = [begins + place for (_, begins, _), place in zip(parts, places, strict=False)]
    ends = [ends + place for (_, _, ends), place in zip(parts, places, strict=False)]
    return [part[0] for part in parts], np.concatenate([none, *begins]), np.concatenate([none, *ends])


def chosen_numbers(keys: Any, count: int, what: str = "record") -> Offsets:
    """The numbers, from 0 on, that a list or array of integers or a mask chooses among ``count`` records.

    Errors call them ``what``.
    """
    if not isinstance(keys, list) and not getattr(keys, "ndim", 0):
        raise TypeError(
            f"{what}s are chosen with an integer, a slice, an array of integers or a mask, not with a "
            f"{type(keys).__name__}"
        )
    try:
        numbers = np.asarray(keys)
    except ValueError:  # lists of several lengths
        raise TypeError(f"{what}s are chosen with a vector of integers or a mask, not with lists") from None
    if not numbers.size and numbers.dtype != np.bool_:
        numbers = numbers.astype(np.int64)  # an empty list has no type of its own
    if numbers.ndim != 1 or numbers.dtype.kind not in "biu":
        wrong = f"{numbers.ndim} dimensions" if numbers.ndim != 1 else f"the type {numbers.dtype}"
        raise TypeError(
            f"{what}s are chosen with a vector of integers or a mask, not with an array of {wrong}"
        )
    if numbers.dtype.kind == "b":
        if len(numbers) != count:
            raise IndexError(f"a mask of {len(numbers)} values for {count} {what}s")
        return np.flatnonzero(numbers)
    outside = numbers[(numbers < -count) | (numbers >= count)]
    if len(outside):
        raise IndexError(f"{what} {outside[0]} of {count}")
    return np.where(numbers < 0, numbers + count, numbers).astype(np.int64)


def octets(payload: Any) -> bytes | memoryview:
    """The bytes of any bytes-like object, also of a strided view; TypeError if they are addresses."""
    view = memoryview(payload)
    if view.format == "B" and view.ndim == 1 and view.contiguous:
        return view
    if "O" in view.format:
        raise TypeError("the bytes of objects are their addresses")
    return view.tobytes()
