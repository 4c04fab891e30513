"""Reading: ``read_records`` and ``read_batches``, forward through files and streams.

This module opens one file after the other and applies ``on_error``; ``FrameStream`` does the work. The module
does not know how a file is stored, how a frame is laid out, nor what a payload means.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from .. import public
from ..errors import ClosedError, CorruptionError, PureRecordError
from ..records import Records
from ..storage.paths import resolve
from .frame_stream import FrameStream, Place
from .looks_like import open_source

# Records and bytes of a batch without a given size.
_BATCH_RECORDS, _BATCH_BYTES = 8192, 1 << 23

_POLICIES = ("raise", "skip", "stop")
_T = TypeVar("_T")


def check_on_error(on_error: str) -> None:
    """Raise unless ``on_error`` is one of the ways to meet damage."""
    if on_error not in _POLICIES:
        raise ValueError(f"on_error must be one of {', '.join(_POLICIES)}, not {on_error!r}")


@public
class RecordReader(Iterator[bytes]):
    """An iterator over the records of one file after the other, as ``read_records`` returns it.

    ``path`` is the file of the record that came last. After the clean end of the last file, iterating again
    gives the records that were written to it meanwhile. With ``on_error="skip"``, ``skipped`` counts the
    damaged ranges that were skipped, and ``last_error`` is the error of the last one.
    """

    def __init__(
        self, source: Any, *, compression: Any = "auto", verify: bool = True, on_error: str = "raise"
    ) -> None:
        check_on_error(on_error)
        self._on_error = on_error
        self._verify = verify
        self._compression = compression
        self._files = resolve(source)
        self._opened = 0  # how many of them have been opened
        self._stream: FrameStream | None = None
        self._stopped = False
        self._closed = False
        self._current: Iterator[bytes] = iter(())  # records that were read for a loop and not handed out yet
        self._looped = False  # whether there may be any
        self._batch: Iterator[Records] = iter(())  # a batch that was read and not handed out yet
        self._batch_limit = 0  # the size that it was read for
        self._lock = threading.Lock()  # all loops over this reader share its position
        self._pid = os.getpid()
        self._unfinished = False  # whether a call is changing the position, or was interrupted in doing so
        self._start: _Start | None = None  # where that call began, if the reader can go back there
        self.skipped = 0
        self.last_error: CorruptionError | None = None
        # Opens the first file now, so that its errors are raised here.
        if self._files:
            self._open_next()

    def __iter__(self) -> Iterator[bytes]:
        # A loop over a generator is faster than calls of __next__; both continue with self._current. An error
        # ends a generator for good. The loop then continues with the reader itself.
        return chain(self._loop(), _Rest(self))

    def _loop(self) -> Iterator[bytes]:
        while True:
            current = self._current
            yield from current
            with self._locked():
                self._begin(None)
                if current is not self._current:
                    self._unfinished = False
                    continue  # another loop over this reader, or a call of next, has read on
                payloads = self._take(FrameStream.payloads)
                if payloads is None:
                    self._unfinished = False
                    return
                self._current, self._looped, self._unfinished = iter(payloads), True, False

    def __next__(self) -> bytes:
        for record in self._loop():
            return record
        raise StopIteration

    @property
    def path(self) -> str | None:
        """The name of the file of the record that came last; None if there is no file."""
        return None if self._stream is None else self._stream.name

    def batches(self, batch_size: int | None = None) -> Iterator[Records]:
        """The records in batches; see ``read_batches``."""
        if batch_size is None:
            return _Batches(self, _BATCH_RECORDS, _BATCH_BYTES)
        if operator.index(batch_size) < 1:
            raise ValueError(f"batch_size must be positive, not {batch_size}")
        return _Batches(self, batch_size, None)

    def next_batch(self, limit: int, most: int | None) -> Records | None:
        """The next ``limit`` records, or ``most`` bytes of them; None at the end."""
        while True:
            ready = self._batch
            for batch in ready:
                return batch
            with self._locked():
                if ready is not self._batch:
                    continue  # another thread has read on
                self._begin(limit)
                records = self._begun(limit) or self._take(lambda stream: stream.next(limit, most))
                if records is None:
                    self._unfinished = False
                    return None
                self._batch, self._batch_limit, self._unfinished = iter((records,)), limit, False

    def _locked(self) -> threading.Lock:
        """The lock; a new one in a forked process, as a thread of the other may hold the old one."""
        if os.getpid() != self._pid:
            self._lock, self._pid = threading.Lock(), os.getpid()
        return self._lock

    def _begin(self, limit: int | None) -> None:
        """Begin a call that reads on. If the call before was interrupted, go back to where it began."""
        if self._closed:
            raise ClosedError("the reader is closed")
        if self._unfinished:
            self._go_back()
        if self._batch_limit != limit and operator.length_hint(self._batch):
            # An interrupted call has left a batch, and this call asks for something else.
            self._unfinished, self._start = True, None
            for batch in self._batch:
                self._current, self._looped = chain(batch, self._current), True
        self._start = self._where(self._stream)
        self._unfinished = True

    def _where(self, stream: FrameStream | None) -> _Start | None:
        place = None if stream is None else stream.place()
        return None if place is None else _Start(place, self.skipped, self.last_error)

    def _go_back(self) -> None:
        if self._start is None or self._stream is None:
            name = "reading" if self._stream is None else f"reading {self._stream.name}"
            raise ClosedError(
                f"{name} was interrupted, and this source cannot go back to the record that comes next; "
                "read it again from the beginning"
            )
        self._stream.go_back(self._start.place)
        self.skipped, self.last_error, self._stopped = self._start.skipped, self._start.last_error, False
        self._unfinished = False

    def _begun(self, limit: int) -> Records | None:
        """Up to ``limit`` of the records that a loop has read but not handed out; None if there are none."""
        start, self._start = (
            self._start,
            None,
        )  # until these records are kept again, nothing leads back to them
        payloads = list(self._current)
        if not payloads or self._stream is None:
            self._start = start
            return None
        self._current = iter(payloads[limit:])
        some = Records.of(payloads[:limit])
        first = self._stream.record - len(payloads)
        return Records(some.buffer, some.begins, some.ends, path=self._stream.name, first=first)

    def close(self) -> None:
        """Close the open file."""
        if self._stream is not None:
            self._stream.close()
        self._closed = True
        self._current, self._batch = iter(()), iter(())

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self.close()

    def _take(self, take: Callable[[FrameStream], _T | None]) -> _T | None:
        """The result of ``take`` for the current file or, at its end, for the next; None at the very end."""
        try:
            while self._stream is not None and not self._stopped:
                try:
                    taken = take(self._stream)
                except CorruptionError as error:
                    if self._on_error == "raise":
                        raise
                    # The traceback would keep this reader alive and its file open.
                    self.last_error = error.with_traceback(None)
                    self._stopped = self._on_error == "stop"
                    if not self._stopped:
                        self._stream.skip()
                        self.skipped += 1
                    continue
                if taken is not None or not self._open_next():
                    return taken
        except (PureRecordError, OSError):
            # Raised by the source or about it, and not in the middle of a step: the next call tries again.
            self._unfinished = self._start is not None
            raise
        return None

    def _open_next(self) -> bool:
        """Open the next file; False if there is none."""
        if self._opened == len(self._files):
            return False
        opened = open_source(self._files[self._opened], self._compression)
        if opened.regular:
            opened.detect_compression()  # an uncompressed file can go back, even to its beginning
        before, stream = self._stream, FrameStream(opened, verify=self._verify, after=self._stream)
        start = self._where(stream)
        # From here on an interrupted call goes back to the beginning of the new file.
        self._stream, self._opened, self._start = stream, self._opened + 1, start
        if before is not None:
            before.close()
        return True


class _Start(NamedTuple):
    """What a reader goes back to when a call was interrupted."""

    place: Place
    skipped: int
    last_error: CorruptionError | None


class _Rest(Iterator[bytes]):
    """The rest of a reader's records, after an error has ended the generator of a loop."""

    def __init__(self, reader: RecordReader) -> None:
        self._reader = reader

    def __next__(self) -> bytes:
        for record in self._reader._loop():
            return record
        raise StopIteration


class _Batches(Iterator[Records]):
    """The rest of a reader's records in batches; continues when more has been written, like the reader."""

    def __init__(self, reader: RecordReader, limit: int, most: int | None) -> None:
        self._reader = reader
        self._limit = limit
        self._most = most

    def __next__(self) -> Records:
        records = self._reader.next_batch(self._limit, self._most)
        if records is None:
            raise StopIteration
        return records


@public
def read_records(
    source: Any, *, compression: Any = "auto", verify: bool = True, on_error: str = "raise"
) -> RecordReader:
    """The records of ``source``, one after the other, as ``bytes``.

    ``source`` is a path, a URL, a glob, a shard pattern (``name@10``, ``name-?????-of-?????``), a list of
    those, or an open binary file. ``compression`` is "auto" (detected by content), "", "GZIP", "ZLIB",
    "BZ2", "XZ" or "ZSTD". The CRC of each length is always checked, that of the data unless ``verify`` is
    False. At damage, ``on_error="raise"`` raises a ``CorruptionError``, "skip" continues after the damaged
    record, and "stop" ends as if the data ended there.

    >>> for record in read_records("train-*.tfrecord"):
    ...     print(len(record))
    """
    return RecordReader(source, compression=compression, verify=verify, on_error=on_error)


@public
def read_batches(
    source: Any,
    *,
    batch_size: int | None = None,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
) -> Iterator[Records]:
    """The records of ``source`` in batches of ``batch_size``, as ``Records``: the fast way to handle many.

    A batch has fewer records before the end of a file and before damage; it never spans two files. Without a
    ``batch_size`` it has up to 8192 records, or 8 MiB. The other arguments are those of ``read_records``.
    """
    reader = RecordReader(source, compression=compression, verify=verify, on_error=on_error)
    return reader.batches(batch_size)
