"""What a feature holds, and columns of values that come one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from purerecord.payload.wire import BYTES, FLOAT, INT64, UNSET
from purerecord.tools.converters.column_types import (
    Collected,
    FeatureType,
    float32_values,
    loses_digits,
    type_of,
)


@pytest.mark.parametrize(
    ("spec", "words", "required"),
    [
        (pr.FixedLenFeature([], np.int64), "int64", True),
        (pr.FixedLenFeature([2, 3], np.float32), "float[6]", True),
        (pr.FixedLenFeature([], bytes, ""), "bytes", False),
        (pr.VarLenFeature(bytes), "bytes list", False),
        (pr.RaggedFeature(np.int64), "int64 list", False),
    ],
)
def test_types_of_specs(spec, words, required):
    found = type_of("a", spec)
    assert (str(found), found.required) == (words, required)


@pytest.mark.parametrize(
    "spec", [pr.SparseFeature("i", "v", np.int64, 10), pr.RaggedFeature(np.int64, value_key="b")]
)
def test_specs_of_several_features_are_refused(spec):
    with pytest.raises(ValueError, match="feature 'a' of the schema"):
        type_of("a", spec)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (INT64, [[1], None, [], [2, 3]]),
        (FLOAT, [[0.5], None, []]),
        (BYTES, [[b"a", b""], None]),
        (INT64, [[1], [2]]),
        (UNSET, [[], None]),
    ],
)
def test_collected_values_are_encoded_as_they_were(kind, rows):
    collected = Collected("a", FeatureType(kind, None))
    for row in rows:
        collected.add(row)
    decoded = [pr.decode_example(payload) for payload in pr.encode_examples({"a": collected.cells("round")})]
    assert [list(row["a"]) if "a" in row else None for row in decoded] == rows


def test_rows_that_do_not_fit_the_schema_are_errors():
    with pytest.raises(pr.EncodeError, match="2 values, where the schema has 1"):
        Collected("a", FeatureType(INT64)).add([1, 2])
    with pytest.raises(pr.EncodeError, match="missing"):
        Collected("a", FeatureType(INT64, required=True)).add(None)


def test_floats():
    values = np.array([0.1, np.nan, np.inf])
    assert loses_digits([0.123456789])
    assert loses_digits([1.5, (1 << 53) + 1])
    assert not loses_digits([0.5, 0.1, np.nan, np.inf, 3, 1 << 53])
    assert float32_values("a", values, "round").dtype == np.float32
    with pytest.raises(pr.EncodeError, match="exactly"):
        float32_values("a", values, "exact")
    with pytest.raises(pr.EncodeError, match="too large"):
        float32_values("a", np.array([1e300]), "round")
