"""``SeekableFile``: the records of an uncompressed local or remote file, with skipping.

``FrameStream`` reads every kind of source; this class reads only the kind that can seek. It checks a record's
data only when it hands the record out, and a record that it skips costs at most a read of its header. It ends
and raises at the same places as ``FrameStream``. This module does not know what a payload means.
"""

from __future__ import annotations

from typing import Any

from ..errors import ChecksumError, CorruptionError
from ..memory.recycling import BufferPool
from ..records import Records
from ..storage.file_handles import open_file
from ..storage.remote_file import SeenTwice
from . import frames
from .frame_buffer import AHEAD, FrameBuffer, expected_size, should_read_ahead
from .frames import FOOTER, HEADER, OVERHEAD
from .looks_like import HINT_SIZE, wrong_file_hint

# Bytes of the first read, while the size of the records is unknown.
_FIRST_READ = 1 << 20
# Frames of this mean size are skipped header by header; smaller ones are read, many at once.
_HOP_MEAN = 1 << 14
# Bytes per read at most, and at most while the mean size is only a guess from another file.
_LARGEST_READ = 1 << 26
_LARGEST_GUESSED_READ = 1 << 24


class SeekableFile:
    """The records of the file at ``path``, forward, from any record on.

    ``pool`` lends the memory to read into. ``mean`` is a guess of the mean frame size, or 0; the file's own
    records soon replace it. ``ahead`` says that the records are read forward mostly: then a remote file is
    read ahead.
    """

    def __init__(
        self, path: str, pool: BufferPool | None = None, mean: int = 0, *, ahead: bool = True
    ) -> None:
        self.path = path
        self._guess = mean
        self._file = open_file(path, ahead=ahead)
        self.size = self._file.size()
        self._buffer = FrameBuffer(path, pool=pool)
        self._twice: SeenTwice | None = None  # with damage that was read again
        self._taken = False  # whether any record was handed out
        self._skips_between = False  # whether records were skipped after that, and so will be again

    @property
    def record(self) -> int:
        """The number of the next record."""
        return self._buffer.record

    @property
    def offset(self) -> int:
        """Where in the file the next record's frame begins."""
        return self._buffer.offset

    @property
    def mean(self) -> int:
        """The mean size of the frames so far."""
        return self.offset // self.record if self.record else self._guess

    @property
    def large(self) -> bool:
        """Whether the records so far are so large that skipping one costs less than reading it."""
        return self.mean >= _HOP_MEAN

    def go_to(self, offset: int, record: int) -> None:
        """Continue at ``offset``, where the frame of record number ``record`` begins."""
        self._buffer.load(b"", offset)
        self._buffer.record = record

    def take(self, count: int) -> Records | None:
        """The next records, at most ``count``, their data checked; None at the end."""
        while True:
            try:
                return self._take(count)
            except CorruptionError as error:
                offset, record = self.offset, self.record
                self._twice = self._twice or SeenTwice()
                if self._twice.seen(offset, error) or not self._file.read_again():
                    raise
            self.go_to(offset, record)

    def _take(self, count: int) -> Records | None:
        ready = self._buffer.ready
        if count == 1 and not ready and self.large:
            return self._take_one()
        try:
            if ready < count and (not ready or self._reads_on(count)) and not self._fill(count):
                return None
        except OSError:
            if not ready:
                raise
        self._buffer.check(count)
        records = self._buffer.take(count)
        self._taken = True
        return records

    def _take_one(self) -> Records | None:
        """The next record, in a read of its own."""
        offset, record = self.offset, self.record
        if offset >= self.size:
            return None
        header = self._file.read_at(offset, HEADER)
        size = self._whole_size(header)
        data = memoryview(self._file.read_at(offset + HEADER, size - HEADER))
        if len(data) < size - HEADER:  # the file has become shorter meanwhile
            self.size = offset + HEADER + len(data)
            self._whole_size(header)
        payload, footer = data[:-FOOTER], data[-FOOTER:]
        if not frames.payload_holds(payload, footer):
            raise self._buffer.located(frames.payload_error(payload, footer))
        self.go_to(offset + size, record + 1)
        self._taken = True
        place: dict[str, Any] = {"path": self.path, "first": record, "base": offset + HEADER}
        return Records(data.obj, [0], [size - OVERHEAD], **place)

    def places(self, count: int) -> list[tuple[int, int]]:
        """Skip the next ``count`` records and give their offsets and numbers; fewer only at the end."""
        found: list[tuple[int, int]] = []
        while len(found) < count:
            place = (self.offset, self.record)
            if not self.skip(1):
                break
            found.append(place)
        return found

    def skip(self, count: int) -> int:
        """Skip ``count`` records without checking their data, and give their number: less only at the end."""
        self._skips_between |= self._taken
        left = count
        while left:
            ready = min(left, self._buffer.ready)
            if ready:
                self._buffer.cursor += ready
                self._buffer.record += ready
                left -= ready
            elif not self.large:
                if not self._fill(left):
                    break
            elif self._hop():
                left -= 1
            else:
                break
        return count - left

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _reads_on(self, count: int) -> bool:
        """Whether to read again for ``count`` records, although the buffer holds the first of them.

        Reading those twice costs less than joining two buffers, if all records fit into one.
        """
        unread = self.size - self._buffer.base - len(self._buffer.data)
        return unread > 0 and count > 1 and self._estimate(count) <= _LARGEST_READ

    def _hop(self) -> bool:
        """Skip the next frame by its header; False at the end."""
        offset = self.offset
        if offset >= self.size:
            return False
        size = self._whole_size(self._file.read_at(offset, HEADER))
        self.go_to(offset + size, self.record + 1)
        return True

    def _fill(self, count: int) -> bool:
        """Read the next frames, about ``count`` of them, into the buffer; False at the end."""
        buffer, offset = self._buffer, self.offset
        if offset >= self.size:
            return False
        buffer.release()
        try:
            buffer.load(self._read_at(offset, min(self._estimate(count), _LARGEST_READ)), offset)
        except OSError:
            if buffer.ready:
                raise
            buffer.load(
                self._file.read_at(offset, HEADER), offset
            )  # the records before the error, one by one
        if not buffer.ready and len(buffer.data):
            buffer.load(self._read_at(offset, self._whole_size(buffer.data)), offset)
        if not buffer.ready:  # the file has become shorter meanwhile
            self.size = offset + len(buffer.data)
            if len(buffer.data):
                self._whole_size(buffer.data)
        return buffer.ready > 0

    def _estimate(self, count: int) -> int:
        """How many bytes to read for ``count`` records."""
        mean = self.mean
        size = expected_size(count, mean)
        if not self.record and size > _LARGEST_GUESSED_READ:
            return _FIRST_READ
        if mean >= _HOP_MEAN and self._skips_between:
            return size  # the records after these will be skipped
        return max(size, AHEAD if mean else _FIRST_READ) if should_read_ahead(count, mean) else size

    def _read_at(self, offset: int, size: int) -> memoryview:
        view = self._buffer.pool.lend(min(size, self.size - offset), offset)
        return view[: self._file.read_into(offset, view)]

    def _whole_size(self, head: Any) -> int:
        """The size of the next frame, which begins with ``head``; an error unless all of it is there."""
        try:
            return frames.whole_size(head, self.size - self.offset if len(head) >= HEADER else len(head))
        except CorruptionError as error:
            if self.offset == 0 and isinstance(error, ChecksumError):
                error.reason += wrong_file_hint(self._file.read_at(0, HINT_SIZE))
            raise self._buffer.located(error) from None
