"""Writing: ``TFRecordWriter``, for one file.

Frames and compressed bytes equal TensorFlow's to the last byte. Unfinished output never passes for complete:
an atomic file appears under its name only when it is complete, and appending first checks that the file is
whole. After a failed write the unwritten bytes are kept, so that another attempt continues exactly there.
This module does not know what a payload means.
"""

from __future__ import annotations

import errno
import io
import os
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from .. import public
from ..errors import ClosedError, EncodeError
from ..memory.malloc import retain_freed_memory
from ..printable import printable
from ..records import Offsets, Records
from ..storage.compression import TFRecordOptions, as_options
from ..storage.deflate import deflate
from ..storage.paths import is_url, local_path, open_remote, temporary_name
from . import frames
from .index import build_index, index_path
from .reader import RecordReader

# Frames are collected up to this many bytes before they are written.
_BUFFERED_BYTES = 1 << 18
# Pieces of this mean size are written with one system call, without joining them first.
_GATHERED_MEAN = 1 << 12
# Pieces that every system takes in one call.
_PIECES_AT_ONCE = 1024
# Bytes that every system takes in one call: macOS refuses 2 GiB.
_MOST_AT_ONCE = 1 << 30
# Records that ``write_many`` handles at once.
_RECORDS_AT_ONCE = 8192
# Records that ``write_many`` takes from an iterator before it looks at their sizes.
_LARGEST_STEP = 256


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
        try:
            payload = serialize()
        except TypeError:  # the class of a message instead of one
            payload = None
        if isinstance(payload, bytes):
            return payload
    raise EncodeError(
        f"a record must be bytes, str or a message with SerializeToString, not {type(record).__name__}"
    )


@public
class TFRecordWriter:
    """Writes records to a TFRecord file.

    ``options`` is a ``TFRecordOptions``, "GZIP", "ZLIB" or "". ``mode="a"`` appends, after checking that the
    file so far is whole. ``atomic=True`` writes to a temporary name beside the file and renames it on
    ``close()``; an exception inside a ``with`` block discards it. ``index=True`` writes an index beside the
    file.

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
        self._records = 0
        self._closed = False

    def write(self, record: Any) -> None:
        """Add one record: bytes, bytearray, memoryview, str (as UTF-8) or a message."""
        if self._closed:
            raise ClosedError("the writer is closed")
        self._put(frames.encode(as_payload(record)), 1)

    def write_many(self, records: Iterable[Any]) -> None:
        """Add many records, faster than one by one: ``Records``, a list or any iterable."""
        if self._closed:
            raise ClosedError("the writer is closed")
        if isinstance(records, (str, bytes, bytearray, memoryview)):
            raise TypeError("write_many takes many records; for one there is write")
        retain_freed_memory()
        for payloads, lengths in payload_groups(records, self._options.block_size or 1 << 20):
            if self._options.flush_mode:  # then TensorFlow's bytes depend on every single piece
                for payload in payloads:
                    self._put(frames.encode(payload), 1)
            else:
                self._put(frames.encode_many(payloads, lengths), len(payloads))

    def _put(self, pieces: list[Any], records: int) -> None:
        self._records += records  # even if this fails: what cannot be written stays in memory
        if self._deflate is not None:
            pieces = [self._deflate.write(pieces, records)]
        self._output.write(pieces)

    def _deflates(self) -> bool:
        """Whether the file gets a compressed stream: an empty one is not appended to existing ones."""
        return self._deflate is not None and not (self._records == 0 and self._output.continues)

    def flush(self) -> None:
        """Write everything so far to the file, so that readers see it."""
        if self._closed:
            raise ClosedError("the writer is closed")
        if self._deflate is not None and self._deflates():
            self._output.write([self._deflate.flush()])
        self._output.flush()

    def close(self) -> None:
        """Write the rest and close the file; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._deflate is not None and self._deflates():
                self._output.write([self._deflate.finish()])
            self._output.finish()
        except BaseException:
            self._abandon()
            raise

    def abandon(self) -> None:
        """Close without finishing: an atomic file never appears, any other keeps its flushed records."""
        if not self._closed:
            self._closed = True
            self._abandon()

    def _abandon(self) -> None:
        if self._deflate is not None:
            self._deflate.abandon()
        self._output.abandon()

    @property
    def closed(self) -> bool:
        """Whether ``close`` has been called."""
        return self._closed

    @property
    def records(self) -> int:
        """The number of records that this writer has accepted.

        After an error of the disk, ``flush`` writes the rest of these; continue with the next record.
        """
        return self._records

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


def payload_groups(records: Iterable[Any], most: int) -> Iterator[tuple[Any, Offsets]]:
    """``records`` in groups of payloads and their lengths, each of about ``most`` bytes as frames.

    If a record cannot be encoded, the groups of the records before it come first, then the error.
    """
    if isinstance(records, Records) or (
        isinstance(records, (list, tuple)) and not set(map(type, records)) - {bytes}
    ):
        for begin in range(0, len(records), _RECORDS_AT_ONCE):
            yield from _cut(records[begin : begin + _RECORDS_AT_ONCE], most)
        return
    # Encoded at once: an iterator may fill the same object again for each record.
    yield from _collected(map(as_payload, records), most)


def _collected(payloads: Iterator[bytes], most: int) -> Iterator[tuple[Any, Offsets]]:
    """The groups of an iterator, which may be endless and may give large payloads at any time."""
    group: list[Any] = []
    size, step = 0, 1
    error: BaseException | None = None
    ended = False
    while not ended:
        some: list[bytes] = []
        try:
            some.extend(islice(payloads, step))
        except BaseException as failed:  # raised below
            error = failed
        ended = len(some) < step
        fresh = sum(map(len, some)) + frames.OVERHEAD * len(some)
        group += some
        size += fresh
        step = min(4 * step, _LARGEST_STEP) if fresh < most // 8 else 1
        if group and (ended or size >= most or len(group) >= _RECORDS_AT_ONCE):
            yield group, frames.lengths_of(group)
            group, size = [], 0
    if error is not None:
        raise error


def _cut(group: Any, most: int) -> Iterator[tuple[Any, Offsets]]:
    lengths = frames.lengths_of(group)
    size = int(lengths.sum()) + frames.OVERHEAD * len(group)
    if size <= most:
        yield group, lengths
        return
    if isinstance(group, Records) and size >= _GATHERED_MEAN * len(group):
        group = list(group.views())  # slices of a list cost less than slices of ``Records``
    step = -(-len(group) * most // size)
    for begin in range(0, len(group), step):
        yield group[begin : begin + step], lengths[begin : begin + step]


class _Output:
    """The file to write to: buffered, perhaps under a temporary name."""

    def __init__(self, path: Any, mode: str, options: TFRecordOptions, *, atomic: bool, index: bool) -> None:
        if mode not in ("w", "a"):
            raise ValueError(f"mode must be 'w' or 'a', not {mode!r}")
        if index and options.compression and options.block_size is None:
            raise ValueError("an index needs an uncompressed file, or GZIP with a block_size")
        self.atomic = atomic
        self.continues = False  # whether the file already holds records
        self._index = index
        self._pieces: list[Any] = []
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
            self.continues = check_appendable(self.name, options)
        how = "ab" if self.continues else "wb"
        self._file = open(self._target, how, buffering=0)  # noqa: SIM115 - closed by finish, abandon

    @staticmethod
    def _named(path: Any) -> str:
        return local_path(path)

    def write(self, pieces: list[Any]) -> None:
        self._pieces += pieces
        self._size += sum(map(len, pieces))
        if self._size >= _BUFFERED_BYTES:
            self._drain()

    def flush(self) -> None:
        self._drain()
        if hasattr(self._file, "flush"):
            self._file.flush()

    def _drain(self) -> None:
        """Write the collected pieces. Bytes that could not be written stay, and none is written twice."""
        raw = isinstance(self._file, io.RawIOBase)
        gather = isinstance(self._file, io.FileIO) and hasattr(os, "writev")
        gather = gather and self._size >= _GATHERED_MEAN * len(self._pieces)
        while self._pieces:
            if gather and self._size > _MOST_AT_ONCE:
                written = self._file.write(self._pieces[0])  # FileIO writes a part of what is too much
            elif gather:
                written = os.writev(self._file.fileno(), self._pieces[:_PIECES_AT_ONCE])
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
        # The index is built from the written file, which also proves that the file is whole.
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


def check_appendable(path: str, options: TFRecordOptions) -> bool:
    """Whether the file at ``path`` holds records; an error unless it is whole and can be appended to."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return False
    if options.compression == "ZLIB":
        raise ValueError("a ZLIB file cannot be appended to: TensorFlow would not read what comes second")
    with RecordReader(path, compression=options.compression) as reader:
        records = sum(map(len, reader.batches()))
    if records and options.compression == "GZIP":
        with open(path, "rb") as file:
            file.seek(-8, os.SEEK_END)
            if file.read() == bytes(8):  # the CRC and size of nothing
                raise ValueError(
                    f"{printable(path)} ends with an empty GZIP member, after which TensorFlow stops reading"
                )
    return records > 0
