"""Reads records whose features come in any order, or are missing in some of them.

Some writers put the features of every record in another order. Here one cursor per record moves from entry
to entry by the lengths alone. A key table guesses the feature of each entry from a few bytes of its key. Then
the entries of each feature are read as if a layout had led to them, and that also verifies the guess.
Whatever this module accepts, the row decoder decodes to the same values. This module does not know how
features become known.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..wire import ABSENT, FLOAT, INT64, UNSET
from . import tuning
from .arrays import Ints, Mask, Octets, Words
from .field_walk import field_ends, have_short_lengths, walk
from .header_templates import SHORT_HEADER, Run, group_by_depth, run_of
from .key_table import KeyTable
from .located import Located, RecordBlock
from .long_entries import overlay, read_long
from .outline import Entry
from .same_layout import open_records, read_headers
from .short_entries import (
    ShortEntries,
    ValueBegins,
    Wanted,
    per_pass,
    spans_of,
    values_of_short_entries,
)
from .tuning import Tuning
from .values import words_at
from .varint_words import decode_lengths

_U = np.uint64
_LEAST_ENTRY = 6  # bytes of the smallest entry
_LONG = 0x80  # from here on, a length takes more than one byte


class Matched(NamedTuple):
    """All entries of a block by feature, (features, records) arrays, and what the short ones hold."""

    runs: list[Run]  # the features
    places: Ints  # where the entries begin; negative where a record has none
    words: Words  # the first eight bytes of the values
    sizes: Octets  # of the values, in bytes
    valid: Mask  # whether an entry is short, and really of the feature
    alive: Mask  # the records that have known features only, each of them at most once
    stranger: int | None  # a record that has an unknown feature


class Search:
    """Finds the entries of a block once, and matches them with features as these become known.

    Most records probably have ``number`` entries.
    """

    def __init__(self, block: RecordBlock, number: int) -> None:
        self._block = block
        self._entries = _find_entries(block, number)

    def match(self, known: tuple[Entry, ...]) -> Matched | None:
        """The entries by feature; None if too many features are ``known``.

        If the result has a ``stranger``, learning its features and matching again decodes more records.
        """
        current = tuning.current
        rows = self._entries.alive.size
        most = current.most_features_per_entry * (self._entries.starts.size + rows)
        if len(known) > current.most_features or len(known) * rows > most:
            return None
        return _match(self._block, self._entries, *_catalogue(known, current))

    def read(self, matched: Matched, wanted: Wanted) -> dict[bytes, Located]:
        """The ``wanted`` features. Clears ``matched.alive`` in records with a malformed entry."""
        columns: dict[bytes, Located] = {}
        entries = [entry for run in matched.runs for entry in run.last]
        step = per_pass(matched.alive.size)
        for low in range(0, len(entries), step):
            some = slice(low, low + step)
            places, own = matched.places[some], entries[some]
            begins = ValueBegins(places, [SHORT_HEADER + len(entry.key) for entry in own])
            valid = matched.valid[some]
            for k, entry in enumerate(own):
                if entry.kind == UNSET:
                    valid[k] = False  # a short header always has a kind
            short = ShortEntries(own, matched.words[some], matched.sizes[some], valid, begins)
            columns.update(_read_entries(self._block, short, places, wanted, matched.alive))
        return columns


@lru_cache(maxsize=16)
def _catalogue(known: tuple[Entry, ...], tuning: Tuning) -> tuple[list[Run], KeyTable]:
    """(the features as runs, whatever their order; a table of their keys, numbered as in the runs)."""
    runs = [run_of(tuple((entry,) for entry in group)) for group in group_by_depth(known, tuning)]
    return runs, KeyTable(tuple(entry.key for run in runs for entry in run.last), tuning)


# --- Where entries are ------------------------------------------------------------------------------


class _Entries(NamedTuple):
    """All entries of all records: where they begin, and which records they belong to.

    If all records have equally many short entries, these are (entries, records) arrays, otherwise flat ones.
    ``alive`` are the records that consist of entries.
    """

    starts: Ints
    owners: Ints
    alive: Mask

    @property
    def equal(self) -> bool:
        return self.starts.ndim > 1

    def tiles(self, block: RecordBlock) -> Iterator[tuple[slice, Ints, Ints]]:
        """(records, starts, owners), as many records at a time as stay in the cache; all if not ``equal``."""
        rows = self.alive.size
        if not self.equal:
            yield slice(rows), self.starts, self.owners
            return
        least, size = tuning.current.least_records_of_tile, tuning.current.bytes_per_tile
        step = max(least, rows * size // int((block.ends - block.begins).sum()))
        for low in range(0, rows, step):
            some = slice(low, min(low + step, rows))
            yield some, self.starts[:, some].reshape(-1), self.owners[:, some].reshape(-1)


def _find_entries(block: RecordBlock, number: int) -> _Entries:
    """All entries. Records probably have ``number`` each."""
    cursor, alive = open_records(block)
    filled = alive & (cursor < block.ends)
    rows = np.flatnonzero(filled)
    if tuning.current.equal_entry_counts and rows.size == alive.size:
        starts = _find_equal_counts(block.octets, cursor, block.ends, number)
        if starts is not None:
            return _Entries(starts, np.broadcast_to(rows, starts.shape), alive)
    starts, counts = walk(block.octets, np.where(filled, cursor, block.ends), block.ends)
    lasts = np.cumsum(counts)[rows] - 1
    ends = block.ends[rows]
    alive[rows] = field_ends(block.octets, starts[lasts], ends) == ends
    return _Entries(starts, np.repeat(np.arange(alive.size), counts), alive)


def _find_equal_counts(octets: Octets, cursor: Ints, ends: Ints, number: int) -> Ints | None:
    """(number, records): where entries begin, if every record has this ``number`` of them, all with sizes of
    single bytes; else None.

    Two records are tried first. If they fit, no cursor is checked on the way, even past the buffer.
    """
    if not cursor.size or _LEAST_ENTRY * number * cursor.size > int((ends - cursor).sum()):
        return None
    if not all(_has_count(number, octets, int(cursor[row]), int(ends[row])) for row in (0, cursor.size // 2)):
        return None
    places = np.empty((number + 1, cursor.size), np.int64)
    places[0] = cursor
    size = np.empty(cursor.size, np.uint8)
    for k in range(number):
        # The two bytes of each tag and size are added to all positions at the end.
        octets[min(2 * k + 1, octets.size - 1) :].take(places[k], mode="clip", out=size)
        if not size.tobytes().isascii():
            return None
        np.add(places[k], size, out=places[k + 1])
    places += 2 * np.arange(number + 1)[:, None]
    return places[:-1] if bool((places[-1] == ends).all()) else None


def _has_count(number: int, octets: Octets, begin: int, end: int) -> bool:
    """Whether a record has this ``number`` of entries, all with sizes of single bytes."""
    if end - begin > (_LONG + 1) * number:
        return False
    data = octets[begin:end].tobytes()
    position = 0
    while number and position + 1 < len(data) and data[position + 1] < _LONG:
        position += 2 + data[position + 1]
        number -= 1
    return not number and position == len(data)


def _as_if_short(octets: Octets, starts: Ints) -> Ints:
    """Where entries would begin if their sizes were single bytes and their keys stayed where they are."""
    long = np.flatnonzero(~have_short_lengths(octets, starts))
    if long.size:
        starts = starts.copy()
        starts[long] += decode_lengths(words_at(octets, starts[long] + 1))[1] - 1
    return starts


# --- What they hold ---------------------------------------------------------------------------------


def _match(block: RecordBlock, entries: _Entries, runs: list[Run], table: KeyTable) -> Matched:
    """Guesses the feature of each entry by its key, and reads it as a short one."""
    count, rows = sum(map(len, runs)), entries.alive.size
    places = np.full((count + 1, rows), -1)  # the last row takes the unknown features
    matched = Matched(
        runs,
        places[:-1],
        np.empty((count, rows), _U),
        np.empty((count, rows), np.uint8),
        np.empty((count, rows), bool),
        entries.alive.copy(),
        None,
    )
    for some, starts, owners in entries.tiles(block):
        features = table.find(block.octets, starts if entries.equal else _as_if_short(block.octets, starts))
        unknown = (features == count).nonzero()[0]
        if unknown.size and matched.stranger is None:
            matched = matched._replace(stranger=int(owners[unknown[0]]))
        features *= rows
        features += owners
        places.reshape(-1)[features] = starts
        filled = places[:, some] >= 0
        if np.count_nonzero(filled) != starts.size:  # entries of the same key fill only one place
            numbers = np.bincount(owners - (some.start or 0), minlength=filled.shape[1])
            matched.alive[some] &= np.count_nonzero(filled, axis=0) == numbers
        _read_as_short(block.octets, some, matched)
    matched.alive[places[-1] >= 0] = False
    if not tuning.current.short_entries:
        matched.valid[:] = False
    return matched


def _read_as_short(octets: Octets, some: slice, matched: Matched) -> None:
    """Fills the ``words``, ``sizes`` and ``valid`` of ``matched`` in some records."""
    step = per_pass(matched.alive[some].size)
    done = 0
    for run in matched.runs:
        for low in range(0, len(run), step):
            high = min(low + step, len(run))
            these = slice(done + low, done + high)
            places = matched.places[these, some]
            short = read_headers(octets, run, low, high, places + run.lasts[low:high])[1]
            matched.words[these, some] = short.words
            matched.sizes[these, some] = short.sizes
            np.logical_and(short.valid, places >= 0, out=matched.valid[these, some])
        done += len(run)


def _read_entries(
    block: RecordBlock, short: ShortEntries, places: Ints, wanted: Wanted, alive: Mask
) -> dict[bytes, Located]:
    """What the entries at ``places`` hold: short ones where valid, elsewhere long ones. Clears ``alive`` in
    records with a malformed entry."""
    columns = values_of_short_entries(short, wanted, alive)
    if np.count_nonzero(short.valid) == short.valid.size:
        return columns
    absent = places < 0
    complete: Mask = np.all(short.valid | absent | ~alive, axis=1)
    everywhere: Mask = np.all(~absent, axis=1)
    for k, entry in enumerate(short.entries):
        if complete[k] and (everywhere[k] or entry.key not in columns):
            continue
        kinds = np.where(absent[k], np.int8(ABSENT), np.int8(entry.kind))
        if complete[k]:
            columns[entry.key] = columns[entry.key]._replace(kinds=kinds)
            continue
        rest = np.flatnonzero(~(short.valid[k] | absent[k]) & alive)
        others, _, there = read_long(block.octets, places[k, rest], block.ends[rest], entry)
        alive[rest[~there]] = False
        spans = overlay(others, rest, spans_of(short, k), kinds)
        if spans.kind == FLOAT:
            alive &= (spans.sizes & 3 == 0) | (kinds != FLOAT)
        if entry.key in wanted or spans.kind == INT64 or spans.listed:
            columns[entry.key] = spans
    return columns
