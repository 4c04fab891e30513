"""The layout of a record: which features it holds, in which order, and what their headers look like.

Writers are monotonous: almost every record of a file has the features of its first one, in the same order,
and most features are short. Such an entry of the feature map is, with ``P`` bytes of packed values,

    0a E 0a K key 12 F T L 0a P  values        E = P + K + 8, F = P + 4, L = P + 2, T says the kind

with each length in a single byte. All that differs from record to record is ``P``, which is added to
four bytes of a fixed header: ``Run`` keeps those headers as words that whole arrays can be compared with.
This module reads one record; it does not know that there are others.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from .septets import Words
from .wire import BYTES, FLOAT, INT64, UNSET

HEADER = 10  # bytes of a short entry's header, without the key
MAX_KEY = 100  # bytes; records with longer keys are left to the row decoder
_TAGS = {0x0A: BYTES, 0x12: FLOAT, 0x1A: INT64}


class Entry(NamedTuple):
    """A feature: its key, its kind, and whether all its lengths are single bytes."""

    key: bytes
    kind: int
    short: bool


def outline(payload: bytes) -> list[Entry] | None:
    """The entries of a serialized Example, in their order; None if it is not of the usual form.

    Only the form is looked at, just as far as it is needed: what else may be wrong shows when the
    record is compared with its own outline.
    """
    entries: list[Entry] = []
    try:
        if payload[0] != 0x0A:
            return None
        stop, position = _size(payload, 1)
        if position + stop != len(payload):
            return None
        while position < len(payload):
            if payload[position] != 0x0A:
                return None
            size, begin = _size(payload, position + 1)
            position = begin + size
            length = payload[begin + 1]
            middle = begin + 2 + length
            if payload[begin] != 0x0A or length > MAX_KEY or payload[middle] != 0x12:
                return None
            key = payload[begin + 2 : middle]
            key.decode()
            rest, feature = _size(payload, middle + 1)
            if rest == 0:
                entries.append(Entry(key, UNSET, False))
                continue
            kind = _TAGS[payload[feature]]
            short = rest >= 4 and size < 0x80 and payload[feature + 3] == rest - 4
            entries.append(Entry(key, kind, short))
    except (IndexError, KeyError, UnicodeDecodeError):
        return None
    return entries if len({entry.key for entry in entries}) == len(entries) else None


def _size(payload: bytes, position: int) -> tuple[int, int]:
    """The length at ``position``, and the position behind it."""
    size = shift = 0
    while True:
        octet = payload[position]
        size |= (octet & 0x7F) << shift
        position += 1
        shift += 7
        if octet < 0x80:
            return size, position


class Run:
    """Short entries that are read together: the words of their headers, one column for each entry.

    Each header is right-aligned in ``depth`` words, so that the values begin with the next word; ``masks``
    leaves out what is in front of it. ``expected`` is the header for no values, and ``lanes`` times ``P``
    what ``P`` bytes of values add to it, as long as ``P`` is not above the limit.
    """

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries = entries
        self.depth = max(map(_depth, entries))
        self.sizes = [len(entry.key) + HEADER for entry in entries]  # of the headers
        self.ends = np.cumsum(self.sizes).tolist()  # of the headers, without any values between them
        self.limits = np.array([0x7F - 8 - len(entry.key) for entry in entries], np.uint64)
        self.expected = self._words([_header(entry, 0) for entry in entries])
        self.lanes = self._words([_header(entry, 1) for entry in entries]) - self.expected
        self.masks = self._words([b"\xff" * size for size in self.sizes])

    def _words(self, headers: list[bytes]) -> Words:
        """(depth, entries, 1): the headers as columns of words."""
        rows = b"".join(header.rjust(8 * self.depth, b"\0") for header in headers)
        return np.ascontiguousarray(np.frombuffer(rows, "<u8").reshape(len(headers), -1).T)[:, :, None]

    def __len__(self) -> int:
        return len(self.entries)


def _depth(entry: Entry) -> int:
    return -(-(len(entry.key) + HEADER) // 8)


def _header(entry: Entry, size: int) -> bytes:
    """The header of ``size`` bytes of values."""
    key = entry.key
    front = bytes((0x0A, size + len(key) + 8, 0x0A, len(key)))
    back = bytes((0x12, size + 4, entry.kind << 3 | 2, size + 2, 0x0A, size))
    return front + key + back


class Layout:
    """The entries of a record, in order, as runs of short entries and single long ones."""

    __slots__ = ("parts",)

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.parts: list[Run | Entry] = []
        run: list[Entry] = []
        for entry in entries:
            if run and (not entry.short or _depth(entry) != _depth(run[0])):
                self.parts.append(run_of(tuple(run)))
                run = []
            if entry.short:
                run.append(entry)
            else:
                self.parts.append(entry)
        if run:
            self.parts.append(run_of(tuple(run)))


@lru_cache(maxsize=64)
def layout_of(entries: tuple[Entry, ...]) -> Layout:
    """The layout; the same one for the same entries."""
    return Layout(entries)


def by_depth(entries: list[Entry], number: int) -> list[list[int]]:
    """Groups of at most ``number`` entries that may be in one run, whatever their order."""
    groups = []
    order = sorted(range(len(entries)), key=lambda k: _depth(entries[k]))
    for _, same in groupby(order, key=lambda k: _depth(entries[k])):
        group = list(same)
        groups += [group[low : low + number] for low in range(0, len(group), number)]
    return groups


@lru_cache(maxsize=1024)
def run_of(entries: tuple[Entry, ...]) -> Run:
    """The run; the same one for the same entries."""
    return Run(entries)
