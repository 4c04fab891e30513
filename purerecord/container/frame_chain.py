"""Where the frames of a buffer are: ``split`` finds the whole frames and verifies their lengths.

Each frame's length leads to the next frame. Such a chain looks as if only a loop could follow it, but there
are two faster ways. Frames of one length lie at equal distances, which one strided view shows. And a chain
can be followed from many places at once: the CRCs of headers tell where frames begin, and where one walk
arrives exactly at the beginning of the next, the chain has been shown to be one. ``frame_starts`` only
follows lengths; ``split`` checks the CRC of each. This module does no I/O and does not look at payloads.
"""

from __future__ import annotations

import struct
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from .checksum import masked_length_crcs
from .frames import FOOTER, HEADER, OVERHEAD, Offsets, header_holds, u32_at

# Walking from many places at once pays off for many small frames. The first few frames show their mean size.
_PROBED_FRAMES = 16
_LARGEST_MEAN = 1000
_FEWEST_FRAMES = 4096
# Each walk covers about this many frames: finding its beginning costs as much as a few steps.
_FRAMES_PER_WALK = 64
# A walk may be this many times as long, if no header is found in between.
_LONGEST_WALK = 4
# A run of equal lengths is looked for if it would have at least this many frames.
_SHORTEST_RUN = 16
_length_at = struct.Struct("<Q").unpack_from


class WholeFrames(NamedTuple):
    """The whole frames at the beginning of a buffer, their length CRCs verified.

    Frame i is ``buffer[begins[i] - HEADER : ends[i] + FOOTER]``. The last one ends at ``stop``. An incomplete
    frame follows there, or, if ``bad``, one with a wrong length CRC.
    """

    begins: Offsets
    ends: Offsets
    stop: int
    bad: bool


def split(buffer: Any, start: int = 0) -> WholeFrames:
    """The whole frames at ``buffer[start:]``."""
    starts = frame_starts(buffer, start, len(buffer))
    begins, ends = starts[:-1] + HEADER, starts[1:] - FOOTER
    stored = u32_at(buffer, begins - FOOTER)
    wrong = masked_length_crcs((ends - begins).astype(np.uint64)) != stored
    good = int(wrong.argmax()) if wrong.any() else len(begins)
    stop = int(starts[good])
    bad = good < len(begins) or (len(buffer) - stop >= HEADER and not header_holds(buffer, stop))
    return WholeFrames(begins[:good], ends[:good], stop, bad)


def frame_starts(buffer: Any, start: int, end: int) -> Offsets:
    """Where the whole frames in ``buffer[start:end]`` start; the last element is where they end.

    A wrong length may lead to a wrong place, but not out of the buffer.
    """
    runs = []
    run = _equal_run(buffer, start, end)
    if len(run) > 1:
        runs.append(run[:-1])
        start = int(run[-1])
    elif end - start > 1 << 16:
        chain = _walk_from_many_places(buffer, start, end)
        if chain is not None:
            runs.append(chain[:-1])
            start = int(chain[-1])
    rest = _walk(buffer, start, end)
    return np.concatenate([*runs, np.fromiter(rest, np.int64, len(rest))])


def _walk(buffer: Any, position: int, end: int) -> list[int]:
    """The starts, found one after the other."""
    found = [position]
    append = found.append
    last = end - OVERHEAD
    while position <= last:
        position += _length_at(buffer, position)[0] + OVERHEAD
        if position > end:
            break
        append(position)
    return found


def _equal_run(buffer: Any, start: int, end: int) -> Offsets:
    """The starts of the first frames that have equal lengths: often all frames of a file."""
    if end - start < 4 * _SHORTEST_RUN * OVERHEAD:
        return np.array([start])
    size = _length_at(buffer, start)[0] + OVERHEAD
    count = (end - start) // size
    if count < _SHORTEST_RUN or _length_at(buffer, start + size)[0] + OVERHEAD != size:
        return np.array([start])
    lengths = np.ndarray(count, "<u8", buffer, offset=start, strides=(size,))
    other = lengths != lengths[0]
    run = int(other.argmax()) if other.any() else count
    starts: Offsets = start + size * np.arange(run + 1)
    return starts


def _walk_from_many_places(buffer: Any, start: int, end: int) -> Offsets | None:
    """The starts of frames, walked from many places at once; None if the walks do not join up."""
    probe = _walk(buffer, start, min(end, start + _PROBED_FRAMES * _LARGEST_MEAN))
    mean = (probe[-1] - start) // max(1, len(probe) - 1)
    count = (end - start) // max(1, mean)
    if len(probe) <= _PROBED_FRAMES or mean > _LARGEST_MEAN or count < _FEWEST_FRAMES:
        return None
    apart = min(isqrt(count) // 2, _FRAMES_PER_WALK)
    places = _headers(buffer, start, end, mean, apart)
    if int(np.diff(places).max(initial=0)) > _LONGEST_WALK * apart * mean or len(places) < 2:
        return None
    position, limit = places[:-1].astype(np.uint64), places[1:].astype(np.uint64)
    lengths = np.ndarray(len(buffer) - 7, "<u8", buffer, strides=(1,))
    # Each walk may go on into the next one's part, but never out of the buffer.
    last = np.uint64(len(buffer) - 8)
    steps = [position]
    while (position < limit).any():
        if len(steps) > 4 * _LONGEST_WALK * apart:
            return None
        for _ in range(4):
            # Nor back: bytes at the end may look like a length of nearly 2**64.
            step = np.minimum(lengths[position], last) + np.uint64(OVERHEAD)
            position = np.minimum(position + step, last)
            steps.append(position)
    starts = np.stack(steps, axis=1)
    if not (starts == limit[:, None]).any(axis=1).all():
        return None
    return np.append(starts[starts < limit[:, None]], limit[-1:]).astype(np.int64)


def _headers(buffer: Any, start: int, end: int, mean: int, apart: int) -> Offsets:
    """``start``, and places of headers with matching CRCs, about ``apart`` frames from each other."""
    window = 2 * mean + HEADER
    zeros = bytes(6)  # the upper bytes of a length: small frames need only the two lowest
    looked = range(start + apart * mean, end - window - HEADER, apart * mean)
    found = [(at, bytes(buffer[at : at + window]).find(zeros)) for at in looked]
    # A length below 256 has one more zero byte, so that the header begins one byte later.
    places = np.array([at + by for at, by in found if by >= 0], np.int64)[:, None] - np.array([2, 1])
    lengths = np.ndarray(len(buffer) - 7, "<u8", buffer, strides=(1,))[places]
    stored = np.ndarray(len(buffer) - 3, "<u4", buffer, strides=(1,))[places + 8]
    good = masked_length_crcs(lengths) == stored
    return np.append(start, places[good])
