"""``ForwardStream``: the frames of one file, in order, up to damage.

It keeps a piece of the file in a buffer and hands out the frames in it. At damage it raises the same
error as often as it is asked; going on behind it is for ``FrameStream`` to add. This module does not know
how a file is stored, nor what a payload means.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from ..errors import ChecksumError, CorruptionError
from ..memory.recycling import BufferPool
from ..records import Records
from ..storage.opened import Opened
from . import frames
from .frames import AHEAD, FOOTER, HEADER, OVERHEAD
from .looks_like import hint
from .small_frames import Sweep, sweep_for

_CHUNK = 1 << 20
# From this length on a record is read straight into place: what it costs then is copying.
_LARGE = 1 << 14
# The most that is asked of a source at once.
_PIECE = 1 << 24

NONE = np.empty(0, np.int64)


class ForwardStream:
    """The frames of one opened file, in order.

    If the file has been read up to ``offset``, and so many records of it are known, it goes on there.
    ``after`` is the stream of the file before, which will not be asked again: its memory is used further,
    and its records tell how large those of this file may be.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        verify: bool = True,
        record: int = 0,
        offset: int = 0,
        after: ForwardStream | None = None,
    ) -> None:
        self._opened = opened
        self._verify = verify
        self._buffer: Any = b""  # or a view of memory that has been read into
        self._base = offset  # how far into the plain data the buffer begins
        self._begins = self._ends = NONE  # the whole frames in the buffer
        self._bad = NONE  # which of them have a wrong data CRC
        self._cursor = 0  # the first of them that has not been handed out
        self._stop = 0  # where they end in the buffer
        self._bad_length = False  # whether a wrong length CRC follows there
        self._broken: CorruptionError | None = None  # why the source gave no more, if it failed to
        self._ended = False  # whether nothing more can be had from the source
        self._resynced = False  # whether the next record lies where a search has ended
        self._headless = False  # whether it has lost its header, and nothing else
        self._sweep: Sweep | None = None if after is None else after._sweep
        self._buffers: BufferPool = BufferPool() if after is None else after._buffers
        self._mean: int = 0 if after is None else after._mean  # bytes of a frame, so far
        self.record = record  # the number in the file of the next record to be handed out
        self.good = offset  # bytes of the file in good frames, those handed out by ``next``
        self.searched = False  # whether the records handed out last begin where a search has ended

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self._opened.name

    def next(self, limit: int | None = None, most: int | None = None) -> Records | None:
        """The next records, or None at the end (more may come later, if the file grows).

        Without a limit, as many as are in the buffer; with one, so many, or fewer if they take ``most``
        bytes, or the file ends, or damage follows. Damage that lies next is raised, again and again
        until ``skip``.
        """
        again = False
        while True:
            ready = len(self._begins) - self._cursor
            try:
                if ready < (limit or 1) and not self._holds(most) and self._fill(limit, most, again=again):
                    again = True
                    continue
            except OSError:
                if not ready:
                    raise
            if not ready:
                self._check_end()
                return None
            return self._run(limit)

    def _holds(self, size: int | None) -> bool:
        """Whether the buffer holds that many bytes that have not been handed out, with a frame in them."""
        if size is None or self._cursor == len(self._begins):
            return False
        return len(self._buffer) - int(self._begins[self._cursor]) + HEADER >= size

    def payloads(self) -> Iterable[bytes] | None:
        """Like ``next``, but the payloads themselves, to be used before the next are asked for.

        A large one is read straight into place, and small ones through a buffer that is used again.
        """
        if self._cursor == len(self._begins):
            if (payload := self._read_large()) is not None:
                self.record += 1
                return [payload]
            if self._cursor == len(self._begins) and (payloads := self._sweep_on()) is not None:
                return payloads
        return self.next()

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def _run(self, limit: int | None) -> Records:
        begin, end = self._cursor, len(self._begins)
        if limit is not None:
            end = min(end, begin + limit)
        if self._headless:
            end = begin + 1
        bad = self._bad[np.searchsorted(self._bad, begin) :]
        if len(bad) and bad[0] < end:
            if bad[0] == begin:
                self._raise_bad_payload()
            end = int(bad[0])
        records = Records(
            self._buffer,
            self._begins[begin:end],
            self._ends[begin:end],
            path=self.name,
            first=self.record,
            base=self._base,
        )
        self._cursor = end
        self.record += end - begin
        self.searched, self._resynced = self._resynced, False
        self.good += records.nbytes + len(records) * OVERHEAD - (HEADER if self._headless else 0)
        self._headless = False
        return records

    def _fill(self, limit: int | None, most: int | None, *, again: bool = False) -> bool:
        """Get more of the file into the buffer; False when there is no more, or no use in it.

        It is done ``again`` if that was not enough: then the estimate is of little use.
        """
        missing = self._missing()
        remaining = self._opened.remaining(missing)
        if (
            self._ended
            or self._bad_length
            or self._headless
            or (remaining is not None and remaining < max(missing, 1))
        ):
            return False
        keep = self._stop if self._cursor == len(self._begins) else int(self._begins[self._cursor]) - HEADER
        held = len(self._buffer) - keep
        estimate = self._estimate(limit, most)
        needed = max(missing, estimate - held, 1)
        self._opened.detect_compression()
        if self._opened.rewinds:
            # Nobody has to wait for more; but before the first records are there, it may be of no use.
            least = max(min(AHEAD, most or AHEAD), _CHUNK) if self._mean else _CHUNK
            if limit and estimate and not again and not frames.is_worth_more(limit, self._mean):
                least = 0
            if 8 * held <= len(self._buffer):
                self._cut(keep)
                keep = 0
            buffer: Any = self._read_in_place(self._buffer[keep:], max(needed, least))
        else:
            buffer = self._extend(self._buffer[keep:], needed)
        if len(buffer) <= held:
            return False
        self._load(buffer, self._base + keep)
        return True

    def _cut(self, keep: int) -> None:
        """Let go of the buffer but for what is behind ``keep``: then its memory, which is still in the cache,
        can be read into again."""
        self._buffer = bytes(self._buffer[keep:])
        self._base += keep
        self._stop -= keep
        self._begins, self._ends = self._begins[self._cursor :] - keep, self._ends[self._cursor :] - keep
        self._bad = self._bad[self._bad >= self._cursor] - self._cursor
        self._cursor = 0

    def _missing(self) -> int:
        """How many bytes the frame lacks that the buffer cuts; 0 where not even its header is there."""
        have = len(self._buffer) - self._stop
        if have < HEADER or self._bad_length:
            return 0
        return max(0, frames.length_at(self._buffer, self._stop) + OVERHEAD - have)

    def _estimate(self, limit: int | None, most: int | None) -> int:
        """About how many bytes ``limit`` frames take, if not ``most``."""
        if limit is None or not self._mean:
            return 0
        size = min(frames.expected_size(limit, self._mean), most or 1 << 62)
        # Before there are any of this file, it is a guess, and too much would be read in vain.
        return size if len(self._begins) or size <= _PIECE else 0

    def _extend(self, tail: Any, needed: int) -> bytes:
        """``tail`` and, behind it, at least ``needed`` more bytes of the source if it has as many."""
        pieces, have = [tail], 0
        while have < needed:
            try:
                piece = self._read(min(max(needed - have, _CHUNK), _PIECE))
            except OSError:
                if have > 0:
                    break  # the source will say it again, when all before it has been handed out
                raise
            if not piece:
                break
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)

    def _read_in_place(self, tail: Any, needed: int) -> memoryview:
        """The same for a file in which one can go back: into memory that may be written to.

        Reading the tail once more costs less than joining.
        """
        offset = self._base + len(self._buffer) - len(tail)
        self._opened.go_to(offset)
        size = len(tail) + needed
        view = self._buffers.lend(min(size, self._opened.remaining(size) or 0), offset)
        have = 0
        try:
            while have < len(view) and (got := self._opened.readinto(view[have:])):
                have += got
        except BaseException as error:
            if have <= len(tail) or not isinstance(error, OSError):
                self._opened.go_to(self._base + len(self._buffer))
                raise
        return view[:have]

    def _read(self, size: int) -> bytes:
        """More of the file; b"" when there is no more, or it cannot be had: then ``_broken`` says why."""
        self._broken = None
        try:
            return self._opened.read(size)
        except CorruptionError as error:
            self._broken = error.with_traceback(None)  # which would keep this stream, and the file open
            return b""

    def _load(self, buffer: Any, base: int) -> None:
        self._buffer, self._base, self._cursor = buffer, base, 0
        if len(buffer) < OVERHEAD:
            self._begins = self._ends = self._bad = NONE
            self._stop = 0
            self._bad_length = len(buffer) >= HEADER and not frames.header_holds(buffer, 0)
            return
        self._begins, self._ends, self._stop, self._bad_length = frames.split(buffer)
        if len(self._begins):
            self._mean = self._stop // len(self._begins)
        self._bad = NONE
        if isinstance(buffer, memoryview):
            self._buffer = buffer.toreadonly()  # from now on
        if self._verify:
            self._bad = frames.bad_payloads(buffer, self._begins, self._ends)

    def _read_large(self) -> bytes | None:
        """The payload that follows next, past the buffer, if it is a large one in a regular file."""
        begin = self._stop + HEADER
        if len(self._buffer) < begin or self._bad_length:
            return None
        length = frames.length_at(self._buffer, self._stop)
        missing = begin + length + FOOTER - len(self._buffer)
        if length < _LARGE or missing <= FOOTER or (self._opened.remaining(missing) or 0) < missing:
            return None
        payload, behind = self._opened.read_payload_and_next_header(self._base + begin, length, OVERHEAD)
        if len(behind) < FOOTER or (self._verify and not frames.payload_holds(payload, behind)):
            # The ordinary way finds out exactly what is wrong.
            header = self._buffer[self._stop : begin]
            self._load(b"".join((header, payload, behind)), self._base + self._stop)
            return None
        self._load(behind[FOOTER:], self._base + begin + length + FOOTER)
        return payload

    def _sweep_on(self) -> Iterable[bytes] | None:
        """The payloads of small frames that follow next, past the buffer, if all is well with them."""
        self._opened.detect_compression()
        if not (self._verify and self._opened.rewinds) or self._bad_length or self._headless:
            return None
        self._opened.go_to(self._base + self._stop)
        self._sweep = sweep_for(self._opened.remaining() or 0, self._sweep)
        swept = self._sweep.take(self._opened)
        self._load(b"", self._base + self._stop + (swept.size if swept else 0))
        if swept is None:
            return None
        self.record += swept.records
        return swept.payloads

    def _check_end(self) -> None:
        """Raise unless the data may end here."""
        if self._broken is not None and not self._bad_length:
            raise self._located(self._broken, self._stop)
        tail = bytes(self._buffer[self._stop :])
        # What is not in the buffer counts once a header says that it should be there.
        beyond = (self._opened.remaining() or 0) if len(tail) >= HEADER else 0
        try:
            frames.check_end(tail, len(tail) + beyond)
        except CorruptionError as error:
            if self._base + self._stop == 0 and isinstance(error, ChecksumError):
                error.reason += hint(tail)
            raise self._located(error, self._stop) from None

    def _raise_bad_payload(self) -> NoReturn:
        begin, end = int(self._begins[self._cursor]), int(self._ends[self._cursor])
        error = frames.payload_error(self._buffer[begin:end], self._buffer[end : end + FOOTER])
        raise self._located(error, begin - HEADER)

    def _located(self, error: CorruptionError, position: int) -> CorruptionError:
        error.path, error.record, error.offset = self.name, self.record, self._base + position
        return error
