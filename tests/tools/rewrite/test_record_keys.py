"""Random keys and digests: the same in every run, and for nothing else."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from purerecord import Records, encode_example
from purerecord.tools.rewrite.record_keys import (
    feature_digests,
    part_bounds,
    payload_digests,
    random_keys,
)


def test_random_keys_are_different_and_follow_from_the_seed():
    numbers = np.arange(100_000, dtype=np.int64)
    keys = random_keys(numbers, 7)
    assert len(np.unique(keys)) == len(numbers)
    assert (random_keys(numbers[::-1], 7)[::-1] == keys).all()
    assert (random_keys(numbers, 8) != keys).all()
    # On-disk results follow from these values: they never change.
    assert random_keys(np.arange(3, dtype=np.int64), 0).tolist() == [
        7099183996399469297,
        11894592478790865313,
        18017813404837366647,
    ]


def test_random_keys_are_even():
    keys = random_keys(np.arange(1 << 16, dtype=np.int64), 1)
    for shift in (56, 28, 0):  # high, middle and low bits
        counts = np.bincount(((keys >> np.uint64(shift)) & np.uint64(255)).astype(int), minlength=256)
        assert 150 < counts.min() < counts.max() < 370  # 256 on average, with a deviation of 16


def test_digest_of_a_payload_is_that_of_its_bytes():
    records = Records.of([b"a", b"", b"a", b"b" * 5000])
    rows = payload_digests(records)
    assert rows[0].tolist() == rows[2].tolist() != rows[1].tolist()
    assert rows[3].tobytes() == hashlib.blake2b(records[3], digest_size=16).digest()


SAME = [
    ({"x": 1, "y": 2}, {"y": 2, "x": 1, "z": 5}),
    ({"x": ["a", "b"], "y": 0.5}, {"x": ["a", "b"], "y": 0.5}),
]
DIFFERENT = [
    ({"x": 1, "y": 2}, {"x": 2, "y": 1}),
    ({"x": [1], "y": [2, 3]}, {"x": [1, 2], "y": [3]}),
    ({"x": ["ab", "c"], "y": 1}, {"x": ["a", "bc"], "y": 1}),
    ({"x": 1, "y": 1}, {"x": 1.0, "y": 1}),
]


@pytest.mark.parametrize(
    ("left", "right", "same"), [(*pair, True) for pair in SAME] + [(*pair, False) for pair in DIFFERENT]
)
def test_digest_of_features_is_that_of_their_values(left, right, same):
    digests, known = feature_digests(Records.of([encode_example(left), encode_example(right)]), ["x", "y"])
    assert known.all()
    assert (digests[0].tolist() == digests[1].tolist()) == same


def test_records_without_a_value_are_told():
    records = Records.of([encode_example(row) for row in ({"x": 1}, {"x": []}, {}, {"x": "a"})])
    assert feature_digests(records, ["x"])[1].tolist() == [True, False, False, True]


def test_bounds_of_parts_end_where_their_shares_do():
    assert part_bounds([0.5, 0.25, 0.25]) == [2**63, 2**63 + 2**62]
    assert part_bounds([1.0]) == []
