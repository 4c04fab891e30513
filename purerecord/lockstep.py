"""Decoding in lock-step: one cursor in every record, and all of them move through the features together.

``follow`` takes a layout and assumes that every record has it. Each entry is read where the one before it
ends, without a question; only afterwards the headers of many entries are compared, as words, with those
of the layout. A record that matches to its end is decoded; all others are for somebody else. What is
accepted here, the row decoder decodes to the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .found import Block, Found
from .layout import Entry, Layout, Run
from .septets import Ints, Mask, Octets, Words, scalars, sizes_in
from .spans import fetch, words_at
from .wire import BYTES, FLOAT, INT64, UNSET

_U = np.uint64
_CELLS = 1 << 15  # entries that are checked at once: their words stay in the cache

Wanted = Container[bytes]


class Everything:
    """Contains everything: what is wanted when nothing is said."""

    def __contains__(self, key: object) -> bool:
        return True


def open_records(block: Block) -> tuple[Ints, Mask]:
    """Where the features of each record begin, and which records are one Features message, no more."""
    lengths = block.ends - block.begins
    words = words_at(block.octets, block.begins)
    size, width, valid = sizes_in(words >> _U(8))
    valid &= (words & _U(0xFF)) == _U(0x0A)
    valid &= size + 1 + width == lengths
    return block.begins + 1 + width, valid


def follow(layout: Layout, block: Block, wanted: Wanted) -> tuple[dict[bytes, Found], Mask] | None:
    """What is found of the ``wanted`` features, and in which records; None if in hardly any."""
    cursor, alive = open_records(block)
    columns: dict[bytes, Found] = {}
    for part in layout.parts:
        if isinstance(part, Entry):
            found, cursor, valid = read_long(block.octets, cursor, block.ends, part)
            alive &= valid
            if part.key in wanted or found.kind == INT64 or found.listed:
                columns[part.key] = found
        else:
            step = max(1, _CELLS // max(1, cursor.size))
            low, high = 0, 1 if not columns else step  # one entry tells whether the layout fits at all
            while low < len(part):
                high = min(high, len(part))
                cells, cursor = _walk(block.octets, cursor, part, low, high)
                low, high = high, high + step
                alive &= cells.valid.all(axis=0)
                columns.update(take_cells(cells, alive, wanted))
                if 8 * np.count_nonzero(alive) < alive.size:
                    return None
    alive &= cursor == block.ends
    return columns, alive


class Cells(NamedTuple):
    """Short entries of a run in all records: (entries, records) arrays."""

    entries: tuple[Entry, ...]
    words: Words  # the first eight bytes of the values
    sizes: Words  # of the values, in bytes
    begins: Callable[[int], Ints]  # of the values of one entry
    valid: Mask  # is the header as expected?


def _walk(octets: Octets, cursor: Ints, run: Run, low: int, high: int) -> tuple[Cells, Ints]:
    """Read the entries ``low`` to ``high`` of a run, and move on behind them."""
    depth, rows = run.depth, cursor.size
    planes = np.empty((depth + 1, high - low, rows), _U)
    sizes = np.empty((high - low, rows), _U)
    cursors = np.empty((high - low + 1, rows), np.int64)
    cursors[0] = cursor
    base = run.ends[low] - run.sizes[low]
    for k in range(high - low):
        # The headers in front of this entry are in the offset, the values between them in the cursor.
        slots = fetch(octets, 8 * depth + 8, cursors[k], run.ends[low + k] - base - 8 * depth)
        planes[:, k] = slots.view("<u8").reshape(rows, depth + 1).T
        np.right_shift(planes[depth - 1, k], _U(56), out=sizes[k])
        np.add(cursors[k], sizes[k].view(np.int64), out=cursors[k + 1])
    cells = Cells(
        run.entries[low:high],
        planes[depth],
        sizes,
        lambda k: cursors[k] + (run.ends[low + k] - base),
        check_headers(run, low, planes, sizes),
    )
    return cells, cursors[-1] + (run.ends[high - 1] - base)


def check_headers(run: Run, low: int, planes: Words, sizes: Words) -> Mask:
    """Which headers are those of the entries from ``low`` on, with the lengths that ``sizes`` asks for?"""
    high = low + planes.shape[1]
    scratch = np.empty_like(sizes)
    valid = np.ones(sizes.shape, bool)
    limits = run.limits[low:high]
    if bool((sizes.max(axis=1) > limits).any()):
        valid = sizes <= limits[:, None]
    for k in range(run.depth):
        words, lanes = planes[k], run.lanes[k, low:high]
        if k < run.depth - 1:
            words &= run.masks[k, low:high]
        words -= run.expected[k, low:high]
        if k == run.depth - 1:
            lanes = lanes[0]  # the end of a header is the same for all
        if lanes.any():
            valid &= words == np.multiply(sizes, lanes, out=scratch)
        else:
            valid &= words == 0
    return valid


def take_cells(cells: Cells, alive: Mask, wanted: Wanted) -> dict[bytes, Found]:
    """What the cells hold, in the records that are ``alive``; others stop being alive if they are odd."""
    columns: dict[bytes, Found] = {}
    integers = [k for k, entry in enumerate(cells.entries) if entry.kind == INT64]
    if integers:
        some = [k for k in integers if cells.entries[k].key in wanted]
        if some:
            columns.update(_take_integers(cells, some, alive))
        if len(some) < len(integers):
            others = [k for k in integers if cells.entries[k].key not in wanted]
            columns.update(_check_integers(cells, others, alive))
    for k, entry in enumerate(cells.entries):
        if entry.kind == FLOAT:
            sizes = cells.sizes[k]
            if bool((sizes == _U(4)).all()):
                if entry.key in wanted:
                    columns[entry.key] = Found(FLOAT, cells.words[k].view("<f4")[::2].copy())
                continue
            alive &= (sizes & _U(3)) == 0
        if entry.kind != INT64 and entry.key in wanted:
            columns[entry.key] = _span(cells, k)
    return columns


def _take_integers(cells: Cells, which: list[int], alive: Mask) -> dict[bytes, Found]:
    chosen = slice(which[0], which[-1] + 1) if len(which) == which[-1] + 1 - which[0] else which
    values, valid = scalars(cells.words[chosen], cells.sizes[chosen])
    single = valid.all(axis=1) if alive.all() else (valid | ~alive).all(axis=1)
    return {
        cells.entries[k].key: Found(INT64, values[i].copy()) if single[i] else _span(cells, k)
        for i, k in enumerate(which)
    }


def _check_integers(cells: Cells, which: list[int], alive: Mask) -> dict[bytes, Found]:
    """Check integers that nobody wants; return those that take more than a look at their last byte."""
    sizes = cells.sizes[which]
    shift = _U(8) - sizes
    shift <<= _U(3)
    last = np.left_shift(cells.words[which], shift, out=shift).view(np.int64)
    alive &= (last >= 0).all(axis=0)
    return {cells.entries[k].key: _span(cells, k) for i, k in enumerate(which) if int(sizes[i].max()) > 8}


def _span(cells: Cells, k: int) -> Found:
    return Found(cells.entries[k].kind, begins=cells.begins(k), sizes=cells.sizes[k].view(np.int64))


def read_long(octets: Octets, cursor: Ints, ends: Ints, entry: Entry) -> tuple[Found, Ints, Mask]:
    """Read one entry of any length in every record: (what is found, where it ends, in which records).

    The cursors may be anywhere; only records in which the entry is where its cursor is are valid.
    """
    prefix = b"\n" + bytes((len(entry.key),)) + entry.key
    _, begin, stop, valid = _field(octets, cursor, ends, 0x0A)
    valid &= _match(octets, begin, prefix)
    cursor = begin + len(prefix)
    valid &= cursor <= stop
    _, begin, end, here = _field(octets, cursor, ends, 0x12)
    valid &= here
    valid &= end == stop
    unset = begin == stop
    tags, begin, end, here = _field(octets, begin, ends, None)
    valid &= here | unset
    valid &= (end == stop) | unset
    kinds = (tags >> _U(3)).astype(np.int8)
    kinds[unset] = UNSET
    kind = entry.kind
    if kind == UNSET:
        known = np.flatnonzero(valid & ~unset & ((tags == 0x0A) | (tags == 0x12) | (tags == 0x1A)))
        kind = int(kinds[known[0]]) if known.size else UNSET
    valid &= unset | ((tags == _U(kind << 3 | 2)) & (kind != UNSET))
    empty = begin == stop
    _, inner, end, here = _field(octets, begin, ends, 0x0A)
    here &= end == stop
    here |= empty | unset
    found = Found(kind, None, inner, np.where(empty | unset, 0, stop - inner), None)
    if kind == BYTES and not bool((here & ~empty | unset | ~valid).all()):
        found = Found(kind, None, begin, stop - begin, None, listed=True)
    else:
        valid &= here
    if kind == FLOAT:
        valid &= (found.sizes & 3) == 0
    if bool((kinds != kind).any()):
        found = replace(found, kinds=kinds)
    return found, stop, valid


def _field(octets: Octets, cursor: Ints, ends: Ints, tag: int | None) -> tuple[Words, Ints, Ints, Mask]:
    """The delimited fields at the cursors: (their tags, where their contents begin and end, which are valid)."""
    words = words_at(octets, cursor)
    size, width, valid = sizes_in(words >> _U(8))
    begin = cursor + 1 + width
    end = begin + size
    tags = words & _U(0xFF)
    valid &= end <= ends
    if tag is not None:
        valid &= tags == _U(tag)
    return tags, begin, end, valid


def _match(octets: Octets, begins: Ints, expected: bytes) -> Mask:
    """Where do the expected bytes begin?"""
    depth = -(-len(expected) // 8)
    words = fetch(octets, 8 * depth, begins).view("<u8").reshape(begins.size, depth)
    masks = np.frombuffer((b"\xff" * len(expected)).ljust(8 * depth, b"\0"), "<u8")
    values = np.frombuffer(expected.ljust(8 * depth, b"\0"), "<u8")
    valid = np.ones(begins.size, bool)
    for k in range(depth):
        valid &= words[:, k] & masks[k] == values[k]
    return valid
