"""The files of a read, and the parts of them that tasks read.

A folder stands for the files in it, as everywhere in Spark: without those whose names begin with "_" or ".",
JSON files such as manifests, and index files. A large file that can be split has several parts, several small
files are one part. This module must not know Spark, nor what is in the files.
"""

from __future__ import annotations

import errno
import fnmatch
import glob
import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ..container.byte_range import splits
from ..storage.file_handles import file_size
from ..storage.paths import is_stream, resolve_paths, without_indexes
from ..storage.stores import filesystem_of, named
from ..storage.url import Url, local_path
from .options import ReadOptions

# Without a given size, parts are of this size at most, unless a read would have too few of them.
_MOST_BYTES, _LEAST_BYTES, _ENOUGH_PARTS = 1 << 27, 1 << 24, 16
# What it costs to open a file, in bytes that could be read meanwhile.
_OPENING = 1 << 22
# Files whose sizes are asked for at the same time: a store takes its time to answer.
_AT_ONCE = 16
_WILD = re.compile(r"[*?[]")


@dataclass(frozen=True)
class FilePart:
    """The bytes [begin, end) of a file; all of it if ``end`` is None."""

    path: str
    begin: int = 0
    end: int | None = None

    @property
    def range(self) -> tuple[int, int | None] | None:
        """The range, None for a whole file."""
        return None if (self.begin, self.end) == (0, None) else (self.begin, self.end)


def input_files(options: ReadOptions) -> list[str]:
    """The files that the paths name, in order."""
    files = [file for path in options.paths for file in _files_of(local_path(path), options)]
    if options.name_pattern is not None:
        files = [file for file in files if fnmatch.fnmatchcase(_name(file), options.name_pattern)]
    return files


def _files_of(path: str, options: ReadOptions) -> list[str]:
    if isinstance(path, Url):
        return _remote_files(path, options)
    if os.path.isdir(path):
        return _in_folder(path, options)
    if _WILD.search(path) and not os.path.lexists(path):
        found = sorted(glob.glob(path))
        if any(map(os.path.isdir, found)):
            groups = [_in_folder(one, options) if os.path.isdir(one) else [one] for one in found]
            return without_indexes([file for group in groups for file in group])
    return resolve_paths(path)


def _in_folder(folder: str, options: ReadOptions) -> list[str]:
    files = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if _is_hidden(entry.name):
            continue
        if not entry.is_dir():
            files.append(entry.path)
        elif options.recursive:
            files += _in_folder(entry.path, options)
        else:
            raise _has_folders(folder, entry.name)
    return without_indexes(files)


def _remote_files(path: Url, options: ReadOptions) -> list[str]:
    """As for a local path. Web servers do not list folders."""
    if path.address.lower().startswith(("http:", "https:")):
        return resolve_paths(path)
    with named(path):
        filesystem, inner = filesystem_of(path)
        if _WILD.search(inner) or not filesystem.isdir(inner):
            return resolve_paths(path)
        inner = inner.rstrip("/")
        files = []
        for name in sorted(filesystem.find(inner)):
            *folders, last = name.removeprefix(inner).strip("/").split("/")
            if any(map(_is_hidden, [*folders, last])):
                continue
            if folders and not options.recursive:
                raise _has_folders(path, folders[0])
            # The address as it was given, so that its store stays the same.
            files.append(path.like(f"{path.address.rstrip('/')}/{'/'.join([*folders, last])}", exact=True))
    return list(without_indexes(files))


def _has_folders(folder: str, name: str) -> ValueError:
    return ValueError(
        f"{folder} holds a folder, {name!r}; set recursiveFileLookup to read all files in it, or name those "
        "that you want, for example with a glob"
    )


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", ".")) or name.endswith(".json")


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1] if isinstance(path, Url) else os.path.basename(path)


def input_parts(files: list[str], options: ReadOptions) -> list[list[FilePart]]:
    """What each task reads."""
    for file in files:
        if is_stream(file):
            raise OSError(errno.EINVAL, "a pipe or device cannot be read by tasks", file)
    if not files:
        return []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        sizes = list(pool.map(file_size, files))
        most = options.split_size or _part_size(sizes)
        ranges = list(pool.map(lambda file, size: _ranges(file, size, most, options), files, sizes))
    parts = [FilePart(file, *one) for file, some in zip(files, ranges, strict=True) for one in some]
    costs = [-(-size // len(some)) for size, some in zip(sizes, ranges, strict=True) for _ in some]
    return _together(zip(parts, costs, strict=True), most)


def _part_size(sizes: list[int]) -> int:
    """So that a small read has some parts too, which run at the same time."""
    total = sum(sizes) + _OPENING * len(sizes)
    return min(_MOST_BYTES, max(_LEAST_BYTES, -(-total // _ENOUGH_PARTS)))


def _ranges(file: str, size: int, most: int, options: ReadOptions) -> list[tuple[int, int | None]]:
    # What follows the damage at which a file is to end must not be read as another part.
    whole = size <= most or options.on_error == "stop"
    found: list[tuple[int, int | None]] = (
        [(0, None)] if whole else splits(file, most, compression=options.compression)
    )
    return found if len(found) > 1 else [(0, None)]


def _together(parts: Iterable[tuple[FilePart, int]], most: int) -> list[list[FilePart]]:
    """``parts`` in groups that cost no more than ``most``."""
    groups: list[list[FilePart]] = []
    room = 0
    for part, size in parts:
        cost = size + _OPENING
        if not groups or cost > room:
            groups.append([])
            room = most
        groups[-1].append(part)
        room -= cost
    return groups
