"""Finds the blocks of a blocked GZIP file from anywhere in it, without an index.

The header of a block has 18 fixed bytes and a CRC of its own. A block is found by its header alone; inflating
it shows later whether it is sound. What is not a block of ours, such as a member that another tool has
appended, belongs to the block before it. This module knows no frames.
"""

from __future__ import annotations

import zlib
from typing import Protocol

from .inflate import BLOCK_HEADER_SIZE, BLOCK_MAGIC, decode_block_header

# Bytes of the first read of a search, and of the largest one.
_FIRST_SEARCH, _LARGEST_SEARCH = 1 << 16, 1 << 22
# Compressed and plain bytes that are in memory while a member is followed to its end.
_PIECE = 1 << 16


class PositionedFile(Protocol):
    """A file that is read by position: an ``OpenFile`` or a ``RemoteFile``."""

    def read_at(self, offset: int, size: int) -> bytes:
        """The bytes there; fewer only at the end of the file."""

    def size(self) -> int:
        """The size of the file."""


def next_block(file: PositionedFile, offset: int) -> int:
    """Where the first block at or after ``offset`` begins; the size of the file if there is none."""
    size, piece = file.size(), _FIRST_SEARCH
    while offset < size:
        data = file.read_at(offset, piece)
        if len(data) < BLOCK_HEADER_SIZE:
            return size
        at = data.find(BLOCK_MAGIC)
        while at >= 0:
            if decode_block_header(data[at : at + BLOCK_HEADER_SIZE]) is not None:
                return offset + at
            at = data.find(BLOCK_MAGIC, at + 1)
        offset += len(data) - BLOCK_HEADER_SIZE + 1
        piece = min(4 * piece, _LARGEST_SEARCH)
    return size


def member_end(file: PositionedFile, offset: int) -> int | None:
    """Where the GZIP member at ``offset`` ends, by inflating it; None if it is broken or cut."""
    stream = zlib.decompressobj(31)
    while not stream.eof:
        piece = stream.unconsumed_tail
        if not piece:
            piece = file.read_at(offset, _PIECE)
            offset += len(piece)
        try:
            plain = stream.decompress(piece, _PIECE)
        except zlib.error:
            return None
        if not piece and not plain:
            return None
    return offset - len(stream.unused_data)


def spans(file: PositionedFile, begin: int, place: int) -> bool:
    """Whether a sound member spans ``place``, if they are followed from ``begin`` on, where one begins.

    Then ``place`` is inside of a member, which holds another blocked file as it is, and the block that seems
    to begin at ``place`` is one of that file.
    """
    while begin < place:
        end = member_end(file, begin)
        if end is not None and end > place:
            return True
        begin = next_block(file, begin + 1) if end is None else end
    return False
