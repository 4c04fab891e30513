"""Conditions as text, read back by the expressions themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools import Expression
from purerecord.view import where

NAMES = st.one_of(
    st.text(min_size=1, max_size=8), st.sampled_from(["label", "image/class/label", "and", "len", "a b", "1"])
)
INTS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def encodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@given(NAMES.filter(encodable), st.one_of(INTS, FLOATS, st.binary(max_size=20)), st.booleans())
def test_equals_is_true_of_its_value_and_of_no_other(name, value, lists):
    text = where.equals(name, value, lists=lists)
    if text is None:
        assert "`" in name
        return
    other = {int: lambda: value // 2 + 7, float: lambda: value / 2 + 7, bytes: lambda: value + b"x"}[
        type(value)
    ]()
    records = [pr.encode_example({name: value}), pr.encode_example({name: other})]
    same = isinstance(value, float) and np.float32(value) == np.float32(other)
    assert Expression(text).matches(records).tolist() == [True, same or value == other]


@given(st.lists(FLOATS, min_size=3, max_size=3, unique=True))
def test_between_holds_the_lower_end_and_the_upper_one_if_it_is_closed(values):
    low, middle, high = sorted(values)
    records = [pr.encode_example({"x": value}) for value in (low, middle, high)]
    for closed in (False, True):
        for lists in (False, True):
            text = where.between("x", low, high, closed=closed, lists=lists)
            assert text is not None
            assert Expression(text).matches(records).tolist() == [True, True, closed]


def test_conditions_can_be_joined():
    one, other = where.equals("x", 7), where.between("y", 0, 1, closed=False)
    records = [pr.encode_example({"x": 7, "y": 0.5}), pr.encode_example({"x": 7, "y": 1.0})]
    assert Expression(f"({one}) and ({other})").matches(records).tolist() == [True, False]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_cannot_be_said_is_none(value):
    assert where.equals("x", value) is None
    assert where.equals("a`b", 1) is None
    assert where.feature("") is None
