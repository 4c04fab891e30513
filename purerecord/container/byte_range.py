"""``RangeReader``: the records in a part of a file, without an index; ``splits``: the parts of a file.

The parts [0, a), [a, b) and [b, size) of a file give every record exactly once, together. A part of an
uncompressed file begins at the first frame at or after its begin whose header and payload both match their
checksums; a part of blocked GZIP begins at the first block there. A part ends where the next part begins.
Each part looks for both, so that two neighbours agree, and damage between them belongs to the first one. A
payload that holds a file of its own may offer a false beginning. The part before it meets a frame or a block
that spans the place, and raises an error. Any other file has one part, which is all of it. This module does
not know what a payload means.
"""

from __future__ import annotations

import io
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import ClosedError, CompressionError, CorruptionError, PureRecordError
from ..printable import printable
from ..records import Records
from ..storage.block_search import next_block, spans
from ..storage.file_handles import OpenFile, open_file
from ..storage.fork_lock import ForkLock
from ..storage.opened import Opened
from ..storage.paths import Named, is_stream, resolve_paths
from ..storage.remote_file import RemoteFile, found_twice
from ..storage.url import stored
from .frame_stream import FrameStream, Place
from .frames import HEADER
from .index import Index
from .looks_like import open_source
from .reader import check_batch_size

# Records and bytes of a batch without a given size.
_BATCH_RECORDS, _BATCH_BYTES = 8192, 1 << 23


class RangeReader(Iterator[Records]):
    """The records of ``file`` that belong to the bytes [begin, end), in batches; ``end`` may be None.

    For blocked GZIP these are bytes of the compressed file. A file that cannot be split has the range of all
    its bytes only.

    ``skipped`` counts the damaged places that were skipped, and ``on_skip`` is called with the error of each.
    After an interrupt it goes on exactly there, or
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
        on_skip: Callable[[CorruptionError], None] | None = None,
    ) -> None:
        begin, end = checked(byte_range)
        if batch_size is not None:
            check_batch_size(batch_size)
        opened = _opened(file, compression)
        self._blocks: _Blocks | None = None  # the blocks of this part, if the file has blocks
        if not opened.rewinds:
            opened, self._blocks = _compressed_part(opened, file, begin, end)
        self._stream = FrameStream(opened, verify=verify, max_record_size=max_record_size)
        self._on_error, self._on_skip = on_error, on_skip
        self._limit, self._most = batch_size or _BATCH_RECORDS, None if batch_size else _BATCH_BYTES
        self._stop = sys.maxsize  # where the next part begins, if that has to be looked at
        if opened.rewinds:
            self._begin_at(begin, end, opened.remaining() or 0)
        self._ended = False  # whether the last record of this part was handed out, or met damage
        self._lock = ForkLock()
        self._pending: Iterator[Records] = iter(())  # what was read and not handed out yet
        self._start: Any = None  # where the call that reads on began; None if nothing leads back there
        self._unfinished = False  # whether such a call is under way, or was interrupted
        self.skipped = 0
        self.last_error: CorruptionError | None = None
        self._refused: CorruptionError | None = None  # damage that a stream cannot go back to

    def _begin_at(self, begin: int, end: int | None, size: int) -> None:
        """Find the first frame of this part, and that of the next one, in an uncompressed file."""
        self._stop = self._boundary(size if end is None else min(end, size), size)
        first = self._boundary(min(begin, size), size)  # last: what was read of a remote file is used now
        self._stream.go_back(Place(first, 0))

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
                found = self._try_to_read()
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

    def _try_to_read(self) -> Records | None:
        try:
            return self._read()
        except (PureRecordError, OSError):
            # Not in the middle of a step: the next call raises it again, or succeeds.
            self._unfinished = self._start is not None
            raise

    def _read(self) -> Records | None:
        """The next batch; None at the end of this part."""
        if self._refused is not None:
            raise self._refused
        while not self._ended and self._stream.position < self._stop:
            try:
                records = self._stream.next(self._limit, self._most)
            except CorruptionError as error:
                error.record = None  # it counts from the beginning of this part
                if self._blocks is not None:
                    self._blocks.place(error)
                if self._on_error == "raise" or (self._on_error == "tail" and not self._is_cut_end(error)):
                    raise
                self.last_error = error.with_traceback(None)
                if self._on_error in ("stop", "tail"):
                    self._ended = True
                    break
                self._stream.skip()
                self.skipped += 1
                if self._on_skip is not None:
                    self._on_skip(self.last_error)
                continue
            if records is None:
                break
            if mine := self._mine(records):
                return mine
        if not self._ended and self._stream.position > self._stop:
            raise _straddled(self._stream.name, self._stop, "record")
        return None

    def _is_cut_end(self, error: CorruptionError) -> bool:
        """Whether the file ends inside its last record. If not, ``error`` will be raised at each call."""
        if self._blocks is not None and not self._blocks.are_last:
            return False
        place = self._stream.place()
        cut = self._stream.is_cut_end(self._stream.skip())  # skipping searches for frames that follow
        if place is not None:
            self._stream.go_back(place)
        elif not cut:
            self._refused = error.with_traceback(None)
        return cut

    def _mine(self, records: Records) -> Records:
        """Those of ``records`` that begin before the end of this part."""
        base = records.base
        assert base is not None
        offsets = records.begins + (base - HEADER)
        count = int(np.searchsorted(offsets, self._stop))
        if count < len(records) and int(offsets[count]) != self._stop:
            raise _straddled(self._stream.name, self._stop, "record")
        self._ended = count < len(records)
        return records[:count]

    def __enter__(self) -> RangeReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._ended = True
        self._stream.close()


class _Blocks:
    """The blocks that begin in [begin, end) of the file ``name``, which has ``size`` bytes."""

    def __init__(self, name: str, begin: int, end: int, size: int) -> None:
        self._name = name
        self._begin, self._end, self._size = begin, end, size

    @property
    def are_last(self) -> bool:
        """Whether the file ends with these blocks."""
        return self._end == self._size

    def place(self, error: CorruptionError) -> None:
        """Say in ``error``, which is changed, where it was; raise another if ``end`` is inside a block."""
        if isinstance(error, CompressionError) and self._end_is_inside:
            raise _straddled(self._name, self._end, "block") from None
        if self._begin == 0:
            return
        error.offset = None  # it counts from the beginning of this part
        where = f"; in the blocks from byte {self._begin} of the file on"
        if not error.reason.endswith(where):
            error.reason += where

    @cached_property
    def _end_is_inside(self) -> bool:
        if self.are_last:
            return False
        with closing(open_file(self._name, ahead=True)) as file:
            return spans(file, self._begin, self._end)


def _straddled(name: str, place: int, what: str) -> CorruptionError:
    return CorruptionError(
        f"a {what} spans byte {place}, where another part of the file begins: the {what} holds a TFRecord "
        "itself; split this file by an index instead",
        path=name,
        offset=place,
    )


def _opened(file: Named, compression: Any) -> Opened:
    """Opens ``file`` as a source whose compression is known."""
    opened = open_source(file, compression)
    opened.detect_compression()
    if opened.regular and opened.compression is None:  # an empty file
        opened.close()
        return open_source(file, "")
    return opened


def _compressed_part(
    opened: Opened, file: Named, begin: int, end: int | None
) -> tuple[Opened, _Blocks | None]:
    """A source of what belongs to [begin, end) of ``file``, which is open as ``opened`` and does not seek."""
    if begin == 0 and end is None:
        return opened, None
    if not isinstance(file, str) or not opened.regular:
        opened.close()
        raise io.UnsupportedOperation(f"{printable(opened.name)} is a stream, which has no byte ranges")
    with closing(open_file(file)) as handle:
        size = handle.size()
        end = size if end is None else min(end, size)
        if opened.blocked:
            first = 0 if begin == 0 else _next_block(handle, begin, opened.name)
            part = first, _next_block(handle, end, opened.name)
            opened.close()
            return open_source(file, "GZIP", section=part), _Blocks(file, *part, size)
    if begin == 0 and end == size:
        return opened, None
    opened.close()
    raise io.UnsupportedOperation(
        f"{printable(file)} is one compressed stream, which can only be read from its beginning; read all of "
        'it, or rewrite it, uncompressed or with TFRecordOptions("GZIP", block_size=1 << 20)'
    )


def _next_block(file: OpenFile | RemoteFile, offset: int, name: str) -> int:
    """``next_block``, found twice in a remote file: no checksum covers what is skipped."""
    if not isinstance(file, RemoteFile):
        return next_block(file, offset)
    return found_twice(lambda: next_block(file, offset), name)


def splits(
    file: Any,
    size: int,
    *,
    compression: Any = "auto",
    index: Index | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> list[tuple[int, int | None]]:
    """The byte ranges of about ``size`` bytes, and not more, into which ``file`` can be split for reading.

    An uncompressed file and blocked GZIP are split evenly. Anything else is one range, as is an empty file;
    its end is None if the size is unknown. With its ``index``, each range begins where a frame or a block
    does, so that none has to be searched for, and may be larger by one of them. ``read_batches`` reads any
    ranges of a file that can be split; these are a good choice.
    """
    if operator.index(size) < 1:
        raise ValueError(f"a range must have at least one byte, not {size}")
    (name,) = resolve_paths(stored(file, storage_options, filesystem))
    if is_stream(name):
        return [(0, None)]
    with closing(_opened(name, compression)) as opened:
        if not opened.regular:
            return [(0, None)]
        splittable = opened.rewinds or opened.blocked
    with closing(open_file(name)) as handle:
        total = handle.size()
    count = max(1, -(-total // size)) if splittable else 1
    edges = [total * number // count for number in range(count + 1)]
    if index is not None and count > 1:
        index.check(name)
        starts = np.searchsorted(index.offsets, edges[1:-1])
        inner = np.append(index.offsets, total)[starts].tolist()
        edges = [0, *sorted({*inner} - {0, total}), total]
    return list(pairwise(edges))


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
