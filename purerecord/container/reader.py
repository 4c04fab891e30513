"""Reading: ``read_records`` and ``read_batches``, forward through files and streams.

This module opens one file after the other and applies ``on_error``; ``FrameStream`` does the work. The module
does not know how a file is stored, how a frame is laid out, nor what a payload means.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from .. import public
from ..errors import ClosedError, CorruptionError, PureRecordError
from ..records import Records
from ..storage.fork_lock import ForkLock
from ..storage.paths import resolve
from ..storage.url import stored
from .frame_stream import FrameStream, Place
from .looks_like import open_source

# Records and bytes of a batch without a given size.
_BATCH_RECORDS, _BATCH_BYTES = 8192, 1 << 23

_POLICIES = ("raise", "skip", "stop", "tail")
_T = TypeVar("_T")


def check_on_error(on_error: str) -> None:
    """Raise unless ``on_error`` is one of the ways to meet damage."""
    if on_error not in _POLICIES:
        raise ValueError(f"on_error must be one of {', '.join(_POLICIES)}, not {on_error!r}")


def check_batch_size(batch_size: int) -> None:
    """Raise an error if a batch cannot have this many records."""
    if operator.index(batch_size) < 1:
        raise ValueError(f"batch_size must be positive, not {batch_size}")


def check_max_record_size(size: int | None) -> None:
    """Raise unless ``size`` is a number of bytes, or None for no limit."""
    if size is not None and operator.index(size) < 0:
        raise ValueError(f"max_record_size must not be negative, not {size}")


@public
class RecordReader(Iterator[bytes]):
    """An iterator over the records of one file after the other, as ``read_records`` returns it.

    ``path`` is the file of the record that came last. After the clean end of the last file, iterating again
    gives the records that were written to it meanwhile. With ``on_error="skip"``, ``skipped`` counts the
    damaged ranges that were skipped, and ``last_error`` is the error of the last one; with "tail", it is that
    of the last cut file.
    """

    def __init__(
        self,
        source: Any,
        *,
        compression: Any = "auto",
        verify: bool = True,
        on_error: str = "raise",
        max_record_size: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
    ) -> None:
        check_on_error(on_error)
        check_max_record_size(max_record_size)
        self._max_record_size = max_record_size
        self._on_error = on_error
        self._verify = verify
        self._compression = compression
        self._files = resolve(stored(source, storage_options, filesystem))
        self._opened = 0  # how many of them have been opened
        self._stream: FrameStream | None = None
        self._stopped = False
        self._refused: CorruptionError | None = None  # damage in a source that cannot go back to it
        self._closed = False
        self._pending = _Pending(None, iter(()))
        self._lock = ForkLock()  # all loops over this reader share its position
        self._unfinished = False  # whether a call is changing the position, or was interrupted in doing so
        self._start: _Start | None = None  # where that call began, if the reader can go back there
        self.skipped = 0
        self.last_error: CorruptionError | None = None
        # Opens the first file now, so that its errors are raised here.
        if self._files:
            self._open_next()

    def __iter__(self) -> Iterator[bytes]:
        return self.items(None, None)

    def __next__(self) -> bytes:
        record: bytes
        for record in self._loop(None, None):
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
        check_batch_size(batch_size)
        return _Batches(self, batch_size, None)

    def items(self, limit: int | None, most: int | None) -> Iterator[Any]:
        """A loop over the records or, with a ``limit``, over batches of that many, up to ``most`` bytes."""
        # A generator is faster than calls of __next__, but an error ends it for good. So a loop goes on
        # with calls then.
        return chain(self._loop(limit, most), iter(lambda: self.next_item(limit, most), None))

    def next_item(self, limit: int | None, most: int | None) -> Any:
        """The next element of such a loop; None at the end."""
        for item in self._loop(limit, most):
            return item
        return None

    def _loop(self, limit: int | None, most: int | None) -> Iterator[Any]:
        while True:
            pending = self._pending
            if pending.limit == limit:
                yield from pending.items
            with self._lock.here():
                if pending is not self._pending:
                    continue  # another loop over this reader has read on
                self._begin()
                items = self._rearranged(limit) or self._read(limit, most)
                if items is None:
                    self._unfinished = False
                    return
                self._pending, self._unfinished = _Pending(limit, iter(items)), False
                del items  # or this loop would keep a batch, and its memory could not be used again

    def _read(self, limit: int | None, most: int | None) -> Iterable[Any] | None:
        if limit is None:
            return self._take(FrameStream.payloads)
        batch = self._take(lambda stream: stream.next(limit, most))
        return None if batch is None else (batch,)

    def _rearranged(self, limit: int | None) -> list[Any] | None:
        """What another kind of loop has read and not handed out, for this one; None if there is nothing."""
        before, items = self._pending
        if before == limit or operator.length_hint(items, 1) == 0 or self._stream is None:
            return None
        start, self._start = self._start, None  # if this is interrupted, nothing leads back to these records
        payloads = list(items) if before is None else [payload for batch in items for payload in batch]
        if not payloads:
            self._start = start
            return None
        if limit is None:
            return payloads
        path, first = self._stream.name, self._stream.record - len(payloads)
        begins = range(0, len(payloads), limit)
        return [_batch(payloads[begin : begin + limit], path, first + begin) for begin in begins]

    def _begin(self) -> None:
        """Begin a call that reads on. If the call before was interrupted, go back to where it began."""
        if self._closed:
            raise ClosedError("the reader is closed")
        if self._unfinished:
            self._go_back()
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

    def close(self) -> None:
        """Close the open file."""
        if self._stream is not None:
            self._stream.close()
        self._closed = True
        self._pending = _Pending(None, iter(()))

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
                if self._refused is not None:
                    raise self._refused
                try:
                    taken = take(self._stream)
                except CorruptionError as error:
                    if self._on_error == "raise" or (
                        self._on_error == "tail" and not self._is_cut_end(self._stream, error)
                    ):
                        raise
                    # The traceback would keep this reader alive and its file open.
                    self.last_error = error.with_traceback(None)
                    if self._on_error == "tail":
                        if self._open_next():
                            continue
                        return None
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

    def _is_cut_end(self, stream: FrameStream, error: CorruptionError) -> bool:
        """Whether the file ends inside its last record. If not, ``error`` will be raised at each call."""
        place = stream.place()
        cut = stream.is_cut_end(stream.skip())  # skipping searches for frames that follow
        if place is not None:
            stream.go_back(place)
        elif not cut:
            self._refused = error.with_traceback(None)
        return cut

    def _open_next(self) -> bool:
        """Open the next file; False if there is none."""
        if self._opened == len(self._files):
            return False
        opened = open_source(self._files[self._opened], self._compression)
        if opened.regular:
            opened.detect_compression()  # an uncompressed file can go back, even to its beginning
        before = self._stream
        stream = FrameStream(opened, verify=self._verify, after=before, max_record_size=self._max_record_size)
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


class _Pending(NamedTuple):
    """What was read and not handed out yet: records or, with a ``limit``, batches of that many."""

    limit: int | None
    items: Iterator[Any]


def _batch(payloads: list[bytes], path: str, first: int) -> Records:
    some = Records.of(payloads)
    return Records(some.buffer, some.begins, some.ends, path=path, first=first)


class _Batches(Iterator[Records]):
    """The rest of a reader's records in batches; continues when more has been written, like the reader."""

    def __init__(self, reader: RecordReader, limit: int, most: int | None) -> None:
        self._reader = reader
        self._limit = limit
        self._most = most

    def __iter__(self) -> Iterator[Records]:
        return self._reader.items(self._limit, self._most)

    def __next__(self) -> Records:
        batch: Records
        for batch in self._reader._loop(self._limit, self._most):
            return batch
        raise StopIteration


@public
def read_records(
    source: Any,
    *,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
    max_record_size: int | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> RecordReader:
    """The records of ``source``, one after the other, as ``bytes``.

    ``source`` is a path, a URL, a glob, a shard pattern (``name@10``, ``name-?????-of-?????``), a list of
    those, or an open binary file. ``compression`` is "auto" (detected by content), "", "GZIP", "ZLIB",
    "BZ2", "XZ" or "ZSTD". The CRC of each length is always checked, that of the data unless ``verify`` is
    False. At damage, ``on_error="raise"`` raises a ``CorruptionError``, "skip" continues after the damaged
    record, and "stop" ends as if the data ended there. With "tail", a file whose last record is cut, as a
    killed writer leaves it, ends before that record, and any other damage raises. A record of more than
    ``max_record_size`` bytes is damage too, and is not read into memory; by default there is no limit.
    For URLs, ``storage_options`` are what fsspec's class for the scheme takes; ``filesystem`` is an object of
    fsspec, pyarrow or obstore in which the source is a path.

    >>> for record in read_records("train-*.tfrecord"):
    ...     print(len(record))
    """
    return RecordReader(
        source,
        compression=compression,
        verify=verify,
        on_error=on_error,
        max_record_size=max_record_size,
        storage_options=storage_options,
        filesystem=filesystem,
    )


@public
def read_batches(
    source: Any,
    *,
    batch_size: int | None = None,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
    max_record_size: int | None = None,
    byte_range: tuple[int, int | None] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Iterator[Records]:
    """The records of ``source`` in batches of ``batch_size``, as ``Records``: the fast way to handle many.

    A batch has fewer records before the end of a file and before damage; it never spans two files. Without a
    ``batch_size`` it has up to 8192 records, or 8 MiB. The other arguments are those of ``read_records``.

    With ``byte_range``, a begin and an end, only a part of one file is read, which is uncompressed or blocked
    GZIP. The parts [0, a), [a, b) and [b, size) give every record exactly once, together, without an index;
    the numbers of records in errors are unknown then. Any other file has one part, [0, size).
    """
    if byte_range is not None:
        files = resolve(stored(source, storage_options, filesystem))
        if len(files) != 1:
            raise ValueError(f"byte_range is a part of one file, not of {len(files)}")
        check_on_error(on_error)
        check_max_record_size(max_record_size)
        from .byte_range import RangeReader  # noqa: PLC0415 - seldom needed

        return RangeReader(
            files[0],
            byte_range,
            compression=compression,
            batch_size=batch_size,
            verify=verify,
            on_error=on_error,
            max_record_size=max_record_size,
        )
    reader = RecordReader(
        source,
        compression=compression,
        verify=verify,
        on_error=on_error,
        max_record_size=max_record_size,
        storage_options=storage_options,
        filesystem=filesystem,
    )
    return reader.batches(batch_size)
