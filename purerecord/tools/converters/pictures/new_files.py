"""``NewFiles``: files in a new folder, under names that come from data.

No name leads out of the folder, hides a file, or means a device; no file replaces another one. This module
must not know what the files hold.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

TAKEN = "files that got a number, as another one had their name"
UNSAFE = "files whose names were not safe, and were changed"
_LONGEST = 200  # bytes of one part of a name; systems allow 255
_DEEPEST = 8  # folders inside each other
_FORBIDDEN = re.compile(
    r'[/\\\x00-\x1f\x7f-\x9f<>:"|?*\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]'
)
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def safe_parts(name: str) -> list[str]:
    """The folders and the file that a name means, each as a name that any system takes."""
    parts = [part for part in re.split(r"[/\\]", name) if part not in ("", ".")]
    return [safe_name(part) for part in parts[-_DEEPEST:]]


def safe_name(name: str) -> str:
    """One name as any system takes it, with _ for what it does not take."""
    name = _FORBIDDEN.sub("_", name)
    if name.startswith("."):
        name = "_" + name[1:].lstrip(".")
    if _DEVICE.match(name):
        name = "_" + name
    stem, suffix = os.path.splitext(name)
    room = _LONGEST - len(suffix.encode())
    if len(name.encode()) > _LONGEST:
        name = stem.encode()[: max(room, 1)].decode("utf-8", "ignore") + (suffix if room > 0 else "")
    return re.sub(r"[. ]$", "_", name) or "_"


class NewFiles:
    """Files in ``folder``, and their ``size``. ``changed`` lists the names that are not safe, and those that
    other files had already: the first of them, and how many there are."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.size = 0
        self.changed: dict[str, tuple[str, int]] = {}
        self._numbers: dict[str, int] = {}  # of names that were asked for before: the next number to try
        self._folders: set[str] = set()

    def add(self, parts: list[str], data: bytes = b"") -> str:
        """Write a file; its path inside the folder, with / between its parts. If the name is taken, a number
        goes before its suffix."""
        wanted = "/".join(parts)
        for name in self._candidates(self._in_folder(parts)):
            try:
                with open(os.path.join(self.folder, name), "xb", 0) as file:
                    file.write(data)
            except FileExistsError:
                continue
            if name != wanted:
                self._note(TAKEN, wanted)
            self.size += len(data)
            return name
        raise AssertionError("there is always another number")

    def safe(self, name: str) -> list[str]:
        """The parts of a safe name for a file that data calls ``name``."""
        parts = safe_parts(name) or ["_"]
        if "/".join(parts) != name:
            self._note(UNSAFE, name)
        return parts

    def _note(self, reason: str, name: str) -> None:
        first, count = self.changed.get(reason, (name, 0))
        self.changed[reason] = (first, count + 1)

    def replace(self, name: str, data: bytes) -> None:
        """Write the content of a file that was added."""
        with open(os.path.join(self.folder, name), "wb", 0) as file:
            file.write(data)
        self.size += len(data)

    def _in_folder(self, parts: list[str]) -> str:
        """The path of a file whose folder is made. Parts are joined where a file has the folder's name."""
        folder = "/".join(parts[:-1])
        if folder not in self._folders:
            try:
                os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                return "/".join([parts[0], "_".join(parts[1:])]) if len(parts) > 2 else "_".join(parts)
            self._folders.add(folder)
        return "/".join(parts)

    def _candidates(self, name: str) -> Iterator[str]:
        number = self._numbers.get(name, 0)
        stem, suffix = os.path.splitext(name)
        if not number:
            yield name
        while True:
            number += 1
            self._numbers[name] = number
            yield f"{stem}-{number}{suffix}"
