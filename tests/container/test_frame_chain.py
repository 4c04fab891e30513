"""Following lengths from frame to frame: every way gives the result of the plain loop."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from purerecord.container import frame_chain
from purerecord.container.frame_chain import frame_starts, split
from tests.support.damage import (
    HEADER,
    OVERHEAD,
    cut,
    fix_crc,
    flip_byte,
    frames,
    header,
    set_length,
    starts,
    zero,
)
from tests.support.settings import CAMPAIGN


@pytest.fixture(autouse=True)
def _few_are_enough(monkeypatch):
    """Walk from many places even if a test has too few frames to make it pay off."""
    monkeypatch.setattr(frame_chain, "_FEWEST_FRAMES", 256)


def plain_walk(data: bytes, start: int = 0) -> list[int]:
    """The definition: each length leads to the next start, as long as frames are whole."""
    found = [start]
    while found[-1] + OVERHEAD <= len(data):
        end = found[-1] + int.from_bytes(data[found[-1] : found[-1] + 8], "little") + OVERHEAD
        if end > len(data):
            break
        found.append(end)
    return found


def lengths_of(kind: str, rng: random.Random) -> list[int]:
    return {
        "equal": lambda: [20] * 8000,
        "small": lambda: [rng.randrange(50) for _ in range(5000)],
        "empty ones": lambda: [rng.choice([0, 0, 0, 40]) for _ in range(8000)],
        "around 256": lambda: [rng.randrange(240, 275) for _ in range(2000)],
        "around 900": lambda: [rng.randrange(850, 950) for _ in range(700)],
        "small, then large": lambda: [rng.randrange(50) for _ in range(3000)] + [70_000, 3, 70_000] * 3,
        "few large among small": lambda: [rng.choice([10] * 500 + [30_000]) for _ in range(6000)],
        "equal, then not": lambda: [33] * 3000 + [rng.randrange(99) for _ in range(3000)],
    }[kind]()


KINDS = [
    "equal",
    "small",
    "empty ones",
    "around 256",
    "around 900",
    "small, then large",
    "few large among small",
    "equal, then not",
]
FILLINGS = {
    "random": lambda rng, length: rng.randbytes(length),
    "zeros": lambda rng, length: bytes(length),
    "sparse": lambda rng, length: bytes(length).replace(b"\x00\x00\x00", b"\x00\x01\x00"),
    "TFRecords": lambda rng, length: (frames([b"in"] * (length // 18 + 1)))[:length],
    "headers": lambda rng, length: (header(rng.randrange(40)) * (length // HEADER + 1))[:length],
    # A length that leads back, modulo 2**64: never to be followed.
    "negative numbers": lambda rng, length: (struct.pack("<q", -rng.randrange(90_000)) * length)[:length],
    "misleading headers": lambda rng, length: (header(length % 60 + 3) * (length // HEADER + 1))[:length],
}


@pytest.mark.light(20)
@pytest.mark.parametrize("seed", range(CAMPAIGN))
@pytest.mark.parametrize("filling", FILLINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_walk_is_that_of_the_plain_loop(kind, filling, seed):
    rng = random.Random(f"{kind}{filling}{seed}")
    payloads = [FILLINGS[filling](rng, length) for length in lengths_of(kind, rng)]
    data = frames(payloads)
    assert np.array_equal(frame_starts(data, 0, len(data)), starts(payloads))
    found = split(data)
    assert (found.stop, found.bad, len(found.begins)) == (len(data), False, len(payloads))
    for size in (len(data) - 1, len(data) // 2, 70_001):
        assert frame_starts(cut(data, size), 0, size).tolist() == plain_walk(cut(data, size))


@pytest.mark.parametrize("seed", range(3 * CAMPAIGN))
@pytest.mark.parametrize("kind", KINDS)
def test_split_of_damaged_buffers_ends_at_the_first_bad_length(kind, seed):
    rng = random.Random(f"{kind}{seed}")
    payloads = [rng.randbytes(length) for length in lengths_of(kind, rng)]
    data = frames(payloads)
    edges = starts(payloads)
    number = rng.randrange(len(payloads))
    at = edges[number]
    for damaged in (
        set_length(data, at, rng.randrange(200) + len(payloads[number]) + 1),
        set_length(data, at, 2**64 - 1),
        flip_byte(data, at + 9),
        data[:at] + b"\xff" * 3 + data[at:],
        zero(data, at, at + 5000),
    ):
        found = split(damaged)
        assert (len(found.begins), found.stop, found.bad) == (number, at, True)
    missing = 1 + rng.randrange(11)
    found = split(data[: at + missing])
    assert (len(found.begins), found.stop, found.bad) == (number, at, False)


def test_length_with_a_right_crc_leads_where_it_says():
    payloads = [b"x" * (i % 40) for i in range(6000)]
    data = frames(payloads)
    edges = starts(payloads)
    for number in (0, 1, 17, 3000):
        to = edges[number + 3] - edges[number] - OVERHEAD
        lying = fix_crc(set_length(data, edges[number], to), edges[number])
        assert frame_starts(lying, 0, len(lying)).tolist() == edges[: number + 1] + edges[number + 3 :]
        beyond = fix_crc(set_length(data, edges[number], len(data)), edges[number])
        assert frame_starts(beyond, 0, len(beyond)).tolist() == edges[: number + 1]


@pytest.mark.parametrize("seed", range(30 * CAMPAIGN))
def test_any_bytes_are_walked_like_the_plain_loop(seed):
    rng = random.Random(seed)
    small = [rng.randbytes(rng.randrange(40)) for _ in range(rng.randrange(3000))]
    junk = rng.choice([rng.randbytes, bytes])(rng.randrange(100_000))
    data = frames(small) + junk + frames(small)
    start = rng.choice([0, 0, rng.randrange(20)])
    assert frame_starts(data, start, len(data)).tolist() == plain_walk(data, start)


@pytest.mark.parametrize("seed", range(20 * CAMPAIGN))
def test_bytes_at_the_end_that_look_like_a_length_lead_nowhere(seed):
    rng = random.Random(seed)
    small = [bytes(rng.choice([0, 30, rng.randrange(60)])) for _ in range(4000)]
    whole = frames(small)
    for back in (20, 300, rng.randrange(20_000), rng.randrange(len(whole))):
        data = whole + header(1000) + b"x" * rng.randrange(50) + (2**64 - 16 - back).to_bytes(8, "little")
        assert frame_starts(data, 0, len(data)).tolist() == starts(small)


def test_header_is_looked_for_up_to_the_end_and_no_farther(monkeypatch):
    monkeypatch.setattr(frame_chain, "_FRAMES_PER_WALK", 8)
    for length in range(60, 240, 7):
        small = frames([b"x" * (length + i % 2) for i in range(70_000 // length)])
        probe = plain_walk(small[: 16 * 1000])
        mean = probe[-1] // (len(probe) - 1)
        for zeros in range(5, 20):
            # The last window that is searched for headers ends exactly with the data.
            size = 8 * mean * (len(small) // (8 * mean) + 2) + 2 * mean + 13
            data = small + header(10_000) + b"y" * (size - zeros - len(small) - HEADER) + bytes(zeros)
            assert frame_starts(data, 0, size).tolist() == plain_walk(data)


def test_length_with_a_right_crc_never_leads_back():
    payloads = [b"x" * (i % 40) for i in range(6000)]
    edges = starts(payloads)
    for number in (17, 3000):
        for back in (edges[number] - edges[number - 5], 7, 16, edges[number]):
            lying = fix_crc(set_length(frames(payloads), edges[number], 2**64 - 16 - back), edges[number])
            assert frame_starts(lying, 0, len(lying)).tolist() == edges[: number + 1]


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_kind_of_buffer_is_walked(kind):
    payloads = [b"x" * (i % 40) for i in range(6000)]
    data = kind(frames(payloads))
    assert frame_starts(data, 0, len(data)).tolist() == starts(payloads)
    assert len(split(data).begins) == 6000


@pytest.mark.light(8)
@pytest.mark.parametrize("filling", FILLINGS)
@pytest.mark.parametrize("lengths", [(20, 60), (300, 500), (600, 990), (0, 1900)])
def test_megabytes_are_walked_like_the_plain_loop(lengths, filling, monkeypatch):
    monkeypatch.undo()  # the real constants
    rng = random.Random(f"{lengths}{filling}")
    some = [FILLINGS[filling](rng, rng.randrange(*lengths)) for _ in range(200)]
    payloads = rng.choices(some, k=(5 << 20) // sum(lengths) * 2)
    data = frames(payloads)
    assert frame_starts(data, 0, len(data)).tolist() == starts(payloads)
