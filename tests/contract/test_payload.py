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
from tests.support.legal_examples import example_batches, features_of, kinds_of, lists_of, sequence_batches
from tests.support.places import CORPUS
from tests.support.settings import tries
from tests.support.spec_cases import Case
from tests.support.strategies import (
    any_example,
    any_sequence,
    example_payloads,
    feature_mappings,
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


@given(example_batches())
@settings(max_examples=tries(150))
def test_columns_come_back_as_the_messages_that_they_were(payloads: list[bytes]) -> None:
    kinds, _ = kinds_of(payloads)
    if any(len(found) > 1 for found in kinds.values()):
        with pytest.raises(pr.SchemaError, match="cannot be one column"):
            pr.decode_examples(payloads)
        return
    columns = pr.decode_examples(payloads)
    in_place = pr.decode_examples(payloads, bytes_columns=True)
    if not kinds:
        assert columns == {}
        with pytest.raises(pr.EncodeError, match="without columns"):
            pr.encode_examples(columns)
        return
    again = pr.encode_examples(columns)
    assert [features_of(payload) for payload in again] == [features_of(payload) for payload in payloads]
    assert pr.encode_examples(in_place) == again
    # Parsing with the inferred schema keeps missing features missing, too.
    schema = pr.infer_schema(payloads)
    for name, column in (pr.parse_example(payloads, schema) if schema else {}).items():
        assert np.array_equal(getattr(column, "missing", None), getattr(columns[name], "missing", None))


@given(sequence_batches())
def test_sequence_examples_come_back_as_the_messages_that_they_were(payloads: list[bytes]) -> None:
    for payload in payloads:
        if any(len(found) > 1 for part in kinds_of([payload]) for found in part.values()):
            continue  # steps of different kinds in one list
        again = pr.encode_sequence_example(*pr.decode_sequence_example(payload))
        assert (features_of(again), lists_of(again)) == (features_of(payload), lists_of(payload))
        assert len(again) <= len(payload), "nothing is added that was not there"


def test_columns_of_a_file_that_tensorflow_wrote_come_back_as_the_same_messages() -> None:
    records = list(pr.read_records(CORPUS / "missing.tfrecord"))
    columns = pr.decode_examples(records)
    assert {name: column.missing.sum() for name, column in columns.items() if column.missing is not None}
    assert [features_of(payload) for payload in pr.encode_examples(columns)] == list(
        map(features_of, records)
    )
    spec = {"float": pr.RaggedFeature(float), "int64": pr.VarLenFeature(int)}
    assert pr.parse_example(records, spec)["float"] == columns["float"]


def test_sequence_examples_that_tensorflow_wrote_come_back_as_the_same_messages() -> None:
    for payload in pr.read_records(CORPUS / "missing-steps.tfrecord"):
        again = pr.encode_sequence_example(*pr.decode_sequence_example(payload))
        assert (features_of(again), lists_of(again)) == (features_of(payload), lists_of(payload))


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
