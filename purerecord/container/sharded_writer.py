"""Writing many files: ``ShardedWriter``, a dataset in shards that appear when all are complete.

The files have temporary names until the end, when their number is known.
This module does not know what a payload means.
"""

from __future__ import annotations

import errno
import heapq
import os
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import public
from ..errors import ClosedError
from ..printable import printable
from ..records import Records
from ..storage.compression import as_options
from ..storage.paths import is_url, local_path, shard_names, split_pattern, temporary_name
from .frames import OVERHEAD
from .writer import TFRecordWriter, payload_groups


@public
class ShardedWriter:
    """Writes records to many files, ``name-00000-of-00010`` and so on, that appear when all are complete.

    With ``shards`` each record goes to the file that is smallest so far, so that all files become equally
    large. With ``max_bytes`` or ``max_records`` the files are filled one after the other, and their number is
    known at the end. ``pattern`` is the name; ``name@10.tfrecord`` or ``name@*.tfrecord`` puts the number
    before a suffix. An exception inside a ``with`` block discards all files.

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
    ) -> None:
        self._closed = True  # until everything below has worked
        path = local_path(pattern)
        if is_url(path):
            raise ValueError(
                f"{printable(path)}: ShardedWriter writes to a local disk; TFRecordWriter takes a URL"
            )
        self._head, self._tail, counted = split_pattern(path)
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
        self._writers: list[tuple[TFRecordWriter, str]] = []
        self._heap: list[tuple[int, int]] = []  # (bytes so far, number), with a fixed number of shards
        self._size = self._count = 0  # of the last file, if files are filled in turn
        self._failure: BaseException | None = None  # the error after which the files cannot be completed
        self._closed = False
        self.paths: list[str] = []
        try:
            for number in range(self._shards or 0):
                self._add()
                self._heap.append((0, number))
        except BaseException:
            self._discard()
            raise

    def _add(self) -> TFRecordWriter:
        temporary = temporary_name(f"{self._head}-{len(self._writers):05d}{self._tail}")
        writer = TFRecordWriter(temporary, self._options)
        self._writers.append((writer, temporary))
        self._size = self._count = 0
        return writer

    def write(self, record: Any) -> None:
        """Add one record: all that ``TFRecordWriter.write`` takes."""
        self.write_many([record])

    def write_many(self, records: Iterable[Any]) -> None:
        """Add many records, faster than one by one: ``Records``, a list or any iterable."""
        self._check_usable()
        if isinstance(records, (str, bytes, bytearray, memoryview)):
            raise TypeError("write_many takes many records; for one there is write")
        for payloads, lengths in payload_groups(records, 1 << 20):
            try:
                if self._shards is None:
                    self._fill_in_turn(payloads, lengths.tolist())
                else:
                    self._distribute(payloads, lengths.tolist())
            except BaseException as error:
                # The error may have cut a shard, or have left records out of some of them.
                self._failure = error.with_traceback(None)
                raise

    def _check_usable(self) -> None:
        if self._failure is not None:
            self._discard()
            raise ClosedError(
                f"writing has failed ({self._failure}), so the shards cannot be completed and are discarded; "
                "write them again"
            ) from self._failure
        if self._closed:
            raise ClosedError("the writer is closed")

    def _distribute(self, payloads: Any, lengths: list[int]) -> None:
        """Write each payload to the file that is smallest so far."""
        shares: list[list[int]] = [[] for _ in self._writers]
        for at, length in enumerate(lengths):
            so_far, number = self._heap[0]
            heapq.heapreplace(self._heap, (so_far + length + OVERHEAD, number))
            shares[number].append(at)
        for (writer, _), share in zip(self._writers, shares, strict=True):
            if isinstance(payloads, Records):
                writer.write_many(payloads.take(np.array(share, np.int64)))
            else:
                writer.write_many([payloads[at] for at in share])

    def _fill_in_turn(self, payloads: Any, lengths: list[int]) -> None:
        """Write the payloads to the last file, and to new files when it is full."""
        begin = 0
        for at, length in enumerate(lengths):
            size = length + OVERHEAD
            full = self._max_records is not None and self._count >= self._max_records
            over = self._max_bytes is not None and self._count > 0 and self._size + size > self._max_bytes
            if not self._writers or full or over:
                if self._writers:
                    self._writers[-1][0].write_many(payloads[begin:at])
                    self._writers[-1][0].close()
                begin = at
                self._add()
            self._size += size
            self._count += 1
        self._writers[-1][0].write_many(payloads[begin:])

    def flush(self) -> None:
        """Write everything so far to the files."""
        self._check_usable()
        for writer, _ in self._writers:
            if not writer.closed:
                writer.flush()

    def close(self) -> None:
        """Complete all files and give them their names, which ``paths`` then lists."""
        if self._closed:
            return
        if self._failure is not None:
            self._check_usable()
        self._closed = True
        try:
            if not self._writers:
                self._add()
            for writer, _ in self._writers:
                writer.close()
            for _, temporary in self._writers:
                _sync(temporary)
            names = shard_names(self._head + self._tail, len(self._writers), at=len(self._head))
            if folders := [name for name in names if os.path.isdir(name)]:
                raise IsADirectoryError(errno.EISDIR, "a shard cannot take the place of a folder", folders[0])
            for (_, temporary), name in zip(self._writers, names, strict=True):
                os.replace(temporary, name)
        except BaseException:
            self._discard()
            raise
        self.paths = names

    def _discard(self) -> None:
        self._closed = True
        for writer, temporary in self._writers:
            writer.abandon()
            if os.path.exists(temporary):
                os.unlink(temporary)

    def __enter__(self) -> ShardedWriter:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None and not self._closed:
            self._discard()
        else:
            self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            warnings.warn(
                f"{self!r} was never closed, its files are discarded", ResourceWarning, stacklevel=2
            )
            self._discard()

    def __repr__(self) -> str:
        pattern = printable(f"{self._head}-*{self._tail}")
        return f"<ShardedWriter {pattern}{' (closed)' if self._closed else ''}>"


def _sync(path: str) -> None:
    with open(path, "r+b") as file:  # Windows syncs only what is open for writing
        os.fsync(file.fileno())
