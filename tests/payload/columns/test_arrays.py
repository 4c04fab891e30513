"""Arrays: where groups begin, and all positions of all groups."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.columns.arrays import ranges_of, starts_of


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 9))), st.sampled_from([1, 4, 7]))
def test_groups_follow_one_another_and_have_all_their_positions(groups, step):
    starts = np.array([start for start, _ in groups], np.int64)
    counts = np.array([count for _, count in groups], np.int64)
    sums = [int(counts[:k].sum()) for k in range(counts.size)]
    assert starts_of(counts).tolist() == sums
    positions = [start + step * k for start, count in groups for k in range(count)]
    assert ranges_of(starts, counts, step).tolist() == positions
