"""purerecord.payload.parse.checked_columns: an error names the feature, and the first record at fault."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from purerecord.errors import SchemaError
from purerecord.payload.parse.examples import parse_example, parse_single_example
from purerecord.payload.parse.sequences import parse_single_sequence_example
from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
)
from purerecord.records import Records
from tests.support.handmade_messages import UNSET_FEATURE, example, examples_of, floats, ints, strings

INT = FixedLenFeature((), np.int64)


MISMATCHES: dict[str, tuple[Any, list[bytes], str, Any, Any, int]] = {
    "missing": (INT, examples_of("a", ints(1), None), "missing", "int64", None, 1),
    "unset": (INT, examples_of("a", ints(1), UNSET_FEATURE), "missing", "int64", None, 1),
    "kind": (INT, examples_of("a", ints(1), ints(2), floats(1.0)), "kind", "int64", "float", 2),
    "empty list of another kind": (INT, examples_of("a", floats()), "kind", "int64", "float", 0),
    "too many": (INT, examples_of("a", ints(1, 2), ints(1)), "count", 1, 2, 0),
    "empty in spite of a default": (
        FixedLenFeature((2,), int, [1, 2]),
        examples_of("a", ints()),
        "count",
        2,
        0,
        0,
    ),
    "shape (0,)": (FixedLenFeature((0,), int), examples_of("a", ints(), None), "missing", "int64", None, 1),
    "VarLen kind": (
        VarLenFeature(bytes),
        examples_of("a", strings(b"x"), ints()),
        "kind",
        "bytes",
        "int64",
        1,
    ),
    "Ragged kind": (RaggedFeature(float), examples_of("a", ints(1)), "kind", "float", "int64", 0),
    "items": (
        FixedLenSequenceFeature((2,), int, True),
        examples_of("a", ints(), ints(1, 2, 3)),
        "count",
        2,
        3,
        1,
    ),
    "rows": (
        RaggedFeature(int, partitions=[RaggedFeature.UniformRowLength(2)]),
        examples_of("a", ints(1, 2), ints(1, 2, 3)),
        "partition",
        2,
        3,
        1,
    ),
    "the first of two mistakes": (INT, examples_of("a", ints(1), ints(1, 2), floats(1.0)), "count", 1, 2, 1),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_mismatch_names_feature_and_record_and_keeps_the_facts(case: str) -> None:
    spec, payloads, problem, expected, found, record = MISMATCHES[case]
    with pytest.raises(SchemaError, match=f"feature 'a': record {record}: ") as caught:
        parse_example(payloads, {"a": spec})
    error = caught.value
    assert isinstance(error, SchemaError)
    assert (error.feature, error.record, error.row) == ("a", record, record)
    assert (error.problem, error.expected, error.found) == (problem, expected, found)
    with pytest.raises(SchemaError, match="feature 'a': ") as alone:
        parse_single_example(payloads[record], {"a": spec})
    assert alone.value.record is None
    assert alone.value.reason == error.reason
    copied = pickle.loads(pickle.dumps(error))
    assert str(copied) == str(error)
    assert vars(copied) == vars(error)


def test_mismatch_of_the_first_record_is_told_whatever_the_order_of_the_specs() -> None:
    payloads = [example([("a", ints(1))]), example([("b", ints(1))])]
    for names in ("ab", "ba"):
        with pytest.raises(SchemaError, match="feature 'b': record 0"):
            parse_example(payloads, dict.fromkeys(names, INT))


def test_mismatch_says_where_records_come_from_and_how_they_are_called() -> None:
    payloads = Records.of(examples_of("a", ints(1), None))
    records = Records(payloads.buffer, payloads.begins, payloads.ends, path="train.tfrecord", first=40)
    with pytest.raises(SchemaError, match=r"^train.tfrecord: feature 'a': record 41: ") as caught:
        parse_example(records, {"a": INT})
    assert (caught.value.record, caught.value.row) == (41, 1)  # type: ignore[attr-defined]
    for names in (["first", "second"], np.array([b"first", b"second"])):
        with pytest.raises(SchemaError, match=r"^second: feature 'a': record 1: "):
            parse_example(examples_of("a", ints(1), None), {"a": INT}, names)
    for name in ("lone", b"lone", ["lone"]):
        with pytest.raises(SchemaError, match=r"^lone: feature 'a': is required"):
            parse_single_example(b"", {"a": INT}, name)
        with pytest.raises(SchemaError, match=r"^lone: feature 'a': is required"):
            parse_single_sequence_example(b"", {"a": INT}, None, name)
