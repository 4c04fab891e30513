"""Records of many short entries: first only where these are, then all the headers of a record at once.

Segment by segment, a new part of every record would come through the cache each time. So here one cursor
per record jumps from segment to segment by the lengths alone. Then, a few records at a time, their headers
are copied side by side, and compared with those of the layout in one pass.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..wire import FLOAT, INT64
from . import tuning
from .header_templates import HEADER, Run, mask_of, template_of
from .located import Found
from .short_entries import Short, Wanted, as_slice, cells
from .values import fetch
from .varint_words import MAX_BYTES, Ints, Mask, Octets, Words

_U = np.uint64
_LENGTHS = _U(1 << 24 | 1 << 40 | 1 << 56)  # where the last word of a header has the size of its values
_WORD = 8  # bytes
_FLOAT = np.dtype("<f4")


class Skimmed(NamedTuple):
    """What is found in all records."""

    short: Short  # the entries whose values are wanted, or have to be looked at
    floats: dict[bytes, Found]
    valid: Mask  # are all headers of a record as expected?
    ends: Ints


class _Skeleton:
    """The headers of a run, each at the end of ``depth`` words, and one more word for what follows it.

    In front of a header is the last byte of the values before it: if these are integers, it must be the last
    of one.
    """

    def __init__(self, run: Run) -> None:
        heads = np.array([len(entry.key) + HEADER for entry in run.last])
        sizes = np.array(run.sizes)
        self.depth = -(-(max(run.sizes) + 1) // _WORD)
        self.width = self.depth + 1
        self.least = (heads - 2).astype(np.uint8)[:, None]  # the length of an entry without values
        self.limits = run.limits.astype(np.uint8)[:, None]
        # If all lengths were 0, where would those be, and where would the segments end?
        ends = np.cumsum(sizes - self.least[:, 0])
        self.lengths = ends - heads + self.least[:, 0] + 1
        self.ends: list[int] = ends.tolist()
        integers = [False, *(entry.kind == INT64 for entry in run.last[:-1])]
        masks = [
            bytes((0x80 * integer,)) + _without(mask_of(segment), size - head + 1)
            for segment, integer, size, head in zip(run.segments, integers, run.sizes, heads, strict=True)
        ]
        self.masks = self._words(masks)
        self.expected = self._words([template_of(segment, 0) for segment in run.segments]) & self.masks
        # The single floats: key, segment, and where in the bytes of its words they are.
        more = _WORD * (self.depth - run.depth)
        self.floats = [(key, k, place + more) for k, key, place in run.floats]

    def _words(self, rows: list[bytes]) -> Words:
        size = _WORD * self.depth
        joined = b"".join(row.rjust(size, b"\0").ljust(size + _WORD, b"\0") for row in rows)
        return np.frombuffer(joined, "<u8").reshape(len(rows), self.width)


def _without(mask: bytes, place: int) -> bytes:
    return mask[:place] + b"\0" + mask[place + 1 :]


@lru_cache(maxsize=64)
def _skeleton(run: Run) -> _Skeleton:
    return _Skeleton(run)


def skim(octets: Octets, cursor: Ints, run: Run, low: int, wanted: Wanted) -> Skimmed:
    """Read a run from its segment ``low`` on, which is where the cursors are."""
    skeleton = _skeleton(run)
    sizes, ends = _jump(octets, cursor, skeleton, low)
    valid: Mask = np.all(sizes <= skeleton.limits[low:], axis=0)
    if run.last[-1].kind == INT64:
        valid &= octets.take(ends - 1, mode="clip") < 0x80
    chosen = _chosen(run, low, sizes if valid.all() else sizes[:, valid], wanted)
    which = as_slice(chosen)
    floats = _Floats(skeleton, low, wanted, cursor.size)
    words = _apart(len(chosen), cursor.size, _U)
    # Where the headers end, but for the sizes of the values in front of them.
    offsets = np.array(run.ends[low:]) - (run.ends[low] - run.sizes[low])
    step = cells(offsets.size)
    for first in range(0, cursor.size, step):
        some = slice(first, first + step)
        own = np.ascontiguousarray(sizes[:, some].T)
        places = np.empty(own.shape, np.int64)
        places[:, 0] = cursor[some]
        places[:, 1:] = own[:, :-1]
        np.cumsum(places, axis=1, out=places)
        places += offsets
        slots = fetch(octets, _WORD * skeleton.width, places, -_WORD * skeleton.depth)
        headers = slots.view("<u8").reshape(len(places), -1)
        words[:, some] = headers[:, skeleton.depth :: skeleton.width][:, which].T
        floats.take(slots, some)
        valid[some] &= _compare(headers, own, skeleton, low)
    entries = [run.last[low + k] for k in chosen]
    begins = _Begins(cursor, sizes, offsets, chosen)
    short = Short(entries, words, sizes[which], np.broadcast_to(valid, words.shape), begins)
    return Skimmed(short, floats.found(), valid, ends)


def _apart(rows: int, columns: int, dtype: type[Any]) -> npt.NDArray[Any]:
    """An empty matrix whose columns can be filled fast."""
    return np.empty((rows, columns + tuning.current.padding_of_rows), dtype)[:, :columns]


def _jump(octets: Octets, cursor: Ints, skeleton: _Skeleton, low: int) -> tuple[Octets, Ints]:
    """The sizes of the values, (segments, records), as the lengths of the entries say, and where all ends."""
    start = skeleton.ends[low - 1] if low else 0
    # Where the buffer has ended, any length will do: there is no header either.
    places = np.minimum(skeleton.lengths[low:] - start, octets.size - 1)
    lengths = _apart(places.size, cursor.size, np.uint8)
    cursor = cursor.copy()
    for place, row in zip(places.tolist(), lengths, strict=True):
        octets[place:].take(cursor, out=row, mode="clip")
        cursor += row
    cursor += skeleton.ends[-1] - start
    lengths -= skeleton.least[low:]
    return lengths, cursor


def _compare(headers: Words, sizes: Octets, skeleton: _Skeleton, low: int) -> Mask | bool:
    """Which records have the headers expected? Nothing remains of ``headers``."""
    added = sizes.astype(_U)
    added *= _LENGTHS
    headers[:, skeleton.depth - 1 :: skeleton.width] -= added
    masks, expected = skeleton.masks[low:].reshape(-1), skeleton.expected[low:].reshape(-1)
    # A bit is the same in all records if it is the same in all of them together, by "or" and by "and".
    every = (np.bitwise_or.reduce(headers), np.bitwise_and.reduce(headers))
    if all(bool((one & masks == expected).all()) for one in every):
        return True
    headers &= masks
    right: Mask = np.all(headers == expected, axis=1)
    return right


def _chosen(run: Run, low: int, sizes: Octets, wanted: Wanted) -> list[int]:
    """The segments whose last entries have to be looked at.

    Integers that nobody wants need not be, if they have few bytes: that the last one ends is known by then.
    """
    longest = sizes.max(axis=1, initial=0)
    return [
        k
        for k, (entry, size) in enumerate(zip(run.last[low:], longest.tolist(), strict=True))
        if entry.key in wanted or entry.kind == FLOAT or (entry.kind == INT64 and size > MAX_BYTES)
    ]


class _Begins:
    """Where the values of the chosen segments begin. It costs least to ask for one after the other."""

    def __init__(self, cursor: Ints, sizes: Octets, offsets: Ints, chosen: list[int]) -> None:
        self._cursor, self._sizes, self._offsets, self._chosen = cursor, sizes, offsets, chosen
        self._done, self._before = 0, np.zeros(cursor.size, np.int64)

    def __call__(self, k: int) -> Ints:
        segment = self._chosen[k]
        if segment < self._done:
            self._done, self._before = 0, np.zeros_like(self._before)
        self._before += self._sizes[self._done : segment].sum(axis=0, dtype=np.int64)
        self._done = segment
        begins: Ints = self._cursor + self._before
        begins += self._offsets[segment]
        return begins


class _Floats:
    """The single floats that are wanted."""

    def __init__(self, skeleton: _Skeleton, low: int, wanted: Wanted, rows: int) -> None:
        chosen = [one for one in skeleton.floats if one[1] >= low and one[0] in wanted]
        chosen.sort(key=lambda one: one[2])
        self._keys = [key for key, _, _ in chosen]
        self._values = _apart(len(chosen), rows, np.float32)
        # Those that are at the same place of their segments: that, which segments, and the values.
        self._groups: list[tuple[int, slice | list[int], npt.NDArray[np.float32]]] = []
        done = 0
        for place, group in groupby(chosen, key=lambda one: one[2]):
            segments = [segment - low for _, segment, _ in group]
            self._groups.append((place, as_slice(segments), self._values[done : done + len(segments)]))
            done += len(segments)

    def take(self, slots: npt.NDArray[np.void], some: slice) -> None:
        """Take those of some records, (records, segments)."""
        for place, segments, values in self._groups:
            floats = np.ndarray(slots.shape, _FLOAT, slots, place, slots.strides)
            values[:, some] = floats[:, segments].T

    def found(self) -> dict[bytes, Found]:
        """What was taken."""
        return {
            key: Found(FLOAT, values.copy()) for key, values in zip(self._keys, self._values, strict=True)
        }
