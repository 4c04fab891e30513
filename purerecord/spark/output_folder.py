"""A folder of the disk or of a store in which the files of a write appear.

Its methods take names inside of it. This module must not know Spark, nor what is in the files.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from typing import Any, Protocol

from ..storage.paths import writing
from ..storage.stores import Upload, filesystem_of, named, remove, rename
from ..storage.url import Url, local_path

# How often a folder is emptied in which new files appear.
_REMOVALS = 5


class OutputFolder(Protocol):
    """A folder, which may be missing."""

    def exists(self) -> bool:
        """Whether it exists; an error if it is a file."""

    def names(self) -> list[str]:
        """The files and folders in it; none if it is missing."""

    def path(self, name: str) -> str:
        """What ``TFRecordWriter`` takes as the path of ``name``."""

    def make(self, name: str) -> None:
        """Make the folder ``name``."""

    def move(self, name: str, target: str) -> None:
        """Give the file ``name`` another name, which no file has."""

    def remove(self, name: str) -> None:
        """Remove the file or folder ``name``, with all that is in it; nothing if there is none."""

    def touch(self, name: str) -> None:
        """Make an empty file, and the folder."""

    def remove_empty(self) -> None:
        """Remove the folder if there is nothing in it."""


def output_folder(path: str) -> OutputFolder:
    """The folder at ``path``, a path or a URL."""
    name = local_path(path)
    return _RemoteFolder(name) if isinstance(name, Url) else _LocalFolder(name)


def _no_folder(path: str) -> NotADirectoryError:
    return NotADirectoryError(errno.ENOTDIR, "it is a file, but a write makes a folder", path)


class _LocalFolder:
    def __init__(self, path: str) -> None:
        self._path = path

    def exists(self) -> bool:
        if os.path.lexists(self._path) and not os.path.isdir(self._path):
            raise _no_folder(self._path)
        return os.path.isdir(self._path)

    def names(self) -> list[str]:
        return sorted(os.listdir(self._path)) if self.exists() else []

    def path(self, name: str) -> str:
        return os.path.join(self._path, name)

    def make(self, name: str) -> None:
        os.makedirs(self.path(name), exist_ok=True)

    def move(self, name: str, target: str) -> None:
        place = self.path(target)
        with writing(place):
            os.replace(self.path(name), place)

    def remove(self, name: str) -> None:
        path = self.path(name)
        with suppress(FileNotFoundError):
            if os.path.isdir(path) and not os.path.islink(path):
                _remove_tree(path)
            else:
                os.remove(path)

    def touch(self, name: str) -> None:
        os.makedirs(self._path, exist_ok=True)
        with open(self.path(name), "wb"):
            pass

    def remove_empty(self) -> None:
        with suppress(OSError):
            os.rmdir(self._path)


def _remove_tree(path: str) -> None:
    """Remove a folder in which another process may be making its last file."""
    for tries_left in reversed(range(_REMOVALS)):
        try:
            shutil.rmtree(path)
            return
        except OSError as error:
            if error.errno != errno.ENOTEMPTY or not tries_left:
                raise


class _RemoteFolder:
    """A folder of a store, which is no more than the beginning of the names of its files."""

    def __init__(self, url: Url) -> None:
        self._url = url

    def exists(self) -> bool:
        with named(self._url):
            filesystem, inner = self._filesystem()
            if filesystem.isfile(inner):
                raise _no_folder(self._url)
            return bool(filesystem.exists(inner))

    def names(self) -> list[str]:
        if not self.exists():
            return []
        with named(self._url):
            filesystem, inner = self._filesystem()
            found = (name.rstrip("/").rsplit("/", 1)[-1] for name in filesystem.ls(inner, detail=False))
            return sorted(set(found) - {""})

    def path(self, name: str) -> Url:
        return self._url.like(f"{self._url.address.rstrip('/')}/{name}", exact=True)

    def make(self, name: str) -> None:
        """Nothing: a store has no folders without files."""

    def move(self, name: str, target: str) -> None:
        rename(self.path(name), self.path(target))

    def remove(self, name: str) -> None:
        url = self.path(name)
        with named(url):
            filesystem, inner = self._filesystem(url)
            if filesystem.isdir(inner):
                with suppress(FileNotFoundError):
                    filesystem.rm(inner, recursive=True)
                return
        remove(url)

    def touch(self, name: str) -> None:
        Upload(self.path(name)).commit()

    def remove_empty(self) -> None:
        """Nothing: a store has no folders without files."""

    def _filesystem(self, url: Url | None = None) -> tuple[Any, str]:
        """The file system, which forgets what it has listed, and the path of ``url``, or of the folder."""
        filesystem, inner = filesystem_of(url or self._url)
        filesystem.invalidate_cache()
        return filesystem, inner.rstrip("/")
