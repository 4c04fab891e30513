"""``SpooledFile``: a file that can only be read forward: compressed, a pipe, or a server without ranges.

What was read is kept in a temporary file up to a limit, so that one can go back. Both checksums of a record
are compared when it is read. This module does not know what a payload means.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..container import frames
from ..container.checksum import masked_crc
from ..container.damage import Damage
from ..container.frame_stream import FrameStream
from ..container.frames import FOOTER, HEADER, OVERHEAD
from ..container.looks_like import open_source
from ..records import Records
from ..recovery.scan import records_and_damage
from .limits import Limits
from .places import Places
from .source import Damages, Fetched


class SpooledFile:
    """The file ``named``, a path or an open file, read forward."""

    def __init__(self, named: Any, compression: Any, size: int | None, limits: Limits) -> None:
        self._limits = limits
        self._opened = open_source(named, compression)
        self.size = size
        self._places = Places()  # offsets in the plain data
        self._kept = Places()  # the same records in the temporary file
        self._spool = tempfile.TemporaryFile(prefix="purerecord-view-")  # noqa: SIM115 - closed by close()
        self._lock = threading.Lock()
        self._spooled = 0
        self._parts: Iterator[Records | Damage] | None = None
        self.damages = Damages(limits.damages)
        self.plain_size: int | None = None
        self.walked = self.verified = 0
        self.exact = False
        self.message: str | None = None
        self._opened.detect_compression()
        self._path = self._opened.name
        self._stream = FrameStream(self._opened, max_record_size=limits.record_bytes)
        self._ended = False

    @property
    def compression(self) -> str:
        """The name of the compression."""
        return self._opened.compression or "none"

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
        if self._spooled >= self._limits.spool_bytes or self.count >= self._limits.rows:
            self.message = (
                f"a compressed file is read up to {self._limits.spool_bytes:,} bytes of data; records after "
                f"byte {self.walked:,} are not shown"
            )
            return False
        self._parts = self._parts or records_and_damage(self._opened, self._stream)
        part = next(self._parts, None)
        if part is None:
            self._end()
        elif isinstance(part, Damage):
            self.damages.add(part)
            self.walked = max(self.walked, part.end)
        else:
            self._keep(part)
        self.verified = self.walked
        return True

    def _keep(self, records: Records) -> None:
        offsets = records.begins + ((records.base or 0) - HEADER)
        lengths = records.lengths
        packed = records.packed()
        low, high = int(packed.begins[0]), int(packed.ends[-1])
        data = memoryview(packed.buffer).cast("B")[low:high]
        with self._lock:
            self._spool.seek(self._spooled)
            self._spool.write(data)
        self._places.add(offsets, lengths)
        self._kept.add(packed.begins - low + self._spooled, lengths)
        self._spooled += high - low
        self.walked = max(self.walked, int(offsets[-1] + lengths[-1]) + OVERHEAD)

    def _end(self) -> None:
        self._ended = self.exact = True
        self.plain_size = self.walked
        self._opened.close()

    def check(self) -> bool:
        """Nothing is left to check: reading compares all checksums."""
        return False

    can_go_on = False  # after a limit

    def allow_more(self) -> bool:
        """The limit is on what may be kept, so nothing more is allowed."""
        return False

    def fetch(self, begin: int, end: int, most_bytes: int) -> Fetched:
        """Rows from ``begin`` on."""
        kept, lengths = self._kept.between(begin, end)
        fitting = int(np.searchsorted(kept + lengths, int(kept[0]) + most_bytes, side="right"))
        stop = max(1, fitting)
        kept, lengths = kept[:stop], lengths[:stop]
        first = int(kept[0])
        data = self._read(first, int(kept[-1] + lengths[-1]) - first)
        records = Records(data, kept - first, kept - first + lengths, path=self._path, first=begin)
        offsets, _ = self._places.between(begin, begin + stop)
        return Fetched(begin, records, lengths.tolist(), offsets.tolist())

    def _read(self, offset: int, size: int) -> bytes:
        with self._lock:
            self._spool.seek(offset)
            return self._spool.read(size)

    def frame_bytes(self, row: int, begin: int, size: int) -> bytes:
        """Bytes of the frame of a row, made again of its payload."""
        (kept,), (length,) = self._kept.between(row, row + 1)
        return rebuilt_frame(self._read(int(kept), int(length)))[begin : begin + size]

    def place(self, row: int) -> tuple[int | None, int, str]:
        """Where a row is."""
        (offset,), (length,) = self._places.between(row, row + 1)
        end = int(offset) + int(length) + OVERHEAD
        plain = "data inside the compressed file" if self._opened.compression else "data"
        return int(offset), int(length), f"bytes {int(offset):,} to {end:,} of the {plain}"

    def row_at(self, offset: int) -> int | None:
        """The row whose frame begins at ``offset`` or later."""
        return self._places.at_or_after(offset)

    def close(self) -> None:
        """Close the files."""
        self._ended = True
        self._opened.close()
        with self._lock:
            self._spool.close()


def rebuilt_frame(payload: bytes) -> bytes:
    """The frame that holds ``payload``."""
    return frames.encode_header(len(payload)) + payload + masked_crc(payload).to_bytes(FOOTER, "little")
