"""Rows of arrays combined by segments."""

from __future__ import annotations

import numpy as np
import pytest

from purerecord.tf._values import segments

IDS = np.array([1, -1, 1])


@pytest.mark.parametrize(
    ("combine", "expected"),
    [
        (segments.total, [0, 4]),
        (segments.product, [1, 3]),
        (segments.maximum, [np.iinfo(np.int64).min, 3]),
        (segments.minimum, [np.iinfo(np.int64).max, 1]),
    ],
)
def test_segments_without_rows_get_the_beginning(combine, expected):
    assert combine(np.array([1, 2, 3]), IDS, 2).tolist() == expected
    assert segments.sizes(IDS, 2).tolist() == [0, 2]
