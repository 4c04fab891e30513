"""Decoding in lock-step without a layout: the features of each record may stand in any order, or be missing.

Some writers put the features of every record in another order. Here one cursor per record jumps from entry
to entry by their lengths alone; the beginning of the key says, by a table, which feature an entry is
probably of; and then, feature by feature, the entries are read just as if a layout had led there, which
also finds out whether the guess was right. What is accepted here, the row decoder decodes to the same
values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from .found import Block, Found
from .layout import Entry, Run, by_depth, run_of
from .lockstep import open_records, read_slots
from .longentry import mixed, read_long
from .septets import Ints, Mask, Octets, Words, sizes_in
from .short import Short, Wanted, cells, short_span, take_short
from .spans import fetch, words_at
from .wire import ABSENT, FLOAT, INT64

MAX_FEATURES = 1024  # with more, the table of keys would be too large

_U = np.uint64
_FEW = 8  # records: fewer are not worth a step together
_SPARSE = 16  # times as many features as a record has, on average, are too many
_LESSONS = 8
_ODD = 0x9E3779B97F4A7C15
_LONG = 0x80  # from here on, a size takes more than one byte


def search(
    block: Block, known: dict[bytes, Entry], wanted: Wanted, learn: Callable[[int], object]
) -> tuple[dict[bytes, Found], Mask]:
    """What is found of the ``wanted`` features, and in which records.

    Only records that have no other features than ``known`` are searched to the end; ``learn`` may add to
    these the features of a record that has others.
    """
    starts, owners, alive = _jump(block)
    words = _beginnings(block.octets, starts)
    for _ in range(_LESSONS):
        count = len(known)
        if count > MAX_FEATURES or count * alive.size > _SPARSE * (starts.size + alive.size):
            return {}, np.zeros_like(alive)
        groups, table = _catalogue(tuple(known.values()))
        features = table.find(block.octets, starts, words)
        unknown = (features == count).nonzero()[0]
        if unknown.size:
            learn(int(owners[unknown[0]]))
        if len(known) == count:
            break
    features *= alive.size
    features += owners
    places = np.full((count + 1, alive.size), -1)
    places.reshape(-1)[features] = starts
    alive &= places[-1] < 0  # no unknown features
    places = places[:-1]
    filled = places >= 0
    if np.count_nonzero(filled) != starts.size:  # a key that appears twice fills one place
        alive &= np.count_nonzero(filled, axis=0) == np.bincount(owners, minlength=alive.size)
    return _read(block, groups, places, alive, wanted), alive


def _jump(block: Block) -> tuple[Ints, Ints, Mask]:
    """All entries of all records: (where they begin, of which record they are), and which records consist of
    entries."""
    cursor, alive = open_records(block)
    rows = (alive & (cursor < block.ends)).nonzero()[0]
    ends = block.ends
    if rows.size < ends.size:
        cursor, ends = cursor[rows], ends[rows]
    starts, owners = [cursor[:0]], [rows[:0]]
    while rows.size:
        if rows.size < _FEW < len(starts):
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
    return np.concatenate(starts), np.concatenate(owners), alive


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


def _beginnings(octets: Octets, starts: Ints) -> Words:
    """How the entries begin, up to four bytes of the key, as if their sizes took one byte each."""
    words = words_at(octets, starts)
    long = (words & _U(_LONG << 8)).nonzero()[0]
    if long.size:
        contents = starts[long] + 1 + sizes_in(words[long] >> _U(8))[1]
        words[long] = (words_at(octets, contents) << _U(16)) | _U(0x0A)
    return words


class KeyTable:
    """Finds the number of a key by its length and its first bytes, as many as tell all keys apart."""

    def __init__(self, keys: tuple[bytes, ...]) -> None:
        self._size = 8  # bytes of an entry that are looked at: 0a, its size, 0a, that of the key, the key
        while len({(len(key), key[: self._size - 4]) for key in keys}) < len(keys):
            self._size += 8
        inside = np.arange(self._size) < np.arange(256)[:, None] + 4
        inside[:, 1] = False  # any size will do
        self._masks = np.ascontiguousarray((inside * np.uint8(0xFF)).view("<u8").T)
        beginnings = [(b"\n\0\n" + bytes((len(key),)) + key)[: self._size] for key in keys]
        joined = b"".join(beginning.ljust(self._size, b"\0") for beginning in beginnings)
        self._spread(list(np.frombuffer(joined, "<u8").reshape(len(keys), -1).T))

    def _spread(self, words: list[Words]) -> None:
        """Choose factors that give each key its own place in the table."""
        count = words[0].size
        bits = max(6, 2 * count.bit_length() - 2)
        self._shift = _U(64 - bits)
        factor = _ODD
        while True:
            factor = (factor * _ODD + 2) % 2**64 | 1
            self._factors = [_U(pow(factor, k + 1, 2**64)) for k in range(len(words))]
            places = self._places(words)
            if np.unique(places).size == count:
                break
        self._table = np.full(1 << bits, count)
        self._table[places] = np.arange(count)

    def _places(self, words: list[Words]) -> Ints:
        total: Words = words[0] * self._factors[0]
        for word, factor in zip(words[1:], self._factors[1:], strict=True):
            total += word * factor
        total >>= self._shift
        return total.view(np.int64)

    def find(self, octets: Octets, starts: Ints, words: Words) -> Ints:
        """The numbers of the keys of entries that begin at ``starts``, and with ``words``.

        For a key that is not in the table, it may be any number up to that of the keys.
        """
        planes = [words]
        if self._size > 8:
            # What follows the words; where the size of an entry takes more than one byte, by so much later.
            more = starts + 8
            large = np.flatnonzero(octets.take(starts + 1, mode="clip") >= _LONG)
            more[large] += sizes_in(words_at(octets, starts[large] + 1))[1] - 1
            planes += list(
                fetch(octets, self._size - 8, more).view("<u8").reshape(more.size, len(self._masks) - 1).T
            )
        lengths = words.view(np.uint8)[3::8]
        # All indices are in the tables; a take that need not look is faster.
        keys = [
            plane & masks.take(lengths, mode="clip") for plane, masks in zip(planes, self._masks, strict=True)
        ]
        return self._table.take(self._places(keys), mode="clip")


@lru_cache(maxsize=16)
def _catalogue(known: tuple[Entry, ...]) -> tuple[list[tuple[Entry, ...]], KeyTable]:
    """The entries in groups that may be in one run, and a table of their keys in the same order."""
    groups = by_depth(known)
    return groups, _key_table(tuple(entry.key for group in groups for entry in group))


@lru_cache(maxsize=16)
def _key_table(keys: tuple[bytes, ...]) -> KeyTable:
    """The table of these keys; the same one for the same keys."""
    return KeyTable(keys)


@lru_cache(maxsize=256)
def _run_of(entries: tuple[Entry, ...]) -> Run:
    return run_of(tuple((entry,) for entry in entries))


def _read(
    block: Block, groups: list[tuple[Entry, ...]], places: Ints, alive: Mask, wanted: Wanted
) -> dict[bytes, Found]:
    """Read the entries that begin at ``places``; where these are negative, there are none."""
    columns: dict[bytes, Found] = {}
    step = cells(alive.size)
    low = 0
    for group in groups:
        for first in range(0, len(group), step):
            entries = group[first : first + step]
            some = places[low : low + len(entries)]
            low += len(entries)
            short = _short(block.octets, _run_of(entries), some)
            columns.update(_take(block, short, some, alive, wanted))
    return columns


def _short(octets: Octets, run: Run, places: Ints) -> Short:
    """What the entries that begin at ``places`` hold."""
    _, short = read_slots(octets, run, 0, len(run), places + run.lasts)
    short.valid[places < 0] = False
    if run.unset:
        short.valid[run.unset] = False  # there is no header for no kind
    return short


def _take(block: Block, short: Short, places: Ints, alive: Mask, wanted: Wanted) -> dict[bytes, Found]:
    """What short entries hold, and long ones where they are not short."""
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
