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

from ..errors import ClosedError
from . import file_handles
from .bz2_xz_zstd import MemberDecompressor
from .compression import READ_ONLY, compression_name
from .file_handles import OpenFile
from .inflate import BlockInflater, Prefixed, Source, inflated
from .paths import Named
from .remote_file import ATTEMPTS, NoRangesError, RemoteFile
from .stores import named, open_forward
from .url import Url, local_path

# Bytes of a file's beginning that are read to detect its compression; fewer if they come in small pieces,
# but never fewer than the minimum unless the file ends before.
HEAD_SIZE = 1 << 12
_SMALLEST_HEAD = 12


class _OwnFile(io.FileIO):
    """A file that this module has opened. It closes itself without a warning when it is collected, even in a
    cycle with an error."""

    def read_at(self, offset: int, size: int) -> bytes:
        """Up to ``size`` bytes at ``offset``."""
        size = min(size, file_handles.MOST_AT_ONCE)
        if hasattr(os, "pread"):
            return os.pread(self.fileno(), size, offset)
        self.seek(offset)
        return self.read(size) or b""

    def read_into(self, offset: int, buffer: memoryview) -> int:
        """Fill ``buffer`` with the bytes at ``offset``, as far as one call can, and give their number."""
        buffer = buffer[: file_handles.MOST_AT_ONCE]
        if hasattr(os, "preadv"):
            return os.preadv(self.fileno(), [buffer], offset)
        self.seek(offset)
        return self.readinto(buffer) or 0

    def size(self) -> int:
        """The size of the file now."""
        return os.fstat(self.fileno()).st_size

    def is_confirmed(self, begin: int, end: int) -> bool:
        """Whether the bytes [begin, end) are the same when they are read once more: see ``RemoteFile``."""
        return True

    def read_again(self) -> bool:
        """Whether bytes may be other ones when they are read again."""
        return False

    def __del__(self) -> None:
        self.close()


class _RegularFile:
    """Reads a regular file, or a remote one, at a position of its own.

    A descriptor has a position too, but forked processes share that one, and an interrupted read may leave
    it anywhere.
    """

    def __init__(self, file: _OwnFile | OpenFile | RemoteFile) -> None:
        self._file = file
        self.far = isinstance(file, RemoteFile)
        self.position = 0
        self._size = 0

    def read(self, size: int) -> bytes:
        data = self._file.read_at(self.position, size)
        self.position += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:
        got = self._file.read_into(self.position, buffer)
        self.position += got
        return got

    def close(self) -> None:
        self._file.close()

    def remaining(self, least: int) -> int:
        """How many bytes the file still has.

        The size is looked up again only if the last known one leaves no more than ``least`` bytes.
        """
        left = self._size - self.position
        if left <= least:
            self._size = self._file.size()
            left = self._size - self.position
        return max(0, left)

    def read_again(self) -> bool:
        """Whether bytes that were read may be other ones when they are read again: see ``RemoteFile``."""
        return self._file.read_again()

    def is_confirmed(self, begin: int, end: int) -> bool:
        """Whether the bytes [begin, end) are the same when they are read once more: see ``RemoteFile``."""
        return self._file.is_confirmed(begin, end)

    def read_payload_and_next_header(self, offset: int, size: int, after: int) -> tuple[bytes, bytes]:
        """The ``size`` bytes at ``offset``, and up to ``after`` bytes that follow them: see ``Opened``."""
        data = self._file.read_at(offset, size)
        while len(data) < size and (more := self._file.read_at(offset + len(data), size - len(data))):
            data += more
        rest = self._file.read_at(offset + len(data), after)
        self.position = offset + len(data) + len(rest)
        return data, rest


class _Section(_RegularFile):
    """Reads the bytes [begin, end) of a regular or remote file, forward."""

    def __init__(self, file: _OwnFile | OpenFile | RemoteFile, begin: int, end: int) -> None:
        super().__init__(file)
        self.position, self._end = begin, end

    def read(self, size: int) -> bytes:
        return super().read(max(0, min(size, self._end - self.position)))


class _StreamFile:
    """Reads a pipe, a device, a remote file or a file object of the caller, forward only.

    Closes it only if it is ``ours``, opened by this module.
    """

    def __init__(self, file: Any, name: str, *, ours: bool, size: int | None = None) -> None:
        if hasattr(file, "encoding"):
            raise TypeError("the file must be open in binary mode, as with open(path, 'rb')")
        self._file = file
        self._name = name
        self._ours = ours
        self._size = size  # if it is known how many bytes there are
        self._pid = os.getpid()
        # read1 returns the bytes that are there; read would wait until a slow pipe has sent all.
        self._read = getattr(file, "read1", file.read)
        self.position = 0

    def read(self, size: int) -> bytes:
        data = self._some(size) if os.getpid() == self._pid else self._refuse()
        if data is None:
            raise BlockingIOError(errno.EAGAIN, "the file does not block and has no data at the moment")
        if not isinstance(data, bytes):
            raise TypeError(f"the file must give bytes, not {type(data).__name__}")
        self.position += len(data)
        if not data and size and self._size is not None and self.position < self._size:
            reason = f"the connection ended after {self.position} of {self._size} bytes"
            raise OSError(errno.EIO, reason, str(self._name))
        return data

    def _some(self, size: int) -> Any:
        if not isinstance(self._name, Url):
            return self._read(size)
        with named(self._name):  # what a library says about a connection that broke does not tell the file
            try:
                return self._read(size)
            except Exception:
                self._file.close()  # there is no way to go on with it
                raise

    def _refuse(self) -> bytes:
        raise ClosedError(
            f"{self._name} was opened by another process, which reads it too: each would miss what the other "
            "has read; open it in one process only"
        )

    def close(self) -> None:
        if self._ours:
            self._file.close()


def _open(name: str) -> _RegularFile | _StreamFile:
    """Opens the file that ``name`` names."""
    url = local_path(name)
    if isinstance(url, Url):
        try:
            return _RegularFile(file_handles.open_file(url, ahead=True))
        except NoRangesError as error:
            return _StreamFile(open_forward(url), url, ours=True, size=error.status.size)
    file = _OwnFile(name)
    # The system reports the size 0 for a device.
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and file.seekable():
        return _RegularFile(file)
    # A pipe without a name, such as /dev/stdin, stays the same when it is opened again.
    if stat.S_ISFIFO(status.st_mode) and not os.path.exists(os.path.realpath(name)):
        _read_once((status.st_dev, status.st_ino), name)
    return _StreamFile(file, name, ours=True)


def _open_section(name: str, begin: int, end: int) -> _Section:
    """Opens the bytes [begin, end) of the regular or remote file that ``name`` names."""
    url = local_path(name)
    remote = isinstance(url, Url)
    return _Section(file_handles.open_file(url, ahead=True) if remote else _OwnFile(name), begin, end)


def read_whole(path: str) -> bytes:
    """All bytes of the small file at ``path``, local or remote."""
    file = _open(path)
    try:
        return b"".join(iter(lambda: file.read(1 << 20), b""))
    finally:
        file.close()


_pipes_read: set[tuple[int, int]] = set()  # the pipes without a name that this process has opened


def _read_once(pipe: tuple[int, int], name: str) -> None:
    """Raise if ``pipe`` was opened before: it would seem to be empty, or lack what the other reader took."""
    if pipe in _pipes_read:
        raise ClosedError(
            f"{name} is a pipe, which gives its data only once, and this process has opened it before; "
            "keep the first reader or dataset, or read a file"
        )
    _pipes_read.add(pipe)


class Opened:
    """One open file, as a source of plain bytes whatever its compression.

    ``compression`` is the name of one, or "". If it is "auto", ``detect`` tells it from the file's first
    bytes; until these have come, the attribute is None. Where ``is_certain`` says no of them, those of a
    remote file are compared with themselves. With a ``section``, only these bytes of a compressed
    regular or remote file are read, as if they were all.
    """

    def __init__(
        self,
        file: Named,
        compression: Any = "",
        *,
        detect: Callable[[bytes], str] | None = None,
        is_certain: Callable[[bytes], bool] | None = None,
        section: tuple[int, int] | None = None,
    ) -> None:
        self.compression = None if compression == "auto" else compression_name(compression)
        self._given = self.compression
        self._begun = 0  # how often the first bytes were other ones when they were read again
        self._resumed = False  # whether what is read now follows a break
        self._detect, self._is_certain = detect, is_certain
        if isinstance(file, str):
            self.name = file
            self._file = _open(file) if section is None else _open_section(file, *section)
        else:
            self.name = str(getattr(file, "name", "") or "<stream>")
            self._file = _StreamFile(file, self.name, ours=False)
        # The file, if it is regular and opened here; and again, if it is also known to be uncompressed.
        self._regular = self._file if isinstance(self._file, _RegularFile) else None
        self._first = 0 if section is None else section[0]
        self._seekable = self._regular if self.compression == "" else None
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
            if self._is_certain is not None and not self._is_certain(head) and not self._is_head(head):
                self.begin_again()
                return self._begin()
            self.compression = self._detect(head)
        if self.compression in READ_ONLY:
            return MemberDecompressor(Prefixed(head, self._file), self.compression)
        if self.compression:
            return inflated(self._file, self.compression, head, self._first)
        if self._regular is None:
            return Prefixed(head, self._file)
        self._regular.position, self._seekable = 0, self._regular
        return self._regular

    def _is_head(self, head: bytes) -> bool:
        """Whether ``head`` is what the file begins with, and was not damaged on its way from a store."""
        if self._regular is None or self._regular.is_confirmed(self._first, self._first + len(head)):
            return True
        self._begun += 1
        return self._begun > ATTEMPTS or not self._regular.read_again()

    @property
    def rewinds(self) -> bool:
        """Whether this is an uncompressed regular or remote file, opened here by its name: it can seek."""
        return self._seekable is not None

    @property
    def regular(self) -> bool:
        """Whether this is a regular or remote file that was opened here, by its name."""
        return self._regular is not None

    def read_again(self) -> bool:
        """Whether bytes that were read may be other ones when they are read again, as from a store."""
        return self._seekable is not None and self._seekable.read_again()

    @property
    def far(self) -> bool:
        """Whether the bytes come from a store each time they are read."""
        return self._regular is not None and self._regular.far

    def may_begin_again(self) -> bool:
        """Whether all bytes may be other ones when they are read again, as from a store: see ``begin_again``.

        Not after a ``resume``: nobody knows how many plain bytes it has skipped.
        """
        return self._regular is not None and not self._resumed and self._regular.read_again()

    def begin_again(self) -> None:
        """Begin anew; the first bytes may tell another compression then. Only if ``may_begin_again``."""
        assert self._regular is not None, "only a regular or remote file can be read again"
        self._regular.position = self._first
        self.compression, self._head = self._given, b""
        self._seekable = self._regular if self.compression == "" else None
        self._plain = self._seekable

    def remaining(self, least: int = 0) -> int | None:
        """How many bytes follow in an uncompressed regular file; None for any other source."""
        return None if self._seekable is None else self._seekable.remaining(least)

    def rewind(self, count: int) -> bool:
        """Go back by ``count`` bytes in an uncompressed regular file; False for any other source."""
        if self._seekable is None:
            return False
        self._seekable.position -= count
        return True

    def go_to(self, offset: int) -> None:
        """Continue at ``offset``; only if ``rewinds``."""
        self._plain_file.position = offset

    def readinto(self, buffer: memoryview) -> int:
        """Like ``read``, but fills ``buffer`` and gives the number of bytes; only if ``rewinds``."""
        return self._plain_file.readinto(buffer)

    def read_payload_and_next_header(self, offset: int, size: int, after: int) -> tuple[bytes, bytes]:
        """The ``size`` bytes at ``offset``, fewer at the end, and up to ``after`` that follow them.

        Only if ``rewinds``.
        """
        return self._plain_file.read_payload_and_next_header(offset, size, after)

    @property
    def _plain_file(self) -> _RegularFile:
        assert self._seekable is not None, "only an uncompressed regular file can seek"
        return self._seekable

    def resume(self) -> bool:
        """After a ``CompressionError``, continue at the next GZIP member; False if there is none."""
        resume = getattr(self._plain, "resume", None)
        self._resumed = True
        return resume is not None and resume()

    @property
    def skipped_range(self) -> tuple[int, int] | None:
        """The bytes of a compressed file that the last ``resume`` skipped, as begin and end."""
        return getattr(self._plain, "skipped_range", None)

    def close(self) -> None:
        (self._plain or self._file).close()
