"""Duplicated blocks: tells a block that was written twice from other damage.

A frame that crosses the end of such a block is cut off there, because the second copy of the block begins.
The same frame follows whole at the end of the second copy. So no record is lost, but the records inside the
block are there twice. This is proved, not guessed: both copies must be equal byte for byte, and without the
second copy a sound frame must begin where the damage begins.

This module reads a damaged range and its surroundings again. It must not know how damage is found.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from ..container import frames
from ..container.damage import BAD_DATA, BAD_LENGTH, DUPLICATED, GARBAGE, Damage
from ..container.frames import FOOTER, HEADER, OVERHEAD
from ..storage.file_handles import open_file

# File systems and disks write blocks of these sizes, at multiples of the smallest one.
_SECTOR, _LARGEST_BLOCK = 512, 1 << 17
_BLOCK_SIZES = tuple(_SECTOR << i for i in range(9))
# The kinds of damage that a duplicated block can look like.
_SUSPECTS = (BAD_DATA, BAD_LENGTH, GARBAGE)
# Damages examined per file: each costs a read of a few hundred kilobytes.
_MAX_EXAMINED = 10_000


class DuplicatedBlocks:
    """Classifies the damages to one uncompressed file, which must be given in order."""

    def __init__(self) -> None:
        self._left = _MAX_EXAMINED
        self._explained = 0  # the last block that was found explains all damage up to this offset
        self._detail = ""

    def classify(self, damage: Damage, path: str) -> Damage:
        """``damage`` to the file ``path``, of kind ``DUPLICATED`` if a duplicated block explains it."""
        if damage.kind not in _SUSPECTS or damage.size > _LARGEST_BLOCK or not self._left:
            return damage
        if damage.end <= self._explained:
            return replace(damage, kind=DUPLICATED, records=0, detail=self._detail)
        self._left -= 1
        base = max(0, damage.begin - _LARGEST_BLOCK)
        with closing(open_file(path)) as file:
            around = file.read_at(base, damage.end - base + 2 * _LARGEST_BLOCK)
        begin, end = damage.begin - base, damage.end - base
        for size in _BLOCK_SIZES:
            for seam in range(-(-damage.begin // _SECTOR) * _SECTOR - base, end + 1, _SECTOR):
                if (
                    _is_repeated(around, seam, size)
                    and (stop := _sound_until(around, seam, size, begin)) >= end
                ):
                    self._explained = base + stop
                    self._detail = f"the {size} bytes at {base + seam} are those before them, written twice"
                    lost = int(begin < seam - size)
                    return replace(damage, kind=DUPLICATED, records=lost, detail=self._detail)
        return damage


def _is_repeated(data: bytes, seam: int, size: int) -> bool:
    """Whether the ``size`` bytes before ``seam`` and after it are equal, and not all the same byte."""
    if seam < size or data[seam - size : seam - size + 16] != data[seam : seam + 16]:
        return False
    block = data[seam : seam + size]
    return block == data[seam - size : seam] and block != block[:1] * size


def _sound_until(data: bytes, seam: int, size: int, begin: int) -> int:
    """Where the frame at ``begin`` ends in ``data`` without the block at ``seam``; -1 if it is not sound."""
    without = data[:seam] + data[seam + size :]
    if len(without) == begin:
        return len(data)
    if len(without) < begin + OVERHEAD or not frames.header_holds(without, begin):
        return -1
    stop = begin + frames.decode_header(without, begin) + OVERHEAD
    footer = without[stop - FOOTER : stop]
    holds = stop <= len(without) and frames.payload_holds(without[begin + HEADER : stop - FOOTER], footer)
    return max(seam, stop) + size if holds else -1
