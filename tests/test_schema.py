from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messages import UNSET_FEATURE, example, floats, ints, strings
from spec_cases import Case
from test_features import SPECS

from purerecord.errors import SchemaError
from purerecord.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature
from purerecord.parse import decode_examples, parse_example
from purerecord.ragged import Ragged
from purerecord.schema import infer_schema, schema_from_json, schema_to_json

PAYLOADS = [
    example([("id", ints(1)), ("xy", floats(1, 2)), ("tags", strings(b"a")), ("unset", UNSET_FEATURE)]),
    example([("id", ints(2)), ("xy", floats(3, 4)), ("tags", strings()), ("empty", ints())]),
]


def test_schema_is_what_the_records_have_in_common() -> None:
    assert infer_schema(PAYLOADS) == {
        "empty": RaggedFeature("int64", row_splits_dtype="int64"),
        "id": FixedLenFeature((), "int64"),
        "tags": RaggedFeature("string", row_splits_dtype="int64"),
        "xy": FixedLenFeature((2,), "float32"),
    }
    assert infer_schema([]) == {}


@given(st.integers(0, 2**32))
def test_parsing_with_the_inferred_schema_gives_the_columns(seed: int) -> None:
    rng = Random(seed)
    cases = [Case(rng, name, 0.0) for name in "abc"]
    payloads = [
        example(pair for case in cases for pair in case.features()) for _ in range(rng.randrange(1, 5))
    ]
    columns = decode_examples(payloads)
    schema = infer_schema(payloads)
    assert schema.keys() == columns.keys()
    for name, column in parse_example(payloads, schema).items():
        if isinstance(column, Ragged):
            assert column.row_splits.tolist() == columns[name].row_splits.tolist()
            column, columns[name] = column.values, columns[name].values  # noqa: PLW2901
        assert column.dtype == columns[name].dtype
        np.testing.assert_array_equal(column, columns[name])


def test_feature_of_two_kinds_has_no_schema() -> None:
    with pytest.raises(SchemaError, match="feature 'id': record 1"):
        infer_schema([PAYLOADS[0], example([("id", floats(1))])])


def test_one_payload_is_not_a_sequence_of_payloads() -> None:
    with pytest.raises(TypeError, match="put it in a list"):
        infer_schema(PAYLOADS[0])


def test_every_spec_survives_json() -> None:
    specs = {f"feature {i} ü": spec for i, spec in enumerate(SPECS)}
    text = schema_to_json(specs)
    assert schema_from_json(text) == specs
    assert schema_from_json(text.encode()) == specs
    assert schema_to_json(schema_from_json(text)) == text


@given(st.integers(0, 2**32))
def test_random_specs_survive_json(seed: int) -> None:
    rng = Random(seed)
    specs = {name: Case(rng, name, 0.0).spec for name in "abcdef"}
    again = schema_from_json(schema_to_json(specs))
    assert repr(again) == repr(specs)  # NaN equals itself here


def test_json_is_readable() -> None:
    specs = {"a": FixedLenFeature([2], "float32", [1, float("inf")]), "b": VarLenFeature(bytes)}
    assert json.loads(schema_to_json(specs)) == {
        "format": "purerecord schema",
        "version": 1,
        "features": {
            "a": {
                "type": "FixedLenFeature",
                "shape": [2],
                "dtype": "float32",
                "default_value": [1.0, {"float": "inf"}],
            },
            "b": {"type": "VarLenFeature", "dtype": "string"},
        },
    }


def test_bytes_are_kept_exactly() -> None:
    spec = FixedLenSequenceFeature((), bytes, allow_missing=True, default_value=b"\xff\0")
    assert schema_from_json(schema_to_json({"a": spec}))["a"] == spec


def wrapped(features: Any, **changes: Any) -> str:
    return json.dumps({"format": "purerecord schema", "version": 1, "features": features, **changes})


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "Expecting value"),
        ("[]", "not a schema"),
        ("{}", "not a schema"),
        (wrapped({}, version=2), "version 2"),
        (wrapped(None), "features"),
        (wrapped({"a": 5}), "feature 'a'"),
        (wrapped({"a": {"type": "NoFeature"}}), "feature 'a'"),
        (wrapped({"a": {"type": "VarLenFeature"}}), "feature 'a'"),
        (wrapped({"a": {"type": "VarLenFeature", "dtype": "int32"}}), "feature 'a'"),
        (wrapped({"a": {"type": "VarLenFeature", "dtype": "int64", "more": 1}}), "feature 'a'"),
        (wrapped({"a": {"type": "FixedLenFeature", "shape": {"x": 1}, "dtype": "int64"}}), "feature 'a'"),
        (wrapped({"a": {"type": "FixedLenFeature", "shape": {"float": None}, "dtype": "int64"}}), "feature"),
        (
            wrapped({"a": {"type": "RaggedFeature", "dtype": "int64", "partitions": [{"RowSplits": 5}]}}),
            "feature 'a'",
        ),
        (
            wrapped({"a": {"type": "FixedLenFeature", "shape": [], "dtype": "string",
                           "default_value": {"base64": "?"}}}),
            "feature 'a'",
        ),
    ],
)  # fmt: skip
def test_text_that_is_no_schema_is_a_value_error(text: str, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        schema_from_json(text)
