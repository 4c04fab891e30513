"""``OpenFiles``: an LRU cache of open files for reads by position.

Threads may share it. A file is closed once it has left the cache and no caller reads from it. A pickle holds
no open file. This module does not know the content of a file.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from .fork_lock import ForkLock
from .local_cache import Cache, cache_of, local_copy
from .remote_file import RemoteFile
from .url import Url, local_path

# Open files in the cache at most: systems allow a process a thousand or fewer.
KEPT = 64
# Bytes that one call reads at most: macOS refuses 2 GiB, and Linux reads less than that.
MOST_AT_ONCE = 1 << 30


class OpenFiles:
    """The files used last, open."""

    def __init__(self) -> None:
        self._lock = ForkLock()
        self._files: OrderedDict[str, OpenFile | RemoteFile] = OrderedDict()  # the one used last comes last

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenFiles, ()  # another process opens the files itself

    def get(self, path: str) -> OpenFile | RemoteFile:
        """The file at ``path``, open as long as the caller refers to it."""
        key = path.address if isinstance(path, Url) else path  # two of them may have the same text
        with self._lock.here():
            if key in self._files:
                self._files.move_to_end(key)
                return self._files[key]
        opened = open_file(path)  # which takes a while in a store: other threads go on
        with self._lock.here():
            file = self._files.setdefault(key, opened)
            self._files.move_to_end(key)
            if len(self._files) > KEPT:
                self._files.popitem(last=False)
        return file


def open_file(path: str, *, ahead: bool = False) -> OpenFile | RemoteFile:
    """The file at ``path``, local or remote. With ``ahead``, a remote one is read forward mostly."""
    name = local_path(path)
    if not isinstance(name, Url):
        return OpenFile(name)
    cache = cache_of(name)
    return RemoteFile(name, ahead=ahead) if cache is None else CachedFile(name, cache)


def file_size(path: str) -> int:
    """The size of the file at ``path``, local or remote; nothing of it is read, or fetched into a cache."""
    name = local_path(path)
    return RemoteFile(name).size() if isinstance(name, Url) else os.stat(name).st_size


class OpenFile:
    """One open file; closes itself when nothing refers to it any more.

    It holds a bare descriptor. A file object that is collected in a cycle, together with an error, would give
    a ResourceWarning before anything can close it.
    """

    _descriptor = -1

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._lock = threading.Lock()
        if stat.S_ISDIR(os.fstat(self._descriptor).st_mode):  # which can be opened, but not read
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)

    def size(self) -> int:
        """The size of the file now."""
        return os.fstat(self._descriptor).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        """``size`` bytes at ``offset``; fewer only at the end of the file."""
        data = self._read_some(offset, size)
        if len(data) == size:
            return data
        pieces = [data]
        missing = size - len(data)
        while missing and (piece := self._read_some(offset + size - missing, missing)):
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def read_many(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of several spans of offset and size."""
        return [self.read_at(offset, size) for offset, size in spans]

    def is_confirmed(self, begin: int, end: int) -> bool:
        """Whether the bytes [begin, end) are the same when they are read once more: see ``RemoteFile``."""
        return True

    def read_again(self) -> bool:
        """Whether bytes may be other ones when they are read again: not those of a local file."""
        return False

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill ``view`` with the bytes at ``offset``, and give their number: less only at the file's end."""
        have = 0
        while have < len(view) and (got := self._read_some_into(offset + have, view[have:])):
            have += got
        return have

    def _read_some_into(self, offset: int, view: memoryview) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._descriptor, [view[:MOST_AT_ONCE]], offset)
        data = self._read_some(offset, len(view))
        view[: len(data)] = data
        return len(data)

    def _read_some(self, offset: int, size: int) -> bytes:
        size = min(size, MOST_AT_ONCE)
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, size, offset)
        with self._lock:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            return os.read(self._descriptor, size)

    def close(self) -> None:
        """Close the file."""
        # Never twice, whatever happens in between: the number may belong to another file then.
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


# How often a copy is made anew that others remove from the cache before it is open.
_TRIES = 20


class CachedFile(OpenFile):
    """The local copy of a remote file, at ``path``; it is fetched now unless the cache has it."""

    def __init__(self, url: Url, cache: Cache) -> None:
        self._url = url
        self._cache = cache
        self._first: OpenFile | None = None  # the copy that was opened first, if another one has replaced it
        self._open()

    def _open(self, *, again: bool = False) -> None:
        for _ in range(_TRIES):
            self.path = local_copy(self._url, self._cache, again=again)
            with suppress(FileNotFoundError):
                super().__init__(self.path)
                return
        reason = f"other processes empty the cache {self._cache.folder} at once: it is too small for all"
        raise OSError(errno.ENOSPC, reason, str(self._url))

    def read_again(self) -> bool:
        """Fetch the copy again, once: it may have been damaged on its way, or on the local disk."""
        if self._first is not None:
            return False
        first = object.__new__(OpenFile)
        first._descriptor = self._descriptor  # other threads may read from it
        self._first = first
        self._open(again=True)
        return True
