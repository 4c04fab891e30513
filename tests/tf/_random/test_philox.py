"""The counter-based generator."""

from __future__ import annotations

import numpy as np

from purerecord.tf._random.philox import Place, Words32, blocks, integers, truncated_normal, uniform


def test_block_of_zeros_is_that_of_its_paper() -> None:
    assert [f"{word:08x}" for word in blocks(Place(0, 0), 1)[0]] == [
        "6627e8d5",
        "e169c58d",
        "bc57ac4c",
        "9b00dbd8",
    ]


def test_counter_carries_over() -> None:
    place = Place(5, 2**64 - 1)
    assert blocks(place, 3)[1:].tolist() == blocks(place.skip(1), 2).tolist()


def test_numbers_lie_in_their_range() -> None:
    place = Place.of_seed(1, 2)
    numbers = uniform(place, 1000, np.float32)
    assert 0 <= numbers.min() < numbers.max() < 1
    assert set(integers(place, 1000, -2, 2, np.int64).tolist()) == {-2, -1, 0, 1}
    assert np.abs(truncated_normal(place, 5000, np.float32)).max() < 2


def test_single_words_are_those_of_the_blocks() -> None:
    words = Words32(Place.of_seed(3, 4))
    assert [words.next() for _ in range(6)] == blocks(Place.of_seed(3, 4), 2).reshape(-1)[:6].tolist()
    assert all(0 <= words.below(5) < 5 for _ in range(100))
