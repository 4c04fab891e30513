"""Other messages, told from Examples."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings

import purerecord as pr
from purerecord.payload.recognize import EVENT, EXAMPLE_LIST, check_example, other_message, recognize
from purerecord.payload.varint import varint
from purerecord.payload.wire import delimited
from tests.support.settings import tries
from tests.support.strategies import feature_mappings

FIXED64 = b"\x09" + bytes(7) + b"\x40"
GROUP = b"\x2b\x2c"
AGE = pr.encode_example({"age": [3]})
LIST = delimited(1, AGE) + delimited(1, pr.encode_example({"age": [4], "name": "é"}))

# Legal for protobuf, which sees an Example without features and with unknown fields.
OTHER: dict[str, tuple[bytes, str]] = {
    "one field": (b"\x10\x05", "another message, with the field 2 (varint)"),
    "features as a varint": (b"\x08\x05", "another message, with the field 1 (varint)"),
    "some fields": (
        b"\x18\x05" + FIXED64 + delimited(5, b"x") + b"\x10\x05",
        "another message, with the fields 1 (fixed64), 2 (varint), 3 (varint), 5 (length-delimited)",
    ),
    "a large number": (
        varint((2**29 - 1) << 3) + b"\x01",
        f"another message, with the field {2**29 - 1} (varint)",
    ),
    "a group": (GROUP, "another message, with the field 5 (group)"),
    "many fields": (
        b"".join(delimited(k, b"") for k in range(3, 20)),
        "another message, with the fields "
        + ", ".join(f"{k} (length-delimited)" for k in range(3, 11))
        + ", ...",
    ),
    "unknown in Features": (
        delimited(1, b"\x10\x05"),
        "another message, with the field 1 (length-delimited)",
    ),
    "unknown in the only entry": (
        delimited(1, delimited(1, FIXED64)),
        "another message, with the field 1 (length-delimited)",
    ),
    "a field 2 that is no list": (
        delimited(2, b"\x0f"),
        "another message, with the field 2 (length-delimited)",
    ),
    "empty Features and more": (
        delimited(1, b"") + delimited(3, b"x"),
        "another message, with the fields 1 (length-delimited), 3 (length-delimited)",
    ),
    "an Event": (FIXED64 + delimited(3, b"brain.Event:2"), f"{EVENT}, as TensorBoard reads it"),
    "a list of Examples": (LIST, f"{EXAMPLE_LIST}, as TensorFlow Ranking reads it"),
    "a list with a context": (LIST + delimited(2, AGE), f"{EXAMPLE_LIST}, as TensorFlow Ranking reads it"),
    "a context alone": (delimited(2, AGE), f"{EXAMPLE_LIST}, as TensorFlow Ranking reads it"),
}


@pytest.mark.parametrize("title", OTHER)
def test_a_message_that_has_content_but_nothing_of_an_example_is_another_one(title: str) -> None:
    payload, words = OTHER[title]
    assert other_message(payload) == words
    with pytest.raises(pr.DecodeError, match="no Example, but "):
        check_example(payload)


EMPTY = [b"", delimited(1, b""), delimited(2, b""), delimited(1, b"") + delimited(2, b"") * 2]
UNTYPED = delimited(1, delimited(1, delimited(1, b"a") + delimited(2, b"")))
SEQUENCE = pr.encode_sequence_example({}, {"s": []})


@pytest.mark.parametrize("payload", [*EMPTY, UNTYPED, SEQUENCE, AGE, AGE + FIXED64, b"\xff", b"text"])
def test_examples_and_empty_messages_and_bytes_that_are_no_message_are_none(payload: bytes) -> None:
    assert other_message(payload) is None
    check_example(payload)


@given(feature_mappings)
@settings(max_examples=tries(200), deadline=None)
def test_no_example_is_another_message(features: Any) -> None:
    assert other_message(pr.encode_example(features)) is None
    assert other_message(pr.encode_sequence_example(features, {})) is None


@pytest.mark.parametrize("title", OTHER)
@pytest.mark.parametrize("count", [1, 300])
def test_validate_and_infer_schema_find_it_among_examples(title: str, count: int, tmp_path: Any) -> None:
    payloads = [AGE] * count + [OTHER[title][0]] + [AGE] * count
    path = str(tmp_path / "a")
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(payloads)
    assert pr.validate(path).ok
    for schema in (None, {"age": pr.RaggedFeature("int64")}):
        (damage,) = pr.validate(path, decode=True, schema=schema).files[0].damages
        assert (damage.kind, damage.records) == ("not an Example", 1)
    for sequence in (False, True):
        with pytest.raises(pr.DecodeError, match=f"record {count}"):
            pr.infer_schema(payloads, sequence=sequence)


def test_recognize_wants_all_fields_to_fit() -> None:
    now = b"\x09" + struct.pack("<d", 1.7e9)
    tag = delimited(1, delimited(1, b"loss") + b"\x15" + bytes(4))
    for payload in (
        FIXED64 + b"\x10\x05" + delimited(5, tag),
        FIXED64 + delimited(5, b""),
        now + delimited(4, b""),
    ):
        assert recognize(payload) == EVENT
    others = [
        FIXED64 + b"\x10\x05",
        FIXED64 + b"\x18\x05",
        FIXED64 + delimited(11, b""),
        FIXED64 + delimited(3, b"name"),
        FIXED64 + delimited(4, b""),
        FIXED64 + delimited(5, b"\x0f"),
        FIXED64 + delimited(5, b"\x08\x01"),
        FIXED64 + delimited(5, delimited(1, b"\x08\x01")),
    ]
    for payload in (*others, AGE, b"", b"\xff"):
        assert recognize(payload) is None
