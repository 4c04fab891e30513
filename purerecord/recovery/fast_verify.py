"""Verifying at the speed of the CRC: counts the sound frames at the beginning of a file.

The file is read into one buffer again and again. If the buffer holds many small frames, a single CRC covers
all of them. This proves *that* the frames are sound. At the first one that is not, it stops, and leaves it to
``FrameStream`` to find out what is wrong. This module must not know what damage is.
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

# Bytes verified at once: they fit in the cache of a processor.
_VERIFY_BUFFER = 1 << 20


class _SoundPrefix(NamedTuple):
    """The sound frames that a buffer begins with: their number, their end, and whether damage follows."""

    records: int
    end: int
    damaged: bool = False


def count_sound_frames(opened: Opened) -> Iterator[tuple[int, int]]:
    """Yield (records, bytes) for each run of sound frames, up to the first damage or to the end of the file.

    The file is left where the runs end. A file that cannot be rewound has no runs here.
    """
    opened.detect_compression()
    if not opened.rewinds:
        return
    buffer = bytearray(_VERIFY_BUFFER)
    view = memoryview(buffer)
    have = 0  # bytes in the buffer; the first one begins a header
    while got := opened.readinto(view[have:]):
        have += got
        prefix = _sound_prefix(buffer, have)
        if prefix.records:
            yield prefix.records, prefix.end
        if prefix.damaged:
            have -= prefix.end
            break
        if not prefix.records and have == _VERIFY_BUFFER:
            size = frames.decode_header(buffer) + OVERHEAD
            if not _large_frame_holds(opened, view, size):
                break
            yield 1, size
            have = 0
            continue
        view[: have - prefix.end] = view[prefix.end : have]
        have -= prefix.end
    opened.rewind(have)


def _sound_prefix(buffer: bytearray, have: int) -> _SoundPrefix:
    if have < HEADER:
        return _SoundPrefix(0, 0)
    try:
        large = frames.decode_header(buffer) > LONGEST_IN_BATCH
    except ChecksumError:
        return _SoundPrefix(0, 0, damaged=True)
    if not large:
        starts = frame_starts(buffer, 0, have)
        if len(starts) > 1 and int(np.diff(starts).max()) <= LONGEST_IN_BATCH + OVERHEAD:
            if frames.all_crcs_match_destructive(starts, buffer):
                return _SoundPrefix(len(starts) - 1, int(starts[-1]))
            return _SoundPrefix(0, 0, damaged=True)
    return _one_by_one(memoryview(buffer)[:have])


def _one_by_one(view: memoryview) -> _SoundPrefix:
    """The sound prefix of ``view``, frame by frame: for large frames, of which a buffer holds few."""
    records = position = 0
    while position + HEADER <= len(view):
        try:
            end = position + HEADER + frames.decode_header(view, position)
        except ChecksumError:
            return _SoundPrefix(records, position, damaged=True)
        if end + FOOTER > len(view):
            break
        if not frames.payload_holds(view[position + HEADER : end], view[end : end + FOOTER]):
            return _SoundPrefix(records, position, damaged=True)
        records += 1
        position = end + FOOTER
    return _SoundPrefix(records, position)


def _large_frame_holds(opened: Opened, view: memoryview, size: int) -> bool:
    """Whether the frame at the start of ``view`` is sound; it is larger than ``view``.

    If it is, the file is left at the end of the frame, else where it was. Overwrites ``view``.
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
