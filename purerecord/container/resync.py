"""Finding the next frame where the last one's length cannot be trusted.

TFRecord has no marks to find: a frame is where eight bytes, read as a length, match their CRC, and so many
bytes on the payload matches its own. Almost every offset is ruled out at once, in numpy, because the
upper bytes of a plausible length are zero; the few that are left need a CRC. No I/O here.
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

# Lost blocks of a file system are at least so large.
_BLOCK = 512
# So much is looked at together: what it takes to do so is a multiple of that.
_WINDOW, _NEAR = 1 << 20, 1 << 12
# Among so many payloads one that matches its footer by chance is not to be feared.
_FIRST = 256


def plausible_frames(buffer: Any, start: int, available: int | None) -> tuple[Offsets, Offsets]:
    """Where in ``buffer[start:]`` a header's CRC holds, and the lengths that stand there.

    A frame that would need more than ``available`` bytes from the buffer's beginning on is none. Lengths
    of a tebibyte and more are not looked for.
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
    """The same, one by one, and no farther than needed: the next frame is often near."""
    octets = np.frombuffer(buffer, np.uint8)
    last = len(octets) - HEADER + 1
    window = _NEAR
    while start < last:
        stop = min(start + window, last)
        positions, lengths = _plausible(octets[start : stop + HEADER - 1], start, available)
        yield from zip(positions.tolist(), lengths.tolist(), strict=True)
        start, window = stop, min(4 * window, _WINDOW)


def _plausible(octets: npt.NDArray[np.uint8], start: int, available: int | None) -> tuple[Offsets, Offsets]:
    """The same for a window of the buffer that begins at ``start``."""
    count = len(octets) - HEADER + 1
    positions = _zeros_above(octets, count)
    lengths = np.ndarray(count, "<u8", octets, strides=(1,))[positions]
    if available is not None:  # the cheapest test first: there may be many
        fits = lengths <= np.maximum(available - OVERHEAD - start - positions, 0).astype(np.uint64)
        positions, lengths = positions[fits], lengths[fits]
    good = masked_length_crcs(lengths) == frames.u32_at(octets, positions + 8)
    return positions[good] + start, lengths[good].astype(np.int64)


def _zeros_above(octets: npt.NDArray[np.uint8], count: int) -> Offsets:
    """The offsets up to ``count`` at which the upper three of eight bytes are zero."""
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
    """Where good frames begin that lie side by side up to exactly the end of ``data``; None if none do.

    A TFRecord inside a payload does not reach so far: the payload's own footer comes behind it.
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
    """Where a TFRecord ends that lies inside a payload and begins at ``position``; None if it is no such.

    ``buffer`` begins with the header around it, which speaks of ``size`` bytes. The frames at ``position``
    are inside if they end before that, and a header comes just there; or if what parts them from the next
    frame is too short for a frame: it is the rest of the payload, and its CRC.
    """
    whole = split(buffer, position)
    if not whole.bad or whole.stop >= size:
        return None
    if len(buffer) >= size + HEADER and frames.header_holds(buffer, size):
        return whole.stop
    behind, _ = plausible_frames(buffer[: whole.stop + OVERHEAD + HEADER], whole.stop, None)
    cramped = len(behind) and FOOTER <= behind[0] - whole.stop < OVERHEAD
    return whole.stop if cramped else None


def intact_payload_end(buffer: bytes, ends: Offsets) -> int | None:
    """Where the payload ends whose damaged header ``buffer`` begins with, if the payload is whole.

    ``ends`` are where the frame may end: where other frames begin, or the data ends. At one of the first
    of them a payload that matches its footer is proof enough; at later ones, for there are many, most
    of the header must also be what it then should have been. That tells a TFRecord inside this payload
    from the file around it.
    """
    crc, done = 0, HEADER
    ends = ends[ends >= OVERHEAD]
    if len(ends) > _FIRST:
        later = ends[_FIRST:]
        ends = np.append(ends[:_FIRST], later[_alike(buffer[:HEADER], later - OVERHEAD) >= 8])
    for end in ends.tolist():
        crc = crc32c(buffer[done : end - FOOTER], crc)
        done = end - FOOTER
        if mask(crc) == int.from_bytes(buffer[done:end], "little"):
            return int(done)
    return None


def _alike(header: Any, lengths: Offsets) -> Offsets:
    """How many bytes of ``header`` are what a header for each of the lengths has there."""
    right = np.empty((len(lengths), HEADER), np.uint8)
    right[:, :8] = lengths.astype("<u8").view(np.uint8).reshape(-1, 8)
    right[:, 8:] = masked_length_crcs(lengths.astype(np.uint64)).astype("<u4").view(np.uint8).reshape(-1, 4)
    alike: Offsets = np.count_nonzero(right == np.frombuffer(header, np.uint8), axis=1)
    return alike


def name_damage(data: bytes, size: int, *, at_begin: bool, at_end: bool) -> tuple[str, int | None]:
    """What to call ``size`` bytes that begin like ``data``, which is no header, and hold no good frame.

    And how many records they held, where that can be told.
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
    """Whether a run of zeros is in it that is as long as a block."""
    return bytes(_BLOCK) in bytes(data) if len(data) >= _BLOCK else not any(data)
