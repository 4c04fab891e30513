"""``KeyTable``: which feature an entry is probably of, for many entries at once.

A few bytes of the key, or its first words, are turned into a place in a table that no two known keys share.
Whether an entry really has the key that it was found for is for others to find out. This module does not know
where entries come from.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from .tuning import Tuning
from .values import fetch
from .varint_words import Ints, Octets


class KeyTable:
    """Finds the number of a key by a few bytes that tell all keys apart; if there are none, by its length and
    its first bytes. At most 2**15 keys."""

    def __init__(self, keys: tuple[bytes, ...], tuning: Tuning) -> None:
        # An entry: 0a, its size, 0a, that of the key, the key; and what it ends with.
        entries = [b"\n\0\n" + bytes((len(key),)) + key + b"\x12" for key in keys]
        self._offsets = _telling(entries, tuning)
        if self._offsets:
            octets = np.array([[entry[place] for place in self._offsets] for entry in entries], np.uint8)
            self._spread(list(octets.T), tuning.hash_factors_tried)
            return
        self._size = 8  # bytes of an entry that are looked at
        while len({entry[3:-1][: self._size - 3] for entry in entries}) < len(keys):
            self._size += 8
        inside = np.arange(self._size) < np.arange(256)[:, None] + 4
        inside[:, :3] = False
        self._masks = np.ascontiguousarray((inside * np.uint8(0xFF)).view("<u8").T)
        beginnings = [b"\0\0\0" + entry[3:-1][: self._size - 3] for entry in entries]
        joined = b"".join(beginning.ljust(self._size, b"\0") for beginning in beginnings)
        words = np.frombuffer(joined, "<u8").reshape(len(keys), -1)
        self._spread(list(words.T), tuning.hash_factors_tried)

    def _spread(self, planes: list[npt.NDArray[Any]], tries: int) -> None:
        """Choose factors that give each key its own place in the table; if none do, nothing will be found."""
        count = planes[0].size
        bits = max(6, 2 * count.bit_length() - 2)
        # Bytes do with smaller numbers, which takes less time.
        self._unsigned = np.uint32 if planes[0].itemsize == 1 else np.uint64
        width = 8 * np.dtype(self._unsigned).itemsize
        self._shift = self._unsigned(width - bits)
        self._table = np.full(1 << bits, count, np.int16)
        random = Random(count)
        for _ in range(tries):
            self._factors = [self._unsigned(random.getrandbits(width) | 1) for _ in planes]
            places = self._places(planes)
            if np.unique(places).size == count:
                self._table[places] = np.arange(count)
                return

    def _places(self, planes: list[npt.NDArray[Any]]) -> Ints:
        total = planes[0].astype(self._unsigned)
        total *= self._factors[0]
        for plane, factor in zip(planes[1:], self._factors[1:], strict=True):
            part = plane.astype(self._unsigned)
            part *= factor
            total += part
        total >>= self._shift
        return total.astype(np.int64)

    def find(self, octets: Octets, starts: Ints) -> Ints:
        """The numbers of the keys of entries that begin at ``starts``, as if their sizes took one byte each.

        For a key that is not in the table, it may be any number up to that of the keys.
        """
        planes: list[npt.NDArray[Any]]
        # All indices are in the tables, or do not matter; a take that need not look is faster.
        if self._offsets:
            last = octets.size - 1
            planes = [octets[min(offset, last) :].take(starts, mode="clip") for offset in self._offsets]
        else:
            words = fetch(octets, self._size, starts).view("<u8").reshape(starts.size, len(self._masks))
            lengths = words.view(np.uint8)[:, 3]
            planes = [
                word & mask.take(lengths, mode="clip")
                for word, mask in zip(words.T, self._masks, strict=True)
            ]
        return self._table.take(self._places(planes), mode="clip").astype(np.int64)


def _telling(entries: list[bytes], tuning: Tuning) -> list[int]:
    """A few places of entries, such that no two have the same bytes there; none if there are no such places.

    Only places that are in all of them count: behind a key, other bytes may follow.
    """
    columns = dict(enumerate(zip(*(entry[3:] for entry in entries), strict=False), 3))
    best = sorted(columns, key=lambda place: len(set(columns[place])), reverse=True)
    best = best[: tuning.candidate_key_bytes]
    chosen: list[int] = []
    parts: list[Any] = [()] * len(entries)
    while len(chosen) < tuning.hashed_key_bytes:
        tried = {place: list(zip(parts, columns[place], strict=True)) for place in best}
        chosen.append(max(best, key=lambda place: len(set(tried[place]))))
        parts = tried[chosen[-1]]
        if len(set(parts)) == len(entries):
            return chosen
    return []


@lru_cache(maxsize=16)
def key_table(keys: tuple[bytes, ...], tuning: Tuning) -> KeyTable:
    """The table of these keys; the same one for the same keys and the same tuning."""
    return KeyTable(keys, tuning)
