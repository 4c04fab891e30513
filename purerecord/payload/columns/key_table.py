"""``KeyTable``: a perfect hash from entries to known features, for many entries at once.

It hashes a few bytes of the key, or its first words, by multiplication (multiply-shift hashing). The factors
are chosen so that no two known keys share a place. An unknown key may hash to any feature: the caller
compares the whole key later. This module does not know where entries come from.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from .arrays import Ints, Octets
from .tuning import Tuning
from .values import gather_bytes


class KeyTable:
    """Finds the number of a key by a few bytes that distinguish all keys, or else by its length and its first
    words. At most 2**15 keys."""

    def __init__(self, keys: tuple[bytes, ...], tuning: Tuning) -> None:
        # An entry: 0a, its size, 0a, the size of the key, the key, 12.
        entries = [b"\n\0\n" + bytes((len(key),)) + key + b"\x12" for key in keys]
        self._offsets = _distinguishing_places(entries, tuning)
        if self._offsets:
            octets = np.array([[entry[place] for place in self._offsets] for entry in entries], np.uint8)
            self._choose_factors(list(octets.T), tuning.hash_factors_tried)
            return
        self._size = 8  # bytes of an entry that are hashed
        while len({entry[3:-1][: self._size - 3] for entry in entries}) < len(keys):
            self._size += 8
        inside = np.arange(self._size) < np.arange(256)[:, None] + 4
        inside[:, :3] = False
        self._masks = np.ascontiguousarray((inside * np.uint8(0xFF)).view("<u8").T)
        beginnings = [b"\0\0\0" + entry[3:-1][: self._size - 3] for entry in entries]
        joined = b"".join(beginning.ljust(self._size, b"\0") for beginning in beginnings)
        words = np.frombuffer(joined, "<u8").reshape(len(keys), -1)
        self._choose_factors(list(words.T), tuning.hash_factors_tried)

    def _choose_factors(self, planes: list[npt.NDArray[Any]], tries: int) -> None:
        """Chooses factors that give each key its own place; if none do, the table stays empty."""
        count = planes[0].size
        bits = max(6, 2 * count.bit_length() - 2)
        # Smaller numbers are enough for bytes, and faster.
        self._unsigned = np.uint32 if planes[0].itemsize == 1 else np.uint64
        width = 8 * np.dtype(self._unsigned).itemsize
        self._shift = self._unsigned(width - bits)
        self._table = np.full(1 << bits, count, np.int16)
        random = Random(count)
        for _ in range(tries):
            self._factors = [self._unsigned(random.getrandbits(width) | 1) for _ in planes]
            places = self._hash(planes)
            if np.unique(places).size == count:
                self._table[places] = np.arange(count)
                return

    def _hash(self, planes: list[npt.NDArray[Any]]) -> Ints:
        total = planes[0].astype(self._unsigned)
        total *= self._factors[0]
        for plane, factor in zip(planes[1:], self._factors[1:], strict=True):
            part = plane.astype(self._unsigned)
            part *= factor
            total += part
        total >>= self._shift
        return total.astype(np.int64)

    def find(self, octets: Octets, starts: Ints) -> Ints:
        """The numbers of the keys of entries that begin at ``starts`` and have sizes of single bytes.

        A key that is not in the table gets any number, up to and including the number of keys.
        """
        planes: list[npt.NDArray[Any]]
        # Indices outside of a table do not matter here, and a take that clips is faster than one that checks.
        if self._offsets:
            last = octets.size - 1
            planes = [octets[min(offset, last) :].take(starts, mode="clip") for offset in self._offsets]
        else:
            words = (
                gather_bytes(octets, self._size, starts).view("<u8").reshape(starts.size, len(self._masks))
            )
            lengths = words.view(np.uint8)[:, 3]
            planes = [
                word & mask.take(lengths, mode="clip")
                for word, mask in zip(words.T, self._masks, strict=True)
            ]
        return self._table.take(self._hash(planes), mode="clip").astype(np.int64)


def _distinguishing_places(entries: list[bytes], tuning: Tuning) -> list[int]:
    """A few positions at which no two entries have the same bytes; none if there are no such positions.

    They are inside of all entries, because any bytes may follow a key.
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
