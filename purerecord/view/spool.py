"""``Spool``: one temporary file for what was read of all files that can only be read forward.

A folder can hold thousands of compressed files, so neither a temporary file for each nor room for all of
their data can be had. Files that nobody has asked for get half of the room. This module does not know what
the data means.
"""

from __future__ import annotations

import tempfile
import threading
from typing import IO


class Spool:
    """Keeps up to ``most`` bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._size = 0

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return self._size

    def has_room(self, *, asked: bool) -> bool:
        """Whether more may be kept, of a file that somebody has asked for or not."""
        return self._size < (self._most if asked else self._most // 2)

    def add(self, data: memoryview) -> int:
        """Keep data; where it is."""
        with self._lock:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="purerecord-view-")  # noqa: SIM115 - close() does
            begin = self._size
            self._file.seek(begin)
            self._file.write(data)
            self._size += len(data)
            return begin

    def read(self, offset: int, size: int) -> bytes:
        """Data that is kept."""
        with self._lock:
            if self._file is None:
                return b""
            self._file.seek(offset)
            return self._file.read(size)

    def close(self) -> None:
        """Drop everything."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
