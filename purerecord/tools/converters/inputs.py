"""Files of other formats as plain bytes: local or remote, compressed or not, or a stream.

This module must not know the formats.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from ...errors import CorruptionError
from ...storage.bz2_xz_zstd import sniff_member
from ...storage.file_handles import OpenFile, open_file
from ...storage.opened import Opened
from ...storage.remote_file import NoRangesError, RemoteFile
from ...storage.url import Url
from .outputs import name_of

_PIECE = 1 << 20


class _PlainBytes(io.RawIOBase):
    """The bytes of a file after decompression, forward only."""

    def __init__(self, opened: Opened, name: str, progress: Callable[[int, int], None]) -> None:
        self._opened = opened
        self._name = name
        self._progress = progress
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not len(self._rest):
            before = self._opened.position
            try:
                self._rest = memoryview(self._opened.read(_PIECE))
            except CorruptionError as error:  # of the compression
                error.path = error.path or self._name
                raise
            self._progress(self._opened.position - before, 0)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            self._opened.close()
        super().close()


def _detect(head: bytes) -> str:
    return "GZIP" if head.startswith(b"\x1f\x8b") else sniff_member(head)


def _nothing(size: int, records: int) -> None:
    """Called where the caller wants no calls."""


def open_plain(source: Any, progress: Callable[[int, int], None] = _nothing) -> io.BufferedReader:
    """``source``, a path, URL or open binary file, as plain bytes, read forward; GZIP, BZ2, XZ and ZSTD are
    recognized by their first bytes. ``progress`` gets the bytes of the file itself."""
    return io.BufferedReader(
        _PlainBytes(Opened(source, "auto", detect=_detect), name_of(source), progress), _PIECE
    )


@contextmanager
def open_seekable(source: Any) -> Iterator[BinaryIO]:
    """``source``, a path, URL or open binary file, for a format that is read here and there."""
    if hasattr(source, "read"):
        if not source.seekable():
            raise ValueError("this format is not read from a pipe; save it as a file first")
        yield source
        return
    file: BinaryIO = _remote(source) if isinstance(source, Url) else open(source, "rb")  # noqa: SIM115
    with file:
        yield file


def _remote(url: Url) -> Any:
    try:
        return io.BufferedReader(_HereAndThere(open_file(url)), _PIECE)
    except NoRangesError:
        copy = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
        with open_plain(url) as file:
            shutil.copyfileobj(file, copy, _PIECE)
        copy.seek(0)
        return copy


class _HereAndThere(io.RawIOBase):
    """A remote file as a file object that seeks."""

    def __init__(self, file: OpenFile | RemoteFile) -> None:
        self._file = file
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._file.size()}[whence]
        self._position = max(0, start + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        size = self._file.read_into(self._position, memoryview(buffer).cast("B"))
        self._position += size
        return size

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
