"""``PictureFiles``: the pictures in some folders, found by the names that annotations have for them.

Annotations name files as they were called elsewhere: with the path of another machine, without an extension,
or with that of a file that was converted since. This module must not know annotations.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp")
OTHER_SUFFIXES = (".tif", ".tiff", ".ppm", ".pgm", ".heic", ".avif", ".jp2")
SUFFIX_DIFFERS = "pictures whose names in the annotations have no extension, or another one"
_AMBIGUOUS = ""
_USUAL = ("JPEGImages", "images", "Images")


def files_below(folder: str, *above: str) -> Iterator[str]:
    """The paths of all files in a folder and in those below, relative to it, each folder in order of names.

    Hidden ones are left out. Links to folders are followed, but not to one that is open already, nor to one
    of those ``above``. Links that lead nowhere are files, which are missing when they are opened.
    """
    yield from _files(folder, "", {os.path.realpath(name) for name in (folder, *above)})


def _files(folder: str, inner: str, above: set[str]) -> Iterator[str]:
    with os.scandir(os.path.join(folder, inner)) as entries:
        found = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda e: e.name)
    folders = [entry for entry in found if is_folder(entry)]
    yield from (os.path.join(inner, entry.name) for entry in found if _is_file(entry))
    for entry in folders:
        real = os.path.realpath(entry.path)
        if real not in above:
            yield from _files(folder, os.path.join(inner, entry.name), above | {real})


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    if not entry.is_symlink():
        return entry.is_file()
    return os.path.isfile(entry.path) or not os.path.exists(entry.path)


def is_picture(name: str) -> bool:
    """Whether a file has the name of a picture."""
    return name.lower().endswith(SUFFIXES)


def inner_name(name: str) -> str:
    """The name of a file in an annotation without the folders of another machine."""
    name = name.replace("\\", "/").removeprefix("./")
    return name.rpartition("/")[2] if name.startswith("/") or name[1:2] == ":" else name


def usual_folders(folder: str) -> list[str]:
    """The folders in which the pictures may be whose annotations are in ``folder``."""
    around = [
        os.path.join(where, name)
        for where in (folder, os.path.dirname(os.path.abspath(folder)))
        for name in _USUAL
    ]
    return [found for found in around if os.path.isdir(found)][:1] or [folder]


class PictureFiles:
    """The pictures in folders and in the folders below them.

    ``differs`` lists the names that were found under another extension.
    """

    def __init__(self, *folders: str) -> None:
        self.folders = folders
        self.differs: list[str] = []
        self._paths: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._stems: dict[str, str] = {}
        for folder in folders:
            for inner in filter(is_picture, files_below(folder)):
                path = os.path.join(folder, inner)
                self._paths.setdefault(inner.replace(os.sep, "/"), path)
                for names, name in ((self._names, os.path.basename(inner)), (self._stems, _stem(inner))):
                    names[name] = path if names.get(name, path) == path else _AMBIGUOUS

    def __len__(self) -> int:
        return len(self._paths)

    def find(self, name: str) -> str | None:
        """The path of the picture that annotations call ``name``; None if it is not there.

        ValueError if several could be meant.
        """
        name = name.replace("\\", "/").removeprefix("./")
        if name in self._paths:
            return self._paths[name]
        base = name.rpartition("/")[2]
        found = self._names.get(base)
        if (
            found is None
            and (found := self._stems.get(_stem(base) if is_picture(base) else base)) is not None
        ):
            self.differs.append(name)
        if found == _AMBIGUOUS:
            raise ValueError(
                f"{name}: several pictures in {', '.join(self.folders)} have this name; give their folder "
                "in the annotations"
            )
        return found


def _stem(name: str) -> str:
    return os.path.splitext(os.path.basename(name))[0]
