"""``FrameStream``: the frames of one file, in order, past damage if told to.

At damage it raises the same error as often as it is asked, until it is told to ``skip``: then it finds the
next frame, by a length that can be trusted or by search, and says what it passed over. Reading, validating
and salvaging all go through here. This module does not know how a file is stored, nor what a payload means.
"""

from __future__ import annotations

import numpy as np

from ..errors import CorruptionError
from . import damage, frames, resync
from .checksum import crc32c, mask
from .damage import Damage
from .forward import NONE, ForwardStream
from .frames import FOOTER, HEADER, OVERHEAD
from .looks_like import looks_like

# The most that is asked of a source at once.
_PIECE = 1 << 24
# How far ahead a search looks for the end of a frame whose header alone is damaged.
_LOOK = 1 << 20
# Where it has looked so often, for damage is everywhere, it looks less far.
_OFTEN = 256
_SEARCH = 1 << 22
# A search may meet any number of plausible headers. After checking so many bytes of payload behind them it
# only looks at short ones; and where it could not go back, never at longer ones than these.
_BUDGET, _SHORT = 1 << 33, 1 << 12
_FARTHEST = 1 << 28


class FrameStream(ForwardStream):
    """The frames of one opened file, in order, and what is between them."""

    _looks = 0  # how often the end of a frame with a damaged header was looked for

    def skip(self) -> Damage:
        """Pass over the damage that ``next`` raised, to the next frame or the end; say what it was."""
        if self._cursor < len(self._begins):
            if self._is_followed():
                return self._skip_frame()
        elif self._broken is not None and not self._bad_length:
            return self._skip_break(self._base + self._stop, self._broken)
        return self._resync()

    def _is_followed(self) -> bool:
        """Whether a good frame, or the end of the data, comes where the bad one at the cursor ends."""
        while self._cursor + 1 == len(self._begins) and self._fill(None, None):
            pass
        if self._cursor + 1 == len(self._begins):
            return self._stop == len(self._buffer)
        return self._cursor + 1 not in self._bad

    def _skip_frame(self) -> Damage:
        begin, end = int(self._begins[self._cursor]), int(self._ends[self._cursor])
        inner = resync.last_frames(self._buffer[begin : end + FOOTER])
        if inner is not None:
            # So many bytes are missing that its end falls where a frame behind the next begins.
            at = self._base + begin - HEADER
            self.record += 1
            self._resynced = True
            return Damage(at, self._go_to(self._base + begin + inner), damage.BAD_DATA, 1)
        kind = damage.ZEROS if resync.has_hole(self._buffer[begin:end]) else damage.BAD_DATA
        self._cursor += 1
        self.record += 1
        return Damage(self._base + begin - HEADER, self._base + end + FOOTER, kind, 1)

    def _skip_break(self, begin: int, error: CorruptionError) -> Damage:
        """Pass what was left before the source broke, and go on behind the break."""
        end = self._go_to(None)
        self._broken = None
        self._ended = not self._opened.resume()
        return Damage(begin, end, damage.BROKEN_COMPRESSION, None, error.reason)

    def _resync(self) -> Damage:
        """Search for a frame behind the beginning of the one that lies next, and go on there."""
        at = self._stop if self._cursor == len(self._begins) else int(self._begins[self._cursor]) - HEADER
        self._buffer, self._base = bytes(self._buffer[at:]), self._base + at
        try:
            return self._find_next()
        except BaseException:
            self._load(self._buffer, self._base)  # so that the damage, or the rest of it, lies next again
            raise

    def _find_next(self) -> Damage:
        """Pass over the damage that the buffer begins with."""
        begin, head = self._base, self._buffer[:HEADER]
        if len(head) == HEADER and frames.header_holds(head):
            return self._pass_trusted(begin, frames.decode_header(head) + OVERHEAD)
        found, sample = self._search(1)
        self._resynced = True
        if self._base == begin:
            if (end := self._intact_end(found)) is not None:
                return self._keep_payload(end)
            found = self._past_nested(found, int.from_bytes(head[:8], "little") + OVERHEAD)
        if found is None and self._broken is not None:
            return self._skip_break(begin, self._broken)
        size = self._go_to(found) - begin
        kind, records = resync.name_damage(sample, size, at_begin=begin == 0, at_end=found is None)
        self.record += records or 0
        looks = looks_like(sample[:256]) if kind == damage.NOT_A_TFRECORD else None
        return Damage(begin, begin + size, kind, records, f"it looks like {looks}" if looks else "")

    def _search(self, start: int, stop: int | None = None) -> tuple[int | None, bytes]:
        """Where in the file, ``start`` to ``stop`` bytes into the buffer, a good frame begins next, or None.

        And the beginning of what was passed over. Without a ``stop`` the buffer moves along, so that a
        hole of any size is searched in little memory. In how large pieces the source gives its data
        makes no difference to what comes out.
        """
        sample, budget = b"", _BUDGET
        while True:
            searched = len(self._buffer) - HEADER + 1  # checking a payload may read on
            remaining = self._opened.remaining()
            available = None if remaining is None else len(self._buffer) + remaining
            for position, length in resync.each_plausible_frame(self._buffer, start, available):
                if stop is not None and position >= stop:
                    return None, b""
                if length > (_SHORT if budget < 0 else _FARTHEST if available is None else length):
                    continue
                budget -= length
                if self._payload_holds(position + HEADER, length):
                    return self._base + position, sample or self._buffer[: min(position, _LOOK)]
            start = max(start, searched)
            if stop is not None and start >= stop:
                return None, b""
            if stop is None and start > _LOOK:
                sample = sample or self._buffer[:_LOOK]
                self._buffer, self._base = self._buffer[start:], self._base + start
                start = 0
            if start < len(self._buffer) - HEADER + 1:
                continue
            more = self._read(_SEARCH)
            if not more:
                return None, sample or self._buffer[:_LOOK]
            self._buffer += more

    def _payload_holds(self, begin: int, length: int) -> bool:
        """Whether the payload at ``begin`` in the buffer matches its footer; it may end far behind it."""
        end = begin + length
        crc = crc32c(self._buffer[begin:end])
        footer = self._buffer[end : end + FOOTER]
        ahead = 0
        kept = [self._buffer]
        try:
            while len(footer) < FOOTER:
                piece = self._read(min(max(end - len(self._buffer) - ahead, 0) + FOOTER, _PIECE))
                if not piece:
                    break
                at = len(self._buffer) + ahead  # where the piece begins
                ahead += len(piece)
                crc = crc32c(piece[: max(0, end - at)], crc)
                footer += piece[max(0, end - at) :]
                if not self._opened.rewinds:
                    kept.append(piece)
        finally:
            if len(kept) > 1:
                self._buffer = b"".join(kept)
            elif ahead:
                self._opened.rewind(ahead)
        return len(footer) >= FOOTER and mask(crc) == int.from_bytes(footer[:FOOTER], "little")

    def _pass_trusted(self, begin: int, size: int) -> Damage:
        """Pass a frame whose length holds, but whose data does not, and behind which comes no frame."""
        whole = size <= len(self._buffer)
        found = self._find_inside(size, whole=whole)
        self.record += 1
        if whole and found is None:
            self._go_to(begin + size)
            return Damage(begin, begin + size, damage.BAD_DATA, 1)
        self._resynced = True
        end = self._go_to(found)
        kind = damage.BAD_DATA
        if found is None:
            kind = damage.TRUNCATED_FOOTER if end - begin >= size - FOOTER else damage.TRUNCATED_PAYLOAD
        return Damage(begin, end, kind, 1)

    def _find_inside(self, size: int, *, whole: bool) -> int | None:
        """The next frame of the file among the ``size`` bytes that the one before it says are its own.

        Unless all of these are there, in all that follows. Frames of a TFRecord inside the payload do
        not count.
        """
        found, _ = self._search(HEADER, size if whole else None)
        while whole and found is not None:
            self._read_up_to(size + _LOOK)
            known = memoryview(self._buffer)[: size + _LOOK]
            inner = resync.nested_end(known, found - self._base, size)
            if inner is None:
                break
            found, _ = self._search(inner, size)
        return found

    def _read_up_to(self, size: int) -> None:
        """Have ``size`` bytes in the buffer, if there are as many."""
        while len(self._buffer) < size and (more := self._read(size - len(self._buffer))):
            self._buffer += more

    def _go_to(self, offset: int | None) -> int:
        """Go on at ``offset`` of the plain data, or behind all there is."""
        if offset is None:
            offset = self._base + len(self._buffer)
        self._load(self._buffer[offset - self._base :], offset)
        return offset

    def _intact_end(self, found: int | None) -> int | None:
        """Where in the buffer the payload ends whose header alone is damaged, if that is so."""
        first = len(self._buffer) if found is None else found - self._base
        if first > _LOOK:
            return None
        end = resync.intact_payload_end(self._buffer, np.array([first]))
        if end is None and found is not None:
            self._looks += 1
            look = _LOOK if self._looks < _OFTEN else _LOOK >> 6
            self._read_up_to(look)
            # The frame that was found may lie inside the payload, but it cannot reach out of it.
            inner = first + frames.decode_header(self._buffer, first) + OVERHEAD
            ends, _ = resync.plausible_frames(self._buffer[:look], inner, None)
            if len(self._buffer) < look:  # the data ends there, and so may the payload
                ends = np.append(ends, len(self._buffer))
            end = resync.intact_payload_end(self._buffer, ends)
        return end

    def _past_nested(self, found: int | None, size: int) -> int | None:
        """``found``, or where the frame ends if its length seems right after all.

        For then a frame follows there, and what was found ends before that: it is inside the payload.
        """
        if found is None or not found - self._base < size <= _LOOK:
            return found
        self._read_up_to(size + HEADER)
        follows = len(self._buffer) >= size + HEADER and frames.header_holds(self._buffer, size)
        if follows and resync.nested_end(self._buffer, found - self._base, size) is not None:
            return self._base + size
        return found

    def _keep_payload(self, end: int) -> Damage:
        """Go on with the intact payload that ends there, behind its damaged header."""
        whole = frames.split(self._buffer, end + FOOTER)
        self._begins, self._ends = np.append(HEADER, whole.begins), np.append(end, whole.ends)
        self._cursor, self._stop, self._bad_length = 0, whole.stop, whole.bad
        self._bad = frames.bad_payloads(self._buffer, self._begins, self._ends) if self._verify else NONE
        self._headless = True
        return Damage(self._base, self._base + HEADER, damage.BAD_LENGTH, 0, "its payload is intact")
