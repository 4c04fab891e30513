"""Where records are, while others read."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from purerecord.view.places import Places


@given(st.lists(st.lists(st.integers(0, 1 << 40), max_size=3000), max_size=6))
def test_what_was_added_is_there_in_order(parts):
    places = Places()
    for part in parts:
        places.add(np.array(part, np.int64), np.array(part, np.int64) // 2)
    whole = [one for part in parts for one in part]
    offsets, lengths = places.between(0, len(whole) + 5)
    assert len(places) == len(whole)
    assert offsets.tolist() == whole
    assert lengths.tolist() == [one // 2 for one in whole]


def test_what_was_read_does_not_change_when_more_is_added():
    places = Places()
    places.add(np.arange(10), np.ones(10, np.int64))
    before, _ = places.between(0, 10)
    places.add(np.arange(10, 100_000), np.ones(99_990, np.int64))
    assert before.tolist() == list(range(10))
    assert places.at_or_after(500) == 500
    assert places.last() == 99_999
    assert Places().last() == -1
