"""The fuzz targets with a few thousand mutations of good inputs: always the same ones, without atheris.

``tests/fuzz/run.py`` runs the same targets under atheris, guided by coverage, for any length of time.
"""

from __future__ import annotations

import random

import pytest

from tests.fuzz.targets import TARGETS, seeds
from tests.support.settings import tries


def mutated(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """``data`` with a few changes of the kinds that fuzzers make."""
    octets = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 8])):
        at = rng.randrange(len(octets) + 1)
        size = rng.choice([1, 1, 2, 4, 8, 32])
        change = rng.randrange(6)
        if change == 0:
            octets[at : at + size] = rng.randbytes(size)
        elif change == 1:
            octets[at:at] = rng.choice([rng.randbytes(size), bytes(size), b"\xff" * size])
        elif change == 2:
            del octets[at : at + size]
        elif change == 3:
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            octets[at : at + size] = other[begin : begin + rng.randrange(200)]
        elif change == 4 and octets:
            octets[at % len(octets)] ^= 1 << rng.randrange(8)
        else:
            octets[at : at + 8] = rng.choice([1 << 63, 1 << 40, len(octets), 0]).to_bytes(8, "little")
    return bytes(octets)


@pytest.mark.parametrize("target", TARGETS)
def test_target_with_its_seeds(target):
    for data in seeds(target):
        TARGETS[target](data)


@pytest.mark.parametrize("target", TARGETS)
def test_target_with_mutations_of_its_seeds(target):
    rng = random.Random(sum(target.encode()))
    inputs = seeds(target)
    for _ in range(tries(400)):
        data = mutated(rng, rng.choice(inputs), inputs)
        try:
            TARGETS[target](data)
        except Exception as error:
            raise AssertionError(f"{target} with {data.hex()}") from error


@pytest.mark.parametrize("target", TARGETS)
def test_target_with_noise(target):
    rng = random.Random(1)
    for size in range(200):
        TARGETS[target](rng.randbytes(size))
