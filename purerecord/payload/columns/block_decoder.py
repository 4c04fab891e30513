"""``BlockDecoder``: decodes as many records of a block as possible together, and the others one by one.

``gather`` and ``gather_sequences`` build on it and locate values in their own ways. This module does not know
these, nor what a record holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ...errors import DecodeError
from ...records import Records
from . import tuning
from .arrays import Ints, Mask
from .located import NeedsRowDecoder, RecordBlock

_T = TypeVar("_T")


class BlockDecoder:
    """Decodes some records of a batch. ``rows`` are those that remain to be decoded."""

    def __init__(self, records: Records, rows: Ints) -> None:
        self.records = records
        self.rows = rows
        self.octets = np.frombuffer(records.buffer, np.uint8)
        self.tuning = tuning.current

    def block(self) -> RecordBlock:
        """The remaining records."""
        records = self.records
        return RecordBlock(records.buffer, self.octets, records.begins[self.rows], records.ends[self.rows])

    def read_together(self, read: Callable[[Ints], _T], alive: Mask) -> _T | None:
        """What ``read`` returns for the records that are ``alive``; None if that is not worth it. Clears
        ``alive`` in records that need the row decoder."""
        for _ in range(self.tuning.attempts_per_block):
            some = alive.nonzero()[0]
            if not some.size:
                break
            try:
                return read(some)
            except NeedsRowDecoder as error:
                alive[some[error.rows]] = False
        alive[:] = False
        return None

    def decode_singly(self, decode: Callable[[bytes], _T]) -> list[_T]:
        """The remaining records, one by one. A DecodeError says which record it is about."""
        return [decode_row(self.records, row, decode) for row in self.rows.tolist()]


def decode_row(records: Records, row: int, decode: Callable[[bytes], _T]) -> _T:
    """One record, decoded. A DecodeError says which record it is about."""
    try:
        return decode(records[row])
    except DecodeError as error:
        error.path, error.record, error.offset = records.origin(row)
        raise
