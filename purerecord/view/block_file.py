"""``BlockFile``: a file of blocked GZIP, read block by block at any place through ``RecordFile``.

The headers of the blocks tell how many records there are. Where the records lie inside a block is only known
once it is inflated. This module does not know what a payload means.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress

import numpy as np

from ..container.damage import BROKEN_COMPRESSION, Damage
from ..container.frames import OVERHEAD
from ..container.index import Index
from ..container.record_file import RecordFile
from ..errors import CorruptionError, PureRecordError
from ..records import Records
from ..storage.file_handles import OpenFiles
from ..storage.inflate import BLOCK_HEADER_SIZE, decode_block_header
from ..storage.url import Url, local_path
from .limits import Limits
from .source import Damages, Fetched, without_payload
from .spooled_file import rebuilt_frame


class BlockFile:
    """The blocked GZIP file at ``path``, whose ``index`` is known."""

    compression = "GZIP"

    def __init__(self, path: str, limits: Limits, files: OpenFiles) -> None:
        self._path = path
        self._limits = limits
        self._files = files
        self.size: int | None = files.get(path).size()
        (index,) = RecordFile(path).load_indexes()
        if index is None or index.first_records is None:
            raise CorruptionError("there is other data after the blocks", path=path)
        self._index: Index = index
        self._firsts = index.first_records.tolist()
        # Damage is told as places in the file itself: those in its plain data are not known.
        self.plain_size: int | None = self.size
        self.walked = self.size or 0
        self.verified = self._checked = 0
        self._remote = isinstance(local_path(path), Url)
        self.exact = True
        self.progress: float | None = 1.0
        self.message: str | None = None
        self.damages = Damages(limits.damages)

    def _reader(self) -> RecordFile:
        """The records; made anew, as it keeps the file open."""
        return RecordFile(self._path, index=self._index)

    @property
    def count(self) -> int:
        """How many records there are."""
        return len(self._index)

    def walk(self) -> bool:
        """Nothing is left to count."""
        return False

    def check(self) -> bool:
        """Inflate the next block of a local file; those of a remote one are checked when they are read."""
        if self._remote or self._checked >= len(self._firsts) or self.verified >= self._limits.check_bytes:
            return False
        row, stop = self._firsts[self._checked], self._end_of(self._checked)
        if row < stop:
            self.fetch(row, stop, self._limits.record_bytes)
        self._checked += 1
        self.verified = (
            self.walked if self._checked == len(self._firsts) else self._range_of(self._checked)[0]
        )
        return True

    def _end_of(self, block: int) -> int:
        """The row after those of a block."""
        end: int = self._firsts[block + 1] if block + 1 < len(self._firsts) else self.count
        return end

    def _range_of(self, block: int) -> tuple[int, int]:
        """Where a block is in the file."""
        begin = int(self._index.offsets[block])
        return begin, begin + int(self._index.sizes[block])

    can_go_on = False  # after a limit

    def allow_more(self) -> bool:
        """Nothing stops at a limit."""
        return False

    def fetch(self, begin: int, end: int, most_bytes: int) -> Fetched:
        """Rows from ``begin`` on, of one block."""
        block = bisect_right(self._firsts, begin) - 1
        end = min(end, self._end_of(block))
        reader = self._reader()
        head = self._files.get(self._path).read_at(int(self._index.offsets[block]), BLOCK_HEADER_SIZE)
        header = decode_block_header(head)
        if header is None or header.data_size > self._limits.record_bytes:
            size = "unknown" if header is None else f"{header.data_size:,} bytes"
            return without_payload(begin, 0, None, f"GZIP block {block} is too large to be inflated: {size}")
        found: list[bytes] = []
        problems: dict[int, str] = {}
        taken = 0
        for row in range(begin, end):
            try:
                payload = reader[row]
            except (PureRecordError, OSError) as error:
                problems[row] = str(error)
                payload = b""
            taken += len(payload) + OVERHEAD
            if found and taken > most_bytes:
                problems.pop(row, None)
                break
            found.append(payload)
        if problems:
            begin_of, end_of = self._range_of(block)
            self.damages.add(
                Damage(begin_of, end_of, BROKEN_COMPRESSION, None, f"GZIP block {block:,}; bytes of the file")
            )
        records = Records.of(found)
        records.path, records.first = self._path, begin
        return Fetched(begin, records, list(map(len, found)), [None] * len(found), problems)

    def frame_bytes(self, row: int, begin: int, size: int) -> bytes:
        """Bytes of the frame of a row, made again of its payload."""
        with suppress(PureRecordError):
            return rebuilt_frame(self._reader()[row])[begin : begin + size]
        return b""

    def place(self, row: int) -> tuple[int | None, int, str]:
        """Where a row is."""
        block = bisect_right(self._firsts, row) - 1
        begin, end = self._range_of(block)
        length = 0
        with suppress(PureRecordError):
            length = len(self._reader()[row])
        inside = f"record {row - self._firsts[block]:,} of GZIP block {block:,}"
        return None, length, f"{inside}, which is bytes {begin:,} to {end:,} of the file"

    def row_at(self, offset: int) -> int | None:
        """The first row of the block that is at ``offset`` of the file or later."""
        block = int(np.searchsorted(self._index.offsets, offset))
        return self._firsts[block] if block < len(self._firsts) else None

    def close(self) -> None:
        """Nothing is open here."""
