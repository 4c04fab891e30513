"""Verifying at the speed of the CRC: the sound frames at the front of a file, checked and not handed out.

The file is read into one buffer again and again, and where there are many small frames in it, one CRC is
computed over all of them. This finds out *that* all is well. Where it is not, it stops, at the beginning of a
frame, and leaves it to ``FrameStream`` to find out what is wrong. This module does not know what damage is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..container import frames
from ..container.checksum import LONGEST_IN_BATCH, crc32c, mask
from ..container.frame_chain import frame_starts
from ..container.frames import FOOTER, HEADER, OVERHEAD
from ..errors import ChecksumError
from ..storage.opened import Opened

# What is verified at once; it fits in the cache of a processor.
_VERIFIED = 1 << 20


class Front(NamedTuple):
    """Frames at the front of a buffer, all sound: how many, where they end, whether it goes on well there."""

    records: int
    stop: int
    sound: bool


def sound_runs(opened: Opened) -> Iterator[tuple[int, int]]:
    """One after the other, how many records and bytes are sound; up to what is not, or the end.

    There the file is left. Only for files in which one can go back, others have no sound runs here.
    """
    opened.detect_compression()
    if not opened.rewinds:
        return
    buffer = bytearray(_VERIFIED)
    view = memoryview(buffer)
    have = 0  # bytes in the buffer, of which the first belongs to a header
    while got := opened.readinto(view[have:]):
        have += got
        front = _front(buffer, have)
        if front.records:
            yield front.records, front.stop
        if not front.sound:
            have -= front.stop
            break
        if not front.records and have == _VERIFIED:
            size = frames.decode_header(buffer) + OVERHEAD
            if not _large_frame_holds(opened, view, size):
                break
            yield 1, size
            have = 0
            continue
        view[: have - front.stop] = view[front.stop : have]
        have -= front.stop
    opened.rewind(have)


def _front(buffer: bytearray, have: int) -> Front:
    if have < HEADER:
        return Front(0, 0, True)
    try:
        large = frames.decode_header(buffer) > LONGEST_IN_BATCH
    except ChecksumError:
        return Front(0, 0, False)
    if not large:
        starts = frame_starts(buffer, 0, have)
        if len(starts) > 1 and int(np.diff(starts).max()) <= LONGEST_IN_BATCH + OVERHEAD:
            sound = frames.all_crcs_match_destructive(starts, buffer)
            return Front(len(starts) - 1, int(starts[-1]), True) if sound else Front(0, 0, False)
    return _one_by_one(memoryview(buffer)[:have])


def _one_by_one(view: memoryview) -> Front:
    """For large frames, of which there are few."""
    records = position = 0
    while position + HEADER <= len(view):
        try:
            end = position + HEADER + frames.decode_header(view, position)
        except ChecksumError:
            return Front(records, position, False)
        if end + FOOTER > len(view):
            break
        if not frames.payload_holds(view[position + HEADER : end], view[end : end + FOOTER]):
            return Front(records, position, False)
        records += 1
        position = end + FOOTER
    return Front(records, position, True)


def _large_frame_holds(opened: Opened, view: memoryview, size: int) -> bool:
    """Whether the frame holds that the buffer begins with and cannot hold; the file is then behind it.

    If not, the file is left as it was.
    """
    before = opened.position
    if (opened.remaining(size) or 0) < size - len(view):
        return False
    inside = min(len(view), size - FOOTER)
    crc = crc32c(view[HEADER:inside])
    opened.rewind(len(view) - inside)
    left = size - FOOTER - inside
    while left and (got := opened.readinto(view[:left])):
        crc = crc32c(view[:got], crc)
        left -= got
    footer = view[: opened.readinto(view[:FOOTER])] if not left else b""
    if len(footer) == FOOTER and mask(crc) == int.from_bytes(footer, "little"):
        return True
    opened.rewind(opened.position - before)
    return False
