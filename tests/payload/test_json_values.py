"""purerecord.payload.json_values: bytes and floats that JSON cannot write come back from what it can."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.payload.json_values import FROM_JSON, bytes_to_json, float_to_json


@given(st.binary(max_size=20))
def test_bytes_come_back(value: bytes) -> None:
    ((kind, text),) = json.loads(json.dumps(bytes_to_json(value))).items()
    assert FROM_JSON[kind](text) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_floats_that_are_not_finite_come_back(value: float) -> None:
    ((kind, text),) = json.loads(json.dumps(float_to_json(value), allow_nan=False)).items()
    assert str(FROM_JSON[kind](text)) == str(value)


def test_finite_floats_are_numbers() -> None:
    assert float_to_json(0.1) == 0.1


def test_text_that_is_no_base64_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"base64|character|padding"):
        FROM_JSON["base64"]("?")
