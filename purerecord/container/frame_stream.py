"""``FrameStream``: the frames of one file, in order, and past damage on request.

At damage ``next`` raises the same error at each call, until the caller asks to ``skip``. Then the stream
finds the next frame, through a length that it can trust or by search, and reports the bytes that it skipped.
All reading, validating and salvaging goes through this class. The module does not know how a file is stored,
nor what a payload means.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..errors import ChecksumError, CompressionError, CorruptionError
from ..memory.recycling import BufferPool
from ..records import Records
from ..storage.opened import Opened
from ..storage.remote_file import ATTEMPTS, SeenTwice, found_twice
from . import damage, frames, resync
from .checksum import crc32c, mask
from .damage import Damage
from .frame_buffer import AHEAD, FrameBuffer, expected_size, should_read_ahead
from .frame_chain import split
from .frames import FOOTER, HEADER, OVERHEAD
from .looks_like import DAMAGED_GZIP, holds_gzip_blocks, looks_like, wrong_file_hint
from .small_frames import SmallFrameReader, small_frame_reader

# Bytes per read from a source: at least, and at most.
_SMALLEST_READ = 1 << 20
_LARGEST_READ = 1 << 24
# A payload of at least this length is read directly into its own object: copying it would cost most.
_DIRECT_PAYLOAD = 1 << 14
# How far a search looks for the end of a frame if only the frame's header is damaged.
_LOOKAHEAD = 1 << 20
# After this many such searches the file is taken to be damaged everywhere, and searches are shorter.
_FULL_LOOKAHEADS = 256
# Bytes per read while searching for a frame.
_SEARCH_READ = 1 << 22
# A search may meet any number of plausible headers. After checking this many bytes of their payloads it only
# considers short payloads.
_SEARCH_BUDGET = 1 << 33
_SHORT_PAYLOAD = 1 << 12
# A source that cannot rewind must keep the payload in memory: a search ignores longer ones there.
_LONGEST_KEPT_PAYLOAD = 1 << 28


class Place(NamedTuple):
    """Where in a file the next frame begins, and the number of its record."""

    offset: int
    record: int


class FrameStream:
    """The frames of one opened file, in order, and the damage between them.

    The stream continues a file that was read up to ``offset`` and ``record``. ``after`` is the stream of the
    previous file, which the caller has finished: its buffers are used again, and the size of its records
    predicts the size of these. A payload that is longer than ``max_record_size`` is damage, and the stream
    does not keep it in memory.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        verify: bool = True,
        record: int = 0,
        offset: int = 0,
        after: FrameStream | None = None,
        max_record_size: int | None = None,
    ) -> None:
        self._opened = opened
        self._verify = verify
        self._max_record_size = max_record_size
        pool: BufferPool | None = None if after is None else after._buffer.pool
        self._buffer: FrameBuffer = FrameBuffer(
            opened.name, pool=pool, base=offset, record=record, max_length=max_record_size
        )
        self._broken: CorruptionError | None = None  # why the source gave no more, if it failed
        self._ended = False  # whether the source is exhausted for good
        self._resynced = False  # whether a search has found the next record
        self._headless = False  # whether only the header of the next record is damaged
        self._lookaheads = 0  # searches for the end of a frame with a damaged header
        self._small_frames: SmallFrameReader | None = None if after is None else after._small_frames
        self._mean: int = 0 if after is None else after._mean  # bytes per frame in the last buffer
        self.good = offset  # bytes of the file in the good frames that ``next`` handed out
        self._foreign = False  # whether the file is too short for a header, and looks like another kind
        self._first = offset  # where in the plain data this stream began
        self._twice: SeenTwice | None = None  # with damage that was read again
        self._return_to: Place | None = None  # where to go on in a source that has begun anew
        self.searched = False  # whether a search found the first of the records handed out last

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self._buffer.path

    @property
    def record(self) -> int:
        """The number in the file of the next record."""
        return self._buffer.record

    def place(self) -> Place | None:
        """Where the next record is, for ``go_back``; None if this source cannot go back."""
        return (
            Place(self._buffer.offset, self.record) if self._opened.rewinds and not self._headless else None
        )

    @property
    def position(self) -> int:
        """Where in the file the next frame begins."""
        return self._buffer.offset

    def find(self, offset: int, size: int) -> int:
        """Where the first sound frame at or after ``offset`` begins; ``size``, that of the file, if none.

        Only if ``place`` can go back. The next frame is anywhere afterwards: use ``go_back``.
        """
        if not self._opened.far:
            return self._find(offset, size)
        # No checksum covers what is skipped: a frame in it may have been damaged on its way from a store.
        return found_twice(lambda: self._find(offset, size), self.name)

    def _find(self, offset: int, size: int) -> int:
        self._opened.read_again()
        self._opened.go_to(offset)
        self._buffer.load(b"", offset)
        found, _ = self._search(0)
        return size if found is None else found

    def go_back(self, place: Place) -> None:
        """Continue at ``place``, whatever an interrupted call has left behind."""
        self._opened.go_to(place.offset)
        self._buffer.load(b"", place.offset)
        self._buffer.record = place.record
        self._broken, self._resynced, self._headless = None, False, False

    def next(self, limit: int | None = None, most: int | None = None) -> Records | None:
        """The next records, or None at the end; a file that grows may have more later.

        Without a ``limit``, all records in the buffer. With one, ``limit`` records; fewer if they take
        ``most`` bytes, or before the end or damage. Damage that comes next is raised at each call, until
        ``skip``.
        """
        while True:
            if self._return_to is not None:
                self._return(self._return_to)
            try:
                return self._next(limit, most)
            except CorruptionError as error:
                place = Place(self._buffer.offset, self.record)
                self._twice = self._twice or SeenTwice()
                if self._headless or self._twice.seen(place, error) or not self._read_again(place):
                    raise

    def _read_again(self, place: Place) -> bool:
        """Forget what is read of a remote file after ``place``; False for any other file."""
        if place.offset and self._opened.rewinds:
            if not self._opened.read_again():
                return False
            self.go_back(place)
        elif self._opened.may_begin_again():  # the first bytes have also told the compression
            self._return_to = place
        else:
            return False
        return True

    def _return(self, place: Place) -> None:
        """Go on at ``place`` in a source that has begun anew, however often its bytes are damaged before."""
        for _ in range(ATTEMPTS):
            self._opened.begin_again()
            try:
                self._skip_to(place)
            except CorruptionError as error:
                reason = error.reason
                if not self._opened.may_begin_again():
                    break
            else:
                self._return_to = None
                return
        raise OSError(errno.EIO, f"it is damaged in another way each time it is read: {reason}", self.name)

    def _skip_to(self, place: Place) -> None:
        self._opened.detect_compression()
        self._ended = False
        if self._opened.rewinds:
            self.go_back(place)
            return
        left, data = place.offset - self._first, b""
        while left > 0 and (data := self._opened.read(min(left, _LARGEST_READ))):
            left -= len(data)
        if left > 0:
            raise CompressionError(f"it ends {left} bytes before the place that was read before")
        self._load(data[len(data) + left :], place.offset)
        self._buffer.record = place.record
        self._broken, self._resynced = None, False

    def _next(self, limit: int | None, most: int | None) -> Records | None:
        again = False
        while True:
            ready = self._buffer.ready
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
            return self._take(limit)

    def _holds(self, size: int | None) -> bool:
        """Whether the buffer holds a whole frame and ``size`` bytes that have not been handed out."""
        return size is not None and self._buffer.ready > 0 and self._buffer.tail >= size

    def _take(self, limit: int | None) -> Records:
        headless = self._headless
        records = self._buffer.take(1 if headless else limit)
        self.searched, self._resynced, self._headless = self._resynced, False, False
        self.good += records.nbytes + len(records) * OVERHEAD - (HEADER if headless else 0)
        return records

    def payloads(self) -> Iterable[bytes] | None:
        """Like ``next``, but gives payloads, which the caller must use up before the next call.

        A large payload is read directly into its own object, and small ones pass through one buffer that is
        used again. ``good`` and ``searched`` are not kept up to date.
        """
        if not self._buffer.ready:
            if (payload := self._read_large()) is not None:
                self._buffer.record += 1
                return [payload]
            if not self._buffer.ready and (payloads := self._read_small()) is not None:
                return payloads
        return self.next()

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def _fill(self, limit: int | None, most: int | None, *, again: bool = False) -> bool:
        """Read more of the file into the buffer; False if there is no more, or no use for it.

        ``again`` says that the last read brought too few frames, so that the estimate is of little use.
        """
        buffer = self._buffer
        missing = self._missing()
        remaining = self._opened.remaining(missing)
        if (
            self._ended
            or buffer.bad_length
            or self._headless
            or (remaining is not None and remaining < max(missing, 1))
        ):
            return False
        held = buffer.tail
        estimate = self._estimate(limit, most)
        needed = max(missing, estimate - held, 1)
        self._opened.detect_compression()
        if self._opened.rewinds:
            # A file on disk gives more without waiting. Before the first records, it may be more than needed.
            least = max(min(AHEAD, most or AHEAD), _SMALLEST_READ) if self._mean else _SMALLEST_READ
            if limit and estimate and not again and not should_read_ahead(limit, self._mean):
                least = 0
            buffer.release()
            data: Any = self._read_in_place(held, max(needed, least))
        else:
            data = self._extend(buffer.data[buffer.position :], needed)
        if len(data) <= held:
            return False
        self._load(data, buffer.offset)
        return True

    def _missing(self) -> int:
        """How many bytes the incomplete last frame lacks; 0 if even its header is incomplete."""
        buffer = self._buffer
        have = len(buffer.data) - buffer.stop
        if have < HEADER or buffer.bad_length:
            return 0
        return max(0, frames.length_at(buffer.data, buffer.stop) + OVERHEAD - have)

    def _estimate(self, limit: int | None, most: int | None) -> int:
        """About how many bytes ``limit`` frames take, or ``most`` if that is less."""
        if limit is None or not self._mean:
            return 0
        size = min(expected_size(limit, self._mean), most or 1 << 62)
        # Before the file's first frame the mean is a guess, which must not cause a large useless read.
        return size if len(self._buffer.begins) or size <= _LARGEST_READ else 0

    def _extend(self, tail: Any, needed: int) -> bytes:
        """``tail`` followed by at least ``needed`` more bytes of the source, if it has that many."""
        pieces, have = [tail], 0
        while have < needed:
            try:
                piece = self._read(min(max(needed - have, _SMALLEST_READ), _LARGEST_READ))
            except OSError:
                if have > 0:
                    break  # the source will raise it again, after the caller got everything before it
                raise
            if not piece:
                break
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)

    def _read_in_place(self, held: int, needed: int) -> memoryview:
        """The last ``held`` bytes and ``needed`` more, read into memory from the pool, from a file that can
        rewind.

        Reading the held bytes a second time costs less than joining.
        """
        offset = self._buffer.offset
        self._opened.go_to(offset)
        size = held + needed
        view = self._buffer.pool.lend(min(size, self._opened.remaining(size) or 0), offset)
        have = 0
        try:
            while have < len(view) and (got := self._opened.readinto(view[have:])):
                have += got
        except BaseException as error:
            if have <= held or not isinstance(error, OSError):
                self._opened.go_to(offset + held)
                raise
        return view[:have]

    def _read(self, size: int) -> bytes:
        """More of the file; b"" at the end, or if the source is broken: then ``_broken`` says why."""
        self._broken = None
        try:
            return self._opened.read(size)
        except CorruptionError as error:
            self._broken = error.with_traceback(
                None
            )  # the traceback would keep this stream and the file open
            return b""

    def _load(self, data: Any, base: int) -> None:
        buffer = self._buffer
        buffer.load(data, base)
        if buffer.ready:
            self._mean = buffer.stop // buffer.ready
            if self._verify:
                buffer.check()

    def _read_large(self) -> bytes | None:
        """The next payload, if it is large, not in the buffer yet, and in a regular file."""
        buffer = self._buffer
        begin = buffer.stop + HEADER
        if len(buffer.data) < begin or buffer.bad_length:
            return None
        length = frames.length_at(buffer.data, buffer.stop)
        missing = begin + length + FOOTER - len(buffer.data)
        if length < _DIRECT_PAYLOAD or missing <= FOOTER or (self._opened.remaining(missing) or 0) < missing:
            return None
        offset = buffer.base + begin
        payload, after = self._opened.read_payload_and_next_header(offset, length, OVERHEAD)
        if len(after) < FOOTER or (self._verify and not frames.payload_holds(payload, after)):
            # ``next`` finds out exactly what is wrong.
            header = buffer.data[buffer.stop : begin]
            self._load(b"".join((header, payload, after)), offset - HEADER)
            return None
        self._load(after[FOOTER:], offset + length + FOOTER)
        return payload

    def _read_small(self) -> Iterable[bytes] | None:
        """The payloads of the small frames that come next and are not in the buffer yet, if all are good."""
        buffer = self._buffer
        self._opened.detect_compression()
        if not (self._verify and self._opened.rewinds) or buffer.bad_length or self._headless:
            return None
        offset = buffer.base + buffer.stop
        self._opened.go_to(offset)
        self._small_frames = small_frame_reader(self._opened.remaining() or 0, self._small_frames)
        small = self._small_frames.read(self._opened, self._max_record_size)
        self._load(b"", offset + (small.size if small else 0))
        if small is None:
            return None
        buffer.record += small.records
        return small.payloads

    def _check_end(self) -> None:
        """Raise unless the data may end here."""
        buffer = self._buffer
        if self._broken is not None and not buffer.bad_length:
            raise buffer.located(self._broken)
        tail = bytes(buffer.data[buffer.stop :])
        # Bytes past the buffer count only if a header announces them.
        beyond = (self._opened.remaining() or 0) if len(tail) >= HEADER else 0
        if (length := self._too_large(tail)) is not None:
            raise buffer.located(
                CorruptionError(
                    f"the record has {length} bytes, and max_record_size is {self._max_record_size}; "
                    'allow more if you trust the file, or leave such records out with on_error="skip"'
                )
            )
        try:
            frames.check_end(tail, len(tail) + beyond)
        except CorruptionError as error:
            # Four bytes that look like text are no length, because that would be one of many megabytes.
            self._foreign = buffer.offset == 0 and 4 <= len(tail) < HEADER and looks_like(tail) is not None
            if self._foreign or (buffer.offset == 0 and isinstance(error, ChecksumError)):
                error.reason += wrong_file_hint(tail)
            raise buffer.located(error) from None

    def _too_large(self, head: Any) -> int | None:
        """The length of the record whose frame begins with ``head``, if it is above the limit."""
        if self._max_record_size is None or len(head) < HEADER or not frames.header_holds(head):
            return None
        length = frames.length_at(head, 0)
        return length if length > self._max_record_size else None

    def skip(self) -> Damage:
        """Skip the damage that ``next`` raised, up to the next frame or the end, and describe it."""
        buffer = self._buffer
        if buffer.ready:
            if self._is_followed():
                return self._skip_frame()
        elif self._broken is not None and not buffer.bad_length:
            return self._skip_break(buffer.offset, self._broken)
        return self._resync()

    def is_cut_end(self, skipped: Damage) -> bool:
        """Whether the file just ends too early there, as a killed writer leaves it; after ``skip``."""
        if skipped.kind == damage.BROKEN_COMPRESSION:
            lost = self._opened.skipped_range
            return self._ended and lost is not None and lost[0] == lost[1]
        if self._foreign:
            return False
        return skipped.kind in (damage.TRUNCATED_HEADER, damage.TRUNCATED_PAYLOAD, damage.TRUNCATED_FOOTER)

    def _is_followed(self) -> bool:
        """Whether the bad frame at the cursor is followed by a good frame, or by the end of the data."""
        buffer = self._buffer
        while buffer.ready == 1 and self._fill(None, None):
            pass
        if buffer.ready == 1:
            return buffer.stop == len(buffer.data)
        return buffer.cursor + 1 not in buffer.bad

    def _skip_frame(self) -> Damage:
        buffer = self._buffer
        begin, end = int(buffer.begins[buffer.cursor]), int(buffer.ends[buffer.cursor])
        at = buffer.offset
        inner = resync.last_frames(buffer.data[begin : end + FOOTER])
        if inner is not None:
            buffer.record += 1
            # Bytes are missing from this frame, and its length leads past the frames that follow it. Whole
            # records may be missing with them.
            self._resynced = True
            return Damage(at, self._go_to(buffer.base + begin + inner), damage.BAD_DATA)
        kind = damage.ZEROS if resync.has_hole(buffer.data[begin:end]) else damage.BAD_DATA
        buffer.cursor += 1
        buffer.record += 1
        return Damage(at, buffer.base + end + FOOTER, kind, 1)

    def _skip_break(self, begin: int, error: CorruptionError) -> Damage:
        """Skip the bytes that are left before the source broke, and continue after the break."""
        end = self._go_to(None)
        self._broken = None
        self._ended = not self._opened.resume()
        return Damage(begin, end, damage.BROKEN_COMPRESSION, None, error.reason)

    def _resync(self) -> Damage:
        """Search for a frame after the beginning of the next one, and continue there."""
        buffer = self._buffer
        buffer.discard(buffer.position)
        try:
            return self._find_next()
        except BaseException:
            self._load(buffer.data, buffer.base)  # so that the damage, or the rest of it, comes next again
            raise

    def _find_next(self) -> Damage:
        """Skip the damage at the beginning of the buffer."""
        buffer = self._buffer
        begin, head = buffer.base, buffer.data[:HEADER]
        if (length := self._too_large(head)) is not None:
            remaining = self._opened.remaining()
            if remaining is None or length + OVERHEAD <= len(buffer.data) + remaining:
                return self._skip_too_large(begin, length + OVERHEAD)
        if len(head) == HEADER and frames.header_holds(head):
            return self._skip_trusted(begin, frames.decode_header(head) + OVERHEAD)
        found, sample = self._search(1)
        self._resynced = True
        if buffer.base == begin:
            longest = self._max_record_size
            end = self._intact_end(found)
            if end is not None and (longest is None or end - HEADER <= longest):
                return self._keep_payload(end)
            found = self._past_nested(found, int.from_bytes(head[:8], "little") + OVERHEAD)
        if found is None and self._broken is not None:
            return self._skip_break(begin, self._broken)
        size = self._go_to(found) - begin
        if begin == 0 and holds_gzip_blocks(sample):
            kind, records = damage.NOT_A_TFRECORD if found is None else damage.GARBAGE, None
            return Damage(begin, begin + size, kind, records, f"it looks like {DAMAGED_GZIP}")
        kind, records = resync.name_damage(sample, size, at_begin=begin == 0, at_end=found is None)
        buffer.record += records or 0
        looks = looks_like(sample[:256]) if kind == damage.NOT_A_TFRECORD else None
        return Damage(begin, begin + size, kind, records, f"it looks like {looks}" if looks else "")

    def _search(self, start: int, stop: int | None = None) -> tuple[int | None, bytes]:
        """The offset in the file of the next good frame, or None, and the first of the skipped bytes.

        The search covers ``start`` to ``stop`` bytes into the buffer. Without a ``stop`` the buffer moves
        along, so that a hole of any size takes little memory. The result does not depend on the sizes of the
        pieces in which the source gives its data.
        """
        buffer = self._buffer
        sample, budget = b"", _SEARCH_BUDGET
        while True:
            searched = len(buffer.data) - HEADER + 1  # before a check of a payload reads on
            remaining = self._opened.remaining()
            available = None if remaining is None else len(buffer.data) + remaining
            for position, length in resync.each_plausible_frame(buffer.data, start, available):
                if stop is not None and position >= stop:
                    return None, b""
                if available is None and length > _LONGEST_KEPT_PAYLOAD:
                    continue
                if budget < 0 and length > _SHORT_PAYLOAD:
                    continue
                budget -= length
                if self._payload_holds(position + HEADER, length):
                    return buffer.base + position, sample or buffer.data[: min(position, _LOOKAHEAD)]
            start = max(start, searched)
            if stop is not None and start >= stop:
                return None, b""
            if stop is None and start > _LOOKAHEAD:
                sample = sample or buffer.data[:_LOOKAHEAD]
                buffer.discard(start)
                start = 0
            if start < len(buffer.data) - HEADER + 1:
                continue
            more = self._read(_SEARCH_READ)
            if not more:
                return None, sample or buffer.data[:_LOOKAHEAD]
            buffer.data += more

    def _payload_holds(self, begin: int, length: int) -> bool:
        """Whether the payload at ``begin`` matches its footer, both perhaps far beyond the buffer."""
        buffer = self._buffer
        end = begin + length
        crc = crc32c(buffer.data[begin:end])
        footer = buffer.data[end : end + FOOTER]
        ahead = 0
        kept = [buffer.data]
        try:
            while len(footer) < FOOTER:
                at = len(buffer.data) + ahead  # where the piece begins
                piece = self._read(min(max(end - at, 0) + FOOTER, _LARGEST_READ))
                if not piece:
                    break
                ahead += len(piece)
                crc = crc32c(piece[: max(0, end - at)], crc)
                footer += piece[max(0, end - at) :]
                if not self._opened.rewinds:
                    kept.append(piece)
        finally:
            if len(kept) > 1:
                buffer.data = b"".join(kept)
            elif ahead:
                self._opened.rewind(ahead)
        return len(footer) >= FOOTER and mask(crc) == int.from_bytes(footer[:FOOTER], "little")

    def _skip_trusted(self, begin: int, size: int) -> Damage:
        """Skip a frame whose length CRC holds, but not its data CRC, and which no good frame follows."""
        buffer = self._buffer
        whole = size <= len(buffer.data)
        found = self._find_inside(size, whole=whole)
        buffer.record += 1
        if whole and found is None:
            self._go_to(begin + size)
            return Damage(begin, begin + size, damage.BAD_DATA, 1)
        self._resynced = True
        end = self._go_to(found)
        kind = damage.BAD_DATA
        if found is None:
            kind = damage.TRUNCATED_FOOTER if end - begin >= size - FOOTER else damage.TRUNCATED_PAYLOAD
        return Damage(begin, end, kind)  # how many records were cut off after it, or out of it, is unknown

    def _skip_too_large(self, begin: int, size: int) -> Damage:
        """Skip a frame of ``size`` bytes, of which few are in memory at a time."""
        buffer = self._buffer
        end = begin + size
        while (left := end - buffer.base - len(buffer.data)) > 0:
            buffer.discard(len(buffer.data))
            buffer.data = self._read(min(left, _SEARCH_READ))
            if not buffer.data:
                break
        buffer.record += 1
        if left <= 0:
            return Damage(begin, self._go_to(end), damage.TOO_LARGE, 1)
        if self._broken is not None:
            return self._skip_break(begin, self._broken)
        return Damage(begin, self._go_to(None), damage.TRUNCATED_PAYLOAD)

    def _find_inside(self, size: int, *, whole: bool) -> int | None:
        """The next frame of the file among the ``size`` bytes that the frame before it claims.

        If not all of them are there, in all data that follows. Frames of a TFRecord inside the payload do
        not count.
        """
        buffer = self._buffer
        found, _ = self._search(HEADER, size if whole else None)
        while whole and found is not None:
            self._read_up_to(size + _LOOKAHEAD)
            known = memoryview(buffer.data)[: size + _LOOKAHEAD]
            inner = resync.nested_end(known, found - buffer.base, size)
            if inner is None:
                break
            found, _ = self._search(inner, size)
        return found

    def _read_up_to(self, size: int) -> None:
        """Extend the buffer to ``size`` bytes, if the source has that many."""
        buffer = self._buffer
        while len(buffer.data) < size and (more := self._read(size - len(buffer.data))):
            buffer.data += more

    def _go_to(self, offset: int | None) -> int:
        """Continue at ``offset`` of the plain data, or at the end of the buffer; gives that offset."""
        buffer = self._buffer
        if offset is None:
            offset = buffer.base + len(buffer.data)
        self._load(buffer.data[offset - buffer.base :], offset)
        return offset

    def _intact_end(self, found: int | None) -> int | None:
        """Where in the buffer the payload ends, if only its header is damaged."""
        buffer = self._buffer
        first = len(buffer.data) if found is None else found - buffer.base
        if first > _LOOKAHEAD:
            return None
        end = resync.intact_payload_end(buffer.data, np.array([first]))
        if end is None and found is not None:
            self._lookaheads += 1
            reach = _LOOKAHEAD if self._lookaheads < _FULL_LOOKAHEADS else _LOOKAHEAD >> 6
            self._read_up_to(reach)
            # The frame that was found may lie inside the payload, but it cannot end outside of it.
            inner = first + frames.decode_header(buffer.data, first) + OVERHEAD
            ends, _ = resync.plausible_frames(buffer.data[:reach], inner, None)
            if len(buffer.data) < reach:  # the data ends there, and so may the payload
                ends = np.append(ends, len(buffer.data))
            end = resync.intact_payload_end(buffer.data, ends)
        return end

    def _past_nested(self, found: int | None, size: int) -> int | None:
        """``found``, or the end of the frame of ``size`` bytes if its length seems right after all.

        It does if a frame follows there and the frames at ``found`` end before: they are inside the payload.
        """
        buffer = self._buffer
        if found is None or not found - buffer.base < size <= _LOOKAHEAD:
            return found
        self._read_up_to(size + HEADER)
        follows = len(buffer.data) >= size + HEADER and frames.header_holds(buffer.data, size)
        if follows and resync.nested_end(buffer.data, found - buffer.base, size) is not None:
            return buffer.base + size
        return found

    def _keep_payload(self, end: int) -> Damage:
        """Continue with the intact payload that ends at ``end``, after its damaged header."""
        buffer = self._buffer
        whole = split(buffer.data, end + FOOTER)
        buffer.begins, buffer.ends = np.append(HEADER, whole.begins), np.append(end, whole.ends)
        buffer.cursor, buffer.stop, buffer.bad_length = 0, whole.stop, whole.bad
        buffer.end_before_too_long()
        if self._verify:
            buffer.check()
        self._headless = True
        return Damage(buffer.base, buffer.base + HEADER, damage.BAD_LENGTH, 0, "its payload is intact")
