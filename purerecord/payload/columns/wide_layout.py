"""Reads runs of very many short entries: first where they are, then all the headers of a record at once.

Segment by segment, as in ``same_layout``, another part of every record would pass through the cache each
time. Here one cursor per record moves along the segments by the lengths alone. Then, a few records at a time,
their headers are copied side by side and compared with the templates in one pass. This module does not know
what else is in the records.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from ..wire import FLOAT, INT64
from . import tuning
from .arrays import Ints, Mask, Octets, Words
from .header_templates import SHORT_HEADER, Run, mask_of, template_of, words_of
from .located import Inline
from .short_entries import CheckedRun, ShortEntries, SummedValueBegins, Wanted, as_slice, per_pass
from .values import gather_bytes
from .varint_words import MAX_BYTES

_U = np.uint64
_LANES = _U(1 << 24 | 1 << 40 | 1 << 56)  # where the last word of a header has the size of its values
_WORD = 8  # bytes
_FLOAT = np.dtype("<f4")


class _WideTemplate:
    """The templates of a run for this path: one row per segment instead of one plane per word.

    A slot is ``depth`` words with the right-aligned header, and one word of the values:

        … v | 0a E 0a K key 12 F T L 0a P | values

    The byte ``v`` before the header is the last one of the previous values. If these are integers, it must
    end a varint: that saves looking at integers that are not wanted. ``E``, the length of the entry, is
    masked out, because the cursors have used it already. If an entry has no values, ``E`` is ``least``.

    ``lengths`` and ``ends`` are where each ``E`` and each end of a segment would be, from the beginning of
    the run, if every ``E`` were 0. The real positions are these plus the sum of all ``E`` before.
    """

    def __init__(self, run: Run) -> None:
        headers = np.array([len(entry.key) + SHORT_HEADER for entry in run.last])  # of the last entries
        sizes = np.array(run.sizes)
        self.depth = -(-(max(run.sizes) + 1) // _WORD)
        self.width = self.depth + 1
        self.least = (headers - 2).astype(np.uint8)[:, None]
        self.limits = run.limits.astype(np.uint8)[:, None]
        ends = np.cumsum(sizes - self.least[:, 0])
        self.lengths = ends - headers + self.least[:, 0] + 1
        self.ends: list[int] = ends.tolist()
        after_integers = [False, *(entry.kind == INT64 for entry in run.last[:-1])]
        masks = [
            bytes((0x80 * integers,)) + _without(mask_of(segment), size - header + 1)
            for segment, integers, size, header in zip(
                run.segments, after_integers, run.sizes, headers, strict=True
            )
        ]
        self.masks = words_of(masks, self.depth, 1)
        self.expected = words_of([template_of(segment, 0) for segment in run.segments], self.depth, 1)
        self.expected = self.expected & self.masks
        # The single floats: (key, segment, position in the slot).
        more = _WORD * (self.depth - run.depth)
        self.floats = [(key, k, place + more) for k, key, place in run.floats]


def _without(mask: bytes, place: int) -> bytes:
    return mask[:place] + b"\0" + mask[place + 1 :]


_wide_template = lru_cache(maxsize=64)(_WideTemplate)


def read_wide(octets: Octets, cursor: Ints, run: Run, low: int, wanted: Wanted) -> CheckedRun:
    """A run from its segment ``low`` on, which begins at ``cursor``."""
    template = _wide_template(run)
    sizes, ends = _value_sizes(octets, cursor, template, low)
    valid: Mask = np.all(sizes <= template.limits[low:], axis=0)
    if run.last[-1].kind == INT64:
        valid &= octets.take(ends - 1, mode="clip") < 0x80
    chosen = _chosen(run, low, sizes if valid.all() else sizes[:, valid], wanted)
    which = as_slice(chosen)
    floats = _SingleFloats(template, low, wanted, cursor.size)
    words = _empty_padded(len(chosen), cursor.size, _U)
    # Where the headers end, not counting the values before them.
    offsets = np.array(run.ends[low:]) - (run.ends[low] - run.sizes[low])
    step = per_pass(offsets.size)
    for first in range(0, cursor.size, step):
        some = slice(first, first + step)
        own = np.ascontiguousarray(sizes[:, some].T)
        places = np.empty(own.shape, np.int64)
        places[:, 0] = cursor[some]
        places[:, 1:] = own[:, :-1]
        np.cumsum(places, axis=1, out=places)
        places += offsets
        slots = gather_bytes(octets, _WORD * template.width, places, -_WORD * template.depth)
        headers = slots.view("<u8").reshape(len(places), -1)
        words[:, some] = headers[:, template.depth :: template.width][:, which].T
        floats.copy(slots, some)
        valid[some] &= _check_headers(own, template, low, headers)
    entries = [run.last[low + k] for k in chosen]
    begins = SummedValueBegins(cursor, offsets.tolist(), sizes, chosen)
    short = ShortEntries(entries, words, sizes[which], np.broadcast_to(valid, words.shape), begins)
    return CheckedRun(short, floats.columns(), valid, ends)


def _empty_padded(rows: int, columns: int, dtype: type[Any]) -> npt.NDArray[Any]:
    """An empty matrix whose rows do not compete for the same cache sets when it is filled by columns."""
    return np.empty((rows, columns + tuning.current.padding_of_rows), dtype)[:, :columns]


def _value_sizes(octets: Octets, cursor: Ints, template: _WideTemplate, low: int) -> tuple[Octets, Ints]:
    """(sizes of the values by the lengths of the entries, (segments, records); where the run ends)."""
    start = template.ends[low - 1] if low else 0
    # Past the end of the buffer any length will do: no header will match there.
    places = np.minimum(template.lengths[low:] - start, octets.size - 1)
    lengths = _empty_padded(places.size, cursor.size, np.uint8)
    cursor = cursor.copy()
    for place, row in zip(places.tolist(), lengths, strict=True):
        octets[place:].take(cursor, out=row, mode="clip")
        cursor += row
    cursor += template.ends[-1] - start
    lengths -= template.least[low:]
    return lengths, cursor


def _check_headers(sizes: Octets, template: _WideTemplate, low: int, headers: Words) -> Mask | bool:
    """Which records have the expected headers; True for all. Overwrites ``headers``."""
    added = sizes.astype(_U)
    added *= _LANES
    headers[:, template.depth - 1 :: template.width] -= added
    masks, expected = template.masks[low:].reshape(-1), template.expected[low:].reshape(-1)
    # A bit is equal in all records if "or" and "and" over all of them agree.
    every = (np.bitwise_or.reduce(headers), np.bitwise_and.reduce(headers))
    if all(bool((one & masks == expected).all()) for one in every):
        return True
    headers &= masks
    right: Mask = np.all(headers == expected, axis=1)
    return right


def _chosen(run: Run, low: int, sizes: Octets, wanted: Wanted) -> list[int]:
    """The segments whose last entries have to be looked at.

    Unwanted integers of few bytes are not among them: the templates check that the last one ends.
    """
    longest = sizes.max(axis=1, initial=0)
    return [
        k
        for k, (entry, size) in enumerate(zip(run.last[low:], longest.tolist(), strict=True))
        if entry.key in wanted or entry.kind == FLOAT or (entry.kind == INT64 and size > MAX_BYTES)
    ]


class _SingleFloats:
    """The wanted single floats of a run. Those at the same position of their slots are copied together."""

    def __init__(self, template: _WideTemplate, low: int, wanted: Wanted, rows: int) -> None:
        chosen = [one for one in template.floats if one[1] >= low and one[0] in wanted]
        chosen.sort(key=lambda one: one[2])
        self._keys = [key for key, _, _ in chosen]
        self._values = _empty_padded(len(chosen), rows, np.float32)
        # (position, segments, their rows of the values)
        self._groups: list[tuple[int, slice | list[int], npt.NDArray[np.float32]]] = []
        done = 0
        for place, group in groupby(chosen, key=lambda one: one[2]):
            segments = [segment - low for _, segment, _ in group]
            self._groups.append((place, as_slice(segments), self._values[done : done + len(segments)]))
            done += len(segments)

    def copy(self, slots: npt.NDArray[np.void], some: slice) -> None:
        """Copy those of some records from their slots, (records, segments)."""
        for place, segments, values in self._groups:
            floats = np.ndarray(slots.shape, _FLOAT, slots, place, slots.strides)
            values[:, some] = floats[:, segments].T

    def columns(self) -> dict[bytes, Inline]:
        """The copied floats of each key."""
        return {key: Inline(FLOAT, row.copy()) for key, row in zip(self._keys, self._values, strict=True)}
