"""Reading: ``read_records`` and ``read_batches``, forward through files and streams.

This module opens one file after the other and applies ``on_error``; ``FrameStream`` does the work. The module
does not know how a file is stored, how a frame is laid out, nor what a payload means.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from .. import public
from ..errors import ClosedError, CorruptionError
from ..records import Records
from ..storage.paths import resolve
from .frame_stream import FrameStream
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
        self._files = iter(files := resolve(source))
        self._stream: FrameStream | None = None
        self._stopped = False
        self._closed = False
        self._current: Iterator[bytes] = iter(())
        self._lock = threading.Lock()  # all loops over this reader share its position
        self.skipped = 0
        self.last_error: CorruptionError | None = None
        # Opens the first file now, so that its errors are raised here.
        if files:
            self._open_next()

    def __iter__(self) -> Iterator[bytes]:
        # A loop over a generator is faster than calls of __next__; both continue with self._current.
        while True:
            current = self._current
            yield from current
            with self._lock:
                if current is not self._current:
                    continue  # another loop over this reader, or a call of next, has read on
                payloads = self.take(FrameStream.payloads)
                if payloads is None:
                    return
                self._current = iter(payloads)

    def __next__(self) -> bytes:
        for record in self:
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
        with self._lock:
            begun = self._begun(limit)
            return begun or self.take(lambda stream: stream.next(limit, most))

    def _begun(self, limit: int) -> Records | None:
        """Up to ``limit`` of the records that a loop has read but not handed out; None if there are none."""
        payloads = list(self._current)
        if not payloads or self._stream is None:
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
        self._current = iter(())

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None:
            self.close()

    def take(self, take: Callable[[FrameStream], _T | None]) -> _T | None:
        """The result of ``take`` for the current file or, at its end, for the next; None at the very end."""
        if self._closed:
            raise ClosedError("the reader is closed")
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
        return None

    def _open_next(self) -> bool:
        """Open the next file; False if there is none."""
        for file in self._files:
            opened = open_source(file, self._compression)
            stream = FrameStream(opened, verify=self._verify, after=self._stream)
            if self._stream is not None:
                self._stream.close()
            self._stream = stream
            return True
        return False


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
