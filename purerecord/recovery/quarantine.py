"""Quarantine: a folder that takes the damaged ranges of a file, so that salvaging it loses nothing.

Each range is a file named by its offset in the plain data, or in the compressed file if it cannot be
inflated; ``damages.json`` lists them. The folder appears when it is complete.

The bytes come from ``Rereadable``. Damage is known only after it has been read, and a pipe or a compressed
file cannot be rewound. This module must not know how damage is found.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from ..container.damage import Damage
from ..container.looks_like import detect
from ..storage.file_handles import open_file
from ..storage.opened import Opened
from ..storage.paths import Named, replace, temporary_name, writing

_COPY_SIZE = 1 << 20  # bytes copied at once
# Recent plain bytes that are kept in memory; more of them are kept in a temporary file.
_KEPT_IN_MEMORY = 1 << 24


class Rereadable(Opened):
    """An opened file that can give its latest bytes again: those after the last ``forget``."""

    def __init__(self, file: Named, compression: Any = "auto") -> None:
        super().__init__(file, compression, detect=detect)
        self._kept = _spool()
        self._kept_from = 0  # the offset of the kept bytes in the plain data

    def read(self, size: int) -> bytes:
        data = super().read(size)
        if not self.rewinds:
            with writing(tempfile.gettempdir()):
                self._kept.seek(0, os.SEEK_END)
                self._kept.write(data)
        return data

    def reread(self, begin: int, end: int) -> Iterator[bytes]:
        """Yield the plain bytes [begin, end)."""
        if self.rewinds:
            yield from _ranges(self.name, begin, end)
        else:
            yield from _chunks(self._kept, begin - self._kept_from, end - self._kept_from)

    def reread_file(self, begin: int, end: int) -> Iterator[bytes]:
        """Yield the bytes [begin, end) of the file itself, compressed or not; nothing for a pipe."""
        if self.regular:
            yield from _ranges(self.name, begin, end)

    def forget(self, offset: int) -> None:
        """Release the plain bytes before ``offset``."""
        if offset - self._kept_from < _KEPT_IN_MEMORY:
            return
        rest = _spool()
        with writing(tempfile.gettempdir()):
            self._kept.seek(offset - self._kept_from)
            shutil.copyfileobj(self._kept, rest, _COPY_SIZE)
        self._kept.close()
        self._kept, self._kept_from = rest, offset

    def close(self) -> None:
        self._kept.close()
        super().close()


def _spool() -> Any:
    return tempfile.SpooledTemporaryFile(_KEPT_IN_MEMORY)


def _ranges(path: str, begin: int, end: int) -> Iterator[bytes]:
    with closing(open_file(path)) as file:
        while begin < end and (chunk := file.read_at(begin, min(end - begin, _COPY_SIZE))):
            begin += len(chunk)
            yield chunk


def _chunks(file: Any, begin: int, end: int) -> Iterator[bytes]:
    file.seek(begin)
    while begin < end and (chunk := file.read(min(end - begin, _COPY_SIZE))):
        begin += len(chunk)
        yield chunk


def check_folder(folder: str) -> None:
    """Raise a FileExistsError unless ``folder`` is new or empty."""
    if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
        raise FileExistsError(errno.EEXIST, "the quarantine must be a new or an empty folder", folder)


class Quarantine:
    """The folder while it is filled. It is made at the first damage, under a temporary name."""

    def __init__(self, folder: str) -> None:
        check_folder(folder)
        self._folder = folder
        self._temporary = temporary_name(os.path.normpath(folder))
        self._finished = False
        self._entries: list[dict[str, Any]] = []

    def add(self, damage: Damage, source: Rereadable) -> None:
        """Copy one damaged range from ``source``."""
        if not self._entries:
            with writing(self._folder):
                os.makedirs(self._temporary)
        name = self._keep(f"{damage.begin:012d}.bin", source.reread(damage.begin, damage.end))
        entry = {"file": name, "compressed_file": None, **damage.to_dict()}
        if damage.compressed is not None:
            begin, end = damage.compressed
            entry["compressed_file"] = self._keep(
                f"compressed-{begin:012d}.bin", source.reread_file(begin, end)
            )
        self._entries.append(entry)

    def _keep(self, name: str, chunks: Iterator[bytes]) -> str | None:
        """Write a file, unless there are no bytes; return its name or None."""
        kept = None
        for chunk in chunks:  # outside of ``writing``: an error of reading must not name the folder
            with writing(self._folder), open(os.path.join(self._temporary, name), "ab") as file:
                file.write(chunk)
            kept = name
        return kept

    def finish(self, source: str) -> bool:
        """Give the folder its name; False if there was no damage, and so no folder."""
        if not self._entries:
            return False
        with writing(self._folder):
            with open(os.path.join(self._temporary, "damages.json"), "w", encoding="utf-8") as file:
                json.dump({"source": source, "damages": self._entries}, file, indent=2)
                file.write("\n")
            if os.path.isdir(self._folder):
                os.rmdir(self._folder)
            self._finished = True
            replace(self._temporary, self._folder)
        return True

    def abandon(self) -> None:
        """Remove the folder, finished or not."""
        shutil.rmtree(self._temporary, ignore_errors=True)
        if self._finished:
            shutil.rmtree(self._folder, ignore_errors=True)
