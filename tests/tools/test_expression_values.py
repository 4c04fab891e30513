"""The values of an expression: exact integers, floats as stored, strings, and rows without a value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import BytesColumn
from purerecord.tools.expression_values import (
    COMPARISONS,
    UnfitError,
    Values,
    arithmetic,
    compare,
    equals,
    text_matches,
    text_sizes,
)
from tests.support.strategies import int64s

ints = st.lists(int64s, min_size=1, max_size=5).map(lambda values: np.array(values, np.int64))


@given(ints, st.one_of(st.floats(), st.sampled_from([2.0**53, 2.0**63, -(2.0**63)])), st.data())
def test_integers_and_floats_are_compared_exactly(integers, number, data):
    symbol = data.draw(st.sampled_from(sorted(COMPARISONS)))
    found = compare(symbol, Values(integers), Values(np.full(len(integers), number)), len(integers))
    assert found.tolist() == [COMPARISONS[symbol](one, number) for one in integers.tolist()]


@pytest.mark.parametrize(
    ("stored", "symbol", "number", "holds"),
    [
        (0.1, "==", 0.1, True),
        (0.1, ">", 0.1, False),
        (16777216.0, "==", 16777217, True),
        (np.inf, "==", 1e300, False),
        (np.inf, ">", 1e300, True),
        (np.inf, "==", np.inf, True),
        (np.nan, "!=", 0.1, True),
    ],
)
def test_number_is_rounded_as_the_float_feature_that_it_is_compared_with(stored, symbol, number, holds):
    feature = Values(np.array([stored], np.float32))
    assert compare(symbol, feature, Values.constant(number), 1).tolist() == [holds]


@given(ints, int64s, st.sampled_from("+-*%/"))
def test_arithmetic_is_that_of_python_and_an_overflow_is_an_error(integers, number, symbol):
    python = {
        "+": lambda one: one + number,
        "-": lambda one: one - number,
        "*": lambda one: one * number,
        "%": lambda one: one % number if number else None,
        "/": lambda one: float(one) / float(number) if number else None,
    }[symbol]
    expected = [python(one) for one in integers.tolist()]
    bad = [row for row, one in enumerate(expected) if isinstance(one, int) and not -(2**63) <= one < 2**63]
    if bad:
        with pytest.raises(UnfitError, match="does not fit in 64 bits") as error:
            arithmetic(symbol, Values(integers), Values.constant(number))
        assert error.value.row == bad[0]
        return
    found = arithmetic(symbol, Values(integers), Values.constant(number))
    known = np.ones(len(integers), bool) if found.known is None else found.known
    assert np.where(known, found.data, 0).tolist() == [one or 0 for one in expected]
    assert known.tolist() == [one is not None for one in expected]


def test_overflow_where_there_is_no_value_is_none():
    values = Values(np.array([2**62, 1]), np.array([False, True]))
    assert arithmetic("*", values, Values.constant(4)).data[1] == 4


STRINGS = BytesColumn.of([b"cat", b"", b"concat", b"catalogue", b"dog\0"])


@pytest.mark.parametrize("constant", [b"cat", b"", b"dog", b"dog\0", b"\0" * 20])
def test_strings_are_compared_byte_by_byte(constant):
    known = np.array([True, True, True, True, False])
    for name in ("contains", "startswith", "endswith"):
        python = {"contains": lambda one: constant in one}.get(name) or (
            lambda one, name=name: getattr(one, name)(constant)
        )
        found = text_matches(name, Values(STRINGS, known), constant, 5)
        assert found.tolist() == [*map(python, STRINGS[:4]), False]
    assert equals(STRINGS, constant).tolist() == [one == constant for one in STRINGS]
    for symbol, holds in COMPARISONS.items():
        assert compare(symbol, Values(STRINGS), Values(constant), 5).tolist() == [
            holds(one, constant) for one in STRINGS
        ]
        assert compare(symbol, Values(STRINGS), Values(STRINGS[::-1]), 5).tolist() == [
            holds(*pair) for pair in zip(STRINGS, STRINGS[::-1], strict=True)
        ]


def test_sizes_of_strings_are_in_bytes():
    assert text_sizes(Values(STRINGS)).data.tolist() == [3, 0, 6, 9, 4]
    assert text_sizes(Values(b"abc")).data == 3


def test_kinds_that_do_not_fit_are_an_error_of_the_first_row_with_values():
    numbers = Values(np.zeros(5, np.int64), np.array([False, False, True, True, False]))
    cases = [
        lambda: compare("==", numbers, Values(b"7"), 5),
        lambda: compare("<", Values(STRINGS), numbers, 5),
        lambda: arithmetic("+", numbers, Values(b"7")),
        lambda: text_sizes(numbers),
        lambda: text_matches("contains", numbers, b"7", 5),
        lambda: arithmetic("%", numbers, Values.constant(2.5)),
    ]
    for case in cases:
        with pytest.raises(UnfitError) as error:
            case()
        assert error.value.row == 2


def test_comparison_without_values_is_false():
    nothing = Values(None, np.zeros(3, bool))
    for symbol in COMPARISONS:
        assert not compare(symbol, nothing, Values.constant(1), 3).any()
        assert not compare(symbol, Values(b"x"), nothing, 3).any()
    assert arithmetic("+", nothing, Values.constant(1)).data is None
    assert text_sizes(nothing).data is None
