"""Summaries become JSON that a strict parser reads back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from purerecord import encode_example
from purerecord.records import Records
from purerecord.tools.inspect.example_statistics import ExampleStatistics
from purerecord.tools.inspect.summary_json import feature_json, number_of, text_or_base64


def test_a_feature_with_odd_values_is_strict_json():
    found = ExampleStatistics(most=10)
    values = [np.nan, np.inf, -np.inf, 0.1]
    found.add(Records.of([encode_example({"x": np.float32(values), "b": [b"\xff", b"text"]})]))
    both = [feature_json(feature) for feature in found.summaries()]
    assert json.loads(json.dumps(both, allow_nan=False)) == both
    strings, numbers = both
    assert numbers["numbers"]["float32"]["nan"] == 1
    assert numbers["numbers"]["float32"]["min"] == 0.1
    assert {"value": {"base64": "/w=="}, "count": 1} in strings["bytes"]["most_frequent"]


@pytest.mark.parametrize("value", [0.1, 1e-45, 3.4028235e38, 16777216.0])
def test_float32_is_written_as_the_shortest_float_that_reads_back(value):
    assert number_of(float(np.float32(value)), "float32") == value


def test_integers_stay_exact():
    assert number_of(2**63 - 1, "int64") == 2**63 - 1


def test_strings_are_text_where_they_can_be():
    assert text_or_base64("é".encode()) == "é"
    assert text_or_base64(b"\xe9") == {"base64": "6Q=="}
