"""Features that are dropped and renamed, and every other byte left alone."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import DecodeError, SchemaError, decode_example, encode_example, encode_sequence_example
from purerecord.payload.wire import decode_features, decode_sequence
from purerecord.tools.rewrite.feature_edit import FeatureEdit
from tests.support.strategies import hostile_example, hostile_sequence, mutate, plain

EXAMPLE = encode_example({"a": 1, "b": "x" * 300, "c": [0.5, 1.5], "d": []})


def edit(keep=None, drop=(), rename=None):
    names = {old.encode(): new.encode() for old, new in (rename or {}).items()}
    return FeatureEdit(keep and {one.encode() for one in keep}, {one.encode() for one in drop}, names)


def edited(features, keep=None, drop=(), rename=None):
    """What an edit must give."""
    kept = {name: value for name, value in features.items() if name not in drop}
    kept = {name: value for name, value in kept.items() if keep is None or name in keep}
    return {(rename or {}).get(name, name): value for name, value in kept.items()}


CASES = [
    {"keep": ["a", "c"]},
    {"drop": ["b"]},
    {"rename": {"a": "a much longer name/" * 20}},
    {"rename": {"a": "b", "b": "a"}},
    {"keep": ["b", "nothing"], "rename": {"b": ""}},
    {"drop": ["b"], "rename": {"a": "b"}},
]


@pytest.mark.parametrize("case", CASES)
def test_features_are_dropped_and_renamed(case):
    assert plain(decode_example(edit(**case)(EXAMPLE))) == plain(edited(decode_example(EXAMPLE), **case))


def test_without_a_change_the_bytes_stay():
    change = edit(drop=["other"])
    assert change(EXAMPLE) == EXAMPLE
    assert change.seen == {b"a", b"b", b"c", b"d"}


def test_what_is_no_feature_is_kept():
    unknown = b"\x1a\x03abc" + b"\x28\x07"  # fields 3 and 5
    inside = b"\x0a\x04\x12\x02hi"  # Features with a field 2
    changed = edit(keep=["a"])(unknown + EXAMPLE + inside)
    assert changed.startswith(unknown)
    assert changed.endswith(inside)
    assert list(decode_example(changed)) == ["a"]


def test_features_of_sequences_are_edited_too():
    sequence = encode_sequence_example({"a": 1, "b": 2}, {"c": [[1], [2, 3]], "d": [[4]]})
    expected = encode_sequence_example({"a": 1}, {"x": [[1], [2, 3]]})
    assert edit(keep=["a", "c"], rename={"c": "x"})(sequence) == expected


def test_two_features_of_one_name_are_an_error():
    with pytest.raises(SchemaError, match="feature 'b': the record has it already, so 'a' cannot be renamed"):
        edit(rename={"a": "b"})(EXAMPLE)


@given(st.integers(0, 2**32), st.sampled_from(CASES), st.booleans())
def test_any_form_of_a_message_is_edited_as_it_is_decoded(seed, case, damaged):
    random = Random(seed)
    make, decode = random.choice([(hostile_example, decode_features), (hostile_sequence, decode_sequence)])
    payload = make(random)
    if damaged:
        payload = mutate(payload, random)
    try:
        features = decode(payload)
        changed = edit(**case)(payload)
    except (DecodeError, SchemaError):
        return
    if decode is decode_features:
        assert plain(decode(changed)) == plain(edited(features, **case))
    else:
        assert plain(decode(changed)) == plain(tuple(edited(part, **case) for part in features))
