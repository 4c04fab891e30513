"""``SeekableFile``: the records of an uncompressed local file, with others passed over unread.

What ``FrameStream`` is for every kind of source, this is for the kind in which one can seek: the data of
a record is checked only when it is handed out, and what is passed over costs its header. It ends or
raises at the same places. This module does not know what a payload means.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, NoReturn

import numpy as np

from ..errors import CorruptionError
from ..memory.recycling import BufferPool
from ..records import Records
from ..storage.file_handles import OpenFile
from ..storage.opened import Opened
from . import frames
from .frame_stream import FrameStream
from .frames import AHEAD, FOOTER, HEADER, OVERHEAD

_CHUNK = 1 << 20  # bytes that are read at first
# Frames of this mean size are hopped over, header by header; smaller ones are read, many at once.
_HOP = 1 << 14
# The most that is asked of the file at once,
_MOST = 1 << 26
_GUESSED = 1 << 24  # and while nothing is known of its records

_NONE = np.empty(0, np.int64)


class SeekableFile:
    """The records of the file at ``path``, forward, beginning anywhere; read into ``memory``.

    Before any are known, ``mean`` is about the size of their frames, or 0.
    """

    def __init__(self, path: str, buffers: BufferPool | None = None, mean: int = 0) -> None:
        self.path = path
        self._guess = mean
        self._file = OpenFile(path)
        self._size = self._file.size()
        self.record = 0  # the number of the next record
        self._taken = False  # whether any were handed out,
        self._shared = False  # and others passed over then: so it will go on
        self._buffers = buffers or BufferPool()
        self._buffer: Any = b""  # or a view of memory that has been read into
        self._shown = memoryview(b"")  # the same, for others
        self._base = 0  # where in the file the buffer begins
        self._begins = self._ends = _NONE  # the whole frames in it
        self._cursor = 0  # the first of them that has not been handed out
        self._stop = 0  # where they end in it

    @property
    def offset(self) -> int:
        """Where in the file the next record's frame begins."""
        if self._cursor < len(self._begins):
            return self._base + int(self._begins[self._cursor]) - HEADER
        return self._base + self._stop

    @property
    def large(self) -> bool:
        """Whether the records so far were so large that passing over one is better than reading it."""
        return self.mean >= _HOP

    def go_to(self, offset: int, record: int) -> None:
        """Go on at ``offset``, where the frame of record number ``record`` begins."""
        self._load(b"", offset)
        self.record = record

    def take(self, count: int) -> Records | None:
        """The next records, at most ``count``, their data checked; None at the end."""
        ready = len(self._begins) - self._cursor
        if count == 1 and not ready and self.large:
            return self._take_one()
        try:
            if ready < count and (not ready or self._reads_on(count)) and not self._fill(count):
                return None
        except OSError:
            if not ready:
                raise
        begin, end = self._cursor, min(self._cursor + count, len(self._begins))
        begins, ends = self._begins[begin:end], self._ends[begin:end]
        bad = frames.bad_payloads(self._buffer, begins, ends)
        if len(bad):
            if bad[0] == 0:
                self._raise_bad_payload()
            end = begin + int(bad[0])
        records = Records(
            self._shown,
            self._begins[begin:end],
            self._ends[begin:end],
            path=self.path,
            first=self.record,
            base=self._base,
        )
        self._cursor = end
        self.record += end - begin
        self._taken = True
        return records

    def _take_one(self) -> Records | None:
        """The next record, read alone."""
        offset = self.offset
        if offset >= self._size:
            return None
        header = self._file.read_at(offset, HEADER)
        size = self._whole_size(header, offset)
        data = memoryview(self._file.read_at(offset + HEADER, size - HEADER))
        if len(data) < size - HEADER:  # the file has become shorter meanwhile
            self._size = offset + HEADER + len(data)
            self._whole_size(header, offset)
        payload, footer = data[:-FOOTER], data[-FOOTER:]
        if not frames.payload_holds(payload, footer):
            self._raise(frames.payload_error(payload, footer), offset)
        place: dict[str, Any] = {"path": self.path, "first": self.record, "base": offset + HEADER}
        self.go_to(offset + size, self.record + 1)
        self._taken = True
        return Records(data.obj, [0], [size - OVERHEAD], **place)

    def places(self, count: int) -> list[tuple[int, int]]:
        """Offset and number of the next ``count`` records, passed over; fewer only at the end."""
        found: list[tuple[int, int]] = []
        while len(found) < count:
            place = (self.offset, self.record)
            if not self.skip(1):
                break
            found.append(place)
        return found

    def skip(self, count: int) -> int:
        """Pass over ``count`` records without looking at their data; fewer only at the end."""
        self._shared |= self._taken
        left = count
        while left:
            ready = min(left, len(self._begins) - self._cursor)
            if ready:
                self._cursor += ready
                self.record += ready
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
        """Whether to read on for ``count`` records where the buffer has some of them, but not all.

        To read these once more costs less than to join what lies in two buffers, if they all fit into one.
        """
        unread = self._size - self._base - len(self._buffer)
        return unread > 0 and count > 1 and self._estimate(count) <= _MOST

    @property
    def mean(self) -> int:
        """The mean size of the frames so far."""
        return self.offset // self.record if self.record else self._guess

    def _hop(self) -> bool:
        """Go behind the next frame; False at the end."""
        offset = self.offset
        if offset >= self._size:
            return False
        size = self._whole_size(self._file.read_at(offset, HEADER), offset)
        self.go_to(offset + size, self.record + 1)
        return True

    def _fill(self, count: int) -> bool:
        """Get the next frames, about ``count`` of them, into the buffer; False at the end."""
        offset = self.offset
        if offset >= self._size:
            return False
        self._cut(offset - self._base)
        try:
            self._load(self._read_at(offset, min(self._estimate(count), _MOST)), offset)
        except OSError:
            if self._cursor < len(self._begins):
                raise
            self._load(self._file.read_at(offset, HEADER), offset)  # what lies before the trouble, one by one
        if not len(self._begins) and len(self._buffer):
            self._load(self._read_at(offset, self._whole_size(self._buffer, offset)), offset)
        if not len(self._begins):  # the file has become shorter meanwhile
            self._size = offset + len(self._buffer)
            if len(self._buffer):
                self._whole_size(self._buffer, offset)
        return len(self._begins) > 0

    def _cut(self, keep: int) -> None:
        """Let go of the buffer but for what is behind ``keep``, if that is little: then its memory, which is
        still in the cache, can be read into again."""
        if 8 * (len(self._buffer) - keep) > len(self._buffer):
            return
        self._buffer = bytes(self._buffer[keep:])
        self._shown = memoryview(self._buffer)
        self._base += keep
        self._stop -= keep
        self._begins, self._ends = self._begins[self._cursor :] - keep, self._ends[self._cursor :] - keep
        self._cursor = 0

    def _estimate(self, count: int) -> int:
        """How many bytes to read for ``count`` records."""
        mean = self.mean
        size = frames.expected_size(count, mean)
        if not self.record and size > _GUESSED:
            return _CHUNK
        if mean >= _HOP and self._shared:
            return size  # those that come behind are for others
        return max(size, AHEAD if mean else _CHUNK) if frames.is_worth_more(count, mean) else size

    def _read_at(self, offset: int, size: int) -> memoryview:
        room = self._buffers.lend(min(size, self._size - offset), offset)
        return room[: self._file.read_into(offset, room)]

    def _load(self, buffer: Any, base: int) -> None:
        self._buffer, self._base, self._cursor = buffer, base, 0
        self._shown = memoryview(buffer).toreadonly()
        if len(buffer) < OVERHEAD:
            self._begins = self._ends = _NONE
            self._stop = 0
        else:
            self._begins, self._ends, self._stop, _ = frames.split(buffer)

    def _whole_size(self, head: Any, offset: int) -> int:
        """The size of the frame at ``offset``; an error unless it is there as a whole."""
        try:
            return frames.whole_size(head, self._size - offset if len(head) >= HEADER else len(head))
        except CorruptionError as error:
            self._raise(error, offset)

    def _raise_bad_payload(self) -> NoReturn:
        begin, end = int(self._begins[self._cursor]), int(self._ends[self._cursor])
        error = frames.payload_error(self._buffer[begin:end], self._buffer[end : end + FOOTER])
        self._raise(error, self._base + begin - HEADER)

    def _raise(self, error: CorruptionError, offset: int) -> NoReturn:
        if offset == 0:  # reading forward also says what the file looks like instead
            with closing(FrameStream(Opened(self.path, ""))) as stream:
                stream.next()
        error.path, error.record, error.offset = self.path, self.record, offset
        raise error
