"""Quarantine: a folder that takes the damaged ranges of a file, so that salvaging it loses nothing.

Each range is a file named by its offset in the plain data, or in the compressed file if it cannot be
inflated; ``damages.json`` lists them. The folder appears when it is complete. ``Rereadable`` is where the
bytes come from: damage is known only when it has been passed over, and a pipe or a compressed file cannot
be gone back in. This module does not know how damage is found.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

from ..container.damage import Damage
from ..container.looks_like import detect
from ..storage.opened import Opened
from ..storage.paths import Named, temporary_name, writing

_PIECE = 1 << 20
# So much of what was read lately is kept in memory, more of it on disk.
_IN_MEMORY = 1 << 24


class Rereadable(Opened):
    """An opened file that gives its latest bytes once more: those behind what was last forgotten."""

    def __init__(self, file: Named, compression: Any = "auto") -> None:
        super().__init__(file, compression, detect=detect)
        self._kept = _spool()
        self._kept_from = 0  # where in the plain data that begins

    def read(self, size: int) -> bytes:
        data = super().read(size)
        if not self.rewinds:
            with writing(tempfile.gettempdir()):
                self._kept.seek(0, os.SEEK_END)
                self._kept.write(data)
        return data

    def again(self, begin: int, end: int) -> Iterator[bytes]:
        """The plain bytes [begin, end)."""
        if self.rewinds:
            with io.FileIO(self.name) as file:
                yield from _pieces(file, begin, end)
        else:
            yield from _pieces(self._kept, begin - self._kept_from, end - self._kept_from)

    def stored(self, begin: int, end: int) -> Iterator[bytes]:
        """The bytes [begin, end) of the file itself, however it is compressed; none of a pipe."""
        if self._file.regular:
            with io.FileIO(self.name) as file:
                yield from _pieces(file, begin, end)

    def forget(self, offset: int) -> None:
        """What lies before ``offset`` is not needed any more."""
        if offset - self._kept_from < _IN_MEMORY:
            return
        rest = _spool()
        with writing(tempfile.gettempdir()):
            self._kept.seek(offset - self._kept_from)
            shutil.copyfileobj(self._kept, rest, _PIECE)
        self._kept.close()
        self._kept, self._kept_from = rest, offset

    def close(self) -> None:
        self._kept.close()
        super().close()


def _spool() -> Any:
    return tempfile.SpooledTemporaryFile(_IN_MEMORY)


def _pieces(file: Any, begin: int, end: int) -> Iterator[bytes]:
    file.seek(begin)
    while begin < end and (piece := file.read(min(end - begin, _PIECE))):
        begin += len(piece)
        yield piece


def check_folder(folder: str) -> None:
    """An error unless ``folder`` can become a quarantine."""
    if os.path.lexists(folder) and not (os.path.isdir(folder) and not os.listdir(folder)):
        raise FileExistsError(errno.EEXIST, "the quarantine must be a new or an empty folder", folder)


class Quarantine:
    """The folder, while it is being filled: under another name, from the first damage on."""

    def __init__(self, folder: str) -> None:
        check_folder(folder)
        self._folder = folder
        self._temporary = temporary_name(os.path.normpath(folder))
        self._finished = False
        self._entries: list[dict[str, Any]] = []

    def add(self, damage: Damage, source: Rereadable) -> None:
        """Put one damaged range aside."""
        if not self._entries:
            with writing(self._folder):
                os.makedirs(self._temporary)
        name = self._keep(f"{damage.begin:012d}.bin", source.again(damage.begin, damage.end))
        entry = {"file": name, "compressed_file": None, **damage.to_dict()}
        if damage.compressed is not None:
            begin, end = damage.compressed
            entry["compressed_file"] = self._keep(f"compressed-{begin:012d}.bin", source.stored(begin, end))
        self._entries.append(entry)

    def _keep(self, name: str, pieces: Iterator[bytes]) -> str | None:
        """Write a file, if there is anything to be written; its name."""
        kept = None
        for piece in pieces:  # to read it may go wrong too, and is nothing to be said of the folder
            with writing(self._folder), open(os.path.join(self._temporary, name), "ab") as file:
                file.write(piece)
            kept = name
        return kept

    def finish(self, source: str) -> bool:
        """Give the folder its name, unless there is nothing to be kept."""
        if not self._entries:
            return False
        with writing(self._folder):
            with open(os.path.join(self._temporary, "damages.json"), "w", encoding="utf-8") as file:
                json.dump({"source": source, "damages": self._entries}, file, indent=2)
                file.write("\n")
            if os.path.isdir(self._folder):
                os.rmdir(self._folder)
            self._finished = True
            os.replace(self._temporary, self._folder)
        return True

    def abandon(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self._temporary, ignore_errors=True)
        if self._finished:
            shutil.rmtree(self._folder, ignore_errors=True)
