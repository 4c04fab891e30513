"""Philox 4x32-10, the generator of TensorFlow's stateless random numbers, and its distributions.

A block of four words of 32 bits is a function of a counter (128 bits) and a key (64 bits), so blocks are
computed together. Uniform numbers equal TensorFlow's, normal ones up to the last bits of sine and logarithm.
This module does not know tensors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_RESERVED = 256  # blocks for each group of truncated normal numbers


class Place(NamedTuple):
    """A place in a sequence: its key, and the counter of the next block."""

    key: int
    counter: int

    @classmethod
    def of_seed(cls, first: int, second: int) -> Place:
        """The beginning of the sequence of two seeds, scrambled so that similar seeds do no harm."""
        seeds = (first & (2**64 - 1)) | (second & (2**64 - 1)) << 64
        mixed = [int(word) for word in blocks(cls(0x02461E293EC8F720, seeds), 1)[0]]
        return cls(mixed[0] | mixed[1] << 32, (mixed[2] | mixed[3] << 32) << 64)

    def skip(self, count: int) -> Place:
        """The place ``count`` blocks further on."""
        return Place(self.key, (self.counter + count) % 2**128)


def blocks(place: Place, count: int, stride: int = 1) -> Words:
    """``count`` blocks of four words; with ``stride``, every so manyth block."""
    low, high = place.counter % 2**64, place.counter >> 64
    steps = np.arange(count, dtype=np.uint64) * np.uint64(stride)
    with np.errstate(over="ignore"):
        lower = np.uint64(low) + steps
        upper = np.uint64(high) + (lower < np.uint64(low)).astype(np.uint64)
    words = [lower & _LOW, lower >> _HALF, upper & _LOW, upper >> _HALF]
    key = [place.key & 0xFFFFFFFF, place.key >> 32]
    for _ in range(10):
        one, two = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
        words = [
            (two >> _HALF) ^ words[1] ^ np.uint64(key[0]),
            two & _LOW,
            (one >> _HALF) ^ words[3] ^ np.uint64(key[1]),
            one & _LOW,
        ]
        key = [(part + weyl) & 0xFFFFFFFF for part, weyl in zip(key, _WEYL, strict=True)]
    return np.stack(words, axis=1).astype(np.uint32)


def words32(place: Place, count: int) -> Words:
    """``count`` words of 32 bits."""
    return blocks(place, -(-count // 4)).reshape(-1)[:count]


def words64(place: Place, count: int) -> npt.NDArray[np.uint64]:
    """``count`` words of 64 bits."""
    pairs = blocks(place, -(-count // 2)).reshape(-1, 2)[:count].astype(np.uint64)
    return np.asarray(pairs[:, 0] | pairs[:, 1] << _HALF)


def uniform(place: Place, count: int, dtype: Any) -> npt.NDArray[Any]:
    """Floats from 0 up to, but not including, 1."""
    kind = np.dtype(dtype)
    if kind == np.float64:
        pairs = blocks(place, -(-count // 2)).reshape(-1, 2)[:count].astype(np.uint64)
        bits = np.uint64(1023 << 52) | (pairs[:, 0] & np.uint64(0xFFFFF)) << _HALF | pairs[:, 1]
        return np.asarray(bits.view(np.float64) - 1)
    words = words32(place, count)
    if kind == np.float32:
        return _float32(words)
    if kind == np.float16:
        halves = (words & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)
        return np.asarray(halves.view(np.float16) - np.float16(1))
    brief = (words & np.uint32(0x7F)).astype(np.uint16) | np.uint16(127 << 7)
    return np.asarray(brief.view(kind) - kind.type(1))  # bfloat16


def _float32(words: Words) -> npt.NDArray[np.float32]:
    bits = (words & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)
    return np.asarray(bits.view(np.float32) - np.float32(1))


def integers(place: Place, count: int, low: Any, high: Any, dtype: Any) -> npt.NDArray[Any]:
    """Integers from ``low`` up to, but not including, ``high``; from the whole range if both are None."""
    kind = np.dtype(dtype)
    wide = kind.itemsize == 8
    words: Any = words64(place, count) if wide else words32(place, count)
    if low is None:
        return np.asarray(words.view(kind))
    size = (int(high) - int(low)) % 2 ** (8 * kind.itemsize)
    with np.errstate(over="ignore"):
        moved = words % words.dtype.type(size) + np.array(int(low) % 2 ** (8 * kind.itemsize), words.dtype)
    return np.asarray(moved.astype(words.dtype).view(kind))


def normal(place: Place, count: int, dtype: Any) -> npt.NDArray[Any]:
    """Normally distributed numbers: Box and Muller's two for two uniform ones."""
    kind = np.dtype(dtype)
    if kind == np.float64:
        found = blocks(place, -(-count // 2))
        pairs: Any = _pairs_of_doubles(found)
    else:
        found = blocks(place, -(-count // 4))
        pairs = _box_muller(found[:, 0::2], found[:, 1::2])
    return np.asarray(pairs.reshape(-1)[:count].astype(kind))


def _box_muller(one: Words, two: Words) -> npt.NDArray[np.float32]:
    first = np.maximum(_float32(one), np.float32(1.0e-7))
    angle = np.float32(2 * np.pi) * _float32(two)
    radius = np.sqrt(np.float32(-2) * np.log(first))
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], axis=-1)


def _pairs_of_doubles(found: Words) -> npt.NDArray[np.float64]:
    words = found.astype(np.uint64)
    bits = [
        np.uint64(1023 << 52) | (words[:, at] & np.uint64(0xFFFFF)) << _HALF | words[:, at + 1]
        for at in (0, 2)
    ]
    first, second = (part.view(np.float64) - 1 for part in bits)
    radius = np.sqrt(-2 * np.log(np.maximum(first, 1.0e-7)))
    return np.stack([np.sin(2 * np.pi * second) * radius, np.cos(2 * np.pi * second) * radius], axis=-1)


def truncated_normal(place: Place, count: int, dtype: Any) -> npt.NDArray[Any]:
    """Normally distributed numbers, redrawn if beyond two standard deviations."""
    kind = np.dtype(dtype)
    size = 2 if kind == np.float64 else 4  # numbers of a group, which has blocks of its own
    per_group = size * _RESERVED // 4
    groups = -(-count // size)
    made = np.zeros((groups, size), np.float64 if size == 2 else np.float32)
    filled = np.zeros(groups, np.int64)
    for step in range(per_group):
        waiting = np.flatnonzero(filled < size)
        if not len(waiting):
            break
        found = blocks(place.skip(step), groups, per_group)[waiting]
        pairs = _pairs_of_doubles(found) if size == 2 else _box_muller(found[:, 0::2], found[:, 1::2])
        for column in pairs.reshape(len(waiting), -1).T:
            good = (np.abs(column) < 2) & (filled[waiting] < size)
            made[waiting[good], filled[waiting[good]]] = column[good]
            filled[waiting[good]] += 1
    return made.reshape(-1)[:count].astype(kind)


class Words32:
    """The words of a sequence one after another, as TensorFlow's kernels draw them."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._left: list[int] = []

    def next(self) -> int:
        """The next word of 32 bits."""
        if not self._left:
            self._left = blocks(self._place, 1)[0].tolist()[::-1]
            self._place = self._place.skip(1)
        return self._left.pop()

    def below(self, count: int) -> int:
        """A uniform integer from 0 up to, but not including, ``count``."""
        if count & (count - 1) == 0:
            return self.next() & (count - 1)
        least = 2**32 % count
        while (word := self.next()) < least:
            pass
        return word % count

    def fraction(self) -> np.float32:
        """A uniform float from 0 up to, but not including, 1."""
        found: np.float32 = _float32(np.array([self.next()], np.uint32))[0]
        return found
