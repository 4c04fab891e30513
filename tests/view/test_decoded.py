"""One payload as the viewer sees it."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.view.decoded import decoded


def test_examples_and_sequence_examples_have_features():
    one = decoded(pr.encode_example({"x": [1, 2], "s": "a"}))
    assert (one.kind, list(one.features), one.lists, one.problem) == ("Example", ["s", "x"], {}, None)
    assert one.strings("s") == [b"a"]
    assert one.strings("x") == []
    assert one.strings("none") == []
    two = decoded(pr.encode_sequence_example({"x": 1}, {"f": [b"a", b"b"]}))
    assert (two.kind, list(two.features), list(two.lists)) == ("SequenceExample", ["x"], ["f"])
    assert two.strings("f", steps=True) == [b"a", b"b"]


@pytest.mark.parametrize(
    ("payload", "kind", "problem"),
    [
        (b"plain text, no message", "other", "no Example"),
        (
            b"\x09" + struct.pack("<d", 1.6e9) + b"\x1a\x0dbrain.Event:2",
            "Event",
            "no Example, but tensorflow.Event",
        ),
        (b"\x08\x05", "other", "no Example, but another message"),
        (b"", "Example", None),
    ],
)
def test_other_payloads_say_what_they_are(payload, kind, problem):
    found = decoded(payload)
    assert found.kind == kind
    assert (found.problem or "").startswith(problem or "")
    assert (found.problem is None) == (problem is None)


@given(st.binary(max_size=300))
def test_any_payload_gives_something(payload):
    assert decoded(payload).kind in ("Example", "SequenceExample", "Event", "ExampleList", "other")
