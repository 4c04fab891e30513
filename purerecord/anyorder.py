"""Decoding in lock-step without a layout: the features of each record may stand in any order, or be missing.

Some writers put the features of every record in another order. Here one cursor per record jumps from entry
to entry by their lengths alone; the beginning of the key says, by a table, which feature an entry is
probably of; and then, feature by feature, the entries are read just as if a layout had led there, which
also finds out whether the guess was right. What is accepted here, the row decoder decodes to the same
values.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from .found import Block, Found
from .layout import Entry, Run, by_depth, run_of
from .lockstep import Cells, Wanted, check_headers, open_records, read_long, take_cells
from .septets import Ints, Mask, Octets, Words, sizes_in
from .spans import fetch, words_at
from .wire import ABSENT, FLOAT, INT64, UNSET

_U = np.uint64
_CELLS = 1 << 15  # entries that are checked at once: their words stay in the cache
_FEW = 8  # records: fewer are not worth a step together
_ODD = 0x9E3779B97F4A7C15


def search(block: Block, entries: list[Entry], wanted: Wanted) -> tuple[dict[bytes, Found], Mask]:
    """What is found of the ``wanted`` features, and in which records, if they have no others than ``entries``."""
    starts, contents, owners, alive = _jump(block)
    table = key_table(tuple(entry.key for entry in entries))
    features = table.find(block.octets, contents)
    places = np.full((len(entries) + 1, alive.size), -1)
    places[features, owners] = starts
    alive[owners[features == len(entries)]] = False
    known = places[:-1]
    if np.count_nonzero(known >= 0) != starts.size:  # a key that appears twice fills one place
        alive &= np.count_nonzero(known >= 0, axis=0) == np.bincount(owners, minlength=alive.size)
    columns: dict[bytes, Found] = {}
    step = max(1, _CELLS // max(1, alive.size))
    for group in by_depth(entries, step):
        run = run_of(tuple(entries[k] for k in group))
        columns.update(_read(block, run, known[group], alive, wanted))
    return columns, alive


def _jump(block: Block) -> tuple[Ints, Ints, Ints, Mask]:
    """All entries of all records: (where they begin, where their contents begin, their records), and which
    records consist of entries."""
    cursor, alive = open_records(block)
    rows = np.flatnonzero(alive & (cursor < block.ends))
    cursor, ends = cursor[rows], block.ends[rows]
    starts, contents, owners = [cursor[:0]], [cursor[:0]], [rows[:0]]
    while rows.size:
        if rows.size < _FEW < len(starts):
            alive[rows] = False
            break
        content, stop = _sizes(block.octets, cursor)
        starts.append(cursor)
        contents.append(content)
        owners.append(rows)
        on = stop < ends
        if on.all():
            cursor = stop
            continue
        alive[rows[stop > ends]] = False
        more = np.flatnonzero(on)
        rows, cursor, ends = rows[more], stop[more], ends[more]
    return np.concatenate(starts), np.concatenate(contents), np.concatenate(owners), alive


def _sizes(octets: Octets, cursor: Ints) -> tuple[Ints, Ints]:
    """Where the contents of the fields at the cursors begin and end."""
    content = cursor + 2
    size = octets.take(cursor + 1, mode="clip")
    if int(size.max()) < 0x80:
        return content, content + size
    sizes, width, valid = sizes_in(words_at(octets, cursor + 1))
    content = cursor + 1 + width
    sizes[~valid] = octets.size  # ends behind the end of its record
    return content, content + sizes


class KeyTable:
    """Finds the number of a key by its length and its first bytes, as many as tell all keys apart."""

    def __init__(self, keys: tuple[bytes, ...]) -> None:
        depth = 1
        while len({(len(key), key[: 8 * depth - 2]) for key in keys}) < len(keys):
            depth += 1
        inside = np.arange(8 * depth) < np.arange(256)[:, None] + 2
        self.masks = np.ascontiguousarray((inside * np.uint8(0xFF)).view("<u8").T)
        rows = [(b"\n" + bytes((len(key),)) + key)[: 8 * depth].ljust(8 * depth, b"\0") for key in keys]
        self._spread(list(np.frombuffer(b"".join(rows), "<u8").reshape(len(keys), depth).T))

    def _spread(self, words: list[Words]) -> None:
        """Choose factors that give each key its own place in the table."""
        count = words[0].size
        bits = max(6, 2 * count.bit_length() - 2)
        self.shift = _U(64 - bits)
        factor = _ODD
        while True:
            factor = (factor * _ODD + 2) % 2**64 | 1
            self.factors = [_U(pow(factor, k + 1, 2**64)) for k in range(len(words))]
            places = self._places(words)
            if np.unique(places).size == count:
                break
        self.table = np.full(1 << bits, count, np.int16)
        self.table[places] = np.arange(count)

    def _places(self, words: list[Words]) -> Ints:
        total = words[0] * self.factors[0]
        for word, factor in zip(words[1:], self.factors[1:]):
            total += word * factor
        total >>= self.shift
        return total.view(np.int64)

    def find(self, octets: Octets, contents: Ints) -> Ints:
        """The numbers of the keys of the entries whose contents begin there; any number for other keys."""
        depth = len(self.masks)
        slots = fetch(octets, 8 * depth, contents).view("<u8").reshape(-1, depth)
        lengths = ((slots[:, 0] >> _U(8)) & _U(0xFF)).view(np.int64)
        words = [slots[:, k] & self.masks[k].take(lengths) for k in range(depth)]
        return self.table.take(self._places(words)).astype(np.int64)


@lru_cache(maxsize=64)
def key_table(keys: tuple[bytes, ...]) -> KeyTable:
    """The table of these keys; the same one for the same keys."""
    return KeyTable(keys)


def _read(block: Block, run: Run, places: Ints, alive: Mask, wanted: Wanted) -> dict[bytes, Found]:
    """Read the entries of a run that begin at ``places``; where they are negative, there are none."""
    depth = run.depth
    absent = places < 0
    missing = bool(absent.any())
    index = places + (np.array(run.sizes)[:, None] - 8 * depth)
    if missing:
        np.maximum(index, 0, out=index)
    slots = fetch(block.octets, 8 * depth + 8, index + 8, -8)
    planes = np.ascontiguousarray(slots.view("<u8").reshape(*index.shape, depth + 1).transpose(2, 0, 1))
    sizes = planes[depth - 1] >> _U(56)
    valid = check_headers(run, 0, planes, sizes)
    valid[[entry.kind == UNSET for entry in run.entries]] = False  # there is no header for no kind
    cells = Cells(run.entries, planes[depth], sizes, lambda k: places[k] + run.sizes[k], valid)
    if not missing and valid.all():
        return take_cells(cells, alive, wanted)
    columns: dict[bytes, Found] = {}
    for k, entry in enumerate(run.entries):
        kinds = np.where(absent[k], np.int8(ABSENT), np.int8(entry.kind))
        found = Found(entry.kind, None, cells.begins(k), sizes[k].view(np.int64), kinds)
        rest = np.flatnonzero(~(valid[k] | absent[k]) & alive)
        if rest.size:
            found = _read_rest(block, entry, found, places[k], rest, alive)
        if found.kind == FLOAT:
            alive &= (found.sizes & 3 == 0) | (found.kinds != FLOAT)
        if entry.key in wanted or found.kind == INT64 or found.listed:
            columns[entry.key] = found
    return columns


def _read_rest(block: Block, entry: Entry, found: Found, places: Ints, rest: Ints, alive: Mask) -> Found:
    """Add the entries of any length of the records ``rest`` to those that were ``found``."""
    others, _, valid = read_long(block.octets, places[rest], block.ends[rest], entry)
    alive[rest[~valid]] = False
    begins, sizes = found.begins, found.sizes
    if others.listed:
        begins, sizes = begins - 2, sizes + 2
    begins[rest] = others.begins
    sizes[rest] = others.sizes
    found.kinds[rest] = others.kind if others.kinds is None else others.kinds
    return replace(found, kind=others.kind, begins=begins, sizes=sizes, listed=others.listed)
