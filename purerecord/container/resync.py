"""Finds the next frame after damage, where no length can be trusted.

TFRecord has no sync markers. A frame begins where eight bytes, read as a length, match their CRC, and the
payload of that length matches its own. numpy rules out almost every offset at once, because the upper bytes
of a plausible length are zero; only the few that are left need a CRC. This module does no I/O and does not
know what a payload means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from . import damage, frames
from .checksum import crc32c, mask, masked_length_crcs
from .frame_chain import split
from .frames import FOOTER, HEADER, OVERHEAD

Offsets = npt.NDArray[np.int64]
_NOWHERE = np.empty(0, np.int64)

# A lost block of a file system has at least this many bytes.
_SMALLEST_LOST_BLOCK = 512
# Bytes that one numpy pass searches, which takes a multiple of that memory; the first pass is short.
_WINDOW = 1 << 20
_FIRST_WINDOW = 1 << 12
# Among this many candidates no payload matches its footer by chance.
_TRUSTED_CANDIDATES = 256


def plausible_frames(buffer: Any, start: int, available: int | None) -> tuple[Offsets, Offsets]:
    """The positions in ``buffer[start:]`` where a header's CRC matches, and the lengths there.

    A frame must end within ``available`` bytes of the buffer's beginning. Lengths of a tebibyte and more do
    not count.
    """
    octets = np.frombuffer(buffer, np.uint8)
    last = len(octets) - HEADER + 1
    found = [
        _plausible(octets[at : min(at + _WINDOW, last) + HEADER - 1], at, available)
        for at in range(start, last, _WINDOW)
    ]
    if len(found) == 1:
        return found[0]
    return (
        np.concatenate([_NOWHERE, *(positions for positions, _ in found)]),
        np.concatenate([_NOWHERE, *(lengths for _, lengths in found)]),
    )


def each_plausible_frame(buffer: Any, start: int, available: int | None) -> Iterator[tuple[int, int]]:
    """Like ``plausible_frames``, one by one and only as far as needed: the next frame is often near."""
    octets = np.frombuffer(buffer, np.uint8)
    last = len(octets) - HEADER + 1
    window = _FIRST_WINDOW
    while start < last:
        stop = min(start + window, last)
        positions, lengths = _plausible(octets[start : stop + HEADER - 1], start, available)
        yield from zip(positions.tolist(), lengths.tolist(), strict=True)
        start, window = stop, min(4 * window, _WINDOW)


def _plausible(octets: npt.NDArray[np.uint8], start: int, available: int | None) -> tuple[Offsets, Offsets]:
    """Like ``plausible_frames``, for a window of the buffer that begins at ``start``."""
    count = len(octets) - HEADER + 1
    positions = _zeros_above(octets, count)
    lengths = np.ndarray(count, "<u8", octets, strides=(1,))[positions]
    if available is not None:  # the cheapest test comes first, as there may be many positions
        fits = lengths <= np.maximum(available - OVERHEAD - start - positions, 0).astype(np.uint64)
        positions, lengths = positions[fits], lengths[fits]
    good = masked_length_crcs(lengths) == frames.u32_at(octets, positions + 8)
    return positions[good] + start, lengths[good].astype(np.int64)


def _zeros_above(octets: npt.NDArray[np.uint8], count: int) -> Offsets:
    """The offsets below ``count`` where the upper three of eight bytes are zero."""
    zero = octets == 0
    if np.count_nonzero(zero) < len(zero) // 16:
        positions: Offsets = np.flatnonzero(zero[7 : 7 + count])
        sparse: Offsets = positions[zero[positions + 6] & zero[positions + 5]]
        return sparse
    likely = zero[5 : 5 + count] & zero[6 : 6 + count] & zero[7 : 7 + count]
    if np.count_nonzero(likely) > count // 64:
        hole = zero[:count].copy()  # twelve zeros are no header
        for i in range(1, HEADER):
            hole &= zero[i : i + count]
        likely &= ~hole
    return np.flatnonzero(likely)


def last_frames(data: bytes) -> int | None:
    """Where a chain of good frames begins that ends exactly with ``data``; None if there is none.

    A TFRecord inside a payload cannot end there, because the payload's own footer follows it.
    """
    positions, lengths = plausible_frames(data, 0, len(data))
    ends = dict(zip((positions + lengths + OVERHEAD).tolist(), positions.tolist(), strict=True))
    begin = len(data)
    while begin in ends and _holds(data, ends[begin], begin):
        begin = ends[begin]
    return begin if begin < len(data) else None


def _holds(data: bytes, begin: int, end: int) -> bool:
    return frames.payload_holds(data[begin + HEADER : end - FOOTER], data[end - FOOTER : end])


def nested_end(buffer: Any, position: int, size: int) -> int | None:
    """Where the frames at ``position`` end if they are a TFRecord inside a payload; None if they are not.

    ``buffer`` begins with the outer header, which announces a frame of ``size`` bytes. The frames are inside
    if they end before that and a header follows the outer frame. They are also inside if the gap between them
    and the next frame is too short for a frame: it is the rest of the payload, and its CRC.
    """
    whole = split(buffer, position)
    if not whole.bad or whole.stop >= size:
        return None
    if len(buffer) >= size + HEADER and frames.header_holds(buffer, size):
        return whole.stop
    following, _ = plausible_frames(buffer[: whole.stop + OVERHEAD + HEADER], whole.stop, None)
    too_short = len(following) and FOOTER <= following[0] - whole.stop < OVERHEAD
    return whole.stop if too_short else None


def intact_payload_end(buffer: bytes, ends: Offsets) -> int | None:
    """Where the payload ends, if only its header, with which ``buffer`` begins, is damaged; else None.

    ``ends`` are the candidates for the end of the frame: beginnings of other frames, or the end of the data.
    For the first candidates, a payload that matches its footer is proof enough. Later ones may be many, so
    most bytes of the header must also match the length. This tells a TFRecord inside the payload from the
    file around it.
    """
    crc, done = 0, HEADER
    ends = ends[ends >= OVERHEAD]
    if len(ends) > _TRUSTED_CANDIDATES:
        later = ends[_TRUSTED_CANDIDATES:]
        ends = np.append(
            ends[:_TRUSTED_CANDIDATES], later[matching_header_bytes(buffer[:HEADER], later - OVERHEAD) >= 8]
        )
    for end in ends.tolist():
        crc = crc32c(buffer[done : end - FOOTER], crc)
        done = end - FOOTER
        if mask(crc) == int.from_bytes(buffer[done:end], "little"):
            return int(done)
    return None


def matching_header_bytes(header: Any, lengths: Offsets) -> Offsets:
    """For each length, how many bytes of ``header`` equal those of the right header for it."""
    right = np.empty((len(lengths), HEADER), np.uint8)
    right[:, :8] = lengths.astype("<u8").view(np.uint8).reshape(-1, 8)
    right[:, 8:] = masked_length_crcs(lengths.astype(np.uint64)).astype("<u4").view(np.uint8).reshape(-1, 4)
    matching: Offsets = np.count_nonzero(right == np.frombuffer(header, np.uint8), axis=1)
    return matching


def name_damage(data: bytes, size: int, *, at_begin: bool, at_end: bool) -> tuple[str, int | None]:
    """The kind of damage of ``size`` bytes without a good frame, and how many records they held if known.

    They begin with ``data``, which does not begin with a good header.
    """
    if at_end and size < HEADER:
        return damage.TRUNCATED_HEADER, None
    if has_hole(data):
        return damage.ZEROS, None
    if len(data) >= HEADER and int.from_bytes(data[:8], "little") + OVERHEAD == size:
        return damage.BAD_LENGTH, 1
    if at_end and at_begin:
        return damage.NOT_A_TFRECORD, None
    return (damage.TRAILING_GARBAGE if at_end else damage.GARBAGE), None


def has_hole(data: Any) -> bool:
    """Whether ``data`` holds a run of zeros as long as a lost block, or is all zeros."""
    return bytes(_SMALLEST_LOST_BLOCK) in bytes(data) if len(data) >= _SMALLEST_LOST_BLOCK else not any(data)
