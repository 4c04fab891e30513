"""``ShardSet``: the shards that a job writes, from their temporary names to the final ones.

Each attempt of a task writes under names of its own, which no reader takes for a shard. At the end the files
of the attempts that counted get their final names, all together, and everything else that the job left is
removed. This module must not know Ray, nor what a record holds.
"""

from __future__ import annotations

import errno
import glob
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from ..container.manifest import Manifest, ManifestEntry, manifest_path
from ..container.sharded_writer import replace_all
from ..printable import printable
from ..storage.paths import resolve_paths, shard_names, split_pattern
from ..storage.shard_sets import SHARD
from ..storage.stores import filesystem_of, named, remove, rename
from ..storage.url import Url, is_url, local_path, stored

# The name of the shards if only a folder is named.
_NAME, _SUFFIX = "part", ".tfrecord"
_MODES = ("error", "overwrite", "append", "ignore")
# Files of a store that are renamed at the same time.
_THREADS = 16


class ShardSet:
    """The shards that ``path`` names: a folder, or ``name@10.tfrecord``, or ``name@*.tfrecord``.

    ``mode`` is Ray's: what to do if there are shards of this name already. ``count`` is the number of shards
    if the name says it. It can be pickled and sent to the tasks.
    """

    def __init__(self, path: Any, mode: str, storage_options: Any = None, filesystem: Any = None) -> None:
        mode = str(getattr(mode, "value", mode))
        if mode not in _MODES:
            raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}")
        given = os.fsdecode(path).removeprefix("local://")
        remote = is_url(given) or filesystem is not None
        name = local_path(stored(path if remote else given, storage_options, filesystem))
        self.url = name if isinstance(name, Url) else None
        address = os.path.abspath(name) if self.url is None else self.url.address
        head, tail, self.count = split_pattern(address)
        if self.count == 0:
            raise ValueError(f"{printable(str(name))} names no shards; say how many there are to be, or @*")
        if head == address:
            head, tail = address.rstrip("/" if remote else "/" + os.sep) + "/" + _NAME, _SUFFIX
        self._job = os.urandom(6).hex()
        self.head = f"{head}-{self._job}" if mode == "append" else head
        self.tail, self.mode = tail, mode

    def check(self) -> bool:
        """Whether to write. Shards that are there already are an error, or a reason not to: see ``mode``."""
        found = self.existing() if self.mode in ("error", "ignore") else []
        if found and self.mode == "error":
            reason = 'there are shards of this name; write with mode="overwrite" or mode="append"'
            raise FileExistsError(errno.EEXIST, reason, found[0])
        return not found

    def check_folder(self) -> None:
        """Raise an error if the folder does not exist. A store has none."""
        folder = os.path.dirname(self.head)
        if self.url is None and not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)

    def existing(self) -> list[str]:
        """The shards of this name that there are, whatever their number."""
        escaped = f"{glob.escape(self.head)}-*-of-*{glob.escape(self.tail)}"
        pattern = f"{self.head}-*-of-*{self.tail}"
        try:
            found = resolve_paths(escaped if self.url is None else self.url.like(pattern))
        except FileNotFoundError:
            return []
        return [path for path in found if self._is_shard(path.address if isinstance(path, Url) else path)]

    def _is_shard(self, name: str) -> bool:
        match = SHARD.search(name)
        base = os.path.basename(self.head)
        return (
            match is not None
            and name[match.end() :] == self.tail
            and (os.path.basename(name[: match.start()]) == base)
        )

    def temporary(self, task: int) -> str:
        """The name of a set of files for one attempt of a task, as ``ShardedWriter`` takes it."""
        folder, base = os.path.split(self.head)
        if self.url is None:
            os.makedirs(folder, exist_ok=True)
        attempt = os.urandom(4).hex()
        return self._named(f"{folder}/.{base}{self.tail}.partial-{self._job}-{task:05d}-{attempt}@*")

    def publish(self, files: Sequence[str]) -> list[str]:
        """Give the complete ``files`` their final names, in this order; the names."""
        names = [self._named(name) for name in self._names(len(files))]
        old = self.existing() if self.mode == "overwrite" else []
        outdated = [name for name in old if name not in names]
        self._remove(self.manifest)  # of older shards
        if self.url is None:
            replace_all(list(zip(files, names, strict=True)), outdated)
        else:
            self._remove(
                names[-1]
            )  # until the new last one is there, every reader notices that it is missing
            pairs = [(self._named(file), name) for file, name in zip(files, names, strict=True)]
            with ThreadPoolExecutor(_THREADS) as pool:
                list(pool.map(_rename, pairs[:-1]))
            _rename(pairs[-1])
            for name in outdated:
                self._remove(name)
        self.clean()
        return names

    def _names(self, count: int) -> list[str]:
        return shard_names(self.head + self.tail, count, at=len(self.head))

    @property
    def manifest(self) -> str:
        """The name of the manifest."""
        return self._named(manifest_path(self.head, self.tail))

    def save_manifest(self, facts: Sequence[tuple[int, int, str]]) -> None:
        """Write a manifest: the records, the size and the checksum of each shard."""
        names = [os.path.basename(name) for name in self._names(len(facts))]
        entries = [
            ManifestEntry(name, records, size, checksum)
            for name, (records, size, checksum) in zip(names, facts, strict=True)
        ]
        Manifest(tuple(entries)).save(self.manifest)

    def clean(self) -> None:
        """Remove what attempts that did not count have left."""
        folder = os.path.dirname(self.head)
        if self.url is None:
            for path in glob.glob(f"{glob.escape(folder)}/.*partial-{self._job}-*"):
                with suppress(OSError):
                    os.unlink(path)
            return
        with suppress(OSError):
            for path in self._hidden(folder):
                self._remove(path)

    def _hidden(self, folder: str) -> list[str]:
        assert self.url is not None
        url = self.url.like(folder, exact=True)
        with named(url):
            filesystem, inner = filesystem_of(url)
            filesystem.invalidate_cache()
            found = filesystem.ls(inner, detail=False) if filesystem.isdir(inner) else []
        names = [name.rpartition("/")[2] for name in found]
        return [self._named(f"{folder}/{name}") for name in names if f"partial-{self._job}-" in name]

    def _named(self, name: str) -> str:
        return name if self.url is None else self.url.like(name, exact="@" not in name)

    def _remove(self, name: str) -> None:
        if self.url is None:
            with suppress(FileNotFoundError):
                os.unlink(name)
            return
        target = self._named(name.address if isinstance(name, Url) else name)
        assert isinstance(target, Url)
        remove(target)


def _rename(pair: tuple[str, str]) -> None:
    source, target = pair
    assert isinstance(source, Url)
    assert isinstance(target, Url)
    rename(source, target)
