"""purerecord.payload.row_index: the keys that Ragged and Sparse take, and those that they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from purerecord.payload.ragged import Ragged
from purerecord.payload.sparse import Sparse


@pytest.mark.parametrize("column", [Ragged([1, 2, 3], [0, 2, 3]), Sparse([[0, 0]], [1], (2, 2))])
@pytest.mark.parametrize(
    ("key", "error", "match"),
    [
        (2, IndexError, "row 2 of a (Ragged|Sparse) that has 2"),
        (-3, IndexError, "row -3 of a (Ragged|Sparse) that has 2"),
        ("a", TypeError, "a (Ragged|Sparse) is indexed with an integer.*not with a str"),
        (1.0, TypeError, "not with a float"),
        (None, TypeError, "not with a NoneType"),
        ((0, 1), TypeError, "not with a tuple|rows are cut by one slice"),
    ],
)
def test_index_that_names_no_row_is_an_error_that_says_so(
    column: Any, key: Any, error: Any, match: str
) -> None:
    with pytest.raises(error, match=match):
        column[key]


@pytest.mark.parametrize(
    ("keys", "error", "match"),
    [
        ([0, 2], IndexError, "row 2 of 2"),
        (np.array([-3]), IndexError, "row -3"),
        (np.array([2**63], np.uint64), IndexError, "row 9223372036854775808"),
        ([True], IndexError, "a mask of 1 values for 2 rows"),
        ([0.5], TypeError, "not with an array of the type float64"),
        (["a"], TypeError, "vector of integers or a mask"),
        ([[0, 1]], TypeError, "vector"),
        ([[0], [0, 1]], TypeError, "vector"),
        ([2**70], TypeError, "vector"),
    ],
)
def test_rows_that_cannot_be_chosen_are_an_error_that_says_so(keys: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        Ragged([1, 2, 3], [0, 2, 3])[keys]


def test_rows_may_be_chosen_with_any_integers() -> None:
    ragged = Ragged([1, 2, 3], [0, 2, 3])
    assert ragged[np.array(1)].tolist() == ragged[np.uint8(1)].tolist() == [3]
    assert ragged[np.array([1, 0], np.uint64)].to_list() == ragged[[-1, -2]].to_list() == [[3], [1, 2]]
    assert ragged[[]].to_list() == ragged[np.array([])].to_list() == []
