"""Decoding in lock-step without a layout: the features of each record may stand in any order, or be missing.

Some writers put the features of every record in another order. Here one cursor per record jumps from entry
to entry by their lengths alone; a table says, by a few bytes of the key, which feature an entry is probably
of; and then, feature by feature, the entries are read just as if a layout had led there, which also finds
out whether the guess was right. What is accepted here, the row decoder decodes to the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from ..wire import ABSENT, FLOAT, INT64, UNSET
from . import tuning
from .header_templates import HEADER, Run, by_depth, run_of
from .key_table import KeyTable, key_table
from .located import Block, Found
from .long_entries import mixed, read_long
from .outline import Entry
from .same_layout import open_records, read_slots
from .short_entries import Short, Wanted, cells, short_span, take_short
from .tuning import Tuning
from .values import words_at
from .varint_words import Ints, Mask, Octets, Words, sizes_in

_U = np.uint64
_LEAST = 6  # bytes of an entry
_LONG = 0x80  # from here on, a size takes more than one byte


def search(
    block: Block, known: dict[bytes, Entry], wanted: Wanted, learn: Callable[[int], object]
) -> tuple[dict[bytes, Found], Mask]:
    """What is found of the ``wanted`` features, and in which records.

    Only records that have no other features than ``known`` are searched to the end; ``learn`` may add to
    these the features of a record that has others.
    """
    current = tuning.current
    jumps = _jump(block, len(known))
    for lesson in range(1, current.strangers_per_search + 1):
        count, rows = len(known), jumps.alive.size
        most = current.most_features_per_entry * (jumps.starts.size + rows)
        if count > current.most_features or count * rows > most:
            break
        runs, table = _catalogue(tuple(known.values()), current)
        found = _sort(block, jumps, runs, table)
        if found.stranger is not None:
            learn(found.stranger)
        # Records with what was learned last are for others.
        if len(known) == count or lesson == current.strangers_per_search:
            return _read(block, runs, found, wanted), found.alive
    return {}, np.zeros(block.begins.size, bool)


@lru_cache(maxsize=16)
def _catalogue(known: tuple[Entry, ...], tuning: Tuning) -> tuple[list[Run], KeyTable]:
    """The entries as runs, whatever their order, and a table of their keys in that of the runs."""
    runs = [run_of(tuple((entry,) for entry in group)) for group in by_depth(known, tuning)]
    return runs, key_table(tuple(entry.key for run in runs for entry in run.last), tuning)


# --- Where entries are ------------------------------------------------------------------------------


class _Jumps(NamedTuple):
    """All entries of all records: where they begin, and of which records they are.

    If all records have as many as features are known, and their sizes are single bytes, these are (entries,
    records) arrays, otherwise flat ones. ``alive`` are the records that consist of entries.
    """

    starts: Ints
    owners: Ints
    alive: Mask

    @property
    def even(self) -> bool:
        return self.starts.ndim > 1

    def tiles(self, block: Block) -> Iterator[tuple[slice, Ints, Ints]]:
        """Which records, and their entries: not too many at a time, but all where they are not even."""
        rows = self.alive.size
        if not self.even:
            yield slice(rows), self.starts, self.owners
            return
        few, size = tuning.current.least_records_of_tile, tuning.current.bytes_per_tile
        step = max(few, rows * size // int((block.ends - block.begins).sum()))
        for low in range(0, rows, step):
            some = slice(low, min(low + step, rows))
            yield some, self.starts[:, some].reshape(-1), self.owners[:, some].reshape(-1)


def _jump(block: Block, number: int) -> _Jumps:
    """Find all entries; probably each record has this ``number``."""
    cursor, alive = open_records(block)
    rows = (alive & (cursor < block.ends)).nonzero()[0]
    ends = block.ends
    if rows.size < ends.size:
        cursor, ends = cursor[rows], ends[rows]
    elif tuning.current.equal_entry_counts and _may_have(number, cursor, ends):
        places = _hop(block.octets, cursor, ends, number)
        if places is not None:
            return _Jumps(places, np.broadcast_to(rows, places.shape), alive)
    few = tuning.current.least_lists_per_step
    starts, owners = [cursor[:0]], [rows[:0]]
    while rows.size:
        if rows.size < few < len(starts):
            alive[rows] = False
            break
        stop = _stops(block.octets, cursor)
        starts.append(cursor)
        owners.append(rows)
        done = stop >= ends
        cursor = stop
        if np.count_nonzero(done):
            alive[rows[stop > ends]] = False
            on = (~done).nonzero()[0]
            rows, cursor, ends = rows[on], stop[on], ends[on]
    return _Jumps(np.concatenate(starts), np.concatenate(owners), alive)


def _may_have(number: int, begins: Ints, ends: Ints) -> bool:
    """Are the records large enough for this ``number`` of entries each?"""
    return begins.size > 0 and _LEAST * number * begins.size <= int((ends - begins).sum())


def _has(number: int, octets: Octets, begin: int, end: int) -> bool:
    """Does a record have this ``number`` of entries, with sizes of single bytes?"""
    if end - begin > (_LONG + 1) * number:
        return False
    data = octets[begin:end].tobytes()
    position = 0
    while number and position + 1 < len(data) and data[position + 1] < _LONG:
        position += 2 + data[position + 1]
        number -= 1
    return not number and position == len(data)


def _hop(octets: Octets, cursor: Ints, ends: Ints, number: int) -> Ints | None:
    """Where entries begin, (number, records), if each record has so many, with sizes of single bytes.

    Two records tell whether it is worth while. Then nobody looks on the way where it leads, be it behind the
    end of the buffer.
    """
    if not all(_has(number, octets, int(cursor[row]), int(ends[row])) for row in (0, cursor.size // 2)):
        return None
    places = np.empty((number + 1, cursor.size), np.int64)
    places[0] = cursor
    size = np.empty(cursor.size, np.uint8)
    for k in range(number):
        # Each tag and size take two bytes: these are added to all in the end.
        octets[min(2 * k + 1, octets.size - 1) :].take(places[k], mode="clip", out=size)
        if not size.tobytes().isascii():
            return None
        np.add(places[k], size, out=places[k + 1])
    places += 2 * np.arange(number + 1)[:, None]
    return places[:-1] if bool((places[-1] == ends).all()) else None


def _stops(octets: Octets, cursor: Ints) -> Ints:
    """Where the entries at the cursors end."""
    after = cursor + 1
    # Where nothing follows, the entry ends too late, whatever is taken instead.
    octet = octets.take(after, mode="clip")
    if octet.tobytes().isascii():  # no size takes more than one byte
        after += octet
        after += 1
        return after
    size, width, valid = sizes_in(words_at(octets, after))
    size[~valid] = octets.size  # ends behind the end of its record
    after += width
    after += size
    return after


def _as_if_short(octets: Octets, starts: Ints) -> Ints:
    """Where entries would begin if their sizes took one byte each, and the rest were where it is."""
    long = (octets[1:].take(starts, mode="clip") >= _LONG).nonzero()[0]
    if long.size:
        starts = starts.copy()
        starts[long] += sizes_in(words_at(octets, starts[long] + 1))[1] - 1
    return starts


# --- What they hold ---------------------------------------------------------------------------------


class _Sorted(NamedTuple):
    """All entries by features, (features, records) arrays, and what those hold that are short."""

    places: Ints  # where they begin, negative where there is none
    words: Words  # the first eight bytes of the values
    sizes: Octets  # of the values, in bytes
    valid: Mask  # whether they are short, and of the feature that they are taken for
    alive: Mask  # the records that have known features only, each of them once at most
    stranger: int | None  # a record that has another


def _sort(block: Block, jumps: _Jumps, runs: list[Run], table: KeyTable) -> _Sorted:
    """Find out of which feature each entry is, and read it as one that is short."""
    count, rows = sum(map(len, runs)), jumps.alive.size
    places = np.full((count + 1, rows), -1)
    found = _Sorted(
        places[:-1],
        np.empty((count, rows), _U),
        np.empty((count, rows), np.uint8),
        np.empty((count, rows), bool),
        jumps.alive.copy(),
        None,
    )
    for some, starts, owners in jumps.tiles(block):
        features = table.find(block.octets, starts if jumps.even else _as_if_short(block.octets, starts))
        unknown = (features == count).nonzero()[0]
        if unknown.size and found.stranger is None:
            found = found._replace(stranger=int(owners[unknown[0]]))
        features *= rows
        features += owners
        places.reshape(-1)[features] = starts
        filled = places[:, some] >= 0
        if np.count_nonzero(filled) != starts.size:  # a key that appears twice fills one place
            numbers = np.bincount(owners - (some.start or 0), minlength=filled.shape[1])
            found.alive[some] &= np.count_nonzero(filled, axis=0) == numbers
        _read_short(block.octets, runs, found, some)
    found.alive[places[-1] >= 0] = False
    if not tuning.current.short_entries:
        found.valid[:] = False
    return found


def _read_short(octets: Octets, runs: list[Run], found: _Sorted, some: slice) -> None:
    """Read the entries of some records, as if they were short."""
    step = cells(found.alive[some].size)
    done = 0
    for run in runs:
        for low in range(0, len(run), step):
            high = min(low + step, len(run))
            these = slice(done + low, done + high)
            places = found.places[these, some]
            short = read_slots(octets, run, low, high, places + run.lasts[low:high])[1]
            found.words[these, some] = short.words
            found.sizes[these, some] = short.sizes
            np.logical_and(short.valid, places >= 0, out=found.valid[these, some])
        done += len(run)


def _read(block: Block, runs: list[Run], found: _Sorted, wanted: Wanted) -> dict[bytes, Found]:
    """What the entries hold."""
    columns: dict[bytes, Found] = {}
    entries = [entry for run in runs for entry in run.last]
    step = cells(found.alive.size)
    for low in range(0, len(entries), step):
        some = slice(low, low + step)
        places, own = found.places[some], entries[some]
        short = Short(
            own, found.words[some], found.sizes[some], found.valid[some], partial(_begins, places, own)
        )
        columns.update(_take(block, short, places, found.alive, wanted))
    return columns


def _begins(places: Ints, entries: list[Entry], k: int) -> Ints:
    """Where the values of one of the entries begin, if it is short."""
    begins: Ints = places[k] + (HEADER + len(entries[k].key))
    return begins


def _take(block: Block, short: Short, places: Ints, alive: Mask, wanted: Wanted) -> dict[bytes, Found]:
    """What short entries hold, and long ones where they are not short."""
    for k, entry in enumerate(short.entries):
        if entry.kind == UNSET:
            short.valid[k] = False  # there is no header for no kind
    columns = take_short(short, alive, wanted)
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
        found = mixed(short_span(short, k), others, rest, kinds)
        if found.kind == FLOAT:
            alive &= (found.sizes & 3 == 0) | (kinds != FLOAT)
        if entry.key in wanted or found.kind == INT64 or found.listed:
            columns[entry.key] = found
    return columns
