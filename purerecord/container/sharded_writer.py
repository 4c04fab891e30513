"""Writing many files: ``ShardedWriter``, a dataset in shards that appear when all are complete.

The files have temporary names until the end, when their number is known.
This module does not know what a payload means.
"""

from __future__ import annotations

import errno
import heapq
import os
import warnings
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any

import numpy as np

from .. import public
from ..errors import ClosedError
from ..printable import printable
from ..records import Records
from ..storage.compression import as_options
from ..storage.file_handles import file_size
from ..storage.paths import (
    keep_complete,
    replace,
    shard_name,
    shard_names,
    split_pattern,
    temporary_name,
    writing,
)
from ..storage.stores import remove, rename
from ..storage.url import Url, local_path, stored
from .frames import OVERHEAD
from .manifest import Manifest, ManifestEntry, entry_name, manifest_path
from .record_digest import RecordDigest
from .writer import TFRecordWriter, payload_groups


@public
class ShardedWriter:
    """Writes records to many files, ``name-00000-of-00010`` and so on, that appear when all are complete.

    With ``shards`` each record goes to the file that is smallest so far, so that all files become equally
    large. With ``max_bytes`` or ``max_records`` the files are filled one after the other, and their number is
    known at the end. ``pattern`` is the name; ``name@10.tfrecord`` or ``name@*.tfrecord`` puts the number
    before a suffix. An exception inside a ``with`` block discards all files. At a URL, opened as by
    ``TFRecordWriter``, each file appears whole, one after the other. With ``manifest``, a ``Manifest`` is
    written beside the files when these are there, to ``name.manifest.json``: ``manifest_path`` names it.

    >>> with ShardedWriter("train@10.tfrecord") as writer:
    ...     writer.write_many(payloads)
    >>> writer.paths[0]
    'train-00000-of-00010.tfrecord'
    """

    def __init__(
        self,
        pattern: Any,
        *,
        shards: int | None = None,
        max_bytes: int | None = None,
        max_records: int | None = None,
        options: Any = None,
        manifest: bool = False,
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
    ) -> None:
        self._closed = True  # until everything below has worked
        path = local_path(stored(pattern, storage_options, filesystem))
        self._url = path if isinstance(path, Url) else None
        self._head, self._tail, counted = split_pattern(path if self._url is None else self._url.address)
        if counted is not None and shards not in (None, counted):
            raise ValueError(f"the name says {counted} shards, the argument {shards}")
        self._shards = counted if shards is None else shards
        limits = {"shards": self._shards, "max_bytes": max_bytes, "max_records": max_records}
        for name, value in limits.items():
            if value is not None and value < 1:
                raise ValueError(f"{name} must be positive, not {value}")
        if (self._shards is None) == (max_bytes is None and max_records is None):
            raise ValueError("say how many: either shards, or max_bytes and/or max_records for each")
        self._max_bytes = max_bytes
        self._max_records = max_records
        self._options = as_options(options)
        self._manifest = manifest
        self._writers: list[TFRecordWriter] = []
        self._temporary: list[str] = []  # the names of their files, which may exist before the writer does
        self._heap: list[tuple[int, int]] = []  # (bytes so far, number), with a fixed number of shards
        self._size = self._count = 0  # of the last file, if files are filled in turn
        self._failure: BaseException | None = None  # the error after which the files cannot be completed
        self._unfinished = False  # whether a call is under way, or was interrupted
        self._pid = os.getpid()
        self._closed = False
        self.paths: list[str] = []
        self.manifest_path: str | None = None
        try:
            for number in range(self._shards or 0):
                self._add()
                self._heap.append((0, number))
        except BaseException:
            self._discard()
            raise

    def _add(self) -> None:
        self._temporary.append(self._temporary_name(len(self._writers)))
        with self._writing(len(self._writers)):
            self._writers.append(TFRecordWriter(self._temporary[-1], self._options))
        if self._manifest:
            self._writers[-1].digest = RecordDigest()
        self._size = self._count = 0

    def _temporary_name(self, number: int) -> str:
        """Where shard ``number`` is written. In a store a file appears only when it is complete, so that it
        can have its final name from the beginning, if that is known."""
        if self._url is None:
            return temporary_name(f"{self._head}-{number:05d}{self._tail}")
        if self._shards is not None:
            return self._url.like(shard_name(self._head, self._tail, number, self._shards))
        return self._url.like(f"{self._head}-{number:05d}{self._tail}.partial-{os.urandom(4).hex()}")

    def _writing(self, number: int) -> AbstractContextManager[None]:
        """Names shard ``number`` in any OSError of the block, instead of its temporary file."""
        if self._shards is not None:
            return writing(shard_name(self._head, self._tail, number, self._shards))
        return writing(f"{self._head}-{number:05d}-of-?????{self._tail}")

    def write(self, record: Any) -> None:
        """Add one record: all that ``TFRecordWriter.write`` takes."""
        self.write_many([record])

    def write_many(self, records: Iterable[Any]) -> None:
        """Add many records, faster than one by one: ``Records``, a list or any iterable."""
        self._check_usable()
        if isinstance(records, (str, bytes, bytearray, memoryview)):
            raise TypeError("write_many takes many records; for one there is write")
        for payloads, lengths in payload_groups(records, 1 << 20):
            self._unfinished = True
            try:
                if self._shards is None:
                    self._fill_in_turn(payloads, lengths.tolist())
                else:
                    self._distribute(payloads, lengths.tolist())
            except BaseException as error:
                # The error may have cut a shard, or have left records out of some of them.
                self._failure = error.with_traceback(None)
                raise
            self._unfinished = False

    def _check_usable(self) -> None:
        self._check_process()
        if self._failure is not None or self._unfinished:
            self._discard()
            reason = str(self._failure or "") or "it was interrupted"
            raise ClosedError(
                f"writing has failed ({reason}), so the shards cannot be completed and are discarded; "
                "write them again"
            ) from self._failure
        if self._closed:
            raise ClosedError("the writer is closed")

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise ClosedError(
                f"{self!r} belongs to the process that opened it, and not to one that was forked from it; "
                "open a writer of its own there"
            )

    def _distribute(self, payloads: Any, lengths: list[int]) -> None:
        """Write each payload to the file that is smallest so far."""
        shares: list[list[int]] = [[] for _ in self._writers]
        for at, length in enumerate(lengths):
            so_far, number = self._heap[0]
            heapq.heapreplace(self._heap, (so_far + length + OVERHEAD, number))
            shares[number].append(at)
        for number, share in enumerate(shares):
            with self._writing(number):
                if isinstance(payloads, Records):
                    self._writers[number].write_many(payloads.take(np.array(share, np.int64)))
                else:
                    self._writers[number].write_many([payloads[at] for at in share])

    def _fill_in_turn(self, payloads: Any, lengths: list[int]) -> None:
        """Write the payloads to the last file, and to new files when it is full."""
        begin = 0
        for at, length in enumerate(lengths):
            size = length + OVERHEAD
            full = self._max_records is not None and self._count >= self._max_records
            over = self._max_bytes is not None and self._count > 0 and self._size + size > self._max_bytes
            if not self._writers or full or over:
                if self._writers:
                    with self._writing(len(self._writers) - 1):
                        self._writers[-1].write_many(payloads[begin:at])
                        self._writers[-1].close()
                begin = at
                self._add()
            self._size += size
            self._count += 1
        with self._writing(len(self._writers) - 1):
            self._writers[-1].write_many(payloads[begin:])

    def flush(self) -> None:
        """Write everything so far to the files."""
        self._check_usable()
        for number, writer in enumerate(self._writers):
            if not writer.closed:
                with self._writing(number):
                    writer.flush()

    def close(self) -> None:
        """Complete all files and give them their names, which ``paths`` then lists."""
        if self._closed and self._failure is None and not self._unfinished:
            return
        self._check_usable()
        self._unfinished = True
        try:
            if not self._writers:
                self._add()
            names = shard_names(self._head + self._tail, len(self._writers), at=len(self._head))
            if self._url is not None and self._manifest:
                remove(self._url.like(manifest_path(self._head, self._tail), exact=True))  # of old shards
            if self._url is not None and len(names) > 1:
                # An old shard of this name, the last to be replaced: until then the set lacks one, which
                # every reader of the pattern notices, and is no mix of old and new ones.
                remove(self._url.like(names[-1]))
            for number, writer in enumerate(self._writers):
                with self._writing(number):
                    writer.close()
                    if self._url is None:
                        _sync(self._temporary[number])
            if self._url is not None:
                self._finish_remote(self._url, names)
                self._save_manifest(names)
                return
            if folders := [name for name in names if os.path.isdir(name)]:
                raise IsADirectoryError(errno.EISDIR, "a shard cannot take the place of a folder", folders[0])
            outdated = [self._manifest_place()] if self._manifest else []
            replace_all(list(zip(self._temporary, names, strict=True)), outdated)
        except BaseException:
            self._discard()
            raise
        self.paths, self._closed, self._unfinished = names, True, False
        self._save_manifest(names)

    def _manifest_place(self) -> str:
        path = manifest_path(self._head, self._tail)
        return path if self._url is None else self._url.like(path, exact=True)

    def _save_manifest(self, names: list[str]) -> None:
        if not self._manifest:
            return
        entries = []
        for name, path, writer in zip(names, self.paths, self._writers, strict=True):
            checksum = str(writer.digest)
            listed = entry_name(self._head, name)
            entries.append(ManifestEntry(listed, writer.records, file_size(path), checksum))
        place = self._manifest_place()
        Manifest(tuple(entries)).save(place)
        self.manifest_path = place

    def _finish_remote(self, url: Url, names: list[str]) -> None:
        self.paths = [url.like(name) for name in names]
        if self._shards is None:
            for temporary, path in zip(self._temporary, self.paths, strict=True):
                assert isinstance(temporary, Url)
                assert isinstance(path, Url)
                rename(temporary, path)
        self._closed, self._unfinished = True, False

    def _discard(self) -> None:
        self._closed = True
        for writer in self._writers:
            writer.abandon()
        if self._url is not None:
            if self._shards is None and os.getpid() == self._pid:
                for temporary in self._temporary:
                    assert isinstance(temporary, Url)
                    with suppress(OSError):
                        remove(temporary)
            return
        for temporary in self._temporary:
            if os.getpid() == self._pid and os.path.exists(temporary):
                os.unlink(temporary)

    @property
    def records(self) -> int:
        """The number of records that this writer has accepted."""
        return sum(writer.records for writer in self._writers)

    def __enter__(self) -> ShardedWriter:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            self.close()
        elif not self._closed:
            self._discard()

    def __del__(self) -> None:
        if getattr(self, "_closed", True):
            return
        message = f"{self!r} was never closed, its files are discarded"
        self._discard()
        if os.getpid() == self._pid:
            warnings.warn(message, ResourceWarning, stacklevel=2)

    def __repr__(self) -> str:
        pattern = printable(f"{self._head}-*{self._tail}")
        return f"<ShardedWriter {pattern}{' (closed)' if self._closed else ''}>"


def _sync(path: str) -> None:
    with open(path, "r+b") as file:  # Windows syncs only what is open for writing
        os.fsync(file.fileno())


def replace_all(renames: list[tuple[str, str]], outdated: Iterable[str] = ()) -> None:
    """Give the files, which are complete, their names. The ``outdated`` files go.

    Old shards of the same names are moved away first. If the process is killed meanwhile, shards are missing,
    which every reader of the shard pattern notices; old and new ones never stand side by side. An error or an
    interrupt puts the old ones back. If the system refuses a rename, as Windows does while a program has the
    file open, the new files stay, under names that the error tells.
    """
    replaced = [*(name for _, name in renames), *outdated]
    if len(replaced) == 1:
        replace(*renames[0], keep=True)
        return
    old = [(name, temporary_name(name, "replaced")) for name in replaced if os.path.lexists(name)]
    try:
        for source, target in old:
            with writing(source):
                os.replace(source, target)
        for source, target in renames:
            with writing(target):
                os.replace(source, target)
    except BaseException as error:
        for temporary, name in renames:
            if not os.path.lexists(temporary):
                os.replace(name, temporary)
        for name, kept in old:
            if os.path.lexists(kept):
                os.replace(kept, name)
        if not isinstance(error, PermissionError):
            raise
        complete = [keep_complete(temporary) for temporary, _ in renames]
        raise PermissionError(
            error.errno,
            "the new shards cannot take the names of the old ones, perhaps because a program has this one "
            f"open; they are complete and kept as {', '.join(complete)}",
            error.filename,
        ) from None
    for _, kept in old:
        with suppress(OSError):
            os.unlink(kept)
