"""The search for frames after damage: the pieces that ``FrameStream`` puts together."""

from __future__ import annotations

import random

import numpy as np
import pytest

from purerecord.container import damage, resync
from tests.support.damage import FOOTER, HEADER, OVERHEAD, flip_byte, frame, frames, header, starts

RANDOM = random.Random(5)
PAYLOADS = [RANDOM.randbytes(RANDOM.randrange(300)) for _ in range(40)]
DATA = frames(PAYLOADS)
EDGES = starts(PAYLOADS)


@pytest.mark.parametrize("before", [b"", b"garbage", bytes(5000), RANDOM.randbytes(10_000)])
def test_every_frame_is_plausible_wherever_it_lies(before):
    positions, lengths = resync.plausible_frames(before + DATA, 0, None)
    found = dict(zip(positions.tolist(), lengths.tolist(), strict=True))
    assert found.items() >= {
        (len(before) + start, len(payload)) for start, payload in zip(EDGES[:-1], PAYLOADS, strict=True)
    }
    one_by_one = list(resync.each_plausible_frame(before + DATA, 0, None))
    assert one_by_one == list(found.items())


def test_a_search_in_small_windows_finds_the_same(monkeypatch):
    whole = list(resync.each_plausible_frame(DATA, 3, None))
    monkeypatch.setattr(resync, "_WINDOW", 64)
    monkeypatch.setattr(resync, "_FIRST_WINDOW", 16)
    assert list(resync.each_plausible_frame(DATA, 3, None)) == whole
    positions, lengths = resync.plausible_frames(DATA, 3, None)
    assert list(zip(positions.tolist(), lengths.tolist(), strict=True)) == whole


def test_a_frame_that_would_end_beyond_the_data_is_not_plausible():
    data = header(100)
    for available, count in [(None, 1), (100 + OVERHEAD, 1), (100 + OVERHEAD - 1, 0)]:
        assert len(resync.plausible_frames(data, 0, available)[0]) == count


def test_zeros_hold_no_header():
    assert len(resync.plausible_frames(bytes(1 << 16), 0, None)[0]) == 0


def test_last_frames_are_those_that_end_with_the_data():
    assert resync.last_frames(b"some" + DATA) == 4
    assert resync.last_frames(DATA + b"rest") is None
    damaged = flip_byte(DATA, EDGES[20] + HEADER)
    assert resync.last_frames(damaged) == EDGES[21]


def test_nested_frames_end_before_the_header_that_follows():
    inner = frames([b"inner"] * 3)
    outer = frame(b"before" + inner + b"after the inner file")
    begin = HEADER + len(b"before")
    assert resync.nested_end(outer + DATA, begin, len(outer)) == begin + len(inner)
    assert resync.nested_end(DATA, EDGES[1], len(DATA) + 100) is None


@pytest.mark.parametrize("at", range(HEADER))
def test_payload_behind_a_damaged_header_is_intact_where_its_footer_matches(at):
    data = flip_byte(frame(b"payload") + DATA, at)
    end = len(frame(b"payload"))
    assert resync.intact_payload_end(data, np.array([OVERHEAD, end])) == end - FOOTER
    assert resync.intact_payload_end(data, np.array([OVERHEAD, end + 1])) is None


def test_header_bytes_are_compared_with_those_of_each_length():
    lengths = np.array([100, 101, 1 << 20])
    matching = resync.matching_header_bytes(header(100), lengths)
    assert matching[0] == HEADER
    assert (matching[1:] < HEADER).all()
    assert resync.matching_header_bytes(flip_byte(header(100), 3), lengths)[0] == HEADER - 1


@pytest.mark.parametrize(
    ("data", "ends", "expected"),
    [
        (b"short", (False, True), (damage.TRUNCATED_HEADER, None)),
        (bytes(600), (False, False), (damage.ZEROS, None)),
        (flip_byte(frame(b"payload"), 9), (False, False), (damage.BAD_LENGTH, 1)),
        (b"something else", (True, True), (damage.NOT_A_TFRECORD, None)),
        (b"something else", (False, True), (damage.TRAILING_GARBAGE, None)),
        (b"something else", (False, False), (damage.GARBAGE, None)),
    ],
)
def test_damage_is_named_by_its_bytes_and_its_place(data, ends, expected):
    at_begin, at_end = ends
    assert resync.name_damage(data, len(data), at_begin=at_begin, at_end=at_end) == expected


def test_hole_is_as_long_as_a_block_or_everything():
    assert resync.has_hole(b"x" + bytes(512) + b"x")
    assert not resync.has_hole(b"x" + bytes(511) + b"x")
    assert resync.has_hole(bytes(3))
