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

from ..wire import FLOAT, INT64
from . import tuning
from .header_templates import Layout, Run
from .located import Block, Found
from .long_entries import field, read_long
from .outline import Entry
from .short_entries import Short, Wanted, cells, take_short
from .values import fetch
from .varint_words import Ints, Mask, Octets, Words
from .wide_layout import skim

_U = np.uint64
_WIDEST = 4  # bytes of a length
_FLOAT = np.dtype("<f4")


def open_records(block: Block) -> tuple[Ints, Mask]:
    """Where the features of each record begin, and which records are one Features message, no more."""
    width = _width_of_all(block) if tuning.current.derived_message_lengths else 0
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
    if not sizes.size:
        return 0
    shortest, longest = int(np.minimum.reduce(sizes)), int(np.maximum.reduce(sizes))
    width = 1
    while longest - 1 - width >= 1 << 7 * width:
        width += 1
    if shortest - 1 - width < (1 << 7 * (width - 1) if width > 1 else 0) or width > _WIDEST:
        return 0
    lengths = sizes - (1 + width)
    if np.count_nonzero(block.octets.take(block.begins) != 0x0A):
        return 0
    for place in range(width):
        more = 0 if place == width - 1 else 0x80
        expected = (lengths >> 7 * place | more).astype(np.uint8)
        if np.count_nonzero(block.octets.take(block.begins + (1 + place)) != expected):
            return 0
    return width


def follow(
    layout: Layout, block: Block, wanted: Wanted, *, sure: bool = False
) -> tuple[dict[bytes, Found], Mask] | None:
    """What is found of the ``wanted`` features, and in which records; None if in less than half of them."""
    cursor, alive = open_records(block)
    many = tuning.current.least_segments_of_wide_run
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
            if layout.wide and (low or sure) and len(part) - low >= many:
                high = len(part)
                short, floats, valid, cursor = skim(block.octets, cursor, part, low, wanted)
                columns.update(floats)
            else:
                high = min(low + step, len(part))
                short, cursor = walker.walk(cursor, part, low, high)
                valid = np.logical_and.reduce(short.valid)
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
        lasts = self._jump(cursor, run, low, high)
        slots, short = read_slots(self.octets, run, low, high, lasts)
        for k, key, place in run.floats:
            if low <= k < high and key in self.wanted:
                values = np.ndarray(cursor.shape, _FLOAT, slots[k - low], place, slots.strides[1:])
                self.columns[key] = Found(FLOAT, values.astype(np.float32))
        return short, short.begins(-1) + short.sizes[-1].view(np.int64)

    def _jump(self, cursor: Ints, run: Run, low: int, high: int) -> Ints:
        """Where the headers of the segments have their last bytes, (segments, records): these are the sizes
        of the values, and so say where the next one is."""
        lasts = np.empty((high - low, cursor.size), np.int64)
        np.add(cursor, run.sizes[low] - 1, out=lasts[0])
        for k in range(1, high - low):
            np.add(lasts[k - 1], self.octets.take(lasts[k - 1], mode="clip"), out=lasts[k])
            lasts[k] += run.sizes[low + k]
        return lasts


def read_slots(
    octets: Octets, run: Run, low: int, high: int, lasts: Ints
) -> tuple[npt.NDArray[np.void], Short]:
    """Some segments of a run whose headers have their last bytes at ``lasts``, (segments, records): what is
    there, the headers right-aligned with a word behind them, and what it says."""
    depth = run.depth
    slots = fetch(octets, 8 * depth + 8, lasts, 1 - 8 * depth)
    words = slots.view("<u8").reshape(*lasts.shape, depth + 1)
    planes = np.empty((depth + 1, *lasts.shape), _U)
    np.subtract(words.transpose(2, 0, 1), run.expected[:, low:high], out=planes)
    sizes = planes[depth - 1] >> _U(56)
    valid = _check_headers(run, low, planes, sizes)
    return slots, Short(run.last[low:high], planes[depth], sizes, valid, lambda k: lasts[k] + 1)


def _check_headers(run: Run, low: int, planes: Words, sizes: Words) -> Mask:
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
