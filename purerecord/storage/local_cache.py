"""Whole copies of remote files in a local folder of bounded size, which processes share.

The options ``local_cache`` (the folder) and ``local_cache_size`` of ``storage_options`` ask for it. A copy is
named after the URL and the version of the file, so that it is never used for another version. One process
fetches a file, and the others wait for it. The copies used least recently make room for new ones. A file that
is removed while a process reads it stays readable there. This module does not know what the bytes mean.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from .file_lock import FileLock
from .paths import replace, writing
from .remote_file import NoRangesError, RemoteFile
from .sizes import size_in_bytes
from .stores import named, open_forward
from .url import CACHE_OPTIONS, Url

DEFAULT_SIZE = "10GB"
_FOLDER, _SIZE = CACHE_OPTIONS
_LOCK = ".lock"  # of the whole folder
# Bytes that are written at once, and seconds between two looks whether others have made room.
_PIECE = 1 << 22
_PAUSE = 0.1
_PARTIAL = re.compile(r"(.+)\.(\d+)\.partial")
_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")


class Cache(NamedTuple):
    """A folder, and how many bytes it may hold."""

    folder: str
    size: int


class _Entry(NamedTuple):
    used: float  # when it was used last
    size: int
    path: str


def cache_of(url: Url) -> Cache | None:
    """The cache that the options of ``url`` ask for; None if they do not."""
    folder = url.storage_options.get(_FOLDER)
    if folder is None:
        if url.storage_options.get(_SIZE) is not None:
            raise ValueError(f"{_SIZE} is the size of {_FOLDER}, a folder that is not given")
        return None
    return Cache(os.fspath(folder), size_in_bytes(url.storage_options.get(_SIZE) or DEFAULT_SIZE))


def local_copy(url: Url, cache: Cache, *, again: bool = False) -> str:
    """The path of a whole copy of the file at ``url``; ``again`` fetches it even if there is one."""
    os.makedirs(cache.folder, mode=0o700, exist_ok=True)
    remote = _Remote(url)
    path = os.path.join(cache.folder, _name(url, remote.version))
    lock = FileLock(f"{path}.lock")
    try:
        if again or not _is_whole(path, remote.size):
            _remove_other_versions(path)
            _fetch(remote, path, cache)
        with suppress(FileNotFoundError):  # another process has made room since
            os.utime(path)
    finally:
        lock.release(remove=True)
    return path


def _name(url: Url, version: str) -> str:
    """The name of a copy: what a person can read of it, the URL and the version."""
    readable = _UNUSUAL.sub("_", str(url).rpartition("/")[2])[-80:]
    return f"{readable}.{_digest(url.address)}.{_digest(version)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:20]


def _is_whole(path: str, size: int | None) -> bool:
    try:
        return size is None or os.stat(path).st_size == size
    except FileNotFoundError:
        return False


def _remove_other_versions(path: str) -> None:
    """Remove the copies of earlier versions of the file that ``path`` is a copy of."""
    folder, name = os.path.split(path)
    same = name.rpartition(".")[0] + "."
    for entry in os.scandir(folder):
        if entry.name.startswith(same) and not entry.name.startswith(name) and _is_copy(entry.name):
            with suppress(OSError):
                os.unlink(entry.path)


def _is_copy(name: str) -> bool:
    return not name.endswith((".lock", ".partial"))


class _Remote:
    """The remote file at ``url``, to be read whole; ``version`` tells it from any other."""

    def __init__(self, url: Url) -> None:
        self._url = url
        self._file: RemoteFile | None = None
        try:
            self._file = RemoteFile(url, ahead=True)
            status = self._file.status
        except NoRangesError as error:
            status = error.status
        self.size = status.size
        if not status.version:
            reason = f"the server does not say when it has changed: read it without {_FOLDER}"
            raise OSError(errno.ENOTSUP, reason, str(url))
        self.version = f"{status.size} {status.version}"

    def pieces(self) -> Iterator[bytes]:
        """All bytes of the file."""
        if self._file is None:
            with named(self._url), open_forward(self._url) as stream:
                while piece := stream.read(_PIECE):
                    yield piece
            return
        at = 0
        while piece := self._file.read_at(at, _PIECE):
            yield piece
            at += len(piece)
        self._file.close()


def _fetch(remote: _Remote, path: str, cache: Cache) -> None:
    """Copy the file to ``path``, whose lock this process holds."""
    size = cache.size if remote.size is None else remote.size
    if size > cache.size:
        raise OSError(
            errno.EFBIG,
            f"it has {size} bytes, and the cache {cache.folder} may hold {cache.size}: give a larger {_SIZE}",
            str(remote._url),
        )
    partial = f"{path}.{size}.partial"
    _make_room(cache, size, partial)
    try:
        with open(partial, "wb") as file:
            for piece in remote.pieces():
                with writing(partial):
                    file.write(piece)
            if remote.size not in (None, file.tell()):
                reason = f"the connection ended after {file.tell()} of {remote.size} bytes"
                raise OSError(errno.EIO, reason, str(remote._url))
            with writing(partial):
                file.flush()
                os.fsync(file.fileno())
        replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def _make_room(cache: Cache, size: int, partial: str) -> None:
    """Begin the file ``partial``, which will have ``size`` bytes, once there is room for these."""
    while True:
        with FileLock(os.path.join(cache.folder, _LOCK)):
            if _has_room(cache, size):
                open(partial, "wb").close()  # from now on the room is taken
                return
        time.sleep(_PAUSE)  # others fetch files that take it all; what they have fetched can go


def _has_room(cache: Cache, size: int) -> bool:
    """Whether there is room for ``size`` bytes, after the copies used least recently were removed."""
    entries, taken = [], 0
    for entry in os.scandir(cache.folder):
        if match := _PARTIAL.fullmatch(entry.path):
            taken += 0 if _removed_if_left(match[1], entry.path) else int(match[2])
        elif _is_copy(entry.name):
            with suppress(FileNotFoundError):
                status = entry.stat()
                entries.append(_Entry(status.st_mtime, status.st_size, entry.path))
    taken += sum(entry.size for entry in entries)
    for copy in sorted(entries):
        if taken + size <= cache.size:
            break
        with suppress(OSError):  # Windows removes no file that is open
            os.unlink(copy.path)
            taken -= copy.size
    return taken + size <= cache.size


def _removed_if_left(path: str, partial: str) -> bool:
    """Remove ``partial`` if the process that was fetching it to ``path`` has ended."""
    try:
        lock = FileLock(f"{path}.lock", wait=False)
    except BlockingIOError:
        return False
    try:
        with suppress(FileNotFoundError):
            os.unlink(partial)
    finally:
        lock.release(remove=True)
    return True
