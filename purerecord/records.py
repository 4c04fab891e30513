"""``Records``: many payloads in one buffer, the type that flows between all layers.

One buffer and two arrays of offsets represent a whole batch, so a million small records need no million
Python objects. ``Records`` is a ``Sequence[bytes]``: indexing and iterating give ``bytes`` that belong to the
caller; a slice, an array of numbers or a mask gives ``Records`` over the same buffer. It remembers where its
records come from, for error messages. This module opens no file and knows neither frames nor Examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import accumulate, islice
from operator import eq
from operator import index as as_index
from typing import Any, NamedTuple, SupportsIndex, Union, overload

import numpy as np
import numpy.typing as npt

from . import public

# On-disk format; never change. A frame begins this many bytes before its payload: the length and its CRC.
FRAME_HEADER = 12

BytesLike = Union[bytes, bytearray, memoryview]
Offsets = npt.NDArray[np.int64]
# What chooses several records: numbers, or a mask.
Chosen = Union[npt.NDArray[Any], list[int], list[bool]]


# Payloads of a smaller mean length are read through a stream over a copy of all, larger ones one by one.
_COPIED_MEAN = 4096
# Joining at least this many bytes uses memory from ``allocate``.
_RECYCLED_SIZE = 1 << 20


class Origins(NamedTuple):
    """Where each of some records comes from: record ``i`` is record ``numbers[i]`` of ``paths[files[i]]``.

    A path of None means that the record comes from no file.
    """

    paths: tuple[str | None, ...]
    files: Offsets
    numbers: Offsets

    def take(self, indices: npt.NDArray[Any] | slice) -> Origins:
        """The origins of the records with these indices."""
        return Origins(self.paths, self.files[indices], self.numbers[indices])

    @classmethod
    def concat(cls, parts: Sequence[Origins]) -> Origins:
        """The origins of all parts, in order."""
        if all(part.paths is parts[0].paths for part in parts):  # one table, perhaps of many files
            files = np.concatenate([part.files for part in parts])
            return cls(parts[0].paths, files, np.concatenate([part.numbers for part in parts]))
        paths = tuple(dict.fromkeys(path for part in parts for path in part.paths))
        place = {path: number for number, path in enumerate(paths)}
        tables = [np.array([place[path] for path in part.paths], np.int64) for part in parts]
        files = np.concatenate([table[part.files] for table, part in zip(tables, parts, strict=True)])
        return cls(paths, files, np.concatenate([part.numbers for part in parts]))

    def packed(self) -> Origins:
        """The same origins, without unused paths."""
        used, files = np.unique(self.files, return_inverse=True)
        return Origins(tuple(self.paths[file] for file in used.tolist()), files, self.numbers)


@public
class Records(Sequence[bytes]):
    """Payloads ``buffer[begins[i]:ends[i]]``; nothing is copied.

    ``buffer`` is any contiguous bytes-like object that does not change any more. ``path`` and ``first`` say
    where the records come from, for messages: record ``i`` here is record ``first + i`` of the file ``path``.
    Its payload begins ``base + begins[i]`` bytes into the file, after the header of its frame.
    Records that are not consecutive in one file have ``origins`` instead. ``origin`` reads either.
    """

    __slots__ = ("base", "begins", "buffer", "ends", "first", "origins", "path")

    def __init__(
        self,
        buffer: Any,
        begins: npt.ArrayLike,
        ends: npt.ArrayLike,
        *,
        path: str | None = None,
        first: int = 0,
        base: int | None = None,
        origins: Origins | None = None,
    ) -> None:
        self.buffer = buffer
        self.begins: Offsets = np.asarray(begins, np.int64)
        self.ends: Offsets = np.asarray(ends, np.int64)
        self.path = path
        self.first = first
        self.base = base
        self.origins = origins
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
    def of(
        cls, payloads: Records | Iterable[BytesLike], *, allocate: Callable[[int], memoryview] | None = None
    ) -> Records:
        """``payloads`` as Records: unchanged if they are ``Records``, else joined into one buffer.

        An object with ``__records__`` gives them itself, as it may know where each comes from. ``allocate``
        lends the memory to join large payloads in.
        """
        if isinstance(payloads, Records):
            return payloads
        if hasattr(payloads, "__records__"):
            records: Records = payloads.__records__()
            return records
        if isinstance(payloads, (bytes, bytearray, memoryview)):
            raise TypeError("expected a sequence of payloads, got one payload; put it in a list")
        if isinstance(payloads, str) or not isinstance(payloads, Iterable):
            raise _no_payload(payloads)
        parts: list[BytesLike]
        if not isinstance(payloads, (list, tuple)):
            # Copied at once: an iterator may fill the same buffer again for each payload.
            parts = [part if isinstance(part, bytes) else bytes(_octets(part)) for part in payloads]
        elif set(map(type, payloads)) - {bytes}:
            parts = [part if isinstance(part, bytes) else _octets(part) for part in payloads]
        else:
            parts = list(payloads)
        sizes = np.fromiter(map(len, parts), np.int64, len(parts))
        ends = np.cumsum(sizes)
        begins = ends - sizes
        if allocate is None or not parts or ends[-1] < _COPIED_MEAN * len(parts):
            return cls(b"".join(parts), begins, ends)
        return cls(_joined(parts, allocate), begins, ends)

    @classmethod
    def concat(
        cls, batches: Iterable[Records], *, allocate: Callable[[int], memoryview] | None = None
    ) -> Records:
        """All records of ``batches`` in one; a single batch or a shared buffer is not copied.

        ``allocate`` lends the memory to join large payloads in.
        """
        batches = [batch for batch in batches if len(batch)]
        if len(batches) == 1:
            return batches[0]
        shared = bool(batches) and all(batch.buffer is batches[0].buffer for batch in batches)
        parts = batches if shared else [batch._compact() for batch in batches]
        lengths = [0 if shared else memoryview(part.buffer).nbytes for part in parts]
        places = [0, *accumulate(lengths[:-1])] if parts else []
        begins = [part.begins + place for part, place in zip(parts, places, strict=True)]
        ends = [part.ends + place for part, place in zip(parts, places, strict=True)]
        buffer = parts[0].buffer if shared else _joined([part.buffer for part in parts], allocate)
        none = np.empty(0, np.int64)
        records = cls(buffer, np.concatenate([none, *begins]), np.concatenate([none, *ends]))
        if any(path is not None for batch in batches for path in batch._paths()):
            records.origins = Origins.concat([batch._origins() for batch in batches])
        return records

    def _compact(self) -> Records:
        """The same records over the part of the buffer that they use, or over a copy."""
        low, high = int(self.begins.min()), int(self.ends.max())
        if high - low > 2 * self.nbytes + 64 * len(self):  # they use little of that part
            return Records.of(list(self.views()))
        view = memoryview(self.buffer).cast("B")[low:high]
        return Records(view, self.begins - low, self.ends - low)

    @property
    def lengths(self) -> Offsets:
        """The payload lengths in bytes."""
        return self.ends - self.begins

    @property
    def nbytes(self) -> int:
        """The sum of the payload lengths."""
        return int(self.lengths.sum())

    def views(self) -> Iterator[memoryview]:
        """The payloads as memoryviews into the buffer, without a copy."""
        view = memoryview(self.buffer).cast("B")
        return map(view.__getitem__, map(slice, self.begins.tolist(), self.ends.tolist()))

    def __len__(self) -> int:
        return len(self.begins)

    def __iter__(self) -> Iterator[bytes]:
        gaps = self.begins[1:] - self.ends[:-1]
        inside = isinstance(self.buffer, bytes)
        if not len(self) or (gaps < 0).any() or not (inside or self.nbytes < _COPIED_MEAN * len(self)):
            return map(bytes, self.views())
        # Reading a stream forward, gap by gap and record by record, takes half the time of slicing.
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
    def __getitem__(self, key: slice | Chosen) -> Records: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, key: SupportsIndex) -> bytes: ...
    def __getitem__(self, key: SupportsIndex | slice | Chosen) -> bytes | Records:
        if not isinstance(key, slice):
            try:
                index = as_index(key)  # type: ignore[arg-type]
            except TypeError:
                return self.take(chosen_numbers(key, len(self)))
            return bytes(memoryview(self.buffer).cast("B")[self.begins[index] : self.ends[index]])
        start, _, step = key.indices(len(self))
        if step != 1 or self.origins is not None:
            return self.take(key)
        return Records(
            self.buffer,
            self.begins[key],
            self.ends[key],
            path=self.path,
            first=self.first + start,
            base=self.base,
        )

    def take(self, indices: npt.NDArray[Any] | slice) -> Records:
        """The records with these indices, or where a mask is true, over the same buffer."""
        origins = self._origins().take(indices)
        return Records(
            self.buffer,
            self.begins[indices],
            self.ends[indices],
            path=self.path,
            base=self.base,
            origins=origins,
        )

    def origin(self, index: int) -> tuple[str | None, int, int | None]:
        """Where record ``index`` comes from: the file, its number there, and the offset of its frame.

        Without a file, the number counts the records that were given at first.
        """
        index = range(len(self))[index]
        path, number = self.path, self.first + index
        if self.origins is not None:
            path = self.origins.paths[self.origins.files[index]]
            number = int(self.origins.numbers[index])
        frame = None if self.base is None else self.base + int(self.begins[index]) - FRAME_HEADER
        return path, number, frame

    def _paths(self) -> tuple[str | None, ...]:
        return (self.path,) if self.origins is None else self.origins.paths

    def _origins(self) -> Origins:
        if self.origins is not None:
            return self.origins
        count = len(self)
        return Origins((self.path,), np.zeros(count, np.int64), np.arange(self.first, self.first + count))

    def __getitems__(self, indices: Sequence[int]) -> list[bytes]:
        """Several records at once, in the given order."""
        return list(self.take(np.asarray(indices, np.int64)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Records, list, tuple)):
            return len(self) == len(other) and all(map(eq, self, other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickle holds only the bytes that are used.
        low = int(self.begins.min()) if len(self) else 0
        high = int(self.ends.max()) if len(self) else 0
        used = bytes(memoryview(self.buffer).cast("B")[low:high])
        base = None if self.base is None else self.base + low
        origins = None if self.origins is None else tuple(self.origins.packed())
        place = {
            "path": self.path,
            "first": self.first,
            "base": base,
            "origins": origins,
        }
        return Records._restore, (used, self.begins - low, self.ends - low, place)

    @classmethod
    def _restore(cls, buffer: bytes, begins: Offsets, ends: Offsets, place: dict[str, Any]) -> Records:
        origins = place["origins"]
        return cls(buffer, begins, ends, **{**place, "origins": origins and Origins(*origins)})

    def __repr__(self) -> str:
        origin = f", from {self.path!r}" if self.path else ""
        return f"<Records: {len(self)} records, {self.nbytes} bytes{origin}>"


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


def _octets(payload: Any) -> bytes | memoryview:
    """The bytes of any bytes-like payload, also of a strided view."""
    try:
        view = memoryview(payload)
    except TypeError:
        raise _no_payload(payload) from None
    if view.format == "B" and view.ndim == 1 and view.contiguous:
        return view
    if "O" in view.format:  # the bytes would be the addresses of objects
        raise _no_payload(payload)
    return view.tobytes()


def _no_payload(value: Any) -> TypeError:
    hint = "; serialize it first, with SerializeToString()" if hasattr(value, "SerializeToString") else ""
    return TypeError(f"a payload must be bytes-like, not {type(value).__name__}{hint}")


def _joined(parts: Sequence[Any], allocate: Callable[[int], memoryview] | None) -> bytes | memoryview:
    """The bytes of all parts, in order."""
    sizes = [memoryview(part).nbytes for part in parts]
    if allocate is None or sum(sizes) < _RECYCLED_SIZE:
        return b"".join(parts)
    view = allocate(sum(sizes))
    begin = 0
    for part, size in zip(parts, sizes, strict=True):
        view[begin : begin + size] = memoryview(part).cast("B")
        begin += size
    return view.toreadonly()
