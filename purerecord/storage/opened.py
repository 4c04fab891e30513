"""``Opened``: one open file as a source of plain bytes, whatever its compression.

Paths are opened unbuffered and read in large pieces. A caller may hand in the function that detects the
compression from the first bytes. This module does not know what the bytes mean.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable
from typing import Any

from .bz2_xz_zstd import MemberDecompressor
from .compression import READ_ONLY, compression_name
from .inflate import BlockInflater, Prefixed, Source, inflated
from .paths import Named, is_url, open_remote

# Bytes of a file's beginning that are read to detect its compression; fewer if they come in small pieces,
# but never fewer than the minimum unless the file ends before.
HEAD_SIZE = 1 << 12
_SMALLEST_HEAD = 12


def _has_size(file: io.FileIO) -> bool:
    """Whether the system knows the size of a file; for a device it reports 0."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.seekable()


class _BinaryFile:
    """Reads a binary file object; closes it only if it is ``ours``, opened by this module."""

    def __init__(self, file: Any, *, ours: bool) -> None:
        if hasattr(file, "encoding"):
            raise TypeError("the file must be open in binary mode, as with open(path, 'rb')")
        self._file = file
        self._ours = ours
        # read1 returns the bytes that are there; read would wait until a slow pipe has sent all.
        self._read = getattr(file, "read1", file.read)
        self.regular = isinstance(file, io.FileIO) and ours and _has_size(file)
        self.position = 0
        self._size = 0

    def read(self, size: int) -> bytes:
        data = self._read(size)
        if data is None:
            raise BlockingIOError(errno.EAGAIN, "the file does not block and has no data at the moment")
        if not isinstance(data, bytes):
            raise TypeError(f"the file must give bytes, not {type(data).__name__}")
        self.position += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:
        got: int = self._file.readinto(buffer)
        self.position += got
        return got

    def close(self) -> None:
        if self._ours:
            self._file.close()

    def remaining(self, least: int) -> int | None:
        """How many bytes a regular file of ours still has; None if unknown.

        The size is looked up again only if the last known one leaves no more than ``least`` bytes.
        """
        if not self.regular:
            return None
        left = self._size - self.position
        if left <= least:
            self._size = os.fstat(self._file.fileno()).st_size
            left = self._size - self.position
        return max(0, left)

    def rewind(self, count: int) -> bool:
        """Go back by ``count`` bytes; False if that is not possible."""
        if self.regular and count:
            self.position = self._file.seek(-count, os.SEEK_CUR)
        return self.regular

    def go_to(self, offset: int) -> None:
        """Continue at ``offset``; correct even after an interrupted read."""
        self.position = self._file.seek(offset)

    def read_payload_and_next_header(self, offset: int, size: int, after: int) -> tuple[bytes, bytes]:
        """The ``size`` bytes at ``offset``, and up to ``after`` bytes that follow them: see ``Opened``."""
        self._file.seek(offset)
        data: bytes = self._read(size)
        while len(data) < size and (more := self._read(size - len(data))):
            data += more
        rest = self._read(after)
        self.position = offset + len(data) + len(rest)
        return data, rest


class _SelfClosingFile(io.FileIO):
    """A file that closes itself without a warning when it is collected, even in a cycle with an error."""

    def __del__(self) -> None:
        self.close()


class Opened:
    """One open file, as a source of plain bytes whatever its compression.

    ``compression`` is the name of one, or "". If it is "auto", ``detect`` tells it from the file's first
    bytes; until these have come, the attribute is None.
    """

    def __init__(
        self, file: Named, compression: Any = "", *, detect: Callable[[bytes], str] | None = None
    ) -> None:
        self.compression = None if compression == "auto" else compression_name(compression)
        self._detect = detect
        if isinstance(file, str):
            self.name = file
            opened = open_remote(file) if is_url(file) else _SelfClosingFile(file)
            self._file = _BinaryFile(opened, ours=True)
        else:
            self.name = str(getattr(file, "name", "") or "<stream>")
            self._file = _BinaryFile(file, ours=False)
        self._head = b""
        self._plain: Source | None = self._file if self.compression == "" else None

    @property
    def position(self) -> int:
        """How many bytes of the file itself have been read, compressed or not."""
        return self._file.position

    @property
    def blocked(self) -> bool:
        """Whether the file is blocked GZIP."""
        return isinstance(self._plain, BlockInflater)

    def read(self, size: int) -> bytes:
        """Up to about ``size`` plain bytes; b"" when there are no more at the moment."""
        self.detect_compression()
        return b"" if self._plain is None else self._plain.read(size)

    def detect_compression(self) -> None:
        """Detect the compression now, if it is not known yet."""
        if self._plain is None:
            self._plain = self._begin()

    def _begin(self) -> Source | None:
        while len(self._head) < _SMALLEST_HEAD and (more := self._file.read(HEAD_SIZE)):
            self._head += more
        if not self._head:
            return None
        head = self._head
        if self.compression is None:
            assert self._detect is not None, "only a detection can tell the compression"
            self.compression = self._detect(head)
        if self.compression in READ_ONLY:
            return MemberDecompressor(Prefixed(head, self._file), self.compression)
        self._head = b""
        if not self.compression:
            return self._file if self._file.rewind(len(head)) else Prefixed(head, self._file)
        return inflated(self._file, self.compression, head)

    def remaining(self, least: int = 0) -> int | None:
        """How many bytes follow in an uncompressed regular file; None for any other source."""
        return self._file.remaining(least) if self._plain is self._file else None

    def rewind(self, count: int) -> bool:
        """Go back by ``count`` bytes in an uncompressed regular file; False for any other source."""
        return self._plain is self._file and self._file.rewind(count)

    def go_to(self, offset: int) -> None:
        """Continue at ``offset``; only if ``rewinds``."""
        self._file.go_to(offset)

    def read_payload_and_next_header(self, offset: int, size: int, after: int) -> tuple[bytes, bytes]:
        """The ``size`` bytes at ``offset``, fewer at the end, and up to ``after`` that follow them.

        Only if ``rewinds``.
        """
        return self._file.read_payload_and_next_header(offset, size, after)

    @property
    def rewinds(self) -> bool:
        """Whether ``rewind`` is possible."""
        return self._plain is self._file and self._file.regular

    @property
    def regular(self) -> bool:
        """Whether this is a regular file that was opened here, by its name."""
        return self._file.regular

    def readinto(self, buffer: memoryview) -> int:
        """Like ``read``, but fills ``buffer`` and gives the number of bytes; only if ``rewinds``."""
        return self._file.readinto(buffer)

    def resume(self) -> bool:
        """After a ``CompressionError``, continue at the next GZIP member; False if there is none."""
        resume = getattr(self._plain, "resume", None)
        return resume is not None and resume()

    @property
    def skipped_range(self) -> tuple[int, int] | None:
        """The bytes of a compressed file that the last ``resume`` skipped, as begin and end."""
        return getattr(self._plain, "skipped_range", None)

    def close(self) -> None:
        (self._plain or self._file).close()
