"""``RangeReader``: the records in a part of an uncompressed file, without an index.

The parts [0, a), [a, b) and [b, size) of a file give every record exactly once, together. A part begins at
the first frame at or after its begin whose header and payload both match their checksums, and ends where the
next part begins. Each part looks for both, so that two neighbours agree, and damage between them belongs to
the first one. A payload that holds a TFRecord of its own may offer a false frame. The part before it meets a
frame that spans the place, and raises an error. This module does not know what a payload means.
"""

from __future__ import annotations

import io
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import ClosedError, CorruptionError
from ..printable import printable
from ..records import Records
from ..storage.fork_lock import ForkLock
from .frame_stream import FrameStream, Place
from .frames import HEADER
from .looks_like import open_source
from .reader import check_batch_size

# Records and bytes of a batch without a given size.
_BATCH_RECORDS, _BATCH_BYTES = 8192, 1 << 23


class RangeReader(Iterator[Records]):
    """The records of ``file`` that belong to the bytes [begin, end), in batches; ``end`` may be None.

    ``skipped`` counts the damaged places that were skipped. After an interrupt it goes on exactly there, or
    refuses; threads share its batches.
    """

    def __init__(
        self,
        file: Any,
        byte_range: tuple[int, int | None],
        *,
        compression: Any = "auto",
        batch_size: int | None = None,
        verify: bool = True,
        on_error: str = "raise",
        max_record_size: int | None = None,
    ) -> None:
        begin, end = checked(byte_range)
        if batch_size is not None:
            check_batch_size(batch_size)
        opened = open_source(file, compression)
        opened.detect_compression()
        if opened.regular and opened.compression is None:  # an empty file
            opened.close()
            opened = open_source(file, "")
        if not opened.rewinds:
            opened.close()
            raise io.UnsupportedOperation(
                f"{printable(opened.name)} is compressed or a stream; only an uncompressed file has "
                "byte ranges"
            )
        self._stream = FrameStream(opened, verify=verify, max_record_size=max_record_size)
        size = opened.remaining() or 0
        self._on_error = on_error
        self._limit, self._most = batch_size or _BATCH_RECORDS, None if batch_size else _BATCH_BYTES
        self._begin = self._boundary(min(begin, size), size)
        self._stop = self._boundary(size if end is None else min(end, size), size)
        self._stream.go_back(Place(self._begin, 0))
        self._ended = False  # whether the last record of this part was handed out, or met damage
        self._lock = ForkLock()
        self._pending: Iterator[Records] = iter(())  # what was read and not handed out yet
        self._start: Any = None  # where the call that reads on began; None if nothing leads back there
        self._unfinished = False  # whether such a call is under way, or was interrupted
        self.skipped = 0
        self.last_error: CorruptionError | None = None

    def _boundary(self, offset: int, size: int) -> int:
        """Where the part that begins at ``offset`` has its first frame."""
        return offset if offset in (0, size) else self._stream.find(offset, size)

    def __next__(self) -> Records:
        while True:
            for records in self._pending:
                return records
            with self._lock.here():
                if operator.length_hint(self._pending):
                    continue  # another thread has read on
                self._read_on()
                found = self._read()
                if found is None:
                    self._unfinished = False
                    self.close()
                    raise StopIteration
                self._pending, self._unfinished = iter((found,)), False

    def _read_on(self) -> None:
        """Begin to read on. If the call before was interrupted, go back to where it began."""
        if self._unfinished:
            if self._start is None:
                raise ClosedError(f"reading {self._stream.name} was interrupted; read it from the beginning")
            place, self.skipped, self.last_error, self._ended = self._start
            self._stream.go_back(place)
        place = self._stream.place()
        self._start = None if place is None else (place, self.skipped, self.last_error, self._ended)
        self._unfinished = True

    def _read(self) -> Records | None:
        """The next batch; None at the end of this part."""
        while not self._ended and self._stream.position < self._stop:
            try:
                records = self._stream.next(self._limit, self._most)
            except CorruptionError as error:
                error.record = None  # it counts from the beginning of this part
                if self._on_error in ("raise", "tail"):
                    raise
                self.last_error = error.with_traceback(None)
                if self._on_error == "stop":
                    self._ended = True
                    break
                self._stream.skip()
                self.skipped += 1
                continue
            if records is None:
                break
            if mine := self._mine(records):
                return mine
        if not self._ended and self._stream.position > self._stop:
            raise self._straddled()
        return None

    def _mine(self, records: Records) -> Records:
        """Those of ``records`` that begin before the end of this part."""
        base = records.base
        assert base is not None
        offsets = records.begins + (base - HEADER)
        count = int(np.searchsorted(offsets, self._stop))
        if count < len(records) and int(offsets[count]) != self._stop:
            raise self._straddled()
        self._ended = count < len(records)
        return records[:count]

    def _straddled(self) -> CorruptionError:
        return CorruptionError(
            f"a record spans byte {self._stop}, where another part of the file begins: the record holds a "
            "TFRecord itself; split this file by an index instead",
            path=self._stream.name,
            offset=self._stop,
        )

    def __enter__(self) -> RangeReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._ended = True
        self._stream.close()


def checked(byte_range: Any) -> tuple[int, int | None]:
    """``byte_range`` as two numbers of bytes, of which the second may be None."""
    try:
        begin, end = byte_range
        begin, end = operator.index(begin), None if end is None else operator.index(end)
    except (TypeError, ValueError):
        raise TypeError(f"byte_range must be a pair of offsets, not {byte_range!r}") from None
    if begin < 0 or (end is not None and end < begin):
        raise ValueError(f"byte_range must be a begin and an end that is not before it, not {byte_range!r}")
    return begin, end
