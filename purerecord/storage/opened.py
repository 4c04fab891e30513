"""Storage: from what a caller names (path, URL, glob, shard pattern, open file) to plain bytes.

Paths are opened unbuffered and read in big pieces. Compression is found out from the content: a file is
uncompressed exactly when its first length CRC holds; else it is what inflates. URLs go through fsspec,
imported only then. This module knows the first header of a file and nothing else of what is inside.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable
from typing import Any

from .compression import compression_name
from .inflate import BlockInflater, Prefixed, Source, inflated
from .paths import Named, is_url, open_remote

# Bytes of a file's beginning that are read to detect its compression; fewer if they come in small pieces,
# but never fewer than the minimum unless the file ends before.
HEAD_SIZE = 1 << 12
_SMALLEST_HEAD = 12


def _has_size(file: io.FileIO) -> bool:
    """Whether the system knows how long a file is: of a device it says 0."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.seekable()


class _BinaryFile:
    """Reads a binary file object, which is closed here only if it was opened here."""

    def __init__(self, file: Any, *, ours: bool) -> None:
        if hasattr(file, "encoding"):
            raise TypeError("the file must be open in binary mode, as with open(path, 'rb')")
        self._file = file
        self._ours = ours
        # read1 gives what is there; read would wait until a slow pipe has filled the whole piece.
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
        """How many bytes a regular file opened here still has; None where that is not known.

        The size is looked up again only when what is known of it does not reach to ``least``.
        """
        if not self.regular:
            return None
        left = self._size - self.position
        if left <= least:
            self._size = os.fstat(self._file.fileno()).st_size
            left = self._size - self.position
        return max(0, left)

    def rewind(self, count: int) -> bool:
        """Go back by ``count`` bytes; False where that is not possible."""
        if self.regular and count:
            self.position = self._file.seek(-count, os.SEEK_CUR)
        return self.regular

    def go_to(self, offset: int) -> None:
        """Go on at ``offset``, wherever this is, for a read may have been interrupted."""
        self.position = self._file.seek(offset)

    def read_payload_and_next_header(self, offset: int, size: int, behind: int) -> tuple[bytes, bytes]:
        """The ``size`` bytes from ``offset`` on, and up to ``behind`` that follow: see ``Opened``."""
        self._file.seek(offset)
        data: bytes = self._read(size)
        while len(data) < size and (more := self._read(size - len(data))):
            data += more
        rest = self._read(behind)
        self.position = offset + len(data) + len(rest)
        return data, rest


class _SelfClosingFile(io.FileIO):
    """A file that is closed when it is forgotten, also together with an error, and so in a cycle."""

    def __del__(self) -> None:
        self.close()


class Opened:
    """One open file, as a source of plain bytes whatever its compression.

    ``compression`` is "", "GZIP" or "ZLIB". If it is "auto", ``detect`` tells it from the file's first bytes;
    until these have come, the attribute is None.
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
        """How far the file itself has been read, compressed or not."""
        return self._file.position

    @property
    def blocked(self) -> bool:
        """Whether it is GZIP in blocks."""
        return isinstance(self._plain, BlockInflater)

    def read(self, size: int) -> bytes:
        """Up to about ``size`` plain bytes; b"" when there are no more at the moment."""
        self.detect_compression()
        return b"" if self._plain is None else self._plain.read(size)

    def detect_compression(self) -> None:
        """Find out what the file is compressed with, if that is not known yet."""
        if self._plain is None:
            self._plain = self._begin()

    def _begin(self) -> Source | None:
        while len(self._head) < _SMALLEST_HEAD and (more := self._file.read(HEAD_SIZE)):
            self._head += more
        if not self._head:
            return None
        head, self._head = self._head, b""
        if self.compression is None:
            assert self._detect is not None, "only a detection can tell the compression"
            self.compression = self._detect(head)
        if not self.compression:
            return self._file if self._file.rewind(len(head)) else Prefixed(head, self._file)
        return inflated(self._file, self.compression, head)

    def remaining(self, least: int = 0) -> int | None:
        """How many bytes are still to come, where that can be told: an uncompressed regular file."""
        return self._file.remaining(least) if self._plain is self._file else None

    def rewind(self, count: int) -> bool:
        """Go back by ``count`` bytes, where that is possible: an uncompressed regular file."""
        return self._plain is self._file and self._file.rewind(count)

    def go_to(self, offset: int) -> None:
        """Go on at ``offset``; only where ``rewind`` is possible."""
        self._file.go_to(offset)

    def read_payload_and_next_header(self, offset: int, size: int, behind: int) -> tuple[bytes, bytes]:
        """The ``size`` bytes from ``offset`` on, fewer at the end, and up to ``behind`` that follow them.

        Only where ``rewind`` is possible.
        """
        return self._file.read_payload_and_next_header(offset, size, behind)

    @property
    def rewinds(self) -> bool:
        """Whether ``rewind`` is possible."""
        return self._plain is self._file and self._file.regular

    @property
    def regular(self) -> bool:
        """Whether this is a regular file that was opened here, by its name."""
        return self._file.regular

    def readinto(self, buffer: memoryview) -> int:
        """Like ``read``, into a buffer of the caller's; only where ``rewind`` is possible."""
        return self._file.readinto(buffer)

    def resume(self) -> bool:
        """After a ``CompressionError``: go on at the next member of a GZIP file, if one can be found."""
        resume = getattr(self._plain, "resume", None)
        return resume is not None and resume()

    @property
    def passed(self) -> tuple[int, int] | None:
        """Which bytes of a compressed file ``resume`` has passed over last."""
        return getattr(self._plain, "passed", None)

    def close(self) -> None:
        (self._plain or self._file).close()
