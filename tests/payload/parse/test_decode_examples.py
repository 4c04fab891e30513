from __future__ import annotations

import pytest

from purerecord.errors import SchemaError
from purerecord.payload.parse.examples import decode_examples
from purerecord.payload.specs import VarLenFeature
from tests.support.handmade_messages import UNSET_FEATURE, example, floats, ints, strings


def test_every_feature_becomes_a_column() -> None:
    payloads = [
        example([("one", ints(1)), ("two", floats(1, 2)), ("some", strings(b"x")), ("unset", UNSET_FEATURE)]),
        example([("one", ints(2)), ("two", floats(3, 4)), ("empty", ints())]),
    ]
    columns = decode_examples(payloads)
    assert columns["one"].tolist() == [1, 2]
    assert columns["two"].tolist() == [[1, 2], [3, 4]]
    assert columns["some"].to_list() == [[b"x"], []]
    assert columns["empty"].to_list() == columns["unset"].to_list() == [[], []]
    assert sorted(columns) == ["empty", "one", "some", "two", "unset"]


def test_decode_examples_with_specs_is_parse_example() -> None:
    payloads = [example([("a", ints(1))]), example([])]
    assert decode_examples(payloads, {"a": VarLenFeature(int)})["a"].to_list() == [[1], []]


def test_feature_of_two_kinds_cannot_be_a_column() -> None:
    payloads = [example([]), *(example([("a", message)]) for message in (ints(1), ints(2), floats(1.0)))]
    with pytest.raises(SchemaError, match=r"feature 'a': record 3: .*float.*int64") as caught:
        decode_examples(payloads)
    assert (caught.value.problem, caught.value.found) == ("kind", "float")  # type: ignore[attr-defined]


def test_no_records_have_no_columns() -> None:
    assert decode_examples([]) == {}


def test_one_payload_is_not_a_sequence_of_payloads() -> None:
    with pytest.raises(TypeError, match="put it in a list"):
        decode_examples(b"")
