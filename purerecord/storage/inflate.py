"""Decompression: GZIP and ZLIB streams as a source of plain bytes.

A *source* has ``read(size)``, which gives about ``size`` bytes or ``b""`` when there is nothing more at
the moment, and ``close()``. What is here wraps one source into another. Everything that can be inflated
before a break is handed out before the ``CompressionError``. A GZIP file may have many members; those
of a blocked file (see ``deflate``) say how long they are, and are inflated by several threads at once.
This module knows no frames: where it must know a little of what is inside, it is told.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..errors import CompressionError

if TYPE_CHECKING:
    from concurrent.futures import Future

# gzip header as we write it for a block: fixed part, an extra field "PR" with three numbers, their CRC.
# On-disk format; never change.
_BLOCK_HEADER = struct.Struct("<10sH2sHQQQH")
BLOCK_HEADER_SIZE = _BLOCK_HEADER.size
_BLOCK_MAGIC = b"\x1f\x8b\x08\x06\x00\x00\x00\x00\x00\x03"  # gzip, deflate, FEXTRA + FHCRC, no time, Unix

_WBITS = {"GZIP": 31, "ZLIB": 15}
_INPUT = 1 << 16
_RECENT = 1 << 18
# So many bytes tell whether a member begins; more would make a file full of what looks like one slow.
_MEMBER = 1 << 12
_GZIP_MAGIC = b"\x1f\x8b\x08"
# A block that claims to be larger than this is inflated piece by piece instead of at once.
_LARGEST_BLOCK = 1 << 26
_THREADS = min(4, os.cpu_count() or 1)


class Source(Protocol):
    """Where bytes come from."""

    def read(self, size: int, /) -> bytes:
        """Up to about ``size`` bytes; ``b""`` when there are no more at the moment."""

    def close(self) -> None:
        """Give up what is held."""


class Prefixed:
    """A source whose first bytes were read already, to look at them."""

    def __init__(self, head: bytes, rest: Source) -> None:
        self._head = head
        self._rest = rest

    def read(self, size: int) -> bytes:
        if self._head:
            head, self._head = self._head[:size], self._head[size:]
            return head
        return self._rest.read(size)

    def close(self) -> None:
        self._rest.close()


class Inflater:
    """The plain bytes of a GZIP or ZLIB source, all members and all concatenated streams of it."""

    def __init__(self, source: Source, compression: str, position: int = 0) -> None:
        self._source = source
        self._compression = compression
        self._stream: zlib._Decompress | None = None
        self._input = b""
        self._consumed = position  # compressed bytes taken from the source
        self._begin = 0  # where the current stream begins
        self._recent = bytearray()  # compressed bytes inflated lately: a next member may be among them
        self._broken: CompressionError | None = None
        self._broken_at = 0  # compressed
        self.passed: tuple[int, int] | None = None  # compressed bytes that ``resume`` has passed over

    def read(self, size: int) -> bytes:
        while True:
            if self._broken is not None:
                raise self._broken
            if not self._input:
                self._input = self._more()
            if self._stream is None:
                if not self._input:
                    return b""
                self._begin = self._consumed - len(self._input)
                self._stream = zlib.decompressobj(_WBITS[self._compression])
            at_end = not self._input
            data = self._inflate(self._stream, size)
            if data:
                return data
            if at_end and self._stream is not None:
                if self._begin > 0 and self._consumed - self._begin < 2:  # too little to begin another one
                    self._broken_at = self._begin
                    what = f"is followed by something else at compressed byte {self._begin}"
                else:
                    self._broken_at = self._consumed
                    what = f"is cut after {self._consumed} bytes: its end is missing"
                raise CompressionError(f"the {self._compression} stream {what}")

    def _more(self) -> bytes:
        """More of the compressed data."""
        data = self._source.read(_INPUT)
        self._consumed += len(data)
        return data

    def _inflate(self, stream: zlib._Decompress, size: int) -> bytes:
        before = stream.copy()
        try:
            data = stream.decompress(self._input, size)
        except zlib.error as error:
            return self._inflate_up_to_the_break(before, error)
        rest = stream.unused_data if stream.eof else stream.unconsumed_tail
        self._recent += memoryview(self._input)[: len(self._input) - len(rest)]
        if len(self._recent) > 2 * _RECENT:
            del self._recent[:-_RECENT]
        self._input = rest
        if stream.eof:
            self._stream = None
        return data

    def _inflate_up_to_the_break(self, stream: zlib._Decompress, error: zlib.error) -> bytes:
        good, bad = 0, len(self._input)  # so many bytes of it inflate, so many do not
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                stream.copy().decompress(self._input[:middle])
                good = middle
            except zlib.error:
                bad = middle
        data = bytearray(stream.decompress(self._input[:good])) if good else bytearray()
        try:
            # The byte at which it breaks may still complete something; what comes of that, comes singly.
            rest = self._input[good:bad]
            while piece := stream.decompress(rest, 1):
                data += piece
                rest = stream.unconsumed_tail
        except zlib.error as exact:
            error = exact
        position = self._consumed - len(self._input) + good
        if position - self._begin >= 4:
            what = "is broken"
        elif self._begin == 0:
            what = "does not begin as one"
        else:
            what, position = "is followed by something else", self._begin
        self._broken_at = position
        detail = str(error).rpartition(": ")[2]
        self._broken = CompressionError(
            f"the {self._compression} stream {what} at compressed byte {position} ({detail})"
        )
        return bytes(data)

    def resume(self) -> bool:
        """After a break: go on at the next member of a GZIP file; False where there is none.

        Broken data may be inflated to nonsense for a while before the break shows, and members be
        swallowed by that: so the search begins a little before it.
        """
        known = bytes(self._recent) + self._input
        low = max(self._consumed - len(known), self._begin + 1)  # the earliest that it may be
        at = low - (self._consumed - len(known))
        while self._compression == "GZIP":
            at = known.find(_GZIP_MAGIC, at)
            if at < 0:
                more = self._more()
                if not more:
                    break
                known, at = known[-2:] + more, 0
                continue
            while len(known) - at < _MEMBER and (more := self._more()):
                known += more
            if _inflates(known[at : at + _MEMBER]):
                place = self._consumed - len(known) + at
                self.passed = (self._broken_at if self._broken_at <= place else low - 1, place)
                self._input, self._recent = known[at:], bytearray()
                self._stream, self._broken = None, None
                return True
            at += 1
        while self._more():  # so that all of the file is accounted for
            pass
        self.passed = (self._broken_at, self._consumed)
        return False

    def close(self) -> None:
        self._source.close()


def _inflates(data: bytes) -> bool:
    """Whether a GZIP member seems to begin here."""
    try:
        return zlib.decompressobj(31).decompress(data, 4096) != b""
    except zlib.error:
        return False


class Block(NamedTuple):
    """What the header of a blocked GZIP member says."""

    size: int  # of the whole member, in the file
    data_size: int  # inflated
    records: int


def decode_block_header(header: bytes) -> Block | None:
    """The numbers in the header of a blocked member; None where it is something else."""
    if len(header) < BLOCK_HEADER_SIZE or not header.startswith(_BLOCK_MAGIC):
        return None
    _, extra, tag, length, size, data_size, records, crc = _BLOCK_HEADER.unpack_from(header)
    if (extra, tag, length) != (28, b"PR", 24) or size <= BLOCK_HEADER_SIZE:
        return None
    if crc != zlib.crc32(header[: BLOCK_HEADER_SIZE - 2]) & 0xFFFF:
        return None
    return Block(size, data_size, records)


def encode_block_header(block: Block) -> bytes:
    """The header of a blocked member."""
    header = _BLOCK_HEADER.pack(_BLOCK_MAGIC, 28, b"PR", 24, *block, 0)[:-2]
    return header + struct.pack("<H", zlib.crc32(header) & 0xFFFF)


class BlockInflater:
    """The plain bytes of a blocked GZIP source, several members inflated at a time.

    Where a member is not as it says, the rest goes through an ``Inflater``, which reports exactly.
    """

    def __init__(self, source: Source) -> None:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to import, seldom used

        self._source = source
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="purerecord-inflate")
        self._ahead: deque[tuple[bytes, Future[bytes | None]]] = deque()
        self._rest: Inflater | None = None
        self._unread = b""
        self._done = 0  # compressed bytes that have been handed out

    def read(self, size: int) -> bytes:
        while True:
            if self._rest is not None:
                return self._rest.read(size)
            while len(self._ahead) <= _THREADS and self._submit():
                pass
            if not self._ahead:
                self._fall_back(self._unread)
                continue
            member, future = self._ahead.popleft()
            data = future.result()
            if data is None:
                self._fall_back(b"".join((member, *(other for other, _ in self._ahead), self._unread)))
                continue
            self._done += len(member)
            if data:
                return data

    def _submit(self) -> bool:
        """Read one more whole member and have it inflated; False when there is none."""
        if not self._fill(BLOCK_HEADER_SIZE):
            return False
        block = decode_block_header(self._unread)
        if block is None or block.data_size > _LARGEST_BLOCK or block.size > _LARGEST_BLOCK:
            return False
        if not self._fill(block.size):
            return False
        member, self._unread = self._unread[: block.size], self._unread[block.size :]
        self._ahead.append((member, self._pool.submit(inflate_block, member, block)))
        return True

    def _fill(self, size: int) -> bool:
        pieces, have = [self._unread], len(self._unread)
        try:
            while have < size and (piece := self._source.read(max(size - have, 1 << 18))):
                pieces.append(piece)
                have += len(piece)
        finally:
            self._unread = b"".join(pieces)
        return have >= size

    def _fall_back(self, rest: bytes) -> None:
        self._unread = b""
        self._ahead.clear()
        self._rest = Inflater(Prefixed(rest, self._source), "GZIP", self._done)

    def resume(self) -> bool:
        """After a break: go on at the next member, if there is one."""
        return self._rest is not None and self._rest.resume()

    @property
    def passed(self) -> tuple[int, int] | None:
        """The compressed bytes that ``resume`` has passed over."""
        return None if self._rest is None else self._rest.passed

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._source.close()


def inflate_block(member: bytes, block: Block) -> bytes | None:
    """The plain bytes of one whole member; None where it does not keep what its header says."""
    stream = zlib.decompressobj(31)
    try:
        data = stream.decompress(member, block.data_size + 1)
    except zlib.error:
        return None
    return data if stream.eof and len(data) == block.data_size and not stream.unused_data else None


def inflated(source: Source, compression: str, head: bytes) -> Source:
    """``source``, whose first bytes ``head`` were read already, decompressed."""
    whole = Prefixed(head, source)
    if compression == "GZIP" and decode_block_header(head) is not None:
        return BlockInflater(whole)
    return Inflater(whole, compression)
