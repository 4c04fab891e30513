"""Writing: ``TFRecordWriter``, for one file.

Frames and compressed bytes equal TensorFlow's to the last byte. Unfinished output never passes for complete:
an atomic file appears under its name only when it is complete, and appending first checks that the file is
whole. After a failed write the unwritten bytes are kept, so that another attempt continues exactly there.
After an interrupt a writer goes on exactly, or it refuses. A forked process writes nothing.
This module does not know what a payload means.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from .. import public
from ..bytes_column import Offsets
from ..errors import ClosedError, EncodeError
from ..memory.malloc import retain_freed_memory
from ..printable import printable
from ..records import Records
from ..storage.compression import TFRecordOptions, as_options
from ..storage.deflate import deflate
from ..storage.paths import replace, temporary_name, writing
from ..storage.stores import Upload
from ..storage.url import Url, local_path, stored
from . import frames
from .index import build_index, index_path
from .reader import RecordReader
from .record_digest import RecordDigest

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
    file. A URL, opened with ``storage_options`` or ``filesystem`` as in ``read_records``, is always atomic.

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
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
    ) -> None:
        path = stored(path, storage_options, filesystem)
        self._closed = True  # until everything below has worked
        self._pid = os.getpid()
        self._options = as_options(options)
        self._deflate = deflate(self._options)
        self._output = _Output(path, mode, self._options, atomic=atomic, index=index)
        self._failed = False  # whether closing was begun and not completed
        # Learns the CRC of each record, if it is set before the first one.
        self.digest: RecordDigest | None = None
        try:
            self._output.open(mode, self._options)
            self._closed = False
        except BaseException:
            self._output.abandon(remove=True)
            raise

    def write(self, record: Any) -> None:
        """Add one record: bytes, bytearray, memoryview, str (as UTF-8) or a message."""
        self._check_usable()
        payload = as_payload(record)
        self._put(frames.encode(payload), 1)
        if self.digest is not None:
            self.digest.add(frames.crcs_of([payload]))

    def write_many(self, records: Iterable[Any]) -> None:
        """Add many records, faster than one by one: ``Records``, a list or any iterable."""
        self._check_usable()
        if isinstance(records, (str, bytes, bytearray, memoryview)):
            raise TypeError("write_many takes many records; for one there is write")
        retain_freed_memory()
        for payloads, lengths in payload_groups(records, self._options.block_size or 1 << 20):
            if self._options.flush_mode:  # then TensorFlow's bytes depend on every single piece
                for payload in payloads:
                    self.write(payload)
            else:
                crcs = None if self.digest is None else frames.crcs_of(payloads)
                self._put(frames.encode_many(payloads, lengths, crcs), len(payloads))
                if self.digest is not None and crcs is not None:
                    self.digest.add(crcs)

    def _check_usable(self) -> None:
        if self._closed:
            raise ClosedError("the writer is closed")
        self._check_process()
        if self._output.unfinished:
            raise ClosedError(
                f"writing {self._output.name} was interrupted in the middle of a step, and cannot go on; "
                "write the file again"
            )

    def _check_process(self) -> None:
        if os.getpid() != self._pid:
            raise ClosedError(
                f"{self._output.name} is written by the process that opened it, and not by one that was "
                "forked from it; open a file of its own there"
            )

    def _put(self, pieces: list[Any], records: int) -> None:
        if self._deflate is not None:
            self._output.unfinished = True  # until the output has what is compressed
            pieces = [self._deflate.write(pieces, records)]
        self._output.write(pieces, records)

    def _deflates(self) -> bool:
        """Whether the file gets a compressed stream: an empty one is not appended to existing ones."""
        return self._deflate is not None and not (self.records == 0 and self._output.continues)

    def flush(self) -> None:
        """Write everything so far to the file, so that readers see it."""
        self._check_usable()
        if self._deflate is not None and self._deflates():
            self._output.unfinished = True
            self._output.write([self._deflate.flush()], 0)
        self._output.flush()

    def close(self) -> None:
        """Write the rest and close the file. A second call does nothing, or raises if the first failed."""
        if self._failed:
            raise ClosedError(
                f"closing {self._output.name} has failed, so the file is not complete; write it again"
            )
        if self._closed:
            return
        self._check_process()
        self._failed = True  # until everything below has worked
        try:
            self._check_usable()
            if self._deflate is not None and self._deflates():
                self._output.unfinished = True
                self._output.write([self._deflate.finish()], 0)
            self._output.finish()
            self._closed, self._failed = True, False
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Close without finishing: an atomic file never appears, any other keeps its flushed records."""
        if self._closed:
            return
        self._closed = True
        ours = os.getpid() == self._pid
        if self._deflate is not None and ours:
            self._deflate.abandon()
        self._output.abandon(remove=ours)

    @property
    def closed(self) -> bool:
        """Whether ``close`` has been called."""
        return self._closed

    @property
    def records(self) -> int:
        """The number of records that this writer has accepted.

        After an error of the disk, ``flush`` writes the rest of these; continue with the next record.
        """
        return self._output.records

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None and (self._closed or self._output.atomic or not self._can_finish()):
            self.abandon()
        else:
            self.close()

    def _can_finish(self) -> bool:
        return os.getpid() == self._pid and not self._output.unfinished and not self._failed

    def __del__(self) -> None:
        if getattr(self, "_closed", True):
            return
        if self._can_finish() and not self._output.atomic:
            self.close()
            return
        message = f"{self!r} was never closed, its file is discarded" if self._can_finish() else ""
        self.abandon()
        if message:
            warnings.warn(message, ResourceWarning, stacklevel=2)

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
    """The file to write to: buffered, perhaps under a temporary name.

    ``records`` counts the accepted records. ``unfinished`` is true while a step is under way that cannot be
    taken back. If it is true between two calls, the step was interrupted, and the output cannot go on.
    """

    def __init__(self, path: Any, mode: str, options: TFRecordOptions, *, atomic: bool, index: bool) -> None:
        if mode not in ("w", "a"):
            raise ValueError(f"mode must be 'w' or 'a', not {mode!r}")
        if index and options.compression and options.block_size is None:
            raise ValueError("an index needs an uncompressed file, or GZIP with a block_size")
        self.atomic = atomic
        self.continues = False  # whether the file already holds records
        self.records = 0
        self.unfinished = False
        self._index = index
        self._pieces: list[Any] = []
        self._size = 0
        # Where in a regular file the next piece belongs. Written bytes that an interrupt has kept from being
        # counted are written again, to the same place.
        self._position: int | None = None
        self._file: Any = None  # until it is open
        self._ours = not hasattr(path, "write")
        self.name = local_path(path) if self._ours else str(getattr(path, "name", path))
        if not self._ours and (mode == "a" or atomic or index):
            raise ValueError("mode='a', atomic and index need a path, not an open file")
        if mode == "a" and isinstance(self.name, Url):
            raise ValueError("mode='a' needs a local file: what is in a store is replaced, never changed")
        if mode == "a" and atomic:
            raise ValueError("mode='a' writes into the file itself and cannot be atomic")
        remote = isinstance(self.name, Url)
        self._target = temporary_name(self.name) if atomic and not remote else self.name
        self.atomic |= remote  # a remote file appears whole or not at all
        if not self._ours:
            self._file = path

    def open(self, mode: str, options: TFRecordOptions) -> None:
        """Open the file; if that fails or is interrupted, ``abandon`` removes what there is."""
        if not self._ours:
            return
        if isinstance(self.name, Url):
            self._file = Upload(self.name)
            return
        if mode == "a":
            self.continues = check_appendable(self.name, options)
        with writing(self.name):
            how = "r+b" if self.continues else "wb"
            self._file = open(self._target, how, buffering=0)  # noqa: SIM115 - closed by finish, abandon
            if stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                self._position = self._file.seek(0, os.SEEK_END)

    def write(self, pieces: list[Any], records: int) -> None:
        size = self._size + sum(map(len, pieces))
        self.unfinished = True
        self._pieces += pieces
        self._size, self.records, self.unfinished = size, self.records + records, False
        if size >= _BUFFERED_BYTES:
            self._drain()

    def flush(self) -> None:
        self._drain()
        if hasattr(self._file, "flush"):
            with writing(self.name):
                self._file.flush()

    def _drain(self) -> None:
        """Write the collected pieces. Bytes that could not be written stay, and none is written twice."""
        gather = isinstance(self._file, io.FileIO) and hasattr(os, "writev")
        gather = gather and self._size >= _GATHERED_MEAN * len(self._pieces)
        while self._pieces:
            if not gather:
                self._pieces = [b"".join(self._pieces)]
            self.unfinished = self._position is None
            try:
                with writing(self.name):
                    written = self._write_some(gather=gather)
            except OSError:
                self.unfinished = False
                raise
            position = None if self._position is None else self._position + written
            rest = _without(self._pieces, written)
            size = self._size - written
            self._pieces, self._size, self._position, self.unfinished = rest, size, position, False

    def _write_some(self, *, gather: bool) -> int:
        """Write the first of the pieces and give the number of bytes that were written."""
        if self._position is not None:
            self._file.seek(self._position)
        if gather and self._size <= _MOST_AT_ONCE:
            return os.writev(self._file.fileno(), self._pieces[:_PIECES_AT_ONCE])
        written: int | None = self._file.write(self._pieces[0])  # FileIO writes a part of what is too much
        if not isinstance(self._file, io.RawIOBase):
            return len(self._pieces[0])
        if written is None:
            raise BlockingIOError(errno.EAGAIN, "the file does not block and takes no more now")
        return written

    def finish(self) -> None:
        self.flush()
        if not self._ours:
            return
        if isinstance(self._file, Upload):
            self._file.commit()
            if self._index:
                build_index(self.name).save(index_path(self.name))
            return
        with writing(self.name):
            if self.atomic:
                os.fsync(self._file.fileno())
            self._file.close()
            # The index is built from the written file, which also proves that the file is whole.
            index = build_index(self._target) if self._index else None
            if self.atomic:
                replace(self._target, self.name, keep=True)
        if index is not None:
            index.save(index_path(self.name))

    def abandon(self, *, remove: bool) -> None:
        """Close the file; with ``remove``, a file with a temporary name goes."""
        if not self._ours:
            return
        if isinstance(self._file, Upload):
            if remove:
                self._file.discard()
            return
        if self._file is not None:
            self._file.close()
        if remove and self.atomic and not isinstance(self.name, Url) and os.path.exists(self._target):
            os.unlink(self._target)


def _without(pieces: list[Any], size: int) -> list[Any]:
    """``pieces`` without their first ``size`` bytes."""
    whole = 0
    while whole < len(pieces) and size >= len(pieces[whole]):
        size -= len(pieces[whole])
        whole += 1
    rest = pieces[whole:]
    if size:
        rest[0] = rest[0][size:]
    return rest


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
