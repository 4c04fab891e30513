"""Writing: ``TFRecordWriter`` for one file, ``ShardedWriter`` for a dataset of many.

Framing and compressed bytes are TensorFlow's to the last byte. Nothing half-done is ever taken for whole:
an atomic file appears under its name only when it is complete, appending looks at the end first, and
after a failed write what could not be written is kept, so that trying again goes on exactly there.
This module does not know what a payload means.
"""

from __future__ import annotations

import errno
import heapq
import io
import os
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from . import frame
from .deflate import TFRecordOptions, as_options, deflate
from .errors import ClosedError, EncodeError
from .index import build_index, index_path
from .reader import RecordReader
from .records import Records
from .storage import is_url, open_remote, shard_names, split_pattern

# Frames are collected up to this many bytes before they are written.
_BUFFER = 1 << 18
# Pieces of this mean size are not worth copying together first.
_LARGE = 1 << 12
_PIECES = 1024  # what the system takes at once, at the least
_MANY = 4096  # records that write_many handles at once


def as_payload(record: Any) -> bytes:
    """``record`` as bytes: bytes-like, text (as UTF-8), or a message that can serialize itself."""
    if isinstance(record, bytes):
        return record
    if isinstance(record, str):
        try:
            return record.encode()
        except UnicodeEncodeError as error:
            raise EncodeError(f"the text cannot be stored as UTF-8: {error.reason}") from None
    if isinstance(record, (bytearray, memoryview)):
        return bytes(record)
    if callable(serialize := getattr(record, "SerializeToString", None)):
        return bytes(serialize())
    raise EncodeError(
        f"a record must be bytes, str or a message with SerializeToString, not {type(record).__name__}"
    )


class TFRecordWriter:
    """Writes records to a TFRecord file.

    ``options`` is a ``TFRecordOptions``, "GZIP", "ZLIB" or "". ``mode="a"`` appends, after making sure that
    the file so far is whole. ``atomic=True`` writes under a temporary name beside the file and gives it
    its own name on ``close()``; leaving a ``with`` block by an exception discards it. ``index=True``
    leaves an index beside the file.

    >>> with TFRecordWriter("train.tfrecord") as writer:
    ...     writer.write(b"payload")
    """

    def __init__(
        self,
        path: Any,
        options: Any = None,
        *,
        mode: str = "w",
        atomic: bool = False,
        index: bool = False,
    ) -> None:
        self._closed = True  # until everything below has worked
        self._options = as_options(options)
        self._deflate = deflate(self._options)
        self._output = _Output(path, mode, self._options, atomic=atomic, index=index)
        self._closed = False

    def write(self, record: Any) -> None:
        """Add one record: bytes, bytearray, memoryview, str (as UTF-8) or a message."""
        if self._closed:
            raise ClosedError("the writer is closed")
        self._put(frame.encode(as_payload(record)), 1)

    def write_many(self, records: Iterable[Any]) -> None:
        """Add many records, faster than one by one: ``Records``, a list or any iterable."""
        if self._closed:
            raise ClosedError("the writer is closed")
        if isinstance(records, (str, bytes, bytearray, memoryview)):
            raise TypeError("write_many takes many records; for one there is write")
        for payloads in _groups(records, self._options.block_size or 1 << 20):
            if self._options.flush_mode:  # TensorFlow's bytes then depend on each single piece
                for payload in payloads:
                    self._put(frame.encode(payload), 1)
            else:
                self._put(frame.encode_many(payloads), len(payloads))

    def _put(self, pieces: list[bytes], records: int) -> None:
        if self._deflate is not None:
            pieces = [self._deflate.write(pieces, records)]
        self._output.write(pieces)

    def flush(self) -> None:
        """Hand everything so far to the operating system, so that readers see it."""
        if self._closed:
            raise ClosedError("the writer is closed")
        if self._deflate is not None:
            self._output.write([self._deflate.flush()])
        self._output.flush()

    def close(self) -> None:
        """Write the rest and close the file; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._deflate is not None:
                self._output.write([self._deflate.finish()])
            self._output.finish()
        except BaseException:
            self._output.abandon()
            raise

    def abandon(self) -> None:
        """Close without finishing: an atomic file never appears, another keeps what was flushed."""
        if not self._closed:
            self._closed = True
            self._output.abandon()

    @property
    def closed(self) -> bool:
        """Whether ``close`` has been called."""
        return self._closed

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None and self._output.atomic:
            self.abandon()
        else:
            self.close()

    def __del__(self) -> None:
        if getattr(self, "_closed", True):
            return
        if self._output.atomic:
            warnings.warn(f"{self!r} was never closed, its file is discarded", ResourceWarning, stacklevel=2)
            self.abandon()
        else:
            self.close()

    def __repr__(self) -> str:
        return f"<TFRecordWriter {self._output.name!r}{' (closed)' if self._closed else ''}>"


def _groups(records: Iterable[Any], most: int) -> Iterator[list[bytes]]:
    """``records`` as payloads, in lists of limited number and of about ``most`` bytes."""
    if not isinstance(records, Records):
        records = map(as_payload, records)
    iterator = iter(records)
    group: list[bytes] = []
    while True:
        try:
            group.extend(islice(iterator, _MANY))
        except BaseException:
            yield group  # what came before the bad record
            raise
        if not group:
            return
        size = sum(map(len, group))
        step = len(group) if size <= most else max(1, len(group) * most // size)
        for begin in range(0, len(group), step):
            yield group[begin : begin + step]
        group = []


class _Output:
    """The file that is written to: buffered, perhaps under a temporary name."""

    def __init__(self, path: Any, mode: str, options: TFRecordOptions, *, atomic: bool, index: bool) -> None:
        if mode not in ("w", "a"):
            raise ValueError(f"mode must be 'w' or 'a', not {mode!r}")
        if index and options.compression and options.block_size is None:
            raise ValueError("an index needs an uncompressed file, or GZIP with a block_size")
        self.atomic = atomic
        self._index = index
        self._pieces: list[bytes] = []
        self._size = 0
        self._ours = not hasattr(path, "write")
        if not self._ours or is_url(self._named(path)):
            if mode == "a" or atomic or index:
                raise ValueError("mode='a', atomic and index need a file on a local disk")
            self.name = str(getattr(path, "name", path))
            self._target = self.name
            self._file: Any = open_remote(self.name, "wb") if self._ours else path
            return
        self.name = self._named(path)
        self._target = temporary_name(self.name) if atomic else self.name
        if mode == "a":
            if atomic:
                raise ValueError("mode='a' writes into the file itself and cannot be atomic")
            check_appendable(self.name, options)
        self._file = open(self._target, mode + "b", buffering=0)  # noqa: SIM115 - closed by finish, abandon

    @staticmethod
    def _named(path: Any) -> str:
        return os.fsdecode(path).removeprefix("file://")

    def write(self, pieces: list[bytes]) -> None:
        self._pieces += pieces
        self._size += sum(map(len, pieces))
        if self._size >= _BUFFER:
            self._drain()

    def flush(self) -> None:
        self._drain()
        if hasattr(self._file, "flush"):
            self._file.flush()

    def _drain(self) -> None:
        """Write what has been collected. What fails to be written stays, and nothing is written twice."""
        raw = isinstance(self._file, io.RawIOBase)
        gather = isinstance(self._file, io.FileIO) and hasattr(os, "writev")
        gather = gather and self._size >= _LARGE * len(self._pieces)
        while self._pieces:
            if gather:
                written = os.writev(self._file.fileno(), self._pieces[:_PIECES])
            else:
                self._pieces = [b"".join(self._pieces)]
                written = self._file.write(self._pieces[0])
                if not raw:
                    written = len(self._pieces[0])
                elif written is None:
                    raise BlockingIOError(errno.EAGAIN, "the file does not block and takes no more now")
            self._drop(written)

    def _drop(self, written: int) -> None:
        self._size -= written
        whole = 0
        while whole < len(self._pieces) and written >= len(self._pieces[whole]):
            written -= len(self._pieces[whole])
            whole += 1
        del self._pieces[:whole]
        if written:
            self._pieces[0] = self._pieces[0][written:]

    def finish(self) -> None:
        self.flush()
        if not self._ours:
            return
        if self.atomic:
            os.fsync(self._file.fileno())
        self._file.close()
        # The index is made from the file as it lies there, which proves that the file is whole.
        index = build_index(self._target) if self._index else None
        if self.atomic:
            os.replace(self._target, self.name)
        if index is not None:
            index.save(index_path(self.name))

    def abandon(self) -> None:
        if not self._ours:
            return
        self._file.close()
        if self.atomic and os.path.exists(self._target):
            os.unlink(self._target)


def temporary_name(path: str) -> str:
    """Where a file is written that is to appear as ``path`` once it is complete."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.partial-{os.getpid()}")


def check_appendable(path: str, options: TFRecordOptions) -> None:
    """Raise unless what is at ``path``, if anything, is whole and of the same compression."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return
    if options.compression == "ZLIB":
        raise ValueError("a ZLIB file cannot be appended to: TensorFlow would not read what comes second")
    with RecordReader(path, compression=options.compression, verify=False) as reader:
        for _ in reader.batches():
            pass


class ShardedWriter:
    """Writes records to many files, ``name-00000-of-00010`` and so on, that appear when all are complete.

    With ``shards`` each record goes to the file that is smallest so far, so that all come out alike; with
    ``max_bytes`` or ``max_records`` one file is filled after the other, and their number is known at the
    end. ``pattern`` is the name, or ``name@10.tfrecord`` or ``name@*.tfrecord`` where the number is to come
    before a suffix. Leaving a ``with`` block by an exception discards all.

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
        self._head, self._tail, counted = split_pattern(os.fsdecode(pattern))
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
        self._heap: list[tuple[int, int]] = []  # (bytes so far, number), where shards are fixed
        self._size = self._count = 0  # of the last file, where they are filled in turn
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
        """Add one record."""
        if self._closed:
            raise ClosedError("the writer is closed")
        payload = as_payload(record)
        size = len(payload) + frame.OVERHEAD
        if self._shards is not None:
            so_far, number = self._heap[0]
            heapq.heapreplace(self._heap, (so_far + size, number))
            self._writers[number][0].write(payload)
            return
        full = self._max_records is not None and self._count >= self._max_records
        over = self._max_bytes is not None and self._count > 0 and self._size + size > self._max_bytes
        if not self._writers or full or over:
            if self._writers:
                self._writers[-1][0].close()
            self._add()
        self._size += size
        self._count += 1
        self._writers[-1][0].write(payload)

    def write_many(self, records: Iterable[Any]) -> None:
        """Add many records."""
        for record in records:
            self.write(record)

    def flush(self) -> None:
        """Hand everything so far to the operating system."""
        for writer, _ in self._writers:
            if not writer.closed:
                writer.flush()

    def close(self) -> None:
        """Complete all files and give them their names, which ``paths`` then lists."""
        if self._closed:
            return
        self._closed = True
        try:
            if not self._writers:
                self._add()
            for writer, _ in self._writers:
                writer.close()
            for _, temporary in self._writers:
                _sync(temporary)
        except BaseException:
            self._discard()
            raise
        names = shard_names(self._head + self._tail, len(self._writers), at=len(self._head))
        for (_, temporary), name in zip(self._writers, names, strict=True):
            os.replace(temporary, name)
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

    def __repr__(self) -> str:
        return f"<ShardedWriter {self._head}-*{self._tail}{' (closed)' if self._closed else ''}>"


def _sync(path: str) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())
