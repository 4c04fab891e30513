"""Compression: GZIP and ZLIB output that equals TensorFlow's to the last byte.

TensorFlow collects input in a buffer, hands the full buffer to zlib, and uses mem_level 9 where Python's
``gzip`` uses 8. With the same parameters and flushes at the same places zlib gives the same bytes.
``BlockDeflater`` writes GZIP as independent members instead, so that a reader can seek. This module
does not know what a frame is.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections import deque
from typing import TYPE_CHECKING, Protocol

from .compression import TFRecordOptions
from .inflate import BLOCK_HEADER_SIZE, BlockHeader, encode_block_header

if TYPE_CHECKING:
    from concurrent.futures import Future

_THREADS = min(4, os.cpu_count() or 1)

_Z_BLOCK = 5  # zlib: complete the block, add no marker
# With a smaller output buffer TensorFlow adds markers without end, which is not imitated.
_SMALLEST_IMITATED_BUFFER = 8


class Deflate(Protocol):
    """Compresses frames, and gives the compressed bytes as soon as there are any."""

    def write(self, pieces: list[bytes], records: int) -> bytes:
        """Take the pieces of ``records`` whole frames."""

    def flush(self) -> bytes:
        """The rest of everything so far, in a form that a reader can decode at once."""

    def finish(self) -> bytes:
        """The rest, and the end of the stream."""

    def abandon(self) -> None:
        """Release everything; no other call follows."""


class Deflater:
    """One GZIP or ZLIB stream, byte for byte as TensorFlow writes it.

    With a flush mode, the pieces must be the ones that TensorFlow appends: header, payload, footer. A flush
    ends with a marker. If the marker fills TensorFlow's output buffer, TensorFlow calls zlib again, which
    adds another marker. So this class keeps track of the position in that buffer.
    """

    def __init__(self, options: TFRecordOptions) -> None:
        self._stream = _compressobj(options, 31 if options.compression == "GZIP" else 15)
        self._flush_mode = options.flush_mode or zlib.Z_NO_FLUSH
        self._limit = options.input_buffer_size or 262144
        self._output_size = options.output_buffer_size or 262144
        self._filled = 0  # bytes in TensorFlow's output buffer
        self._fresh = False  # whether zlib got anything since the last flush
        self._pending: list[bytes] = []
        self._pending_size = 0

    def write(self, pieces: list[bytes], records: int) -> bytes:
        if self._flush_mode == zlib.Z_NO_FLUSH:
            return self._compress(b"".join(pieces))
        return b"".join(map(self._append, pieces))

    def _append(self, piece: bytes) -> bytes:
        """Buffer ``piece`` as TensorFlow does: if it does not fit, compress and flush the buffer first."""
        out = b""
        if len(piece) > self._limit - self._pending_size:
            out = self._drain(self._flush_mode)
            if len(piece) > self._limit:
                return out + self._compress(piece) + self._marker(self._flush_mode)
        self._pending.append(piece)
        self._pending_size += len(piece)
        return out

    def _drain(self, flush_mode: int) -> bytes:
        if flush_mode in (zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH) and self._output_size - self._filled < 6:
            self._filled = 0  # here, though not everywhere, TensorFlow first empties the buffer for a marker
        out = self._compress(b"".join(self._pending))
        self._pending, self._pending_size = [], 0
        return out + self._marker(flush_mode)

    def _compress(self, data: bytes) -> bytes:
        if not data:
            return b""  # an empty call would make zlib forget that it has just been flushed
        self._fresh = True
        return self._count(self._stream.compress(data))

    def _marker(self, flush_mode: int) -> bytes:
        """The output of a flush: the rest of the data, then the marker, perhaps more than once."""
        out = self._count(self._stream.flush(_Z_BLOCK)) if self._fresh else b""
        self._fresh = False
        marker = self._stream.flush(flush_mode)
        while (
            len(marker) >= self._output_size - self._filled and self._output_size >= _SMALLEST_IMITATED_BUFFER
        ):
            out += self._count(marker)
            self._stream.compress(b"")
            marker = self._stream.flush(flush_mode)
        return out + self._count(marker)

    def _count(self, out: bytes) -> bytes:
        self._filled = (self._filled + len(out)) % self._output_size
        return out

    def flush(self) -> bytes:
        out = self._drain(zlib.Z_PARTIAL_FLUSH)
        self._filled = 0  # TensorFlow writes its buffer to the file
        return out

    def finish(self) -> bytes:
        return self._compress(b"".join(self._pending)) + self._stream.flush(zlib.Z_FINISH)

    def abandon(self) -> None:
        self._pending = []


class BlockDeflater:
    """GZIP as independent members of whole frames, each with its own size in its header.

    Members are deflated on threads and come out in order.
    """

    def __init__(self, options: TFRecordOptions) -> None:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to import, seldom used

        assert options.block_size is not None
        self._options = options
        self._block_size = options.block_size
        self._pieces: list[bytes] = []
        self._size = 0
        self._records = 0
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="purerecord-deflate")
        self._members: deque[Future[bytes]] = deque()
        self._empty = True

    def write(self, pieces: list[bytes], records: int) -> bytes:
        self._pieces += pieces
        self._size += sum(map(len, pieces))
        self._records += records
        if self._size >= self._block_size:
            self._submit()
        return self._finished(2 * _THREADS)

    def _submit(self) -> None:
        self._members.append(self._pool.submit(_member, self._options, self._pieces, self._records))
        self._pieces, self._size, self._records = [], 0, 0
        self._empty = False

    def _finished(self, unfinished: int) -> bytes:
        """The finished members; waits until at most ``unfinished`` are left."""
        out = []
        while self._members and (len(self._members) > unfinished or self._members[0].done()):
            out.append(self._members.popleft().result())
        return b"".join(out)

    def flush(self) -> bytes:
        if self._pieces:
            self._submit()
        return self._finished(0)

    def finish(self) -> bytes:
        if self._pieces or self._empty:
            self._submit()
        out = self._finished(0)
        self._pool.shutdown()
        return out

    def abandon(self) -> None:
        self._pieces, self._members = [], deque()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _member(options: TFRecordOptions, pieces: list[bytes], records: int) -> bytes:
    data = b"".join(pieces)
    stream = _compressobj(options, -15)
    body = stream.compress(data) + stream.flush()
    header = encode_block_header(BlockHeader(BLOCK_HEADER_SIZE + len(body) + 8, len(data), records))
    return header + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def _compressobj(options: TFRecordOptions, default_bits: int) -> zlib._Compress:
    def or_default(value: int | None, default: int) -> int:
        return default if value is None else value

    bits = default_bits if default_bits < 0 else or_default(options.window_bits, default_bits)
    return zlib.compressobj(
        or_default(options.compression_level, -1),
        or_default(options.compression_method, zlib.DEFLATED),
        bits,
        or_default(options.mem_level, 9),
        or_default(options.compression_strategy, zlib.Z_DEFAULT_STRATEGY),
    )


def deflate(options: TFRecordOptions) -> Deflate | None:
    """The compressor for ``options``; None for no compression."""
    if not options.compression:
        return None
    return Deflater(options) if options.block_size is None else BlockDeflater(options)
