"""Decompression: GZIP and ZLIB streams as a source of plain bytes.

A *source* has ``read(size)``, which gives about ``size`` bytes, or ``b""`` if there are no more at the
moment, and ``close()``. The classes here wrap one source into another. They hand out all bytes that can be
inflated before a break, and then raise ``CompressionError``. A GZIP file may have many members. Those of a
blocked file (see ``deflate``) store their own size, and several threads inflate them at once. This module
knows no frames.
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

# The gzip header of a block: fixed part, an extra field "PR" with three numbers, and their CRC.
# On-disk format; never change.
_BLOCK_HEADER = struct.Struct("<10sH2sHQQQH")
BLOCK_HEADER_SIZE = _BLOCK_HEADER.size
BLOCK_MAGIC = b"\x1f\x8b\x08\x06\x00\x00\x00\x00\x00\x03"  # gzip, deflate, FEXTRA + FHCRC, no time, Unix

_WBITS = {"GZIP": 31, "ZLIB": 15}
# Compressed bytes per read.
_COMPRESSED_READ = 1 << 16
# Compressed bytes before a break that are searched for a member, too.
_SEARCHED_BACK = 1 << 18
# Bytes that decide whether a member begins; more would be slow in a file full of false beginnings.
_MEMBER_PROBE = 1 << 12
_GZIP_MAGIC = b"\x1f\x8b\x08"
# A block whose header announces more bytes than this is inflated in pieces, not at once.
_LARGEST_BLOCK = 1 << 26
_THREADS = min(4, os.cpu_count() or 1)


class Source(Protocol):
    """Where bytes come from."""

    def read(self, size: int, /) -> bytes:
        """Up to about ``size`` bytes; ``b""`` if there are no more at the moment."""

    def close(self) -> None:
        """Release everything."""


class Prefixed:
    """A source whose first bytes were read already; gives them again first."""

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
    """The plain bytes of a GZIP or ZLIB source: all its members, all its concatenated streams."""

    def __init__(self, source: Source, compression: str, position: int = 0) -> None:
        self._source = source
        self._compression = compression
        self._stream: zlib._Decompress | None = None
        self._input = b""
        self._consumed = position  # compressed bytes taken from the source
        self._begin = 0  # where the current stream begins
        self._recent = bytearray()  # the last inflated input: after a break, the next member may be in it
        self._broken: CompressionError | None = None
        self._broken_at = 0  # compressed
        self.skipped_range: tuple[int, int] | None = None  # compressed bytes that the last ``resume`` skipped

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
                if self._begin > 0 and self._consumed - self._begin < 2:  # too few bytes for another stream
                    self._broken_at = self._begin
                    what = f"is followed by something else at compressed byte {self._begin}"
                else:
                    self._broken_at = self._consumed
                    what = f"is cut after {self._consumed} bytes: its end is missing"
                raise CompressionError(f"the {self._compression} stream {what}")

    def _more(self) -> bytes:
        """More of the compressed data."""
        data = self._source.read(_COMPRESSED_READ)
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
        if len(self._recent) > 2 * _SEARCHED_BACK:
            del self._recent[:-_SEARCHED_BACK]
        self._input = rest
        if stream.eof:
            self._stream = None
        return data

    def _inflate_up_to_the_break(self, stream: zlib._Decompress, error: zlib.error) -> bytes:
        good, bad = 0, len(self._input)  # the first ``good`` bytes inflate, the first ``bad`` do not
        while bad - good > 1:
            middle = (good + bad) // 2
            try:
                stream.copy().decompress(self._input[:middle])
                good = middle
            except zlib.error:
                bad = middle
        data = bytearray(stream.decompress(self._input[:good])) if good else bytearray()
        try:
            # The byte at the break may still complete some output, which comes one byte at a time.
            rest = self._input[good:bad]
            while piece := stream.decompress(rest, 1):
                data += piece
                rest = stream.unconsumed_tail
        except zlib.error as exact:
            error = exact
        position = self._consumed - len(self._input) + good
        hint = ""
        if position - self._begin >= 4:
            what = "is broken"
        elif self._begin == 0:
            what = "does not begin as one"
            if self._input.startswith(_GZIP_MAGIC):
                hint = '; it looks like GZIP data: open it with compression="GZIP" or "auto"'
        else:
            what, position = "is followed by something else", self._begin
        self._broken_at = position
        detail = str(error).rpartition(": ")[2]
        self._broken = CompressionError(
            f"the {self._compression} stream {what} at compressed byte {position} ({detail}){hint}"
        )
        return bytes(data)

    def resume(self) -> bool:
        """After a break, continue at the next member of a GZIP file; False if there is none.

        Broken data may inflate to nonsense for a while before zlib notices, and swallow members. So the
        search begins some bytes before the break.
        """
        known = bytes(self._recent) + self._input
        low = max(
            self._consumed - len(known), self._begin + 1
        )  # the first offset where the next member may begin
        at = low - (self._consumed - len(known))
        while self._compression == "GZIP":
            at = known.find(_GZIP_MAGIC, at)
            if at < 0:
                more = self._more()
                if not more:
                    break
                known, at = known[-2:] + more, 0
                continue
            while len(known) - at < _MEMBER_PROBE and (more := self._more()):
                known += more
            if _inflates(known[at : at + _MEMBER_PROBE]):
                place = self._consumed - len(known) + at
                self.skipped_range = (self._broken_at if self._broken_at <= place else low - 1, place)
                self._input, self._recent = known[at:], bytearray()
                self._stream, self._broken = None, None
                return True
            at += 1
        while self._more():  # so that the skipped range covers the rest of the file
            pass
        self.skipped_range = (self._broken_at, self._consumed)
        return False

    def close(self) -> None:
        self._source.close()


def _inflates(data: bytes) -> bool:
    """Whether ``data`` looks like the beginning of a GZIP member."""
    try:
        return zlib.decompressobj(31).decompress(data, 4096) != b""
    except zlib.error:
        return False


class BlockHeader(NamedTuple):
    """The numbers in the header of a blocked GZIP member."""

    size: int  # of the whole member, in the file
    data_size: int  # inflated
    records: int


def decode_block_header(header: bytes) -> BlockHeader | None:
    """The numbers in the header of a blocked member; None if it is not such a header."""
    if len(header) < BLOCK_HEADER_SIZE or not header.startswith(BLOCK_MAGIC):
        return None
    _, extra, tag, length, size, data_size, records, crc = _BLOCK_HEADER.unpack_from(header)
    if (extra, tag, length) != (28, b"PR", 24) or size <= BLOCK_HEADER_SIZE:
        return None
    if crc != zlib.crc32(header[: BLOCK_HEADER_SIZE - 2]) & 0xFFFF:
        return None
    return BlockHeader(size, data_size, records)


def encode_block_header(block: BlockHeader) -> bytes:
    """The header of a blocked member."""
    header = _BLOCK_HEADER.pack(BLOCK_MAGIC, 28, b"PR", 24, *block, 0)[:-2]
    return header + struct.pack("<H", zlib.crc32(header) & 0xFFFF)


class BlockInflater:
    """The plain bytes of a blocked GZIP source, several members inflated at a time.

    If a member does not match its header, an ``Inflater`` reads the rest and raises the exact error.
    """

    def __init__(self, source: Source, position: int = 0) -> None:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to import, seldom used

        self._source = source
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="purerecord-inflate")
        self._pid = os.getpid()  # a forked process does not have these threads
        self._ahead: deque[tuple[bytes, Future[bytes | None] | None]] = deque()
        self._rest: Inflater | None = None
        self._unread = b""
        self._done = position  # where in the file the next member to hand out begins

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
            data = inflate_block(member) if future is None or os.getpid() != self._pid else future.result()
            if data is None:
                self._fall_back(b"".join((member, *(other for other, _ in self._ahead), self._unread)))
                continue
            self._done += len(member)
            if data:
                return data

    def _submit(self) -> bool:
        """Read one more whole member and start to inflate it; False if there is none."""
        if not self._fill(BLOCK_HEADER_SIZE):
            return False
        block = decode_block_header(self._unread)
        if block is None or block.data_size > _LARGEST_BLOCK or block.size > _LARGEST_BLOCK:
            return False
        if not self._fill(block.size):
            return False
        member, self._unread = self._unread[: block.size], self._unread[block.size :]
        future = self._pool.submit(inflate_block, member) if os.getpid() == self._pid else None
        self._ahead.append((member, future))
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
        """After a break, continue at the next member; False if there is none."""
        return self._rest is not None and self._rest.resume()

    @property
    def skipped_range(self) -> tuple[int, int] | None:
        """The compressed bytes that the last ``resume`` skipped."""
        return None if self._rest is None else self._rest.skipped_range

    def close(self) -> None:
        if os.getpid() == self._pid:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._source.close()


def inflate_block(member: bytes) -> bytes | None:
    """The plain bytes of one whole member of a blocked file; None if it does not match its header."""
    block = decode_block_header(member)
    if block is None:
        return None
    stream = zlib.decompressobj(31)
    try:
        data = stream.decompress(member, block.data_size + 1)
    except zlib.error:
        return None
    return data if stream.eof and len(data) == block.data_size and not stream.unused_data else None


def inflated(source: Source, compression: str, head: bytes, position: int = 0) -> Source:
    """A source of the plain bytes of ``source``, whose first bytes ``head`` were read already.

    It begins ``position`` bytes into its file, which matters for messages.
    """
    whole = Prefixed(head, source)
    if compression == "GZIP" and decode_block_header(head) is not None:
        return BlockInflater(whole, position)
    return Inflater(whole, compression, position)
