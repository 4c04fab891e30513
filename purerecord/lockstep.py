"""Decoding in lock-step: one cursor in every record, and all of them move through the features together.

``follow`` takes a layout and assumes that every record has it. Each segment is read where the one before it
ends, without a question; only afterwards the headers of many of them are compared, as words, with those
of the layout. A record that matches to its end is decoded; all others are for somebody else. What is
accepted here, the row decoder decodes to the same values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .found import Block, Found
from .layout import MANY, Entry, Layout, Run, Segment, floats_of
from .longentry import field, read_long
from .septets import Ints, Mask, Octets, Words
from .short import Short, Wanted, cells, take_short
from .skim import skim
from .spans import fetch
from .wire import FLOAT, INT64, MAX_SIZE

_U = np.uint64
_WORD, _FLOAT = np.dtype("<u8"), np.dtype("<f4")


def open_records(block: Block) -> tuple[Ints, Mask]:
    """Where the features of each record begin, and which records are one Features message, no more."""
    width = _width_of_all(block)
    if width:
        return block.begins + (1 + width), np.ones(block.begins.size, bool)
    tags, begin, end, valid = field(block.octets, block.begins, block.ends)
    valid &= tags == _U(0x0A)
    valid &= end == block.ends
    return begin, valid


def _width_of_all(block: Block) -> int:
    """How many bytes the length of each Features message takes, if all are there and take as many; else 0.

    What they must be follows from the sizes of the records, so that single bytes are all that is looked at.
    """
    sizes = block.ends - block.begins
    shortest, longest = int(sizes.min(initial=MAX_SIZE)), int(sizes.max(initial=0))
    width = 1 if longest < 0x80 + 2 else 2
    if shortest < 2 or (width == 2 and not (shortest >= 0x80 + 3 and longest < 0x4000 + 3)):
        return 0
    if bool((block.octets.take(block.begins) != 0x0A).any()):
        return 0
    lengths = sizes - (1 + width)
    expected = [lengths] if width == 1 else [lengths & 0x7F | 0x80, lengths >> 7]
    for place, octet in enumerate(expected, 1):
        if bool((block.octets.take(block.begins + place) != octet.astype(np.uint8)).any()):
            return 0
    return width


def follow(
    layout: Layout, block: Block, wanted: Wanted, *, sure: bool = False
) -> tuple[dict[bytes, Found], Mask] | None:
    """What is found of the ``wanted`` features, and in which records; None if in less than half of them."""
    cursor, alive = open_records(block)
    columns: dict[bytes, Found] = {}
    walker = Walker(block.octets, wanted, columns)
    step = cells(cursor.size) if sure else 1  # one segment tells whether the layout fits at all
    for part in layout.parts:
        if isinstance(part, Entry):
            found, cursor, valid = read_long(block.octets, cursor, block.ends, part)
            alive &= valid
            if part.key in wanted or found.kind == INT64 or found.listed:
                columns[part.key] = found
            continue
        low = 0
        while low < len(part):
            if layout.wide and (low or sure) and len(part) - low >= MANY:
                high = len(part)
                short, floats, valid, cursor = skim(block.octets, cursor, part, low, wanted)
                columns.update(floats)
            else:
                high = min(low + step, len(part))
                short, cursor = walker.walk(cursor, part, low, high)
                valid = np.all(short.valid, axis=0)
            alive &= valid
            columns.update(take_short(short, alive, wanted))
            if 2 * np.count_nonzero(alive) < alive.size:
                return None
            low, step = high, cells(alive.size)
    alive &= cursor == block.ends
    return None if 2 * np.count_nonzero(alive) < alive.size else (columns, alive)


class Walker(NamedTuple):
    """Reads runs, one behind the other. ``columns`` get the single floats on the way."""

    octets: Octets
    wanted: Wanted
    columns: dict[bytes, Found]

    def walk(self, cursor: Ints, run: Run, low: int, high: int) -> tuple[Short, Ints]:
        """Read the segments ``low`` to ``high`` of a run: the last entry of each, and where they all end."""
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
        for key, place in floats_of(segment):
            if key in self.wanted:
                values = np.ndarray(slots.shape, _FLOAT, slots, offset + place, slots.strides)
                self.columns[key] = Found(FLOAT, values.astype(np.float32))


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
