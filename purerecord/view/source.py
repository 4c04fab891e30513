"""``Source``: what the viewer asks of a file, whatever its compression.

    plain_file    uncompressed, local or remote: read at any place
    block_file    blocked GZIP: read block by block
    spooled_file  everything else: read forward, into a temporary file

One thread calls ``walk`` and ``check``, piece by piece; any thread reads the rows that are known so far. A
row is a record, counted from 0. This module does not know what a payload means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..container.damage import Damage
from ..records import Records


@dataclass
class Fetched:
    """Some consecutive rows, from ``begin`` on.

    A row of ``problems`` has no payload, but a sentence that says why. ``offsets`` are those of the frames in
    the plain data, None where they are not known.
    """

    begin: int
    records: Records
    lengths: list[int]
    offsets: list[int | None]
    problems: dict[int, str] = field(default_factory=dict)
    costly: set[int] = field(default_factory=set)  # those of ``problems`` that are not damaged, but too large

    @property
    def end(self) -> int:
        """The row after these."""
        return self.begin + len(self.lengths)


class Source(Protocol):
    """An open file."""

    size: int | None  # of the file itself
    plain_size: int | None  # None while unknown
    walked: int  # bytes of plain data in which records were counted
    verified: int  # bytes of plain data whose checksums were compared
    exact: bool  # whether all records are counted
    message: str | None  # why counting stopped before the end, or what else there is to say
    damages: Damages

    @property
    def compression(self) -> str:
        """The name of the compression, or "none"."""

    @property
    def count(self) -> int:
        """How many records are known."""

    @property
    def progress(self) -> float | None:
        """How much of the file is counted, from 0 to 1; None if that is not known."""

    def walk(self) -> bool:
        """Count the records of the next piece; False if nothing was left to do, or at a limit."""

    def check(self) -> bool:
        """Compare the checksums of the next piece; False if nothing was left to do, or at a limit."""

    @property
    def can_go_on(self) -> bool:
        """Whether ``allow_more`` would let ``walk`` go on."""

    def allow_more(self) -> bool:
        """Let ``walk`` go on after it stopped at a limit; False if it cannot."""

    def fetch(self, begin: int, end: int, most_bytes: int) -> Fetched:
        """Rows from ``begin``, which is known, to ``end`` at most: at least one, fewer if they are large."""

    def frame_bytes(self, row: int, begin: int, size: int) -> bytes:
        """Bytes of the frame of a row; ``begin`` counts from the beginning of the frame."""

    def place(self, row: int) -> tuple[int | None, int, str]:
        """The offset of a frame in the plain data, the length of its payload, and where that is in words."""

    def row_at(self, offset: int) -> int | None:
        """The row whose frame begins at ``offset`` of the plain data or later; None if that is not known."""

    def close(self) -> None:
        """Close the file."""


class Damages:
    """The damage of a file, in order of its place; a limited number of them is kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[Damage] = []
        self._begins: set[int] = set()

    @property
    def count(self) -> int:
        """How many are known."""
        return len(self._begins)

    def add(self, damage: Damage) -> None:
        """Add damage, unless some is known that begins at the same byte."""
        if damage.begin in self._begins:
            return
        self._begins.add(damage.begin)
        if len(self._kept) < self._most:
            self._kept = sorted([*self._kept, damage], key=lambda one: one.begin)

    def __iter__(self) -> Iterator[Damage]:
        return iter(self._kept)

    @property
    def cut(self) -> bool:
        """Whether some are not kept."""
        return self.count > len(self._kept)


def no_records() -> Records:
    """No records at all."""
    return Records(b"", np.zeros(0, np.int64), np.zeros(0, np.int64))


def without_payload(begin: int, length: int, offset: int | None, problem: str) -> Fetched:
    """One row that cannot be shown."""
    empty = Records(b"", np.zeros(1, np.int64), np.zeros(1, np.int64))
    return Fetched(begin, empty, [length], [offset], {begin: problem}, {begin})


def too_large(length: int, most: int) -> str:
    """The sentence about a record that is too large to be read."""
    return f"the record has {length:,} bytes; the viewer decodes records of up to {most:,} bytes"
