"""``FrameBuffer``: a part of a file in memory, and the whole frames in it.

``FrameStream`` and ``SeekableFile`` fill a buffer and hand out its frames as ``Records``. The module also
decides how many bytes such a reader fetches for a number of frames. It does not read files, and does not
know what a payload means.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..errors import CorruptionError
from ..memory.recycling import BufferPool
from ..records import Records
from . import frames
from .frame_chain import split
from .frames import FOOTER, HEADER, OVERHEAD

# Frames are found faster when many of them are in memory, so a reader fetches this many bytes if it pays off.
AHEAD = 1 << 22
# A smaller number of frames gets a margin by bytes: one frame more would be a large part of the read.
_FRAMES_FOR_A_WHOLE_ONE_MORE = 8

_NONE = np.empty(0, np.int64)
_Error = TypeVar("_Error", bound=CorruptionError)


class FrameBuffer:
    """Some consecutive bytes of the file ``path``, and a cursor over the whole frames among them.

    The buffer begins ``base`` bytes into the plain data, and ``record`` is the number of the next record.
    ``pool`` lends the memory that a reader reads into. The whole frames end before a payload that is longer
    than ``max_length``, as before a wrong length.
    """

    def __init__(
        self,
        path: str,
        *,
        pool: BufferPool | None = None,
        base: int = 0,
        record: int = 0,
        max_length: int | None = None,
    ) -> None:
        self.path = path
        self.pool = pool or BufferPool()
        self.base = base
        self.record = record
        self._max_length = max_length
        self.data: Any = b""  # bytes, or a read-only view of memory from the pool
        self._writable: memoryview | None = None  # the same memory, where checksums may overwrite it
        self.begins = self.ends = _NONE  # the payloads of the whole frames
        self.cursor = 0  # the first frame that has not been handed out
        self.stop = 0  # where the whole frames end
        self.bad_length = False  # whether a wrong length CRC, or a length above the limit, follows there
        self.bad = _NONE  # the checked frames with a wrong data CRC

    @property
    def ready(self) -> int:
        """The number of whole frames that have not been handed out."""
        return len(self.begins) - self.cursor

    @property
    def position(self) -> int:
        """Where in the buffer the next frame begins."""
        return int(self.begins[self.cursor]) - HEADER if self.cursor < len(self.begins) else self.stop

    @property
    def offset(self) -> int:
        """Where in the plain data the next frame begins."""
        return self.base + self.position

    @property
    def tail(self) -> int:
        """The number of bytes that have not been handed out."""
        return len(self.data) - self.position

    def load(self, data: Any, base: int) -> None:
        """Replace the content by ``data``, which begins at ``base``, and find its whole frames.

        The caller gives away a writable view: ``check`` may overwrite the bytes between its payloads.
        """
        self._writable = data if isinstance(data, memoryview) and not data.readonly else None
        self.data = data if self._writable is None else self._writable.toreadonly()
        self.base, self.cursor, self.bad = base, 0, _NONE
        if len(data) < OVERHEAD:
            self.begins = self.ends = _NONE
            self.stop = 0
            self.bad_length = len(data) >= HEADER and not frames.header_holds(data, 0)
        else:
            self.begins, self.ends, self.stop, self.bad_length = split(data)
        self.end_before_too_long()

    def end_before_too_long(self) -> None:
        """End the whole frames before the first payload that is longer than the limit."""
        if self._max_length is None:
            return
        too_long = np.flatnonzero(self.ends - self.begins > self._max_length)
        if len(too_long):
            first = int(too_long[0])
            self.stop, self.bad_length = int(self.begins[first]) - HEADER, True
            self.begins, self.ends = self.begins[:first], self.ends[:first]
        elif not self.bad_length and len(self.data) - self.stop >= HEADER:
            self.bad_length = frames.length_at(self.data, self.stop) > self._max_length

    def check(self, count: int | None = None) -> None:
        """Find out which of the next ``count`` frames have a wrong data CRC; by default, which of all."""
        end = len(self.begins) if count is None else self.cursor + count
        data = self.data if self._writable is None else self._writable
        bad = frames.bad_payloads(data, self.begins[self.cursor : end], self.ends[self.cursor : end])
        self.bad = bad + self.cursor if len(bad) else _NONE

    def take(self, count: int | None = None) -> Records:
        """Hand out the next ``count`` records, or all; fewer before a bad one. Raise if it is next."""
        begin, end = self.cursor, len(self.begins)
        if count is not None:
            end = min(end, begin + count)
        if len(self.bad):
            bad = self.bad[(self.bad >= begin) & (self.bad < end)]
            if len(bad) and bad[0] == begin:
                raise self.located(self._payload_error())
            end = int(bad[0]) if len(bad) else end
        records = Records(
            self.data,
            self.begins[begin:end],
            self.ends[begin:end],
            path=self.path,
            first=self.record,
            base=self.base,
        )
        self.cursor = end
        self.record += end - begin
        return records

    def release(self) -> None:
        """Release the memory except for a copy of the tail, if the tail is at most an eighth of it.

        The pool can then lend the same memory again while it is in the CPU cache.
        """
        if 8 * self.tail > len(self.data):
            return
        keep = self.position
        self.discard(keep)
        self.stop -= keep
        self.begins, self.ends = self.begins[self.cursor :] - keep, self.ends[self.cursor :] - keep
        self.bad = self.bad[self.bad >= self.cursor] - self.cursor
        self.cursor = 0

    def discard(self, count: int) -> None:
        """Drop the first ``count`` bytes and keep a copy of the rest, in which no frames are known yet."""
        self.data, self.base, self._writable = bytes(self.data[count:]), self.base + count, None

    def located(self, error: _Error) -> _Error:
        """``error`` with the file, the record and the offset of the next frame filled in."""
        error.path, error.record, error.offset = self.path, self.record, self.offset
        return error

    def _payload_error(self) -> CorruptionError:
        begin, end = int(self.begins[self.cursor]), int(self.ends[self.cursor])
        return frames.payload_error(self.data[begin:end], self.data[end : end + FOOTER])


def expected_size(count: int, mean: int) -> int:
    """About how many bytes to read for ``count`` frames: a little more than the mean, as frames differ."""
    if count >= _FRAMES_FOR_A_WHOLE_ONE_MORE:
        return count * mean + (count // 16 + 1) * mean
    return count * mean + count * mean // 16


def should_read_ahead(count: int, mean: int) -> bool:
    """Whether to read ``AHEAD`` bytes at a time where a caller repeatedly asks for ``count`` frames.

    Both ways read some bytes twice. Reading ahead repeats half a batch on average for each ``AHEAD`` bytes;
    reading batch by batch repeats the margin of ``expected_size`` for each batch.
    """
    size, more = count * mean, (count // 16 + 1) * mean
    return 4 * size < AHEAD or (size < AHEAD and size * size < 2 * AHEAD * more)
