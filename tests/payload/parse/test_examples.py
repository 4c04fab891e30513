"""purerecord.payload.parse.examples: batches, single payloads, and columns without specs."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.bytes_column import BytesColumn
from purerecord.errors import DecodeError, PureRecordError, SchemaError
from purerecord.payload import proto
from purerecord.payload.parse.dense_sparse import unbatch
from purerecord.payload.parse.examples import (
    decode_examples,
    holds_bytes_column,
    parse_example,
    parse_single_example,
    with_objects,
)
from purerecord.payload.parse.sequences import parse_single_sequence_example
from purerecord.payload.ragged import Ragged
from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
)
from purerecord.records import Records
from tests.support.core_vs_tensorflow import difference, outcome
from tests.support.handmade_messages import UNSET_FEATURE, example, examples_of, floats, ints, strings
from tests.support.settings import tries
from tests.support.spec_cases import Case
from tests.support.strategies import any_example

INT = FixedLenFeature((), np.int64)


def test_malformed_payload_is_a_decode_error_with_its_record() -> None:
    with pytest.raises(DecodeError) as caught:
        parse_example([b"", b"junk"], {"a": VarLenFeature(int)})
    assert caught.value.record == 1


def test_items_may_always_be_missing_in_an_example() -> None:
    with pytest.raises(ValueError, match="allow_missing=True"):
        parse_example([b""], {"a": FixedLenSequenceFeature((), int)})


# --- One example ------------------------------------------------------------------------------------


def test_single_scalars_are_numpys_and_bytes() -> None:
    payload = example(
        [("i", ints(-3)), ("f", floats(0.5)), ("s", strings(b"x\0")), ("t", strings(b"a", b"b"))]
    )
    specs = {
        "i": INT,
        "f": FixedLenFeature((), float),
        "s": FixedLenFeature((), str),
        "t": FixedLenFeature((2,), str),
        "d": FixedLenFeature((), str, "default"),
    }
    result = parse_single_example(payload, specs)
    assert list(result) == list(specs)
    assert isinstance(result["i"], np.int64)
    assert isinstance(result["f"], np.float32)
    assert (result["i"], result["f"], result["s"], result["d"]) == (-3, 0.5, b"x\0", b"default")
    assert result["t"].tolist() == [b"a", b"b"]


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05, 0.3]))
def test_batch_and_single_agree(seed: int, faults: float) -> None:
    rng = Random(seed)
    cases = [Case(rng, name, faults) for name in rng.sample("abcd", rng.randrange(1, 4))]
    payload = example(pair for case in cases for pair in case.features())
    specs = {case.name: case.spec for case in cases}
    alone = outcome(parse_single_example, PureRecordError, payload, specs)
    together = outcome(lambda: unbatched(parse_example([payload], specs)), PureRecordError)
    assert not difference(alone, together)
    if isinstance(alone, SchemaError):
        assert (alone.feature, alone.reason) == (together.feature, together.reason)


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.05, 0.3]), st.integers(1, 12))
def test_bytes_columns_hold_the_same_strings(seed: int, faults: float, count: int) -> None:
    rng = Random(seed)
    cases = [Case(rng, name, faults) for name in rng.sample("abcd", rng.randrange(1, 4))]
    payloads = [example(pair for case in cases for pair in case.features()) for _ in range(count)]
    specs = {case.name: case.spec for case in cases}
    expected = outcome(parse_example, PureRecordError, payloads, specs)
    found = outcome(lambda: parse_example(payloads, specs, bytes_columns=True), PureRecordError)
    if isinstance(found, dict):
        for name, output in found.items():
            values = output.flat_values if isinstance(output, Ragged) else output
            assert isinstance(values, BytesColumn) == holds_bytes_column(specs[name])
        found = {name: with_objects(output) for name, output in found.items()}
    assert not difference(expected, found)


def test_bytes_columns_are_named_or_all() -> None:
    batch = [example([("a", strings(b"x")), ("b", strings(b"y", b"z"))]), example([("a", strings(b""))])]
    specs = {
        "a": FixedLenFeature((), bytes),
        "b": RaggedFeature(bytes),
        "c": FixedLenFeature((), bytes, b"?"),
    }
    parsed = parse_example(batch, specs, bytes_columns=["a", "b"])
    assert parsed["a"] == BytesColumn.of([b"x", b""])
    assert parsed["b"] == Ragged(BytesColumn.of([b"y", b"z"]), [0, 2, 2], [False, True])
    assert isinstance(parsed["c"], np.ndarray)
    parsed = parse_example(batch, specs, bytes_columns=True)
    assert parsed["c"] == [b"?", b"?"]
    decoded = decode_examples(batch, bytes_columns=["b"])
    assert decoded["b"] == parsed["b"]
    assert isinstance(decoded["a"], np.ndarray)


def test_bytes_column_lies_in_the_memory_of_the_records_if_it_is_most_of_it() -> None:
    batch = Records.of([example([("a", strings(bytes(1000))), ("b", strings(b"n"))])] * 5)
    parsed = parse_example(batch, {"a": "string", "b": "string"}, bytes_columns=True)
    assert parsed["a"].buffer is batch.buffer
    assert memoryview(parsed["b"].buffer).nbytes == 5


def test_default_of_a_bytes_column_stands_where_the_feature_is_missing() -> None:
    batch = [example([("a", strings(bytes(100)))]), example([]), example([("a", strings(b""))])]
    for default in (b"", b"none"):
        spec = {"a": FixedLenFeature((), bytes, default)}
        assert parse_example(batch, spec, bytes_columns=True)["a"] == [bytes(100), default, b""]
        assert parse_example(batch[1:2], spec, bytes_columns=True)["a"] == [default]


def test_a_feature_for_several_specs_is_a_bytes_column_for_the_one_that_is_named() -> None:
    specs = {
        "a": FixedLenFeature((), bytes),
        "all": RaggedFeature(bytes, value_key="a"),
        "n": VarLenFeature(bytes),
    }
    parsed = parse_example([example([("a", strings(b"x"))])], specs, bytes_columns=["a"])
    assert isinstance(parsed["a"], BytesColumn)
    assert parsed["all"].values.tolist() == [b"x"]
    assert type(parsed["all"].values) is np.ndarray


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        (FixedLenFeature((), np.int64), "is asked for as FixedLenFeature"),
        (FixedLenFeature((2,), bytes), "is asked for as"),
        (VarLenFeature(bytes), "is asked for as VarLenFeature"),
        (RaggedFeature(bytes, partitions=[RaggedFeature.UniformRowLength(2)]), "is asked for as"),
        (None, "'x', which is not asked for"),
    ],
)
def test_what_cannot_be_a_bytes_column_is_not_to_be_named(spec: Any, match: str) -> None:
    specs = {"y": INT} if spec is None else {"x": spec}
    with pytest.raises(ValueError, match=match):
        parse_example([], specs, bytes_columns=["x"])
    parse_example([], specs, bytes_columns=True)


def test_numbers_are_no_bytes_column_of_decode_examples() -> None:
    batch = [example([("i", ints(1)), ("s", strings(b"a"))])]
    with pytest.raises(SchemaError, match="int64"):
        decode_examples(batch, bytes_columns=["i"])
    assert decode_examples(batch, bytes_columns=["not there"])["s"].tolist() == [b"a"]
    with pytest.raises(ValueError, match="text"):
        decode_examples(batch, text=True, bytes_columns=True)


def unbatched(outputs: dict[str, Any]) -> dict[str, Any]:
    return {name: unbatch(output) for name, output in outputs.items()}


@pytest.mark.parametrize("seed", range(tries(20)))
def test_any_bytes_give_a_result_or_one_of_our_errors(seed: int) -> None:
    rng = Random(seed)
    for _ in range(20):
        specs = {name: Case(rng, name, 0.0).spec for name in rng.sample(["a", "b", "ab", "c"], 2)}
        payloads = [any_example(rng) for _ in range(rng.choice((1, 3, 20)))]
        together = outcome(parse_example, PureRecordError, payloads, specs)
        alone = [outcome(parse_single_example, PureRecordError, payload, specs) for payload in payloads]
        assert isinstance(together, Exception) == any(isinstance(one, Exception) for one in alone)
        if not isinstance(together, Exception):
            decode_outcome = outcome(decode_examples, PureRecordError, payloads)
            assert not isinstance(decode_outcome, DecodeError)


# --- What goes in -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "serialized",
    [
        [example([("a", ints(1))])],
        (example([("a", ints(1))]),),
        iter([example([("a", ints(1))])]),
        [bytearray(example([("a", ints(1))]))],
        [memoryview(example([("a", ints(1))]))],
        Records.of([example([("a", ints(1))])]),
        np.array([example([("a", ints(1))])], object),
    ],
)
def test_batch_may_be_any_sequence_of_payloads(serialized: Any) -> None:
    assert parse_example(serialized, {"a": INT})["a"].tolist() == [1]


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda payload: np.array(payload, object)])
def test_single_payload_has_no_batch_dimension(wrap: Any) -> None:
    payload = wrap(example([("a", ints(1))]))
    assert parse_single_example(payload, {"a": INT})["a"] == 1
    assert parse_example(payload, {"a": INT})["a"] == 1


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (proto.Example(), r"not Example; serialize it first, with SerializeToString\(\)"),
        ([proto.Example()], r"not Example; serialize it first, with SerializeToString\(\)"),
        ("text", "bytes-like, not str"),
        (["text"], "bytes-like, not str"),
        (None, "bytes-like, not NoneType"),
        (5, "bytes-like, not int"),
    ],
)
@pytest.mark.parametrize("parse", [parse_example, parse_single_example, parse_single_sequence_example])
def test_what_is_no_payload_is_told_what_would_do(parse: Any, wrong: Any, match: str) -> None:
    with pytest.raises(TypeError, match=match):
        parse(wrong, {"a": INT})


def test_batch_is_no_single_payload() -> None:
    with pytest.raises(ValueError, match="parse_example for a batch"):
        parse_single_example([b""], {"a": INT})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("serialized", "error"),
    [
        ("text", TypeError),
        (["text"], TypeError),
        (5, TypeError),
        (np.array([b"x"]), TypeError),  # fixed width: trailing NULs are lost
        (np.array([[b"x"]], object), ValueError),
    ],
)
def test_what_is_no_batch_is_refused(serialized: Any, error: Any) -> None:
    with pytest.raises(error):
        parse_example(serialized, {"a": INT})


@pytest.mark.parametrize("features", [None, {}])
def test_specs_are_needed(features: Any) -> None:
    with pytest.raises(ValueError, match="at least one feature"):
        parse_example([b""], features)
    with pytest.raises(ValueError, match="at least one feature"):
        parse_single_example(b"", features)


def test_feature_cannot_be_of_two_kinds() -> None:
    specs = {"a": VarLenFeature(int), "b": RaggedFeature(float, "a")}
    with pytest.raises(ValueError, match="both as int64 and as float"):
        parse_example([b""], specs)


def test_feature_may_serve_several_specs() -> None:
    specs = {"a": VarLenFeature(int), "b": RaggedFeature(int, "a"), "c": FixedLenFeature((1,), int)}
    specs["c"] = FixedLenSequenceFeature((), int, allow_missing=True)  # type: ignore[assignment]
    result = parse_example(examples_of("a", ints(1, 2)), {"a": specs["a"], "b": specs["b"]})
    assert result["a"].to_list() == result["b"].to_list() == [[1, 2]]


def test_example_names_must_be_as_many_as_examples() -> None:
    with pytest.raises(ValueError, match="1 example_names for 2 examples"):
        parse_example([b"", b""], {"a": VarLenFeature(int)}, ["x"])


def test_specs_that_are_changed_between_two_calls_count_from_the_next_one_on() -> None:
    records = [example([("a", ints(1, 2)), ("b", ints(3, 4))])] * 5
    scalar, pair = FixedLenFeature([2], np.int64), FixedLenFeature([1, 2], np.int64)
    features: dict[str, Any] = {"a": scalar, "b": pair}
    assert [out.shape for out in parse_example(records, features).values()] == [(5, 2), (5, 1, 2)]
    features["a"] = pair
    assert parse_example(records, features)["a"].shape == (5, 1, 2)
    assert list(parse_example(records, {"b": pair, "a": pair})) == ["b", "a"]
    assert list(parse_example(records, {"a": pair, "b": pair})) == ["a", "b"]
    features["c"] = features.pop("a")
    with pytest.raises(SchemaError, match="'c'"):
        parse_example(records, features)
    features["c"] = FixedLenSequenceFeature([2], np.int64)
    for _ in range(2):
        with pytest.raises(ValueError, match="allow_missing"):
            parse_example(records, features)
    for _ in range(2):
        with pytest.raises(ValueError, match="at least one"):
            parse_example(records, {})


# --- decode_examples ---------------------------------------------------------------------------------


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
