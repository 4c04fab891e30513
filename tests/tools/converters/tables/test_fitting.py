"""Columns in the types of a schema."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from purerecord.payload.wire import BYTES, FLOAT, INT64
from purerecord.tools.converters.column_types import FeatureType
from purerecord.tools.converters.tables.fitting import fitted

SOME = pr.Ragged(np.array([1, 2]), [0, 1, 1, 2], [False, True, False])


def test_only_the_columns_of_the_schema_are_taken():
    cells = fitted(
        {"a": np.array([1, 2]), "b": np.array([3, 4])},
        {"a": FeatureType(INT64), "c": FeatureType(INT64)},
        "round",
    )
    assert list(cells) == ["a"]
    assert cells["a"].values.tolist() == [1, 2]


def test_integers_become_floats_where_the_schema_says_so():
    cells = fitted({"a": SOME}, {"a": FeatureType(FLOAT)}, "exact")["a"]
    assert (cells.values.dtype, cells.values.tolist(), cells.counts.tolist()) == (
        np.float32,
        [1.0, 2.0],
        [1, 0, 1],
    )
    assert pr.encode_examples({"a": cells})[0] == pr.encode_example({"a": np.float32(1)})
    assert pr.encode_examples({"a": cells})[1] == pr.encode_example({})


@pytest.mark.parametrize(
    ("column", "feature", "record", "words"),
    [
        (np.array([b"x"], object), FeatureType(INT64), None, "holds bytes, where the schema says int64"),
        (np.array([0.5]), FeatureType(INT64), None, "holds float, where the schema says int64"),
        (np.array([0.5]), FeatureType(BYTES), None, "holds float, where the schema says bytes"),
        (SOME, FeatureType(INT64, 1, required=True), 1, "is missing, and the schema requires it"),
        (SOME, FeatureType(INT64, 2), 0, "has 1 values, where the schema has 2"),
        (np.array([(1 << 24) + 1]), FeatureType(FLOAT), None, "exactly"),
    ],
)
def test_what_does_not_fit_is_an_error(column, feature, record, words):
    with pytest.raises(pr.EncodeError, match=words) as caught:
        fitted({"a": column}, {"a": feature}, "exact")
    assert caught.value.feature == "a"
    assert record is None or caught.value.record == record
