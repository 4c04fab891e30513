"""purerecord.payload.exact_floats: floats are rounded everywhere, or nowhere if the caller says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr

ROUNDED = {
    "a number": 0.1,
    "a list": [0.5, 0.1],
    "integers beside floats": [1, 0.1],
    "an array": np.array([0.5, 0.1]),
    "a matrix": np.array([[0.5, 1], [0.1, 2]]),
    "nested lists": [[0.5], [0.1]],
    "a numpy scalar": np.float64(0.1),
    "numpy scalars": [np.float64(0.1)],
    "a list of arrays": [np.array([0.5]), np.array([0.1])],
    "objects": np.array([0.5, 0.1], object),
    "long double": np.array([0.1], np.longdouble),
    "too small": 1e-300,
    "a negative zero's neighbour": [-1e-46],
}
EXACT = {
    "float32": np.array([0.1], np.float32),
    "a float16": np.float16(0.1),
    "not finite": [float("nan"), float("inf"), -float("inf"), -0.0],
    "dyadic": [0.5, 1.25, 2.0**-149, 2.0**127],
    "integers": [1, 2**62],
    "strings": ["0.1", b"0.1"],
    "one string": "0.1",
    "nothing": [],
    "a feature": pr.Feature(float_list=pr.FloatList(value=[0.1])),
}


def ways(value: Any) -> dict[str, Any]:
    """The same value through every encoder."""
    column = [pr.encode_example({}), value]  # only to have a list of two rows
    column[0] = value if isinstance(value, (str, bytes)) else []
    return {
        "row": lambda **options: pr.encode_example({"x": value}, **options),
        "column": lambda **options: pr.encode_examples({"x": column}, **options),
        "context": lambda **options: pr.encode_sequence_example({"x": value}, {}, **options),
        "steps": lambda **options: pr.encode_sequence_example({}, {"x": column}, **options),
    }


@pytest.mark.parametrize("name", ROUNDED)
def test_a_float_that_would_change_is_rounded_or_an_error(name: str) -> None:
    for way, encode in ways(ROUNDED[name]).items():
        assert encode() == encode(floats="round")
        with pytest.raises(pr.EncodeError, match="float32 does not hold exactly") as caught:
            encode(floats="exact")
        assert caught.value.feature == "x"
        assert caught.value.record == (1 if way == "column" else None)


@pytest.mark.parametrize("name", EXACT)
def test_what_does_not_change_is_exact(name: str) -> None:
    for encode in ways(EXACT[name]).values():
        assert encode(floats="exact") == encode()


def test_ragged_columns_and_columns_with_none_name_the_record() -> None:
    ragged = pr.Ragged(np.array([0.5, 0.25, 0.1]), [0, 2, 2, 3])
    for column in (ragged, [[0.5, 0.25], None, [0.1]], np.array([0.5, 0.25, 0.1])):
        with pytest.raises(pr.EncodeError, match=r"record 2: .*exactly"):
            pr.encode_examples({"x": column}, floats="exact")


def test_a_float_beyond_float32_is_always_an_error() -> None:
    for floats in ("round", "exact"):
        with pytest.raises(pr.EncodeError, match="too large"):
            pr.encode_example({"x": 1e300}, floats=floats)


def test_there_is_no_third_rule() -> None:
    for encode in ways(0.5).values():
        with pytest.raises(ValueError, match='"round" or "exact", not \'strict\''):
            encode(floats="strict")


@given(st.lists(st.floats(-1e38, 1e38), min_size=1, max_size=5))
def test_exact_is_an_error_if_and_only_if_rounding_changes_a_number(values: list[float]) -> None:
    changes = np.array(values, np.float32).tolist() != values
    for encode in ways(values).values():
        if changes:
            with pytest.raises(pr.EncodeError, match="exactly"):
                encode(floats="exact")
        else:
            assert encode(floats="exact") == encode()
