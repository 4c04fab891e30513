"""Templates of the headers of short entries, and the layout of a record that is made of them.

Most files come from one writer: almost every record has the features of the first one, in the same order, and
most features are short. With ``P`` bytes of packed values, a short entry of the feature map is

    0a E 0a K key 12 F T L 0a P values         E = P + K + 8, F = P + 4, L = P + 2, T is the tag of the kind

where each length is a single byte. Only ``P`` differs from record to record, and it is added to four bytes of
a fixed header: the lanes. ``Run`` keeps such headers as words, so that numpy compares those of all records at
once. This module does not know the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby

import numpy as np

from . import tuning
from .arrays import Words
from .outline import FLOAT_SIZE, Entry, prefix_of
from .tuning import Tuning

FIRST_KEY_BYTES = 128  # of a record: its first key is in them
SHORT_HEADER = 10  # bytes of a short entry's header, without the key

Segment = tuple[Entry, ...]


class Run:
    """Consecutive segments with headers of the same depth: their templates, one column per segment.

    A segment ends with a short entry of any size. Before it, the segment may have entries of exactly one
    float: their size is fixed, and so is that of the segment up to the values of its last entry. All these
    bytes are its header. It is right-aligned in ``depth`` words, so the values begin with the next word.

    A header with ``P`` bytes of values is ``expected + P * lanes`` in the bits that ``masks`` selects. The
    masks leave out the bytes before the header, and the floats. ``P`` must not exceed the limit.
    """

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        self.segments = segments
        self.last = [segment[-1] for segment in segments]
        self.sizes = [_size_of(segment) for segment in segments]
        self.ends: list[int] = np.cumsum(self.sizes).tolist()  # of the segments, if they had no values
        self.depth = _depth(max(self.sizes))
        self.lasts = np.array(self.sizes)[:, None] - 1  # from the beginning of a segment to its last byte
        self.limits = np.array([0x7F - 8 - len(entry.key) for entry in self.last], np.uint64)
        self.limit = self.limits.min()
        # The single floats: (segment, key, position in the words of the segment).
        self.floats = [
            (k, key, 8 * self.depth - size + place)
            for k, (segment, size) in enumerate(zip(segments, self.sizes, strict=True))
            for key, place in floats_of(segment)
        ]
        expected = self._planes([template_of(segment, 0) for segment in segments])
        self.lanes = self._planes([template_of(segment, 1) for segment in segments]) - expected
        self.masks = self._planes([mask_of(segment) for segment in segments])
        self.expected = np.concatenate((expected, np.zeros_like(expected[:1])))  # and a word of the values
        # Words without lengths and without masked bytes are compared as they are.
        self.rigid = ((self.lanes == 0) & (~self.masks == 0)).all(axis=(1, 2)).tolist()
        self.moving = (self.lanes != 0).any(axis=(1, 2)).tolist()  # words that hold lengths
        if (self.masks == self.masks[:, :1]).all():  # headers of one length: one column serves all
            self.masks, self.lanes = self.masks[:, :1], self.lanes[:, :1]

    def _planes(self, headers: list[bytes]) -> Words:
        """(depth, segments, 1): plane ``k`` has word ``k`` of every header."""
        return np.ascontiguousarray(words_of(headers, self.depth).T)[:, :, None]

    def __len__(self) -> int:
        return len(self.segments)


def words_of(headers: list[bytes], depth: int, after: int = 0) -> Words:
    """(headers, depth + after): headers right-aligned in ``depth`` words, and ``after`` words of zeros."""
    joined = b"".join(row.rjust(8 * depth, b"\0") + bytes(8 * after) for row in headers)
    return np.frombuffer(joined, "<u8").reshape(len(headers), -1)


def _size_of(segment: Segment) -> int:
    """The bytes of a segment's header."""
    return sum(len(entry.key) + SHORT_HEADER + FLOAT_SIZE for entry in segment) - FLOAT_SIZE


def _depth(size: int) -> int:
    """The words that a header of ``size`` bytes takes."""
    return -(-size // 8)


def template_of(segment: Segment, size: int) -> bytes:
    """The header of a segment whose last entry has ``size`` bytes of values; its floats are zero."""
    floats = [_header(entry, FLOAT_SIZE) + bytes(FLOAT_SIZE) for entry in segment[:-1]]
    return b"".join(floats) + _header(segment[-1], size)


def floats_of(segment: Segment) -> Iterator[tuple[bytes, int]]:
    """The single floats of a segment: (key, position of the value in the header)."""
    place = 0
    for entry in segment[:-1]:
        place += len(entry.key) + SHORT_HEADER
        yield entry.key, place
        place += FLOAT_SIZE


def mask_of(segment: Segment) -> bytes:
    """Which bits of the header are compared: all but those of the floats."""
    headers = [b"\xff" * (len(entry.key) + SHORT_HEADER) for entry in segment]
    return bytes(FLOAT_SIZE).join(headers)


def _header(entry: Entry, size: int) -> bytes:
    """The header of a short entry with ``size`` bytes of values."""
    key = entry.key
    before_key = bytes((0x0A, size + len(key) + 8, 0x0A, len(key)))
    after_key = bytes((0x12, size + 4, entry.kind << 3 | 2, size + 2, 0x0A, size))
    return before_key + key + after_key


class Layout:
    """The entries of a record in their order, as ``parts``: runs of short entries, and single long entries.

    A ``wide`` layout has very many entries. ``prefixes`` are the bytes with which their contents begin.
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
    """Short entries in segments of up to ``longest`` bytes; a long entry is a segment of its own."""
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
    """Equal for segments that may share a run: no header of a run is much longer than another."""
    return -(-_depth(_size_of(segment)) // 2)


def group_by_depth(entries: Iterable[Entry], tuning: Tuning) -> list[tuple[Entry, ...]]:
    """Groups of entries that may share a run if their order does not matter, as if all were short."""
    order = sorted(entries, key=lambda entry: len(entry.key))
    if len(order) <= tuning.segments_in_one_run:
        return [tuple(order)] if order else []
    return [tuple(group) for _, group in groupby(order, key=lambda entry: _depth(_size_of((entry,))))]


def layout_of(entries: tuple[Entry, ...]) -> Layout:
    """The layout of these entries, cached for each tuning."""
    return _layout_of(entries, tuning.current)


_layout_of = lru_cache(maxsize=64)(Layout)


@lru_cache(maxsize=1024)
def run_of(segments: tuple[Segment, ...]) -> Run:
    """The run of these segments, cached."""
    return Run(segments)
