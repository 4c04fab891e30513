"""Walking from length to length: where the frames in a buffer begin.

Each frame's length leads to the next frame, one after the other: a chain, which looks as if only a loop
could follow it. But frames of one length lie at equal distances, which one strided view shows; and a
chain can be followed from many places at once, if frames can be found there. Their headers have CRCs, so
they can; and where one walk arrives exactly at the place where the next began, the chain has been shown
to be one. What is found here is what the lengths say, no more: ``frame`` checks the CRC of each.
"""

from __future__ import annotations

import struct
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .checksum import masked_length_crcs

Offsets = npt.NDArray[np.int64]

_HEADER, _OVERHEAD = 12, 16
# Walking from many places pays for many small frames; their size shows in the first few.
_PROBE = 16
_LARGEST_MEAN = 1000
_FEWEST = 4096
# So many frames are walked from each place, or up to so many: finding a place costs as much as few steps.
_LANE = 64
_FARTHEST = 4  # times as many, where no place is found in between
_length_at = struct.Struct("<Q").unpack_from


def frame_starts(buffer: Any, start: int, end: int) -> Offsets:
    """Where the whole frames in ``buffer[start:end]`` start, and last of all where they end.

    A wrong length may lead astray, but not out of the buffer.
    """
    runs = []
    run = _equal_run(buffer, start, end)
    if len(run) > 1:
        runs.append(run[:-1])
        start = int(run[-1])
    elif end - start > 1 << 16:
        lanes = _lanes(buffer, start, end)
        if lanes is not None:
            runs.append(lanes[:-1])
            start = int(lanes[-1])
    rest = _loop(buffer, start, end)
    return np.concatenate([*runs, np.fromiter(rest, np.int64, len(rest))])


def _loop(buffer: Any, position: int, end: int) -> list[int]:
    """The plain way: one frame after the other."""
    found = [position]
    append = found.append
    last = end - _OVERHEAD
    while position <= last:
        position += _length_at(buffer, position)[0] + _OVERHEAD
        if position > end:
            break
        append(position)
    return found


def _equal_run(buffer: Any, start: int, end: int) -> Offsets:
    """The starts of a run of frames that all have the first one's length: often that is all of them."""
    if end - start < 64 * _OVERHEAD:
        return np.array([start])
    size = _length_at(buffer, start)[0] + _OVERHEAD
    count = (end - start) // size
    if count < 16 or _length_at(buffer, start + size)[0] + _OVERHEAD != size:
        return np.array([start])
    lengths = np.ndarray(count, "<u8", buffer, offset=start, strides=(size,))
    other = lengths != lengths[0]
    run = int(other.argmax()) if other.any() else count
    starts: Offsets = start + size * np.arange(run + 1)
    return starts


def _lanes(buffer: Any, start: int, end: int) -> Offsets | None:
    """The starts of frames, walked from many places at once; None where that does not work out."""
    probe = _loop(buffer, start, min(end, start + _PROBE * _LARGEST_MEAN))
    mean = (probe[-1] - start) // max(1, len(probe) - 1)
    count = (end - start) // max(1, mean)
    if len(probe) <= _PROBE or mean > _LARGEST_MEAN or count < _FEWEST:
        return None
    lane = min(isqrt(count) // 2, _LANE)
    places = _places(buffer, start, end, mean, lane)
    if int(np.diff(places).max(initial=0)) > _FARTHEST * lane * mean or len(places) < 2:
        return None
    position, limit = places[:-1].astype(np.uint64), places[1:].astype(np.uint64)
    lengths = np.ndarray(len(buffer) - 7, "<u8", buffer, strides=(1,))
    # Each walks on into what is the next one's part, but never out of the buffer.
    last = np.uint64(len(buffer) - 8)
    steps = [position]
    while (position < limit).any():
        if len(steps) > 4 * _FARTHEST * lane:
            return None
        for _ in range(4):
            # Nor back, which a length of nearly 2**64 would mean: bytes at the end may look like one.
            step = np.minimum(lengths[position], last) + np.uint64(_OVERHEAD)
            position = np.minimum(position + step, last)
            steps.append(position)
    starts = np.stack(steps, axis=1)
    if not (starts == limit[:, None]).any(axis=1).all():
        return None
    return np.append(starts[starts < limit[:, None]], limit[-1:]).astype(np.int64)


def _places(buffer: Any, start: int, end: int, mean: int, lane: int) -> Offsets:
    """Places, ``start`` among them, where headers are whose CRCs hold, about ``lane`` frames apart."""
    window = 2 * mean + _HEADER
    zeros = bytes(6)  # in so small frames all but the two lowest bytes of a length are zero
    looked = range(start + lane * mean, end - window - _HEADER, lane * mean)
    found = [(at, bytes(buffer[at : at + window]).find(zeros)) for at in looked]
    # The second lowest is zero too where a length is below 256; then the header begins there.
    places = np.array([at + by for at, by in found if by >= 0], np.int64)[:, None] - np.array([2, 1])
    lengths = np.ndarray(len(buffer) - 7, "<u8", buffer, strides=(1,))[places]
    stored = np.ndarray(len(buffer) - 3, "<u4", buffer, strides=(1,))[places + 8]
    good = masked_length_crcs(lengths) == stored
    return np.append(start, places[good])
