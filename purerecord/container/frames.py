"""The layout of a frame: headers and footers, encoded and checked for one frame or for many.

    uint64 length · uint32 masked CRC of the length · payload · uint32 masked CRC of the payload

All numbers are little-endian; a file has no header of its own and no padding. ``frame_chain`` finds the
frames in a buffer. This module does no I/O and does not know what a payload means.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ChecksumError, TruncatedError
from ..memory.copying import copy_ranges, elements
from ..records import FRAME_HEADER, Records
from .checksum import (
    UInts,
    crc32c,
    leaves_zero,
    mask,
    masked_crc,
    masked_crcs,
    masked_length_crcs,
    payloads_match,
    payloads_match_in_place,
    registers_after,
)

# On-disk format; never change.
HEADER = FRAME_HEADER  # the length and its CRC
FOOTER = 4  # the CRC of the payload
OVERHEAD = HEADER + FOOTER

Offsets = npt.NDArray[np.int64]

# Payloads of a smaller mean length are copied into one piece; larger ones cost less as pieces of their own.
_COPIED_MEAN = 1 << 12
_header = struct.Struct("<QI")
_footer = struct.Struct("<I")
_edge = np.dtype([("footer", "<u4"), ("length", "<u8"), ("crc", "<u4")])


def encode(payload: bytes) -> list[bytes]:
    """The frame of one payload, as header, payload and footer."""
    return [encode_header(len(payload)), payload, _footer.pack(masked_crc(payload))]


def encode_header(length: int) -> bytes:
    """The header of a frame for a payload of ``length`` bytes."""
    field = length.to_bytes(8, "little")
    return field + _footer.pack(masked_crc(field))


def lengths_of(payloads: Sequence[Any]) -> Offsets:
    """The lengths of many payloads."""
    if isinstance(payloads, Records):
        return payloads.lengths
    return np.fromiter(map(len, payloads), np.int64, len(payloads))


def crcs_of(payloads: Sequence[Any]) -> UInts:
    """The CRCs of many payloads, as their frames store them."""
    if isinstance(payloads, Records) and payloads.nbytes >= _COPIED_MEAN * len(payloads):
        return masked_crcs(payloads.views(), len(payloads))
    return masked_crcs(payloads, len(payloads))


def encode_many(
    payloads: Sequence[Any], lengths: Offsets | None = None, crcs: UInts | None = None
) -> list[Any]:
    """The frames of many payloads, as a list of pieces to write in order; small payloads give one piece.

    A footer and the next header lie between two payloads, and are made as one element of 16 bytes. A caller
    that knows the ``lengths`` or the ``crcs`` passes them.
    """
    count = len(payloads)
    if not count:
        return []
    if lengths is None:
        lengths = lengths_of(payloads)
    large = int(lengths.sum()) >= _COPIED_MEAN * count
    if large and isinstance(payloads, Records):
        payloads = list(payloads.views())
    edges = np.zeros(count + 1, _edge)
    edges["footer"][1:] = masked_crcs(payloads, count) if crcs is None else crcs
    edges["length"][:-1] = lengths
    edges["crc"][:-1] = masked_length_crcs(lengths.view(np.uint64))
    if not large:
        return [_interleaved(payloads, lengths, edges.view(f"V{OVERHEAD}"))]
    pieces = [b""] * (2 * count + 1)
    pieces[1::2] = payloads
    pieces[0::2] = map(BytesIO(edges.tobytes()).read, [OVERHEAD] * (count + 1))
    pieces[0] = pieces[0][FOOTER:]
    pieces[-1] = pieces[-1][:FOOTER]
    return pieces


def _interleaved(payloads: Sequence[Any], lengths: Offsets, edges: npt.NDArray[np.void]) -> memoryview:
    """The payloads and the ``edges`` around them, without the first edge's footer and the last's header."""
    ends = np.cumsum(lengths + OVERHEAD)
    if isinstance(payloads, Records):
        whole = np.empty(int(ends[-1]) + OVERHEAD, np.uint8)
        copy_ranges(payloads.buffer, payloads.begins, whole, ends - lengths, lengths, slack=OVERHEAD)
    else:
        whole = np.frombuffer(bytearray(OVERHEAD).join((b"", *payloads, b"")), np.uint8)
    slots = elements(whole, OVERHEAD)
    slots[0] = edges[0]
    slots[ends] = edges[1:]
    return whole.data[FOOTER : len(whole) - HEADER]


def decode_header(data: Any, at: int = 0) -> int:
    """The length in the header at ``at``; ChecksumError when its CRC does not match."""
    length, stored = _header.unpack_from(data, at)
    got = mask(crc32c(data[at : at + 8]))
    if got != stored:
        raise _mismatch("length", stored, got)
    return int(length)


def length_at(data: Any, at: int) -> int:
    """The length in the header at ``at``, whose CRC the caller has checked."""
    return int(_header.unpack_from(data, at)[0])


def header_holds(data: Any, at: int = 0) -> bool:
    """Whether the length in the header at ``at`` matches its CRC."""
    length, stored = _header.unpack_from(data, at)
    return bool(masked_crc(length.to_bytes(8, "little")) == stored)


def payload_holds(payload: Any, footer: Any) -> bool:
    """Whether ``payload`` matches the CRC at the beginning of ``footer``."""
    return bool(_footer.unpack_from(footer)[0] == masked_crc(payload))


def payload_error(payload: Any, footer: Any) -> ChecksumError:
    """The error for a payload that does not match its footer."""
    return _mismatch("data", _footer.unpack_from(footer)[0], masked_crc(payload))


def _mismatch(part: str, stored: int, got: int) -> ChecksumError:
    return ChecksumError(
        f"{part} checksum {got:#010x}, stored {stored:#010x}", part=part, expected=stored, got=got
    )


def check_end(tail: Any, got: int) -> None:
    """Raise unless the data may end ``got`` bytes after the last whole frame, where ``tail`` begins.

    Only this function decides it: data ends at a frame boundary, and anything else is an error.
    """
    if got:
        whole_size(tail, got)


def whole_size(head: Any, available: int) -> int:
    """The size of the frame that begins with ``head``; an error if fewer bytes are ``available``."""
    if available < HEADER:
        raise TruncatedError(
            f"the data ends inside a frame's header: {available} of {HEADER} bytes",
            expected=HEADER,
            got=available,
        )
    size = decode_header(head) + OVERHEAD
    if size > available:
        raise TruncatedError(
            f"the data ends inside a frame: {available} of {size} bytes", expected=size, got=available
        )
    return size


def bad_payloads(buffer: Any, begins: Offsets, ends: Offsets) -> Offsets:
    """The indices of the frames whose payload does not match its CRC.

    A writable ``memoryview`` is changed in place: if all payloads match, the bytes between them are lost. If
    one does not, the buffer stays as it was.
    """
    if isinstance(buffer, memoryview) and not buffer.readonly:
        match = payloads_match_in_place(buffer, begins, ends)
    else:
        match = payloads_match(buffer, begins, ends, u32_at(buffer, ends))
    if match:
        return np.empty(0, np.int64)
    view = memoryview(buffer)
    cuts = map(view.__getitem__, map(slice, begins.tolist(), ends.tolist()))
    return np.flatnonzero(masked_crcs(cuts, len(begins)) != u32_at(buffer, ends))


def all_crcs_match_destructive(starts: Offsets, buffer: Any) -> bool:
    """Whether both CRCs of all frames match; overwrites the CRCs in ``buffer``, even if they do not.

    The frames begin at ``starts``, whose last element is where they end. No payload may be longer than
    ``LONGEST_IN_BATCH``.
    """
    begins, ends = starts[:-1] + HEADER, starts[1:] - FOOTER
    words = np.ndarray(len(buffer) - 3, "<u4", buffer, strides=(1,))
    words[begins - FOOTER] = registers_after(words[begins - FOOTER], HEADER - FOOTER)
    words[ends] = registers_after(words[ends], ends - begins)
    return leaves_zero(memoryview(buffer)[int(starts[0]) : int(starts[-1])])


def u32_at(buffer: Any, offsets: Offsets) -> npt.NDArray[np.uint32]:
    """The little-endian uint32 at each of ``offsets``, aligned or not."""
    if not len(offsets):
        return np.empty(0, np.uint32)
    every = np.ndarray(len(buffer) - 3, "<u4", buffer, strides=(1,))
    found: npt.NDArray[np.uint32] = every[offsets].astype(np.uint32, copy=False)
    return found
