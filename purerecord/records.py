"""``Records``: many payloads in one buffer, the type that flows between all layers.

They are a ``BytesColumn``, one buffer and two arrays of offsets, which remembers where its records come from,
for error messages. This module opens no file and knows neither frames nor Examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from . import public
from .bytes_column import (
    BytesColumn,
    BytesLike,
    Chosen,
    Offsets,
    joined,
    octets,
    picklable,
    used_range,
)

# On-disk format; never change. A frame begins this many bytes before its payload: the length and its CRC.
FRAME_HEADER = 12

# Payloads of a smaller mean length are joined without memory from ``allocate``.
_JOINED_MEAN = 4096
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
class Records(BytesColumn):
    """A ``BytesColumn`` of payloads that knows where they come from.

    ``path`` and ``first`` say it, for messages: record ``i`` here is record ``first + i`` of the file
    ``path``. Its payload begins ``base + begins[i]`` bytes into the file, after the header of its frame.
    Records that are not consecutive in one file have ``origins`` instead. ``origin`` reads either.
    """

    __slots__ = ("base", "first", "origins", "path")

    _element = "record"

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
        super().__init__(buffer, begins, ends)
        self.path = path
        self.first = first
        self.base = base
        self.origins = origins

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
        if isinstance(payloads, BytesColumn):
            return cls(payloads.buffer, payloads.begins, payloads.ends)
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
        if allocate is None or not parts or ends[-1] < _JOINED_MEAN * len(parts):
            return cls(b"".join(parts), begins, ends)
        return cls(_joined(parts, allocate), begins, ends)

    @classmethod
    def concat(  # type: ignore[override]
        cls, batches: Iterable[Records], *, allocate: Callable[[int], memoryview] | None = None
    ) -> Records:
        """All records of ``batches`` in one; a single batch or a shared buffer is not copied.

        ``allocate`` lends the memory to join large payloads in.
        """
        batches = [batch for batch in batches if len(batch)]
        if len(batches) == 1:
            return batches[0]
        buffer, begins, ends = joined(batches)
        if isinstance(buffer, list):
            buffer = _joined(buffer, allocate)
        records = cls(buffer, begins, ends)
        if any(path is not None for batch in batches for path in batch._paths()):
            records.origins = Origins.concat([batch._origins() for batch in batches])
        return records

    @overload
    def __getitem__(self, key: int) -> bytes: ...
    @overload
    def __getitem__(self, key: slice | Chosen) -> Records: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, key: SupportsIndex) -> bytes: ...
    def __getitem__(self, key: SupportsIndex | slice | Chosen) -> bytes | Records:
        if not isinstance(key, slice):
            return super().__getitem__(key)  # type: ignore[return-value]
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
        return super().__eq__(other) if isinstance(other, (BytesColumn, list, tuple)) else NotImplemented

    __hash__ = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        if self.base is None:
            base, (buffer, begins, ends) = None, self._compact()
        else:  # the places in the file are those in the buffer
            low, high = used_range(self)
            base, begins, ends = self.base + low, self.begins - low, self.ends - low
            buffer = memoryview(self.buffer).cast("B")[low:high]
        origins = None if self.origins is None else tuple(self.origins.packed())
        place = {
            "path": self.path,
            "first": self.first,
            "base": base,
            "origins": origins,
        }
        return Records._restore, (picklable(buffer, protocol), begins, ends, place)

    @classmethod
    def _restore(cls, buffer: Any, begins: Offsets, ends: Offsets, place: dict[str, Any]) -> Records:
        origins = place["origins"]
        return cls(buffer, begins, ends, **{**place, "origins": origins and Origins(*origins)})

    def __repr__(self) -> str:
        origin = f", from {self.path!r}" if self.path else ""
        return f"<Records: {len(self)} records, {self.nbytes} bytes{origin}>"

    def _repr_html_(self) -> str:
        from .notebook import show_records  # noqa: PLC0415 - only a notebook asks for it

        return show_records(self)


def _octets(payload: Any) -> bytes | memoryview:
    """The bytes of any bytes-like payload, also of a strided view."""
    try:
        return octets(payload)
    except TypeError:
        raise _no_payload(payload) from None


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
