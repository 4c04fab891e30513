"""The files to read, and how they are divided among tasks.

A task reads pieces: whole files, or ranges of bytes of a large file that can be split. This module must not
know Ray, nor what a record holds.
"""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ..container.byte_range import splits
from ..container.index import Index, has_index, index_path, load_index
from ..storage.file_handles import file_size
from ..storage.paths import resolve_paths
from ..storage.shard_sets import SHARD
from ..storage.stores import exists, filesystem_of, named
from ..storage.url import Url, local_path, stored

# Files that are looked at at the same time, in threads, if they are remote.
_THREADS = 16
# A larger index would take longer to load than the number of records is worth.
_LARGEST_INDEX = 1 << 24
# No piece of a file is smaller, however many tasks there could be.
_SMALLEST_PIECE = 1 << 20


class Piece(NamedTuple):
    """A part of a file: all of it if ``byte_range`` is None. ``records`` is None if it is unknown."""

    path: str
    byte_range: tuple[int, int | None] | None
    size: int
    records: int | None


class Shard(NamedTuple):
    """A file to read, and whether there is an index beside it that is worth loading."""

    path: str
    size: int
    indexed: bool


def find_files(
    paths: Any,
    *,
    storage_options: Any = None,
    filesystem: Any = None,
    ignore_missing: bool = False,
    extensions: Iterable[str] | None = None,
    choose: Callable[[list[str]], Iterable[str]] | None = None,
) -> list[str]:
    """The files that ``paths`` name: files, patterns, and folders with all that is in them.

    Local names become absolute, since a task may run in another folder. In a folder, names that begin with a
    dot or an underscore are left out, and so are JSON files, such as manifests. ``extensions`` and ``choose``
    are the ``file_extensions`` and the ``partition_filter`` of Ray.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: list[str] = []
    for path in stored(given, storage_options, filesystem):
        try:
            found += _files(local_path(path), check=ignore_missing)
        except FileNotFoundError:
            if not ignore_missing:
                raise
    if extensions is not None:
        endings = tuple("." + extension.lower().lstrip(".") for extension in extensions)
        found = [path for path in found if path.lower().endswith(endings)]
    if choose is not None:
        kept = {str(path) for path in choose([str(path) for path in found])}
        found = [path for path in found if str(path) in kept]
    if not found:
        raise FileNotFoundError(errno.ENOENT, "there is no file to read", str(given[0]) if given else "")
    return found


def _files(path: str, *, check: bool) -> list[str]:
    if isinstance(path, Url):
        if _is_remote_folder(path):
            return _in_folder(path.like(path.address.rstrip("/") + "/**"), path.address.rstrip("/"))
        if check and not path.exact and not exists(path) and resolve_paths(path) == [path]:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        return resolve_paths(path)
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return _in_folder(os.path.join(glob.escape(path), "**"), path)
    return resolve_paths(path)


def _is_remote_folder(url: Url) -> bool:
    """Whether it names a folder. A store is only asked if the name is not that of a file."""
    address = url.address
    if address.endswith("/"):
        return True
    name = address.rpartition("/")[2]
    if any(character in name for character in ".@*?[") or SHARD.search(address):
        return False
    with named(url):
        filesystem, inner = filesystem_of(url)
        return bool(filesystem.isdir(inner))


def _in_folder(pattern: str, folder: str) -> list[str]:
    found = []
    for path in resolve_paths(pattern):
        parts = _below(path, folder).replace(os.sep, "/").split("/")
        if not any(part.startswith((".", "_")) for part in parts) and not parts[-1].endswith(".json"):
            found.append(path)
    return found


def _below(path: str, folder: str) -> str:
    """The part of ``path``, the name of a file, below ``folder``."""
    if not isinstance(path, Url):
        return os.path.relpath(path, folder)
    # A store may list its files with another scheme, or with none.
    inner, whole = (address.partition("://")[2] or address for address in (path.address, folder))
    inner, whole = inner.strip("/"), whole.strip("/")
    return inner[len(whole) :].strip("/") if inner.startswith(whole) else inner.rpartition("/")[2]


def look_at(paths: Sequence[str]) -> list[Shard]:
    """The size of each file, and whether it has an index."""
    if any(isinstance(path, Url) for path in paths):
        with ThreadPoolExecutor(_THREADS) as pool:
            return list(pool.map(_look_at, paths))
    return [_look_at(path) for path in paths]


def _look_at(path: str) -> Shard:
    indexed = has_index(path) and file_size(index_path(path)) <= _LARGEST_INDEX
    return Shard(path, file_size(path), indexed)


def cut(shards: Sequence[Shard], most: int, tasks: int, compression: Any = "auto") -> list[Piece]:
    """The pieces of all files: of ``most`` bytes at most if a file can be split, and of fewer if there would
    be no piece for each of the ``tasks``."""
    total = sum(shard.size for shard in shards)
    size = min(most, max(_SMALLEST_PIECE, -(-total // tasks)))
    with ThreadPoolExecutor(_THREADS) as pool:
        found = list(pool.map(lambda shard: _pieces(shard, size, compression), shards))
    return [piece for pieces in found for piece in pieces]


def _pieces(shard: Shard, size: int, compression: Any) -> list[Piece]:
    index = None
    if shard.indexed:
        index = load_index(index_path(shard.path))
        index.path = index_path(shard.path)
        index.check(shard.path)
    if shard.size <= size:
        return [Piece(shard.path, None, shard.size, None if index is None else index.records)]
    ranges = splits(shard.path, size, compression=compression, index=index)
    if len(ranges) == 1:
        return [Piece(shard.path, None, shard.size, None if index is None else index.records)]
    return [
        Piece(shard.path, (begin, end), (end or shard.size) - begin, _records_in(index, begin, end))
        for begin, end in ranges
    ]


def _records_in(index: Index | None, begin: int, end: int | None) -> int | None:
    """The number of records of a range that begins and ends where frames, or blocks, do."""
    if index is None:
        return None
    first, last = np.searchsorted(index.offsets, [begin, index.offsets[-1] + 1 if end is None else end])
    if index.first_records is None:
        return int(last - first)
    numbers = np.append(index.first_records, index.records)
    return int(numbers[last] - numbers[first])


def share(pieces: Sequence[Piece], tasks: int) -> list[list[Piece]]:
    """The pieces of each task: neighbours of about equally many bytes, for ``tasks`` tasks or fewer."""
    if len(pieces) <= tasks:
        return [[piece] for piece in pieces]
    sizes = np.array([max(piece.size, 1) for piece in pieces], np.float64)
    middles = np.cumsum(sizes) - sizes / 2
    numbers = (middles * tasks / sizes.sum()).astype(np.int64)
    shares: dict[int, list[Piece]] = {}
    for number, piece in zip(numbers.tolist(), pieces, strict=True):
        shares.setdefault(number, []).append(piece)
    return list(shares.values())
