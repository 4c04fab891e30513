"""The layout of a record: which features it holds, in which order, and what their headers look like.

Writers are monotonous: almost every record of a file has the features of its first one, in the same order,
and most features are short. Such an entry of the feature map is, with ``P`` bytes of packed values,

    0a E 0a K key 12 F T L 0a P values         E = P + K + 8, F = P + 4, L = P + 2, T says the kind

with each length in a single byte. All that differs from record to record is ``P``, which is added to
four bytes of a fixed header: ``Run`` keeps those headers as words that whole arrays can be compared with.
This module reads one record; it does not know that there are others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby

import numpy as np

from ..wire import UNSET
from . import tuning
from .outline import FLOAT_SIZE, Entry, prefix_of
from .tuning import Tuning
from .varint_words import Words

HEAD = 128  # bytes of a record, in which its first key is
HEADER = 10  # bytes of a short entry's header, without the key

Segment = tuple[Entry, ...]


class Run:
    """Segments that are read one behind the other: the words of their headers, one column for each segment.

    A segment is one short entry of any size, and maybe some in front of it that hold exactly one float: even
    with those, it has a fixed size up to the values of its last entry. It is right-aligned in ``depth``
    words, so that these values begin with the next word; ``masks`` leaves out what is in front of it, and the
    floats. ``expected`` are the words for a last entry without values, and ``lanes`` times ``P`` what ``P``
    bytes of values add to them, as long as ``P`` is not above the limit.
    """

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        self.segments = segments
        self.last = [segment[-1] for segment in segments]
        self.sizes = [_size_of(segment) for segment in segments]
        self.ends: list[int] = np.cumsum(self.sizes).tolist()  # of the segments, if they had no values
        self.depth = _depth(max(self.sizes))
        self.lasts = np.array(self.sizes)[:, None] - 1  # from where a segment begins to the end of its header
        self.limits = np.array([0x7F - 8 - len(entry.key) for entry in self.last], np.uint64)
        self.limit = self.limits.min()
        # The single floats: segment, key, and where they are in its words.
        self.floats = [
            (k, key, 8 * self.depth - size + place)
            for k, (segment, size) in enumerate(zip(segments, self.sizes, strict=True))
            for key, place in floats_of(segment)
        ]
        self.unset = [k for k, entry in enumerate(self.last) if entry.kind == UNSET]
        expected = self._words([template_of(segment, 0) for segment in segments])
        self.lanes = self._words([template_of(segment, 1) for segment in segments]) - expected
        self.masks = self._words([mask_of(segment) for segment in segments])
        self.expected = np.concatenate((expected, np.zeros_like(expected[:1])))  # and nothing of the values
        # Which words have neither lengths nor holes in them?
        self.rigid = ((self.lanes == 0) & (~self.masks == 0)).all(axis=(1, 2)).tolist()
        self.moving = (self.lanes != 0).any(axis=(1, 2)).tolist()  # and which have lengths?
        if (self.masks == self.masks[:, :1]).all():  # headers of one length: one column stands for all
            self.masks, self.lanes = self.masks[:, :1], self.lanes[:, :1]

    def _words(self, rows: list[bytes]) -> Words:
        """(depth, segments, 1): the rows as columns of words."""
        joined = b"".join(row.rjust(8 * self.depth, b"\0") for row in rows)
        return np.ascontiguousarray(np.frombuffer(joined, "<u8").reshape(len(rows), -1).T)[:, :, None]

    def __len__(self) -> int:
        return len(self.segments)


def _size_of(segment: Segment) -> int:
    """The bytes of a segment without the values of its last entry."""
    return sum(len(entry.key) + HEADER + FLOAT_SIZE for entry in segment) - FLOAT_SIZE


def _depth(size: int) -> int:
    return -(-size // 8)


def template_of(segment: Segment, size: int) -> bytes:
    """The segment before ``size`` bytes of values."""
    floats = [_header(entry, FLOAT_SIZE) + bytes(FLOAT_SIZE) for entry in segment[:-1]]
    return b"".join(floats) + _header(segment[-1], size)


def floats_of(segment: Segment) -> Iterator[tuple[bytes, int]]:
    """The single floats in front of a segment's last entry: key, and where in the segment the value is."""
    place = 0
    for entry in segment[:-1]:
        place += len(entry.key) + HEADER
        yield entry.key, place
        place += FLOAT_SIZE


def mask_of(segment: Segment) -> bytes:
    """Which bits of the segment's template count: all but those of the floats."""
    headers = [b"\xff" * (len(entry.key) + HEADER) for entry in segment]
    return bytes(FLOAT_SIZE).join(headers)


def _header(entry: Entry, size: int) -> bytes:
    """The header of ``size`` bytes of values."""
    key = entry.key
    front = bytes((0x0A, size + len(key) + 8, 0x0A, len(key)))
    back = bytes((0x12, size + 4, entry.kind << 3 | 2, size + 2, 0x0A, size))
    return front + key + back


class Layout:
    """The entries of a record, in order, as runs of short entries and single long ones.

    If they are very many, it is ``wide``. ``prefixes`` are how the contents of the entries begin.
    """

    def __init__(self, entries: tuple[Entry, ...], tuning: Tuning) -> None:
        self.wide = tuning.wide_layout and len(entries) >= tuning.least_entries_of_wide_layout
        self.prefixes = [prefix_of(entry) for entry in entries]
        self.parts: list[Run | Entry] = []
        if not tuning.short_entries:
            entries = tuple(entry._replace(short=False, one_float=False) for entry in entries)
        segments = list(_segments(entries, tuning.longest_segment if tuning.one_float_segments else 0))
        for short, group in groupby(segments, _is_short):
            if not short:
                self.parts += [segment[-1] for segment in group]
                continue
            run = tuple(group)
            wide = self.wide and len(run) >= tuning.least_segments_of_wide_run
            if wide or len(segments) <= tuning.segments_in_one_run:
                self.parts.append(run_of(run))
            else:
                self.parts += [run_of(tuple(part)) for _, part in groupby(run, _coarse_depth)]


def _segments(entries: tuple[Entry, ...], longest: int) -> Iterator[Segment]:
    """The short entries in segments; a long one is a segment of its own."""
    segment: Segment = ()
    for entry in entries:
        if segment and not (entry.short and _size_of((*segment, entry)) <= longest):
            yield segment
            segment = ()
        segment += (entry,)
        if not entry.one_float:
            yield segment
            segment = ()
    if segment:
        yield segment


def _is_short(segment: Segment) -> bool:
    return segment[-1].short


def _coarse_depth(segment: Segment) -> int:
    """The same for segments that may be in one run: then no header is much longer than another."""
    return -(-_depth(_size_of(segment)) // 2)


def by_depth(entries: Iterable[Entry], tuning: Tuning) -> list[tuple[Entry, ...]]:
    """Groups of entries that may be in one run, whatever their order, as if all were short."""
    order = sorted(entries, key=lambda entry: len(entry.key))
    if len(order) <= tuning.segments_in_one_run:
        return [tuple(order)] if order else []
    return [tuple(group) for _, group in groupby(order, key=lambda entry: _depth(_size_of((entry,))))]


def layout_of(entries: tuple[Entry, ...]) -> Layout:
    """The layout; the same one for the same entries and the same tuning."""
    return _layout_of(entries, tuning.current)


_layout_of = lru_cache(maxsize=64)(Layout)


@lru_cache(maxsize=1024)
def run_of(segments: tuple[Segment, ...]) -> Run:
    """The run; the same one for the same segments."""
    return Run(segments)
