"""Files for the campaign: clean files of many kinds, and damage that records what it does.

A damaged file has, beside its bytes, the offset in the clean file that each byte came from. So the campaign
knows, without the code under test, which frames are intact and where they are now.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from purerecord import TFRecordWriter
from tests.support.damage import HEADER, OVERHEAD

BLOCK = 4096


# --- Clean files ------------------------------------------------------------------------------------


def make_payloads(rng: random.Random, profile: str) -> list[bytes]:
    """The records of a clean file of about 5 to 16 kB: a few blocks, so that thousands take only minutes."""
    budget = rng.randint(5_000, 16_000)
    if profile == "large":
        budget *= 4
    payloads = []
    while budget > 0:
        payload = _payload(rng, profile, payloads)
        payloads.append(payload)
        budget -= len(payload) + OVERHEAD
    return payloads


def _payload(rng: random.Random, profile: str, before: list[bytes]) -> bytes:
    if profile == "repeated" and before and rng.random() < 0.7:
        return rng.choice(before)
    if profile == "nested" and rng.random() < 0.5:
        inner = encode([rng.randbytes(rng.randint(0, 300)) for _ in range(rng.randint(1, 6))])
        return rng.randbytes(rng.choice([0, 0, 10])) + inner + rng.randbytes(rng.choice([0, 0, 10]))
    return PROFILES.get(profile, _mixed)(rng, before)


def _mixed(rng: random.Random, _before: list[bytes]) -> bytes:
    return rng.randbytes(rng.randint(50, 1_500))


def _equal(rng: random.Random, before: list[bytes]) -> bytes:
    return rng.randbytes(len(before[0]) if before else rng.randint(1, 700))


def _text(rng: random.Random, _before: list[bytes]) -> bytes:
    words = [b"the", b"label", b"image", b"7", b"\x00", b"cat", b"dog", bytes(8)]
    return b" ".join(rng.choices(words, k=rng.randint(0, 200)))


PROFILES: dict[str, Callable[[random.Random, list[bytes]], bytes]] = {
    "tiny": lambda rng, _: rng.randbytes(rng.randint(0, 40)),
    "equal": _equal,
    "mixed": _mixed,
    "large": lambda rng, _: rng.randbytes(rng.randint(2_000, 30_000)),
    "text": _text,
    # The upper bytes of lengths are zeros too: a search must not become slow on them.
    "zeros": lambda rng, _: bytes(rng.randint(0, 900)) + rng.randbytes(rng.randint(0, 30)),
    # A payload of eight bytes and its CRC look exactly like a header, for any length.
    "numbers": lambda rng, _: rng.randrange(1 << rng.choice([8, 20, 40, 64])).to_bytes(8, "little"),
    "repeated": _mixed,
}


def encode(payloads: list[bytes], options: Any = None) -> bytes:
    """The file that holds ``payloads``."""
    file = io.BytesIO()
    with TFRecordWriter(file, options) as writer:
        writer.write_many(payloads)
    return file.getvalue()


# --- Damage -----------------------------------------------------------------------------------------


@dataclass
class Traced:
    """Bytes, and the offset in the clean file that each came from; -1 for bytes that are not from it."""

    data: npt.NDArray[np.uint8]
    origin: npt.NDArray[np.int64]

    @classmethod
    def clean(cls, data: bytes) -> Traced:
        return cls(np.frombuffer(data, np.uint8).copy(), np.arange(len(data)))

    def overwrite(self, at: int, new: bytes) -> None:
        octets = np.frombuffer(new, np.uint8)[: len(self.data) - at]
        self.data[at : at + len(octets)] = octets

    def splice(self, begin: int, end: int, new: Traced) -> None:
        self.data = np.concatenate([self.data[:begin], new.data, self.data[end:]])
        self.origin = np.concatenate([self.origin[:begin], new.origin, self.origin[end:]])

    def piece(self, begin: int, end: int) -> Traced:
        return Traced(self.data[begin:end].copy(), self.origin[begin:end].copy())


def foreign(data: bytes) -> Traced:
    return Traced(np.frombuffer(data, np.uint8).copy(), np.full(len(data), -1))


def flip_bit(rng: random.Random, file: Traced) -> None:
    at = rng.randrange(len(file.data))
    file.overwrite(at, bytes([int(file.data[at]) ^ 1 << rng.randrange(8)]))


def overwrite_run(rng: random.Random, file: Traced) -> None:
    at = rng.randrange(len(file.data))
    file.overwrite(at, rng.randbytes(rng.choice([2, 4, 12, 30, 300, 3_000])))


def cut(rng: random.Random, file: Traced) -> None:
    at = rng.randrange(len(file.data)) if rng.random() < 0.5 else max(0, len(file.data) - rng.randint(1, 40))
    file.splice(at, len(file.data), foreign(b""))


def insert(rng: random.Random, file: Traced) -> None:
    at = rng.randrange(len(file.data) + 1)
    size = rng.choice([1, 3, 8, 16, 100, 2_000])
    file.splice(at, at, foreign(rng.choice([rng.randbytes(size), bytes(size), b"\n" * size])))


def delete(rng: random.Random, file: Traced) -> None:
    at = rng.randrange(len(file.data))
    file.splice(at, at + rng.choice([1, 3, 8, 16, 100, 2_000]), foreign(b""))


def zero_block(rng: random.Random, file: Traced) -> None:
    file.overwrite(rng.randrange(0, len(file.data), BLOCK), bytes(BLOCK * rng.choice([1, 1, 2])))


def swap_blocks(rng: random.Random, file: Traced) -> None:
    whole = len(file.data) // BLOCK
    if whole < 2:
        return
    first, second = (i * BLOCK for i in sorted(rng.sample(range(whole), 2)))
    early, late = file.piece(first, first + BLOCK), file.piece(second, second + BLOCK)
    file.splice(first, first + BLOCK, late)
    file.splice(second, second + BLOCK, early)


def repeat_block(rng: random.Random, file: Traced) -> None:
    begin = rng.randrange(0, len(file.data), BLOCK)
    block = file.piece(begin, begin + BLOCK)
    file.splice(begin + len(block.data), begin + len(block.data), block)


def hit_header(rng: random.Random, file: Traced) -> None:
    """Damage in the first bytes of the file, where a lost header costs most."""
    at = rng.randrange(min(HEADER, len(file.data)))
    file.overwrite(at, rng.randbytes(rng.choice([1, 1, 4, 12])))


DAMAGES: tuple[Callable[[random.Random, Traced], None], ...] = (
    flip_bit, overwrite_run, cut, insert, delete, zero_block, swap_blocks, repeat_block, hit_header,
)  # fmt: skip


def damage(rng: random.Random, data: bytes) -> tuple[Traced, list[str]]:
    """``data``, damaged in one to five ways, and the names of these ways."""
    file, names = Traced.clean(data), []
    wanted = rng.choice([1, 1, 1, 1, 2, 2, 3, 5])
    while not names or (len(names) < wanted and len(file.data)):
        before = file.data.tobytes()
        kind = rng.choice(DAMAGES)
        kind(rng, file)
        if file.data.tobytes() != before:  # a file of one block has no two to swap
            names.append(kind.__name__)
    changed = file.data != np.frombuffer(data, np.uint8)[file.origin]
    file.origin[changed] = -1
    return file, names
