"""Reads the records that have a given layout: one cursor per record, all moving from entry to entry together.

``follow`` assumes that every record has the layout. It reads each segment where the previous one ends,
without a check. Only then it compares the headers of many segments, as words, with the templates. A record
that matches to its end is decoded; all others take another path. Whatever this module accepts, the row
decoder decodes to the same values. This module does not know where layouts come from.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..wire import FLOAT, INT64
from . import tuning
from .arrays import Ints, Mask, Octets, Words
from .field_walk import read_field
from .header_templates import Layout, Run
from .located import Inline, Located, RecordBlock
from .long_entries import read_long
from .outline import Entry
from .short_entries import (
    CheckedRun,
    ShortEntries,
    ValueBegins,
    Wanted,
    per_pass,
    values_of_short_entries,
)
from .values import gather_bytes
from .wide_layout import read_wide

_U = np.uint64
_WIDEST_LENGTH = 4  # bytes; ``decode_lengths`` reads no more either
_FLOAT = np.dtype("<f4")


def open_records(block: RecordBlock) -> tuple[Ints, Mask]:
    """(where the entries of each record begin, which records are one Features message and nothing else)."""
    width = _common_length_width(block) if tuning.current.derived_message_lengths else 0
    if width:
        return block.begins + (1 + width), np.ones(block.begins.size, bool)
    tags, begin, end, valid = read_field(block.octets, block.begins, block.ends)
    valid &= tags == _U(0x0A)
    valid &= end == block.ends
    return begin, valid


def _common_length_width(block: RecordBlock) -> int:
    """The bytes that the length of every Features message takes; 0 if they differ or a length is wrong.

    The sizes of the records decide what each byte must be, so comparing single bytes is enough.
    """
    sizes = block.ends - block.begins
    if not sizes.size:
        return 0
    shortest, longest = int(np.minimum.reduce(sizes)), int(np.maximum.reduce(sizes))
    width = 1
    while longest - 1 - width >= 1 << 7 * width:
        width += 1
    if shortest - 1 - width < (1 << 7 * (width - 1) if width > 1 else 0) or width > _WIDEST_LENGTH:
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
    layout: Layout, block: RecordBlock, wanted: Wanted, *, sure: bool = False
) -> tuple[dict[bytes, Located], Mask] | None:
    """(the ``wanted`` features, which records have the layout); None if less than half of them have it.

    If the layout is ``sure`` to fit most records, its first segment is not tried alone.
    """
    cursor, alive = open_records(block)
    many = tuning.current.least_segments_of_wide_run
    columns: dict[bytes, Located] = {}
    step = per_pass(cursor.size) if sure else 1
    for part in layout.parts:
        if isinstance(part, Entry):
            spans, cursor, valid = read_long(block.octets, cursor, block.ends, part)
            alive &= valid
            if part.key in wanted or spans.kind == INT64 or spans.listed:
                columns[part.key] = spans
            continue
        low = 0
        while low < len(part):
            if layout.wide and (low or sure) and len(part) - low >= many:
                high = len(part)
                run = read_wide(block.octets, cursor, part, low, wanted)
            else:
                high = min(low + step, len(part))
                run = _read_run(block.octets, cursor, part, slice(low, high), wanted)
            alive &= run.valid
            columns.update(run.floats)
            columns.update(values_of_short_entries(run.short, wanted, alive))
            if 2 * np.count_nonzero(alive) < alive.size:
                return None
            low, cursor, step = high, run.ends, per_pass(alive.size)
    alive &= cursor == block.ends
    return None if 2 * np.count_nonzero(alive) < alive.size else (columns, alive)


def _read_run(octets: Octets, cursor: Ints, run: Run, some: slice, wanted: Wanted) -> CheckedRun:
    """Some segments of a run, of which the first begins at ``cursor``."""
    low, high = some.start, some.stop
    lasts = _header_ends(octets, cursor, run, low, high)
    slots, short = read_headers(octets, run, low, high, lasts)
    floats = {
        key: Inline(FLOAT, _floats_at(slots[k - low], place))
        for k, key, place in run.floats
        if low <= k < high and key in wanted
    }
    ends = short.begins[-1] + short.sizes[-1].view(np.int64)
    return CheckedRun(short, floats, np.logical_and.reduce(short.valid), ends)


def _floats_at(slots: npt.NDArray[np.void], place: int) -> npt.NDArray[np.float32]:
    """The float at byte ``place`` of each slot."""
    floats: npt.NDArray[np.float32] = np.ndarray(slots.shape, _FLOAT, slots, place, slots.strides)
    return floats.astype(np.float32)


def _header_ends(octets: Octets, cursor: Ints, run: Run, low: int, high: int) -> Ints:
    """(segments, records): the position of the last byte of each header.

    That byte is the size of the values, and so leads to the next segment.
    """
    lasts = np.empty((high - low, cursor.size), np.int64)
    np.add(cursor, run.sizes[low] - 1, out=lasts[0])
    for k in range(1, high - low):
        np.add(lasts[k - 1], octets.take(lasts[k - 1], mode="clip"), out=lasts[k])
        lasts[k] += run.sizes[low + k]
    return lasts


def read_headers(
    octets: Octets, run: Run, low: int, high: int, lasts: Ints
) -> tuple[npt.NDArray[np.void], ShortEntries]:
    """The segments ``low`` to ``high`` of a run, given the positions of the last bytes of their headers,
    (segments, records): (slots, entries).

    A slot has the right-aligned header and one word of the values.
    """
    depth = run.depth
    slots = gather_bytes(octets, 8 * depth + 8, lasts, 1 - 8 * depth)
    words = slots.view("<u8").reshape(*lasts.shape, depth + 1)
    planes = np.empty((depth + 1, *lasts.shape), _U)
    np.subtract(words.transpose(2, 0, 1), run.expected[:, low:high], out=planes)
    sizes = planes[depth - 1] >> _U(56)
    valid = _check_headers(run, low, sizes, planes)
    begins = ValueBegins(lasts, [1] * (high - low))
    return slots, ShortEntries(run.last[low:high], planes[depth], sizes, valid, begins)


def _check_headers(run: Run, low: int, sizes: Words, planes: Words) -> Mask:
    """Which headers are as expected. Overwrites ``planes``, the headers minus the expected words."""
    depth, high = run.depth, low + planes.shape[1]
    # In the last word, the same for all segments, only the size remains, in three bytes.
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
