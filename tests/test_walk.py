"""Walking: however the starts of frames are found, they are those that the lengths say."""

from __future__ import annotations

import random

import numpy as np
import pytest

from purerecord import frame, walk


def frames(lengths: list[int], fill: bytes = b"\x07") -> bytes:
    return b"".join(piece for length in lengths for piece in frame.encode(fill * length))


def plain(buffer: bytes, start: int = 0) -> list[int]:
    return walk._loop(buffer, start, len(buffer))


def lengths_between(low: int, high: int, count: int, seed: int = 0) -> list[int]:
    rng = random.Random(seed)
    return [rng.randint(low, high) for _ in range(count)]


CASES = {
    "nothing": b"",
    "less than a frame": frames([3])[:-1],
    "one frame": frames([3]),
    "equal frames": frames([50] * 3000),
    "equal frames, then others": frames([50] * 3000 + lengths_between(0, 99, 500)),
    "small frames": frames(lengths_between(90, 110, 5000)),
    "tiny frames": frames(lengths_between(0, 3, 20000)),
    "frames around 256": frames(lengths_between(200, 300, 2000)),
    "frames of zeros": frames(lengths_between(90, 110, 5000), b"\0"),
    "small frames, then a large one": frames([*lengths_between(90, 110, 5000), 300_000]),
    "a large one among small frames": frames(
        [*lengths_between(90, 110, 2000), 70_000, *lengths_between(90, 110, 3000)]
    ),
    "frames of all sizes": frames(lengths_between(0, 20_000, 100)),
    "a TFRecord in each payload": b"".join(
        piece for n in lengths_between(1, 3, 3000) for piece in frame.encode(frames([20] * n))
    ),
    "nonsense": random.Random(1).randbytes(200_000),
    "zeros": bytes(200_000),
    "ones": b"\xff" * 200_000,
}


@pytest.mark.parametrize("buffer", CASES.values(), ids=CASES)
@pytest.mark.parametrize("cut", [0, 1, 5, 117])
def test_starts_are_those_that_a_plain_loop_finds(buffer, cut):
    buffer = buffer[: max(0, len(buffer) - cut)]
    assert walk.frame_starts(buffer, 0, len(buffer)).tolist() == plain(buffer)


def test_small_frames_are_walked_from_many_places():
    buffer = CASES["small frames"]
    lanes = walk._lanes(buffer, 0, len(buffer))
    assert lanes is not None
    assert lanes.tolist() == plain(buffer)[: len(lanes)]
    assert len(lanes) > 4500


@pytest.mark.parametrize("seed", range(30))
def test_damaged_lengths_lead_where_a_plain_loop_is_led(seed):
    rng = random.Random(seed)
    buffer = bytearray(CASES["small frames"])
    starts = plain(bytes(buffer))
    for _ in range(rng.randint(1, 3)):
        at = rng.choice(starts[:-1]) + rng.randrange(12)
        buffer[at] = rng.randrange(256)
    data = bytes(buffer)
    assert walk.frame_starts(data, 0, len(data)).tolist() == plain(data)


def test_a_walk_may_begin_anywhere_and_end_before_the_end_of_the_buffer():
    buffer = b"junk" + CASES["small frames"] + b"more junk"
    end = len(buffer) - 9
    starts = walk.frame_starts(buffer, 4, end)
    assert starts.dtype == np.int64
    assert starts.tolist() == walk._loop(buffer, 4, end)
