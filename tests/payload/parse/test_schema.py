"""purerecord.payload.parse.schema: specs that fit the records, and specs as JSON."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.errors import DecodeError, SchemaError
from purerecord.payload.example import decode_sequence_example
from purerecord.payload.parse.examples import decode_examples, parse_example
from purerecord.payload.parse.schema import infer_schema, schema_from_json, schema_to_json
from purerecord.payload.parse.sequences import parse_sequence_example
from purerecord.payload.ragged import Ragged
from purerecord.payload.specs import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature
from tests.payload.test_specs import SPECS
from tests.support.handmade_messages import UNSET_FEATURE, example, floats, ints, sequence_example, strings
from tests.support.spec_cases import Case
from tests.support.strategies import plain

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


# --- SequenceExamples -------------------------------------------------------------------------------

SEQUENCES = [
    sequence_example(
        [("id", ints(1)), ("xy", floats(1, 2)), ("tags", strings(b"a")), ("unset", UNSET_FEATURE)],
        [("frames", [floats(1, 2), floats(3, 4)]), ("words", [strings(b"a"), strings()]), ("n", [ints(1)])],
    ),
    sequence_example(
        [("id", ints(2)), ("xy", floats(3, 4)), ("tags", strings())],
        [("frames", []), ("words", [strings(b"b")]), ("nothing", [UNSET_FEATURE]), ("no steps", [])],
    ),
]


def test_schema_of_sequence_examples_is_one_of_the_context_and_one_of_the_steps() -> None:
    context, sequence = infer_schema(SEQUENCES, sequence=True)
    assert context == {
        "id": FixedLenFeature((), "int64"),
        "tags": RaggedFeature("string", row_splits_dtype="int64"),
        "xy": FixedLenFeature((2,), "float32"),
    }
    assert sequence == {
        "frames": FixedLenSequenceFeature((2,), "float32"),
        "n": FixedLenSequenceFeature((), "int64", allow_missing=True),
        "words": RaggedFeature("string", row_splits_dtype="int64"),
    }
    assert infer_schema([], sequence=True) == ({}, {})
    assert schema_from_json(schema_to_json((context, sequence))) == (context, sequence)


@given(st.integers(0, 2**32))
def test_sequence_examples_can_be_parsed_with_the_schema_inferred_from_them(seed: int) -> None:
    rng = Random(seed)
    cases = [
        (Case(rng, name, 0.0, ("fixed", "var")), Case(rng, name, 0.0, ("fixed", "var"))) for name in "abc"
    ]
    payloads = [
        sequence_example(
            [pair for case, _ in cases for pair in case.features() if rng.random() < 0.8],
            [
                (case.name, [message for _ in range(rng.randrange(3)) for _, message in case.features()])
                for _, case in cases
                if rng.random() < 0.8
            ],
        )
        for _ in range(rng.choice((1, 3, 20)))
    ]
    schema = infer_schema(payloads, sequence=True)
    rows = [decode_sequence_example(payload) for payload in payloads]
    if not any(schema):
        return
    context, sequence, lengths = parse_sequence_example(payloads, *schema)
    for name, column in context.items():
        for row, (features, _) in enumerate(rows):
            assert vector(column[row]) == vector(features.get(name, []))
    for name, column in sequence.items():
        for row, (_, lists) in enumerate(rows):
            steps = column[row] if name not in lengths else column[row, : lengths[name][row]]
            assert list(map(vector, steps)) == list(map(vector, lists.get(name, [])))


def vector(values: Any) -> Any:
    """Values, or a single value, as plain data."""
    array = np.array([values], object) if isinstance(values, bytes) else np.atleast_1d(values)
    return plain(array) if len(array) else []


@pytest.mark.parametrize(
    ("odd", "match"),
    [
        (sequence_example([("id", floats(1))], []), "feature 'id': record 2: "),
        (sequence_example([], [("n", [ints(1), strings(b"x")])]), "feature 'n': record 2: step 1: "),
    ],
)
def test_sequence_feature_of_two_kinds_has_no_schema(odd: bytes, match: str) -> None:
    with pytest.raises(SchemaError, match=match):
        infer_schema([*SEQUENCES, odd], sequence=True)


def test_malformed_sequence_example_is_told_with_its_record() -> None:
    with pytest.raises(DecodeError) as caught:
        infer_schema([*SEQUENCES, b"junk"], sequence=True)
    assert caught.value.record == 2


# --- What is no schema ------------------------------------------------------------------------------


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
        (wrapped({"a": {"type": ["VarLenFeature"]}}), "feature 'a'"),
        (wrapped({"a": {"type": {}}}), "feature 'a'"),
        (wrapped({"a": 1, "b": 2, "c": 3}).replace('"c"', '"a"'), "'a' is there twice"),
        (wrapped({"a": {"type": "VarLenFeature", "dtype": "x", "q": "x"}}).replace("q", "dtype"), "twice"),
        ("[" * 100_000, "nested too deeply"),
        (wrapped({"a": {"type": "FixedLenFeature", "shape": [0, 10**30], "dtype": "int64"}}), "feature 'a'"),
        (wrapped({"a": {"type": "FixedLenFeature", "shape": 0, "dtype": "float32", "default_value": 1e39}}),
         "feature 'a'"),
        (json.dumps({"format": "purerecord schema", "version": 1, "context": {}}), "one of its two parts"),
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
