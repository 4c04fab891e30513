"""``OpenFiles``: files to read from by position, of which only so many are open at a time.

Threads may share it. A file is closed when it is neither among those used last nor being read from. It
holds no open file when it is pickled. This module does not know what is in a file.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any

# Of thousands of shards no more are kept open: systems allow a process a thousand or less.
KEPT = 64


class OpenFiles:
    """Opens files when they are asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: OrderedDict[str, OpenFile] = OrderedDict()  # the one used last is last

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenFiles, ()  # another process opens them itself

    def get(self, path: str) -> OpenFile:
        """The file at ``path``, for as long as the caller has it."""
        with self._lock:
            file = self._files.pop(path, None) or OpenFile(path)
            self._files[path] = file
            if len(self._files) > KEPT:
                self._files.popitem(last=False)
        return file


class OpenFile:
    """One file, closed when nobody has it any more, or before.

    It holds a bare descriptor: a file object that is forgotten together with an error, and so in a cycle,
    complains before anyone can close it.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._lock = threading.Lock()

    def size(self) -> int:
        """How long the file is now."""
        return os.fstat(self._descriptor).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        """``size`` bytes at ``offset``, fewer only where the file ends."""
        data = self._read_some(offset, size)
        if len(data) == size:
            return data
        pieces = [data]
        missing = size - len(data)
        while missing and (piece := self._read_some(offset + size - missing, missing)):
            pieces.append(piece)  # the system gives no more than 2 GiB at once
            missing -= len(piece)
        return b"".join(pieces)

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill ``view`` with what is at ``offset``; how many bytes it gets: fewer where the file ends."""
        have = 0
        while have < len(view) and (got := self._read_some_into(offset + have, view[have:])):
            have += got
        return have

    def _read_some_into(self, offset: int, view: memoryview) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._descriptor, [view], offset)
        data = self._read_some(offset, len(view))
        view[: len(data)] = data
        return len(data)

    def _read_some(self, offset: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, size, offset)
        with self._lock:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            return os.read(self._descriptor, size)

    def close(self) -> None:
        """Close it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()
