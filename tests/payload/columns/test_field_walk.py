"""Field walk: every field of every list is found, and no walk leaves its list."""

from __future__ import annotations

from itertools import accumulate
from random import Random

import numpy as np
import pytest

from purerecord.payload.columns.field_walk import field_ends, have_short_lengths, walk
from purerecord.payload.wire import delimited


def lists_of(*lists: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lists of steps of these sizes, with something between them: (octets, begins, ends)."""
    contents = [b"".join(delimited(1, bytes(size)) for size in sizes) for sizes in lists]
    ends = np.cumsum([len(content) + 3 for content in contents], dtype=np.int64)
    begins = ends - [len(content) for content in contents]
    return np.frombuffer(b"".join(b"xyz" + content for content in contents), np.uint8), begins, ends


def walked(lists: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[list[int]]:
    """Where the steps of each list are, from its beginning on."""
    octets, begins, ends = lists
    places, counts = walk(octets, begins, ends)
    parts = np.split(places, np.cumsum(counts)[:-1])
    return [(part - begin).tolist() for part, begin in zip(parts, begins, strict=True)]


def expected(sizes: list[int]) -> list[int]:
    return [0, *accumulate(len(delimited(1, bytes(size))) for size in sizes)][: len(sizes)]


@pytest.mark.parametrize("seed", range(10))
def test_every_step_of_every_list_is_found_in_order(seed: int) -> None:
    random = Random(seed)
    lists = [[random.randrange(128) for _ in range(random.randrange(40))] for _ in range(200)]
    assert walked(lists_of(*lists)) == [expected(sizes) for sizes in lists]


def test_steps_of_any_size_are_found_field_by_field() -> None:
    lists = [[0, 127, 128, 20_000, 3], [], [3_000_000, 1]]
    assert walked(lists_of(*lists)) == [expected(sizes) for sizes in lists]


def test_many_lists_that_are_longer_than_the_others_are_walked_to_their_ends() -> None:
    lists = [[1] * 3] * 100 + [[2] * 300] * 10 + [[1]] * 100
    assert walked(lists_of(*lists)) == [expected(sizes) for sizes in lists]


def test_few_lists_that_are_longer_than_all_others_are_left_on_the_way() -> None:
    found = walked(lists_of(*[[1] * 3] * 100, [1] * 5000, *[[1] * 3] * 100))
    assert found[:100] == found[101:] == [expected([1] * 3)] * 100
    assert 3 < len(found[100]) < 100


@pytest.mark.parametrize("seed", range(10))
def test_whatever_the_bytes_are_nobody_leaves_a_list_or_stands_still(seed: int) -> None:
    octets = np.frombuffer(Random(seed).randbytes(3000), np.uint8)
    cuts = np.sort(np.random.default_rng(seed).integers(0, 3001, 50))
    places, counts = walk(octets, cuts[:-1], cuts[1:])
    owner = np.repeat(np.arange(49), counts)
    assert ((places >= cuts[owner]) & (places < cuts[owner + 1])).all()
    assert (np.diff(places)[owner[1:] == owner[:-1]] >= 2).all()


def test_no_lists_have_no_steps() -> None:
    nothing = np.empty(0, np.int64)
    places, counts = walk(np.empty(0, np.uint8), nothing, nothing)
    assert places.size == counts.size == 0


def test_lengths_of_single_bytes_have_short_lengths() -> None:
    octets, begins, _ = lists_of([1], [127], [128])
    assert have_short_lengths(octets, begins).tolist() == [True, True, False]


def test_field_ends_where_its_length_says_and_one_of_a_malformed_length_past_the_buffer() -> None:
    octets, begins, ends = lists_of([0], [1], [127], [128], [20_000])
    assert field_ends(octets, begins, ends).tolist() == ends.tolist()
    malformed = np.frombuffer(b"\n" + b"\x80" * 5 + b"\0" * 20, np.uint8)
    assert field_ends(malformed, np.zeros(1, np.int64), np.full(1, 26))[0] > 26
