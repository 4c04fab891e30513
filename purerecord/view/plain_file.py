"""``PlainFile``: an uncompressed file, local or remote.

Counting follows the lengths of the frames, many small frames at a time and large ones header by header.
Where a header is damaged, ``FrameStream`` finds the next good frame, as ``scan`` does. The checksums of the
data are compared later, and whenever a record is read. This module does not know what a payload means.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

import numpy as np

from ..container import frames
from ..container.checksum import crc32c, mask
from ..container.damage import BAD_DATA, NOT_A_TFRECORD, Damage
from ..container.frame_chain import split
from ..container.frame_stream import FrameStream, Place
from ..container.frames import FOOTER, HEADER, OVERHEAD
from ..container.index import has_index, index_path, load_index
from ..container.looks_like import looks_like, open_source
from ..errors import CorruptionError, PureRecordError
from ..records import Records
from ..storage.file_handles import OpenFile, OpenFiles
from ..storage.opened import Opened
from ..storage.remote_file import RemoteFile
from ..storage.url import Url, local_path
from .limits import Limits
from .places import Places
from .source import Damages, Fetched, too_large, without_payload

# Bytes of a read: of a local file, and of a remote one.
_READ, _REMOTE_READ = 1 << 22, 1 << 20
# Frames of this mean size are counted header by header, so many in one piece of work.
_HOP_MEAN = 1 << 14
_HOPS, _REMOTE_HOPS = 4096, 8
_HOP_COST = 1 << 16  # a request for a header costs about as much as one for so many bytes
_CHECKED = 1 << 23  # bytes whose checksums are compared in one piece of work
_BAD_DATA = "the data does not match its checksum"


class PlainFile:
    """The uncompressed file at ``path``."""

    compression = "none"

    def __init__(self, path: str, limits: Limits, files: OpenFiles) -> None:
        self._path = path
        self._limits = limits
        self._files = files
        self._remote = isinstance(local_path(path), Url)
        self.size: int | None = self._file.size()
        self._plain_size: int = self._file.size()
        self.plain_size: int | None = self._plain_size
        self._places = Places()
        self.damages = Damages(limits.damages)
        self.walked = self.verified = self._checked_rows = self._cost = 0
        self._reach = limits.remote_cost  # bytes in which a good frame is searched for after damage
        self._allowed = limits.remote_cost if self._remote else 1 << 62
        self.exact = self._plain_size == 0
        self.message: str | None = None
        self._load_index()

    @property
    def _file(self) -> OpenFile | RemoteFile:
        return self._files.get(self._path)

    @property
    def count(self) -> int:
        """How many records are known."""
        return len(self._places)

    @property
    def progress(self) -> float | None:
        """How much of the file has been counted."""
        return self.walked / self._plain_size if self._plain_size else 1.0

    def _load_index(self) -> None:
        """Take the places from an index beside the file, if there is a fresh one."""
        try:
            if not self._plain_size or not has_index(self._path):
                return
            index = load_index(index_path(self._path))
            index.check(self._path)
        except PureRecordError as error:
            self.message = f"the index beside the file is not used: {error}"
            return
        except (OSError, ValueError):
            return
        if index.first_records is None and len(index) <= self._limits.rows:
            self._places.add(index.offsets, index.sizes - OVERHEAD)
            self.walked, self.exact = self._plain_size, True

    # --- Counting -----------------------------------------------------------------------------------

    def walk(self) -> bool:
        """Count the records of the next piece."""
        if self.exact or self._at_limit():
            return False
        position, count = self.walked, self.count
        if count and position // count >= _HOP_MEAN:
            self._hop()
        else:
            size = _REMOTE_READ if self._remote else _READ
            whole = split(self._read(position, size))
            self._places.add(position + whole.begins - HEADER, whole.ends - whole.begins)
            self.walked = position + whole.stop
            if not whole.stop:
                self._hop()
        self.exact = self.walked >= self._plain_size
        return True

    def _at_limit(self) -> bool:
        if self.count >= self._limits.rows:
            self.message = f"the viewer keeps the places of {self._limits.rows:,} records of a file"
        elif self._cost >= self._allowed:
            self.message = (
                f"{self.walked:,} of {self._plain_size:,} bytes were looked through; asking for later rows "
                "goes on"
            )
        else:
            return False
        return True

    @property
    def can_go_on(self) -> bool:
        """Whether ``allow_more`` would let counting go on."""
        return not self.exact and self._cost >= self._allowed

    def allow_more(self) -> bool:
        """Let ``walk`` go on after it stopped at a limit."""
        if not self.can_go_on:
            return False
        self._allowed = self._cost + self._limits.remote_cost
        self._reach += self._limits.remote_cost
        self.message = None
        return True

    def _hop(self) -> None:
        """Count frames by their headers alone."""
        offsets, lengths = [], []
        position, damaged = self.walked, False
        for _ in range(_REMOTE_HOPS if self._remote else _HOPS):
            if position >= self._plain_size:
                break
            head = self._file.read_at(position, HEADER)
            self._cost += _HOP_COST
            try:
                size = frames.whole_size(
                    head, self._plain_size - position if len(head) == HEADER else len(head)
                )
            except CorruptionError:
                damaged = True
                break
            offsets.append(position)
            lengths.append(size - OVERHEAD)
            position += size
        self._places.add(np.array(offsets, np.int64), np.array(lengths, np.int64))
        self.walked = position
        if damaged:
            self._go_on_after_damage()

    def _go_on_after_damage(self) -> None:
        """Find the next good frame after a damaged header."""
        if not self.walked and (kind := looks_like(self._read(0, 256))):
            self.damages.add(Damage(0, self._plain_size, NOT_A_TFRECORD, None, f"it looks like {kind}"))
            self.message = f"not a TFRecord: it looks like {kind}"
            self.walked = self._plain_size
            return
        # The length of the frame before leads here. If bytes are missing from its data, frames begin in it.
        try:
            self._resync(max(0, self._places.last()))
        except _TooFarError:
            self.message = (
                f"there is damage at byte {self.walked:,}, and no good frame in the "
                f"{self._reach:,} bytes after it; asking for later rows goes on"
            )
            self._cost = self._allowed

    def _resync(self, begin: int) -> None:
        with closing(self._stream(begin)) as stream:
            damaged = False
            while True:
                try:
                    records = stream.next(1)
                except CorruptionError:
                    damage = stream.skip()
                    self.damages.add(damage)
                    damaged, self.walked = True, damage.end
                    continue
                if records is None:
                    self.walked = self._plain_size
                    return
                offset = int(records.begins[0]) + (records.base or 0) - HEADER
                if offset > self._places.last():
                    self._places.add(np.array([offset]), records.lengths)
                self.walked = stream.position
                if damaged:
                    return

    def _stream(self, begin: int) -> FrameStream:
        """The frames from ``begin`` on, found by search if need be; of a remote file only a part."""
        if self._remote:
            bounded: Any = _Bounded(self._file, begin, self._reach)
            return FrameStream(Opened(bounded, ""), offset=begin)
        stream = FrameStream(open_source(self._path, ""))
        stream.go_back(Place(begin, 0))
        return stream

    def _read(self, offset: int, size: int) -> bytes:
        self._cost += size
        return self._file.read_at(offset, size)

    # --- Checking -----------------------------------------------------------------------------------

    def check(self) -> bool:
        """Compare the checksums of the data of the next piece."""
        row = self._checked_rows
        if row >= self.count or self._remote or self.verified >= self._limits.check_bytes:
            return False
        if self.damages.count >= self._limits.damages_counted:
            self.message = f"{self.damages.count:,} places are damaged; what follows is not checked"
            return False
        offsets, lengths = self._together(row, self.count, _CHECKED)
        if lengths[0] > _CHECKED:
            bad = [] if self._holds(int(offsets[0]), int(lengths[0])) else [0]
        else:
            data, begins = self._frames(offsets, lengths)
            bad = frames.bad_payloads(data, begins, begins + lengths).tolist()
        for one in bad:
            self._found_bad(int(offsets[one]), int(lengths[one]))
        self._checked_rows += len(offsets)
        self.verified = int(offsets[-1] + lengths[-1]) + OVERHEAD
        return True

    def _holds(self, offset: int, length: int) -> bool:
        """Whether the data of a large record matches its checksum; read in pieces."""
        crc, at, end = 0, offset + HEADER, offset + HEADER + length
        while at < end:
            piece = self._file.read_at(at, min(_CHECKED, end - at))
            if not piece:
                return False
            crc = crc32c(piece, crc)
            at += len(piece)
        return mask(crc) == int.from_bytes(self._file.read_at(end, FOOTER), "little")

    def _found_bad(self, offset: int, length: int) -> None:
        self.damages.add(Damage(offset, offset + length + OVERHEAD, BAD_DATA, 1))

    # --- Reading ------------------------------------------------------------------------------------

    def _together(self, begin: int, end: int, most_bytes: int) -> tuple[Any, Any]:
        """The places of rows that lie side by side, from ``begin`` on: at least one."""
        offsets, lengths = self._places.between(begin, min(end, begin + most_bytes // OVERHEAD + 1))
        ends = offsets + lengths + OVERHEAD
        apart = np.flatnonzero(offsets[1:] != ends[:-1])
        stop = int(apart[0]) + 1 if len(apart) else len(offsets)
        fitting = int(np.searchsorted(ends[:stop], int(offsets[0]) + most_bytes, side="right"))
        stop = min(stop, max(1, fitting))
        return offsets[:stop], lengths[:stop]

    def _frames(self, offsets: Any, lengths: Any) -> tuple[bytes, Any]:
        """The bytes of adjacent frames, and where their payloads begin; zeros if the file became shorter."""
        first, end = int(offsets[0]), int(offsets[-1] + lengths[-1]) + OVERHEAD
        data = self._file.read_at(first, end - first)
        return data.ljust(end - first, b"\0"), offsets - first + HEADER

    def fetch(self, begin: int, end: int, most_bytes: int) -> Fetched:
        """Rows from ``begin`` on."""
        offsets, lengths = self._together(begin, end, most_bytes)
        most = self._limits.record_bytes
        if lengths[0] > most:
            return without_payload(begin, int(lengths[0]), int(offsets[0]), too_large(int(lengths[0]), most))
        large = np.flatnonzero(lengths > most)
        if len(large):
            offsets, lengths = offsets[: large[0]], lengths[: large[0]]
        data, begins = self._frames(offsets, lengths)
        bad = frames.bad_payloads(data, begins, begins + lengths)
        for one in bad.tolist():
            self._found_bad(int(offsets[one]), int(lengths[one]))
        place: dict[str, Any] = {"path": self._path, "first": begin, "base": int(offsets[0])}
        records = Records(data, begins, begins + lengths, **place)
        problems = {begin + one: _BAD_DATA for one in bad.tolist()}
        return Fetched(begin, records, lengths.tolist(), offsets.tolist(), problems)

    def frame_bytes(self, row: int, begin: int, size: int) -> bytes:
        """Bytes of the frame of a row."""
        (offset,), (length,) = self._places.between(row, row + 1)
        return self._file.read_at(int(offset) + begin, max(0, min(size, int(length) + OVERHEAD - begin)))

    def bytes_at(self, offset: int, size: int) -> bytes:
        """Bytes anywhere in the file."""
        return self._file.read_at(offset, size)

    def place(self, row: int) -> tuple[int | None, int, str]:
        """Where a row is."""
        (offset,), (length,) = self._places.between(row, row + 1)
        end = int(offset) + int(length) + OVERHEAD
        return int(offset), int(length), f"bytes {int(offset):,} to {end:,} of the file"

    def row_at(self, offset: int) -> int | None:
        """The row whose frame begins at ``offset`` or later."""
        return self._places.at_or_after(offset)

    def close(self) -> None:
        """Nothing is open here."""


class _TooFarError(OSError):
    """A search in a remote file has read as much as it may."""


class _Bounded:
    """Reads a file forward from a place; an error after so many bytes."""

    def __init__(self, file: Any, position: int, most: int) -> None:
        self._file, self._position, self._end = file, position, position + most

    def read(self, size: int) -> bytes:
        """The next bytes."""
        if self._position >= self._end:
            raise _TooFarError
        data: bytes = self._file.read_at(self._position, min(size, _REMOTE_READ))
        self._position += len(data)
        return data
