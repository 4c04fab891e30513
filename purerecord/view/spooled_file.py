"""``SpooledFile``: a file that can only be read forward: compressed, a pipe, or a server without ranges.

What was read is kept in a spool up to a limit, so that one can go back. Both checksums of a record
are compared when it is read. This module does not know what a payload means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..container import frames
from ..container.checksum import masked_crc
from ..container.damage import Damage
from ..container.frame_stream import FrameStream
from ..container.frames import FOOTER, HEADER, OVERHEAD
from ..container.looks_like import detect
from ..records import Records
from ..recovery.scan import records_and_damage
from ..storage.opened import Opened
from .limits import Limits
from .places import Places
from .source import Damages, Fetched
from .spool import Spool


class SpooledFile:
    """The file ``named``, a path or an open file, read forward."""

    def __init__(self, named: Any, compression: Any, size: int | None, limits: Limits, spool: Spool) -> None:
        self._limits = limits
        self._source = named, compression
        self._opened = _Bounded(named, compression, detect=detect)
        self.size = size
        self._places = Places()  # offsets in the plain data
        self._kept = Places()  # the same records in the spool
        self._spool = spool
        self._spooled = 0
        self._asked = False  # whether somebody wants more than what is read of all files at first
        self._parts: Iterator[Records | Damage] | None = None
        self.damages = Damages(limits.damages)
        self.plain_size: int | None = None
        self.walked = self.verified = 0
        self.exact = False
        self.message: str | None = None
        self._opened.detect_compression()
        self._path = self._opened.name
        self._compression = self._opened.compression
        if isinstance(named, str):
            self._opened.close()  # until its turn comes: there may be thousands
        self._ended = False

    @property
    def compression(self) -> str:
        """The name of the compression."""
        return self._compression or "none"

    @property
    def count(self) -> int:
        """How many records are known."""
        return len(self._kept)

    @property
    def progress(self) -> float | None:
        """How much of the file has been read."""
        return None if not self.size else min(1.0, self._opened.position / self.size)

    def walk(self) -> bool:
        """Read the next records."""
        if self._ended:
            return False
        if self._at_own_limit:
            self.message = (
                f"a compressed file is read up to {self._limits.spool_bytes:,} bytes of data; records after "
                f"byte {self.walked:,} are not shown"
            )
            self._opened.close()
            return False
        if not self._spool.has_room(asked=self._asked):
            whole = f"compressed files are read up to {self._limits.spool_total:,} bytes of data together"
            later = "asking for later rows goes on" if self.can_go_on else "open fewer files at once"
            self.message = f"{whole}; records after byte {self.walked:,} are not shown; {later}"
            return False
        if self._parts is None:
            if isinstance(self._source[0], str):
                self._opened = _Bounded(*self._source, detect=detect)
            stream = FrameStream(self._opened, max_record_size=self._limits.record_bytes)
            self._parts = records_and_damage(self._opened, stream)
        self._opened.left = self._limits.spool_bytes
        try:
            part = next(self._parts, None)
        except _TooFarError:
            self._ended = True
            self._opened.close()
            self.message = (
                f"after byte {self.walked:,} there is damage, and no good record in the next "
                f"{self._limits.spool_bytes:,} bytes of data; what follows is not shown"
            )
            return False
        if part is None:
            self._end()
        elif isinstance(part, Damage):
            self.damages.add(part)
            self.walked = max(self.walked, part.end)
        else:
            self._keep(part)
        self.verified = self.walked
        return True

    @property
    def _at_own_limit(self) -> bool:
        return self._spooled >= self._limits.spool_bytes or self.count >= self._limits.rows

    def _keep(self, records: Records) -> None:
        offsets = records.begins + ((records.base or 0) - HEADER)
        lengths = records.lengths
        packed = records.packed()
        low, high = int(packed.begins[0]), int(packed.ends[-1])
        data = memoryview(packed.buffer).cast("B")[low:high]
        begin = self._spool.add(data)
        self._places.add(offsets, lengths)
        self._kept.add(packed.begins - low + begin, lengths)
        self._spooled += high - low
        self.walked = max(self.walked, int(offsets[-1] + lengths[-1]) + OVERHEAD)

    def _end(self) -> None:
        self._ended = self.exact = True
        self.plain_size = self.walked
        self._opened.close()

    def check(self) -> bool:
        """Nothing is left to check: reading compares all checksums."""
        return False

    @property
    def can_go_on(self) -> bool:
        """Whether there is room for files that somebody asks for."""
        return not (self._ended or self._asked or self._at_own_limit) and self._spool.has_room(asked=True)

    def allow_more(self) -> bool:
        """Take the room that is left for files that somebody asks for."""
        if not self.can_go_on:
            return False
        self._asked = True
        self.message = None
        return True

    def fetch(self, begin: int, end: int, most_bytes: int) -> Fetched:
        """Rows from ``begin`` on."""
        kept, lengths = self._kept.between(begin, end)
        fitting = int(np.searchsorted(kept + lengths, int(kept[0]) + most_bytes, side="right"))
        stop = max(1, fitting)
        kept, lengths = kept[:stop], lengths[:stop]
        first = int(kept[0])
        end = int(kept[-1] + lengths[-1])
        data = self._spool.read(first, end - first)
        records = Records(data, kept - first, kept - first + lengths, path=self._path, first=begin)
        offsets, _ = self._places.between(begin, begin + stop)
        return Fetched(begin, records, lengths.tolist(), offsets.tolist())

    def frame_bytes(self, row: int, begin: int, size: int) -> bytes:
        """Bytes of the frame of a row, made again of its payload."""
        (kept,), (length,) = self._kept.between(row, row + 1)
        return rebuilt_frame(self._spool.read(int(kept), int(length)))[begin : begin + size]

    def place(self, row: int) -> tuple[int | None, int, str]:
        """Where a row is."""
        (offset,), (length,) = self._places.between(row, row + 1)
        end = int(offset) + int(length) + OVERHEAD
        plain = "data inside the compressed file" if self._compression else "data"
        return int(offset), int(length), f"bytes {int(offset):,} to {end:,} of the {plain}"

    def row_at(self, offset: int) -> int | None:
        """The row whose frame begins at ``offset`` or later."""
        return self._places.at_or_after(offset)

    def close(self) -> None:
        """Close the file."""
        self._ended = True
        self._opened.close()


class _TooFarError(OSError):
    """There are too many bytes without a record: a few compressed megabytes can hold terabytes of zeros."""


class _Bounded(Opened):
    """A file that can be read until no bytes are ``left``."""

    left = 1 << 62

    def read(self, size: int) -> bytes:
        """The next plain bytes."""
        if self.left <= 0:
            raise _TooFarError
        data = super().read(size)
        self.left -= len(data)
        return data


def rebuilt_frame(payload: bytes) -> bytes:
    """The frame that holds ``payload``."""
    return frames.encode_header(len(payload)) + payload + masked_crc(payload).to_bytes(FOOTER, "little")
