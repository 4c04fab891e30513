"""Reading: ``read_records`` and ``read_batches``, forward through files and streams.

They put file after file and apply ``on_error``; the work is done by ``FrameStream``. This module does not
know how a file is stored, how a frame is laid out, nor what a payload means.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..errors import ClosedError, CorruptionError
from ..records import Records
from ..storage.paths import resolve
from .frame_stream import FrameStream
from .looks_like import open_source

# What a batch holds when no batch size is given.
_BATCH, _BATCH_BYTES = 8192, 1 << 23

_POLICIES = ("raise", "skip", "stop")
_T = TypeVar("_T")


def check_on_error(on_error: str) -> None:
    """Raise unless ``on_error`` is one of the ways to meet damage."""
    if on_error not in _POLICIES:
        raise ValueError(f"on_error must be one of {', '.join(_POLICIES)}, not {on_error!r}")


class RecordReader(Iterator[bytes]):
    """Iterates over the records of one file after the other; what ``read_records`` gives.

    A reader that has come to the clean end of its last file goes on when more has been written to it:
    ask it again. Under ``on_error="skip"``, ``skipped`` counts the damaged places passed over and
    ``last_error`` is the latest of them.
    """

    def __init__(
        self, source: Any, *, compression: Any = "auto", verify: bool = True, on_error: str = "raise"
    ) -> None:
        check_on_error(on_error)
        self._on_error = on_error
        self._verify = verify
        self._compression = compression
        self._files = iter(files := resolve(source))
        self._stream: FrameStream | None = None
        self._stopped = False
        self._closed = False
        self._current: Iterator[bytes] = iter(())
        self._lock = threading.Lock()  # for what is read is shared by all who iterate
        self.skipped = 0
        self.last_error: CorruptionError | None = None
        # The first file is opened at once, so that what is wrong with it is said here.
        if files:
            self._open_next()

    def __iter__(self) -> Iterator[bytes]:
        # Looping over a generator is faster than calling __next__; both go on with self._current.
        while True:
            current = self._current
            yield from current
            with self._lock:
                if current is not self._current:
                    continue  # another loop over this reader, or a next, has gone on
                payloads = self.take(FrameStream.payloads)
                if payloads is None:
                    return
                self._current = iter(payloads)

    def __next__(self) -> bytes:
        for record in self:
            return record
        raise StopIteration

    def batches(self, batch_size: int | None = None) -> Iterator[Records]:
        """The records in batches; see ``read_batches``."""
        if batch_size is None:
            return _Batches(self, _BATCH, _BATCH_BYTES)
        if operator.index(batch_size) < 1:
            raise ValueError(f"batch_size must be positive, not {batch_size}")
        return _Batches(self, batch_size, None)

    def next_batch(self, limit: int, most: int | None) -> Records | None:
        """The next records: ``limit``, or ``most`` bytes of them; None at the end."""
        with self._lock:
            begun = self._begun(limit)
            return begun or self.take(lambda stream: stream.next(limit, most))

    def _begun(self, limit: int) -> Records | None:
        """The next records, at most ``limit``, of those that iterating has got but not handed out."""
        payloads = list(self._current)
        if not payloads or self._stream is None:
            return None
        self._current = iter(payloads[limit:])
        some = Records.of(payloads[:limit])
        first = self._stream.record - len(payloads)
        return Records(some.buffer, some.begins, some.ends, path=self._stream.name, first=first)

    def close(self) -> None:
        """Close the file that is open."""
        if self._stream is not None:
            self._stream.close()
        self._closed = True
        self._current = iter(())

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self.close()

    def take(self, take: Callable[[FrameStream], _T | None]) -> _T | None:
        """What ``take`` gets from the present file or, at its end, from the next; None at the very end."""
        if self._closed:
            raise ClosedError("the reader is closed")
        while self._stream is not None and not self._stopped:
            try:
                taken = take(self._stream)
            except CorruptionError as error:
                if self._on_error == "raise":
                    raise
                # Without its traceback, which would keep this reader and its file open.
                self.last_error = error.with_traceback(None)
                self._stopped = self._on_error == "stop"
                if not self._stopped:
                    self._stream.skip()
                    self.skipped += 1
                continue
            if taken is not None or not self._open_next():
                return taken
        return None

    def _open_next(self) -> bool:
        """Go on to the next file, if there is one."""
        for file in self._files:
            opened = open_source(file, self._compression)
            stream = FrameStream(opened, verify=self._verify, after=self._stream)
            if self._stream is not None:
                self._stream.close()
            self._stream = stream
            return True
        return False


class _Batches(Iterator[Records]):
    """The rest of a reader's records in batches; goes on when more has been written, like the reader."""

    def __init__(self, reader: RecordReader, limit: int, most: int | None) -> None:
        self._reader = reader
        self._limit = limit
        self._most = most

    def __next__(self) -> Records:
        records = self._reader.next_batch(self._limit, self._most)
        if records is None:
            raise StopIteration
        return records


def read_records(
    source: Any, *, compression: Any = "auto", verify: bool = True, on_error: str = "raise"
) -> RecordReader:
    """The records of ``source``, one after the other, as ``bytes``.

    ``source`` is a path, a URL, a glob, a shard pattern (``name@10``, ``name-?????-of-?????``), a list of
    those, or a binary file that is open. ``compression`` is "auto" (judged by the content), "", "GZIP" or
    "ZLIB". The CRC of a length is always checked, that of the data unless ``verify`` is False.
    At damage, ``on_error="raise"`` raises a ``CorruptionError``, "skip" goes on behind the damaged
    record, "stop" ends as if the data ended there.

    >>> for record in read_records("train-*.tfrecord"):
    ...     print(len(record))
    """
    return RecordReader(source, compression=compression, verify=verify, on_error=on_error)


def read_batches(
    source: Any,
    *,
    batch_size: int | None = None,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
) -> Iterator[Records]:
    """The records of ``source`` in ``Records`` of ``batch_size``, the form in which many are handled fast.

    A batch has fewer records where a file ends or damage lies; it never spans two files. Without a
    ``batch_size`` it has as many as are good to handle at once: 8192, or 8 MiB. The other arguments are
    those of ``read_records``.
    """
    reader = RecordReader(source, compression=compression, verify=verify, on_error=on_error)
    return reader.batches(batch_size)
