"""Repeats: tells a block that was written twice from other damage.

Where that has happened, a frame is cut off by the beginning of the block's second copy. It comes once more,
whole, at the end of that copy: nothing is lost, but the records of the block are there twice. That this is
so is not guessed: the two copies must be the same to the last byte, and without the second one a good
frame must begin where the damage does. This module reads a file again, and decides nothing else.
"""

from __future__ import annotations

import io
from dataclasses import replace

from ..container import frames
from ..container.damage import BAD_DATA, BAD_LENGTH, DUPLICATED, GARBAGE, Damage
from ..container.frames import FOOTER, HEADER, OVERHEAD

# File systems and what lies below them write blocks of these sizes, beginning at multiples of the smallest.
_SECTOR, _LARGEST = 512, 1 << 17
_BLOCKS = tuple(_SECTOR << i for i in range(9))
_KINDS = (BAD_DATA, BAD_LENGTH, GARBAGE)
# Of so many damages to a file it is found out what they are.
_LOOKED_AT = 10_000


class Repeats:
    """Gives the damages to one uncompressed file, in order, their right name."""

    def __init__(self) -> None:
        self._left = _LOOKED_AT
        self._explained = 0  # all damage up to here comes from the block that was found last
        self._detail = ""

    def named(self, damage: Damage, path: str) -> Damage:
        """``damage`` to the file ``path``, called a duplicated block if it is one."""
        if damage.kind not in _KINDS or damage.size > _LARGEST or not self._left:
            return damage
        if damage.end <= self._explained:
            return replace(damage, kind=DUPLICATED, records=0, detail=self._detail)
        self._left -= 1
        base = max(0, damage.begin - _LARGEST)
        with io.FileIO(path) as file:
            file.seek(base)
            around = file.read(damage.end - base + 2 * _LARGEST)
        begin, end = damage.begin - base, damage.end - base
        for size in _BLOCKS:
            for seam in range(-(-damage.begin // _SECTOR) * _SECTOR - base, end + 1, _SECTOR):
                if _twice(around, seam, size) and (stop := _explained(around, seam, size, begin)) >= end:
                    self._explained = base + stop
                    self._detail = f"the {size} bytes at {base + seam} are those before them, written twice"
                    lost = int(begin < seam - size)
                    return replace(damage, kind=DUPLICATED, records=lost, detail=self._detail)
        return damage


def _twice(data: bytes, seam: int, size: int) -> bool:
    """Whether the ``size`` bytes before ``seam`` come again behind it, and are not one byte only."""
    if seam < size or data[seam - size : seam - size + 16] != data[seam : seam + 16]:
        return False
    block = data[seam : seam + size]
    return block == data[seam - size : seam] and block != block[:1] * size


def _explained(data: bytes, seam: int, size: int, begin: int) -> int:
    """Up to where there is no damage from ``begin`` on if the block at ``seam`` is taken out; else -1."""
    without = data[:seam] + data[seam + size :]
    if len(without) == begin:
        return len(data)
    if len(without) < begin + OVERHEAD or not frames.header_holds(without, begin):
        return -1
    stop = begin + frames.decode_header(without, begin) + OVERHEAD
    footer = without[stop - FOOTER : stop]
    holds = stop <= len(without) and frames.payload_holds(without[begin + HEADER : stop - FOOTER], footer)
    return max(seam, stop) + size if holds else -1
