"""Row splits from lengths, starts, limits and rows."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord.tf._values import row_partition


def test_all_forms_of_a_partition_give_the_same_splits():
    expected = [0, 2, 2, 3]
    assert row_partition.of_lengths(np.array([2, 0, 1])).tolist() == expected
    assert row_partition.of_starts(np.array([0, 2, 2]), 3).tolist() == expected
    assert row_partition.of_limits(np.array([2, 2, 3])).tolist() == expected
    assert row_partition.of_rowids(np.array([0, 0, 2]), None).tolist() == expected
    assert row_partition.of_uniform_length(np.array(2), None, 4).tolist() == [0, 2, 4]


def test_only_arrays_keep_int32():
    assert row_partition.as_partition([0, 1], "x").dtype == np.int64
    assert row_partition.as_partition(np.array([0, 1], np.int32), "x").dtype == np.int32
    with pytest.raises(ValueError, match="must have dtype int32 or int64"):
        row_partition.as_partition([0.5], "x")
