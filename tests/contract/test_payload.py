"""The contract of the payload: the design's sentences, each as a property that must hold for any bytes."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError as ProtobufError
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord.payload.columns.gather import gather
from purerecord.payload.wire import ABSENT, UNSET, decode_features
from tests.payload.test_wire import needs_upb
from tests.support.column_batches import cell
from tests.support.places import CORPUS
from tests.support.settings import tries
from tests.support.spec_cases import Case
from tests.support.strategies import (
    any_example,
    any_sequence,
    example_payloads,
    feature_mappings,
    float32s,
    int64s,
    message_features,
    mutate,
    plain,
    sequence_payloads,
    sequences,
)

# 3. Any bytes give values or a PureRecordError; any other exception is a bug.


SPECS = {name: Case(Random(seed), name, 0.0).spec for seed, name in enumerate("abcdefghijkl")}
WAYS_IN = {
    "decode_example": pr.decode_example,
    "decode_sequence_example": pr.decode_sequence_example,
    "decode_examples": lambda payload: pr.decode_examples([payload] * 6),
    "parse_single_example": lambda payload: pr.parse_single_example(payload, SPECS),
    "parse_example": lambda payload: pr.parse_example([payload] * 6, SPECS),
    "parse_sequence_example": lambda payload: pr.parse_sequence_example(
        [payload] * 20,
        {"a": pr.VarLenFeature(int)},
        {"b": pr.RaggedFeature(bytes), "a": pr.VarLenFeature(float)},
    ),
    "infer_schema": lambda payload: pr.infer_schema([payload, b""]),
    "infer_schema of sequences": lambda payload: pr.infer_schema([payload, b""], sequence=True),
    "parse_tensor": pr.parse_tensor,
}


@pytest.mark.parametrize("way", WAYS_IN)
@given(payload=st.one_of(st.binary(max_size=60), example_payloads, sequence_payloads))
def test_any_bytes_give_values_or_a_pure_record_error(way: str, payload: bytes) -> None:
    with contextlib.suppress(pr.PureRecordError):
        WAYS_IN[way](payload)


@pytest.mark.parametrize("seed", range(tries(4)))
@pytest.mark.parametrize("sequence", [False, True])
def test_error_about_a_damaged_batch_names_the_first_damaged_record(seed: int, sequence: bool) -> None:
    random = Random(seed)
    good = pr.encode_sequence_example({"a": 1, "b": ["x", "y"]}, {"b": [["x"]], "a": [[1.5], [2.5]]})
    for _ in range(20):
        payloads = [good] * 30
        for place in random.sample(range(30), 3):
            make = any_sequence if sequence else any_example
            payloads[place] = mutate(good, random) if random.random() < 0.7 else make(random)
        decode = pr.decode_sequence_example if sequence else pr.decode_example
        bad = [place for place, payload in enumerate(payloads) if not accepts(decode, payload)]
        if bad:
            with pytest.raises(pr.DecodeError) as caught:
                pr.infer_schema(payloads, sequence=sequence)
            assert caught.value.record == bad[0]


def accepts(decode: Any, payload: bytes) -> bool:
    try:
        decode(payload)
    except pr.DecodeError:
        return False
    return True


# 6. decode(encode(x)) == x, and the same values always give the same bytes.


@given(feature_mappings, st.randoms(use_true_random=False))
def test_examples_come_back_and_have_one_form(features: dict[str, Any], random: Random) -> None:
    payload = pr.encode_example(features)
    assert plain(pr.decode_example(payload)) == plain(features)
    names = list(features)
    random.shuffle(names)
    assert pr.encode_example({name: features[name] for name in names}) == payload
    assert list(pr.decode_example(payload)) == sorted(features, key=str.encode)


@given(feature_mappings, sequences)
def test_sequence_examples_come_back(context: dict[str, Any], sequence: dict[str, Any]) -> None:
    payload = pr.encode_sequence_example(context, sequence)
    assert plain(pr.decode_sequence_example(payload)) == plain((context, sequence))


@st.composite
def example_batches(draw: st.DrawFn) -> list[bytes]:
    """Legal Examples: a feature is missing, untyped, empty or filled in each; rarely of two kinds."""
    feature = {
        kind: st.none() | st.just(pr.Feature()) | values.map(lambda value, name=name: _feature(name, value))
        for kind, (name, values) in enumerate(_LISTS.items())
    }
    names = draw(st.lists(st.text(max_size=3), min_size=1, max_size=4, unique=True))
    kinds = {name: draw(st.integers(0, len(feature) - 1)) for name in names}
    payloads = []
    for _ in range(draw(st.integers(1, 6))):
        message = pr.Example()
        for name, kind in kinds.items():
            odd = draw(st.integers(0, 40)) == 1
            made = draw(feature[(kind + odd) % len(feature)])
            if made is not None:
                message.features.feature[name].CopyFrom(made)
        payloads.append(message.SerializeToString())
    return payloads * draw(st.sampled_from([1, 3, 20]))


_LISTS: dict[str, st.SearchStrategy[list[Any]]] = {
    "int64_list": st.lists(int64s, max_size=3),
    "float_list": st.lists(float32s, max_size=3),
    "bytes_list": st.lists(st.binary(max_size=3), max_size=3),
}


def _feature(name: str, values: list[Any]) -> Any:
    message = pr.Feature()
    getattr(message, name).SetInParent()
    getattr(message, name).value.extend(values)
    return message


@given(example_batches())
@settings(max_examples=tries(300))
def test_columns_come_back_as_the_messages_that_they_were(payloads: list[bytes]) -> None:
    messages = [pr.Example.FromString(payload).features for payload in payloads]
    kinds: dict[str, set[str]] = {}
    for message in messages:
        for name, feature in message.feature.items():
            kinds.setdefault(name, set()).update(
                [feature.WhichOneof("kind")] if feature.WhichOneof("kind") else []
            )
    if any(len(found) > 1 for found in kinds.values()):
        with pytest.raises(pr.SchemaError, match="cannot be one column"):
            pr.decode_examples(payloads)
        return
    columns = pr.decode_examples(payloads)
    if not kinds:
        assert columns == {}
        with pytest.raises(pr.EncodeError, match="without columns"):
            pr.encode_examples(columns)
        return
    again = pr.encode_examples(columns)
    assert [_features(payload) for payload in again] == [_features(payload) for payload in payloads]
    # Parsing with the inferred schema keeps missing features missing, too.
    schema = pr.infer_schema(payloads)
    for name, column in (pr.parse_example(payloads, schema) if schema else {}).items():
        assert np.array_equal(getattr(column, "missing", None), getattr(columns[name], "missing", None))


def _features(payload: bytes) -> bytes:
    """The features of an Example, or the context of a SequenceExample, in the one form that can be compared:
    messages with a NaN are never equal."""
    return pr.Example.FromString(payload).features.SerializeToString(deterministic=True)


def _lists(payload: bytes) -> bytes:
    return pr.SequenceExample.FromString(payload).feature_lists.SerializeToString(deterministic=True)


_STEPS = st.sampled_from(list(_LISTS)).flatmap(
    lambda name: st.lists(
        st.just(pr.Feature()) | _LISTS[name].map(lambda values: _feature(name, values)), max_size=3
    )
)


@given(example_batches(), st.dictionaries(st.text(max_size=3), _STEPS, max_size=3))
def test_sequence_examples_come_back_as_the_messages_that_they_were(
    contexts: list[bytes], lists: dict[str, list[Any]]
) -> None:
    message = pr.SequenceExample.FromString(contexts[0])
    for name, steps in lists.items():
        message.feature_lists.feature_list[name].feature.extend(steps)
    payload = message.SerializeToString()
    again = pr.encode_sequence_example(*pr.decode_sequence_example(payload))
    assert (_features(again), _lists(again)) == (_features(payload), _lists(payload))
    assert len(again) <= len(payload), "nothing is added that was not there"


def test_columns_of_a_file_that_tensorflow_wrote_come_back_as_the_same_messages() -> None:
    records = list(pr.read_records(CORPUS / "missing.tfrecord"))
    columns = pr.decode_examples(records)
    assert {name: column.missing.sum() for name, column in columns.items() if column.missing is not None}
    assert [_features(payload) for payload in pr.encode_examples(columns)] == list(map(_features, records))
    spec = {"float": pr.RaggedFeature(float), "int64": pr.VarLenFeature(int)}
    assert pr.parse_example(records, spec)["float"] == columns["float"]


def test_sequence_examples_that_tensorflow_wrote_come_back_as_the_same_messages() -> None:
    for payload in pr.read_records(CORPUS / "missing-steps.tfrecord"):
        again = pr.encode_sequence_example(*pr.decode_sequence_example(payload))
        assert (_features(again), _lists(again)) == (_features(payload), _lists(payload))


# 7. The row decoder, the column decoder and protobuf agree.


@needs_upb
@given(st.lists(example_payloads, min_size=1, max_size=4), st.integers(1, 6))
@settings(max_examples=tries(200))
def test_row_decoder_column_decoder_and_protobuf_agree(payloads: list[bytes], copies: int) -> None:
    payloads = payloads * copies
    messages = [by_protobuf(payload) for payload in payloads]
    rows = [by_rows(payload) for payload in payloads]
    assert rows == messages
    if None in messages:
        with pytest.raises(pr.DecodeError) as caught:
            gather(payloads)
        assert caught.value.record == messages.index(None)
        return
    columns = gather(payloads)
    found: list[dict[str, Any]] = [{} for _ in payloads]
    for name, column in columns.items():
        kinds = [column.kind] * len(payloads) if column.kinds is None else column.kinds.tolist()
        for row, kind, (begin, end) in zip(found, kinds, pairwise(column.row_splits), strict=True):
            if kind != ABSENT:
                own = column.values[begin:end] if kind == column.kind and kind != UNSET else None
                row[name] = (kind, None if own is None else cell(own))
    for row, expected in zip(found, messages, strict=True):
        assert expected is not None
        assert row.keys() == expected.keys()
        for name, (kind, values) in row.items():
            assert kind == expected[name][0]
            assert values in (None, expected[name][1])


def by_protobuf(payload: bytes) -> dict[str, Any] | None:
    """What protobuf makes of an Example; None if it refuses it."""
    try:
        return comparable(message_features(pr.Example.FromString(payload).features))
    except (ProtobufError, UnicodeDecodeError, SystemError):
        return None


def by_rows(payload: bytes) -> dict[str, Any] | None:
    try:
        return comparable(decode_features(payload))
    except pr.DecodeError:
        return None


def comparable(features: dict[str, Any]) -> dict[str, Any]:
    return {name: (kind, cell(values) if kind else None) for name, (kind, values) in features.items()}
