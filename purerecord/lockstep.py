"""Decoding in lock-step: one cursor in every record, and all of them move through the features together.

``follow`` takes a layout and assumes that every record has it. Each segment is read where the one before it
ends, without a question; only afterwards the headers of many of them are compared, as words, with those
of the layout. A record that matches to its end is decoded; all others are for somebody else. What is
accepted here, the row decoder decodes to the same values.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .found import Block, Found
from .layout import HEADER, Entry, Layout, Run, Segment
from .longentry import field, read_long
from .septets import Ints, Mask, Octets, Words, scalars
from .spans import fetch
from .wire import FLOAT, INT64

_U = np.uint64
_CELLS = 1 << 15  # segments that are checked at once, of all records: their words stay in the cache
_LARGE = 2048  # bytes
_WORD, _FLOAT = np.dtype("<u8"), np.dtype("<f4")

Wanted = Container[bytes]


class Everything:
    """Contains everything: what is wanted when nothing is said."""

    def __contains__(self, key: object) -> bool:
        return True


def open_records(block: Block) -> tuple[Ints, Mask]:
    """Where the features of each record begin, and which records are one Features message, no more."""
    tags, begin, end, valid = field(block.octets, block.begins, block.ends)
    valid &= tags == _U(0x0A)
    valid &= end == block.ends
    return begin, valid


def follow(
    layout: Layout, block: Block, wanted: Wanted, *, sure: bool = False
) -> tuple[dict[bytes, Found], Mask] | None:
    """What is found of the ``wanted`` features, and in which records; None if in less than half of them."""
    cursor, alive = open_records(block)
    columns: dict[bytes, Found] = {}
    walker = Walker(block.octets, wanted, columns, _is_wide(layout, block))
    # One segment tells whether the layout fits at all.
    step = cells(cursor.size) if sure else 1
    for part in layout.parts:
        if isinstance(part, Entry):
            found, cursor, valid = read_long(block.octets, cursor, block.ends, part)
            alive &= valid
            if part.key in wanted or found.kind == INT64 or found.listed:
                columns[part.key] = found
            continue
        low = 0
        while low < len(part):
            high = min(low + step, len(part))
            short, cursor = walker.walk(cursor, part, low, high)
            alive &= short.valid.all(axis=0)
            columns.update(take_short(short, alive, wanted))
            if 2 * np.count_nonzero(alive) < alive.size:
                return None
            low, step = high, cells(alive.size)
    alive &= cursor == block.ends
    return None if 2 * np.count_nonzero(alive) < alive.size else (columns, alive)


def cells(rows: int) -> int:
    """How many entries of so many records are checked at once."""
    return max(1, _CELLS // max(1, rows))


def _is_wide(layout: Layout, block: Block) -> bool:
    """Are the records large, but not their features?"""
    total = int((block.ends - block.begins).sum())
    return total >= _LARGE * len(block.begins) and total <= 64 * layout.size * len(block.begins)


class Short(NamedTuple):
    """Short entries in all records: (entries, records) arrays."""

    entries: Sequence[Entry]
    words: Words  # the first eight bytes of the values
    sizes: Words  # of the values, in bytes
    valid: Mask  # is the header as expected?
    begins: Callable[[int], Ints]  # of the values of one entry


class Walker(NamedTuple):
    """Reads runs, one behind the other. ``columns`` get the single floats on the way."""

    octets: Octets
    wanted: Wanted
    columns: dict[bytes, Found]
    wide: bool

    def walk(self, cursor: Ints, run: Run, low: int, high: int) -> tuple[Short, Ints]:
        """Read the segments ``low`` to ``high`` of a run: the last entry of each, and where they all end."""
        if not self.wide or high - low < 4:
            return self._walk(cursor, run, low, high)
        # Segment by segment, a new part of every large record would come through the cache each time. So
        # what these segments can be expected to take is copied together first.
        front = 8 * run.depth
        width = front + run.ends[high - 1] - run.ends[low] + run.sizes[low] + 16 * (high - low) + 64
        near = np.arange(cursor.size) * width + front
        octets = fetch(self.octets, width, cursor, -front).view(np.uint8)
        short, end = self._replace(octets=octets)._walk(near, run, low, high)
        far = cursor - near
        begins = short.begins
        return short._replace(begins=lambda k: begins(k) + far), end + far

    def _walk(self, cursor: Ints, run: Run, low: int, high: int) -> tuple[Short, Ints]:
        depth, rows = run.depth, cursor.size
        planes = np.empty((depth + 1, high - low, rows), _U)
        sizes = np.empty((high - low, rows), _U)
        cursors = np.empty((high - low + 1, rows), np.int64)
        cursors[0] = cursor
        # All that is fixed in front of a segment's values is in an offset, so that the cursor only moves by
        # the sizes of the values.
        offsets = [end - run.ends[low] + run.sizes[low] for end in run.ends[low:high]]
        for k, offset in enumerate(offsets):
            slots = fetch(self.octets, 8 * depth + 8, cursors[k], offset - 8 * depth)
            words = np.ndarray((depth + 1, rows), _WORD, slots, 0, (8, slots.itemsize))
            np.subtract(words, run.expected[:, low + k], out=planes[:, k])
            np.right_shift(planes[depth - 1, k], _U(56), out=sizes[k])
            np.add(cursors[k], sizes[k].view(np.int64), out=cursors[k + 1])
            self._take_floats(slots, run.segments[low + k], 8 * depth - run.sizes[low + k])
        valid = check_headers(run, low, planes, sizes)
        short = Short(run.last[low:high], planes[depth], sizes, valid, lambda k: cursors[k] + offsets[k])
        return short, cursors[-1] + offsets[-1]

    def _take_floats(self, slots: npt.NDArray[np.void], segment: Segment, offset: int) -> None:
        """Take the single floats of a segment that begins at ``offset`` in each slot."""
        for entry in segment[:-1]:
            offset += len(entry.key) + HEADER
            if entry.key in self.wanted:
                values = np.ndarray(slots.shape, _FLOAT, slots, offset, slots.strides)
                self.columns[entry.key] = Found(FLOAT, values.astype(np.float32))
            offset += 4


def check_headers(run: Run, low: int, planes: Words, sizes: Words) -> Mask:
    """Which headers are right? ``planes`` is what remains when those expected are subtracted."""
    depth, high = run.depth, low + planes.shape[1]
    # Of the last word, the same for all segments, the size must remain, in three bytes.
    rest = sizes * run.lanes[depth - 1, 0]
    rest ^= planes[depth - 1]
    scratch = np.empty_like(rest)
    some = slice(low, high) if run.masks.shape[1] > 1 else slice(1)
    for k in range(depth - 1):
        if run.rigid[k]:
            rest |= planes[k]
            continue
        if run.moving[k]:
            planes[k] -= np.multiply(sizes, run.lanes[k, some], out=scratch)
        rest |= np.bitwise_and(planes[k], run.masks[k, some], out=scratch)
    valid: Mask = rest == _U(0)
    if sizes.max(initial=0) > run.limit:
        valid &= sizes <= run.limits[low:high, None]
    return valid


def take_short(short: Short, alive: Mask, wanted: Wanted) -> dict[bytes, Found]:
    """What short entries hold in the records that are ``alive``; those in which it is odd cease to be.

    Of those that are not ``wanted``, only what has to be checked later. What is not valid does not matter.
    """
    columns: dict[bytes, Found] = {}
    dead = ~(short.valid & alive)
    integers = [k for k, entry in enumerate(short.entries) if entry.kind == INT64]
    some = [k for k in integers if short.entries[k].key in wanted]
    if some:
        columns.update(_take_integers(short, some, dead))
    if len(some) < len(integers):
        columns.update(_check_integers(short, sorted({*integers} - {*some}), dead, alive))
    for k, entry in enumerate(short.entries):
        if entry.kind == FLOAT:
            if bool(((short.sizes[k] == _U(4)) | dead[k]).all()):
                if entry.key in wanted:
                    columns[entry.key] = Found(FLOAT, short.words[k].view("<f4")[::2].astype(np.float32))
                continue
            alive &= ((short.sizes[k] & _U(3)) == _U(0)) | dead[k]
        if entry.kind != INT64 and entry.key in wanted:
            columns[entry.key] = short_span(short, k)
    return columns


def _take_integers(short: Short, which: list[int], dead: Mask) -> dict[bytes, Found]:
    chosen = slice(which[0], which[-1] + 1) if len(which) == which[-1] + 1 - which[0] else which
    values, single = scalars(short.words[chosen], short.sizes[chosen])
    single |= dead[chosen]
    everywhere: Mask = np.all(single, axis=1)
    return {
        short.entries[k].key: Found(INT64, row.copy()) if one else short_span(short, k)
        for k, row, one in zip(which, values, everywhere.tolist(), strict=True)
    }


def _check_integers(short: Short, which: list[int], dead: Mask, alive: Mask) -> dict[bytes, Found]:
    """Up to eight bytes are packed integers if the last byte is the last of one; longer ones remain."""
    sizes = short.sizes[which]
    shift = _U(8) - sizes
    shift <<= _U(3)
    last = np.left_shift(short.words[which], shift, out=shift).view(np.int64)
    alive &= ((last >= 0) | dead[which]).all(axis=0)
    longer = sizes.max(axis=1, initial=0) > _U(8)
    return {short.entries[k].key: short_span(short, k) for i, k in enumerate(which) if longer[i]}


def short_span(short: Short, k: int) -> Found:
    """Where the values of one entry are."""
    sizes = short.sizes[k].view(np.int64)
    return Found(short.entries[k].kind, begins=short.begins(k), sizes=sizes)
