from __future__ import annotations

import pickle
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord
from purerecord.errors import DecodeError, PureRecordError, SchemaError
from purerecord.payload import proto
from purerecord.payload.parse.dense_sparse import unbatch
from purerecord.payload.parse.examples import decode_examples, parse_example, parse_single_example
from purerecord.payload.parse.sequences import parse_single_sequence_example
from purerecord.payload.sparse import Sparse
from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from purerecord.records import Records
from tests.support.core_vs_tensorflow import difference, outcome
from tests.support.handmade_messages import UNSET_FEATURE, example, floats, ints, strings
from tests.support.settings import tries
from tests.support.spec_cases import KEYED, Case, stored_partition
from tests.support.strategies import any_example

INT = FixedLenFeature((), np.int64)


def batch(name: str, *messages: bytes | None) -> list[bytes]:
    """Examples with one feature each; None for one that lacks it."""
    return [example([] if message is None else [(name, message)]) for message in messages]


# --- FixedLenFeature --------------------------------------------------------------------------------


def test_fixed_len_gives_dense_arrays_of_the_batch() -> None:
    payloads = [
        example([("i", ints(k)), ("f", floats(k, k + 0.5)), ("s", strings(b"%d\0" % k))]) for k in range(3)
    ]
    specs = {"i": INT, "f": FixedLenFeature((2, 1), np.float32), "s": FixedLenFeature((1,), bytes)}
    result = parse_example(payloads, specs)
    assert list(result) == ["i", "f", "s"]
    assert result["i"].dtype == np.int64
    assert result["i"].tolist() == [0, 1, 2]
    assert result["f"].dtype == np.float32
    assert result["f"].tolist() == [[[0.0], [0.5]], [[1.0], [1.5]], [[2.0], [2.5]]]
    assert result["s"].dtype == object
    assert result["s"].tolist() == [[b"0\0"], [b"1\0"], [b"2\0"]]


@pytest.mark.parametrize("absent", [None, UNSET_FEATURE])
def test_missing_and_unset_features_get_the_default(absent: bytes | None) -> None:
    result = parse_example(batch("a", ints(1, 2), absent), {"a": FixedLenFeature((2,), int, [7, 8])})
    assert result["a"].tolist() == [[1, 2], [7, 8]]
    strings_result = parse_example(batch("a", absent, absent), {"a": FixedLenFeature((), str, b"x\0")})
    assert strings_result["a"].tolist() == [b"x\0", b"x\0"]


MISMATCHES: dict[str, tuple[Any, list[bytes], str, Any, Any, int]] = {
    "missing": (INT, batch("a", ints(1), None), "missing", "int64", None, 1),
    "unset": (INT, batch("a", ints(1), UNSET_FEATURE), "missing", "int64", None, 1),
    "kind": (INT, batch("a", ints(1), ints(2), floats(1.0)), "kind", "int64", "float", 2),
    "empty list of another kind": (INT, batch("a", floats()), "kind", "int64", "float", 0),
    "too many": (INT, batch("a", ints(1, 2), ints(1)), "count", 1, 2, 0),
    "empty in spite of a default": (FixedLenFeature((2,), int, [1, 2]), batch("a", ints()), "count", 2, 0, 0),
    "shape (0,)": (FixedLenFeature((0,), int), batch("a", ints(), None), "missing", "int64", None, 1),
    "VarLen kind": (VarLenFeature(bytes), batch("a", strings(b"x"), ints()), "kind", "bytes", "int64", 1),
    "Ragged kind": (RaggedFeature(float), batch("a", ints(1)), "kind", "float", "int64", 0),
    "items": (FixedLenSequenceFeature((2,), int, True), batch("a", ints(), ints(1, 2, 3)), "count", 2, 3, 1),
    "rows": (
        RaggedFeature(int, partitions=[RaggedFeature.UniformRowLength(2)]),
        batch("a", ints(1, 2), ints(1, 2, 3)), "partition", 2, 3, 1,
    ),
    "the first of two mistakes": (INT, batch("a", ints(1), ints(1, 2), floats(1.0)), "count", 1, 2, 1),
}  # fmt: skip


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
    payloads = Records.of(batch("a", ints(1), None))
    records = Records(payloads.buffer, payloads.begins, payloads.ends, path="train.tfrecord", first=40)
    with pytest.raises(SchemaError, match=r"^train.tfrecord: feature 'a': record 41: ") as caught:
        parse_example(records, {"a": INT})
    assert (caught.value.record, caught.value.row) == (41, 1)  # type: ignore[attr-defined]
    for names in (["first", "second"], np.array([b"first", b"second"])):
        with pytest.raises(SchemaError, match=r"^second: feature 'a': record 1: "):
            parse_example(batch("a", ints(1), None), {"a": INT}, names)
    for name in ("lone", b"lone", ["lone"]):
        with pytest.raises(SchemaError, match=r"^lone: feature 'a': is required"):
            parse_single_example(b"", {"a": INT}, name)
        with pytest.raises(SchemaError, match=r"^lone: feature 'a': is required"):
            parse_single_sequence_example(b"", {"a": INT}, None, name)


def test_malformed_payload_is_a_decode_error_with_its_record() -> None:
    with pytest.raises(DecodeError) as caught:
        parse_example([b"", b"junk"], {"a": VarLenFeature(int)})
    assert caught.value.record == 1


# --- VarLenFeature, FixedLenSequenceFeature ---------------------------------------------------------


def test_var_len_gives_a_sparse_of_rows_and_places() -> None:
    result = parse_example(batch("a", ints(5, 6), None, ints(7)), {"a": VarLenFeature(int)})["a"]
    assert result == Sparse([[0, 0], [0, 1], [2, 0]], np.array([5, 6, 7]), (3, 2))
    assert result.to_list() == [[5, 6], [], [7]]


def test_var_len_of_equal_lengths_has_the_same_form() -> None:
    result = parse_example(batch("a", ints(1, 2), ints(3, 4)), {"a": VarLenFeature(int)})["a"]
    assert result == Sparse([[0, 0], [0, 1], [1, 0], [1, 1]], np.array([1, 2, 3, 4]), (2, 2))


def test_items_are_padded_to_the_longest_with_the_default() -> None:
    spec = FixedLenSequenceFeature((2,), int, allow_missing=True, default_value=-1)
    result = parse_example(batch("a", ints(1, 2), None, ints(3, 4, 5, 6)), {"a": spec})["a"]
    assert result.tolist() == [[[1, 2], [-1, -1]], [[-1, -1], [-1, -1]], [[3, 4], [5, 6]]]
    assert parse_example(batch("a", None), {"a": spec})["a"].shape == (1, 0, 2)


def test_items_may_always_be_missing_in_an_example() -> None:
    with pytest.raises(ValueError, match="allow_missing=True"):
        parse_example([b""], {"a": FixedLenSequenceFeature((), int)})


# --- RaggedFeature, SparseFeature -------------------------------------------------------------------


def test_ragged_gives_rows_and_the_asked_for_splits() -> None:
    payloads = batch("v", ints(1, 2), None, ints(3))
    result = parse_example(
        payloads, {"a": RaggedFeature(int, "v"), "b": RaggedFeature(int, "v", (), "int64")}
    )
    assert result["a"].to_list() == [[1, 2], [], [3]]
    assert (result["a"].row_splits.dtype, result["b"].row_splits.dtype) == (np.int32, np.int64)
    assert parse_single_example(payloads[0], {"v": RaggedFeature(int)})["v"].tolist() == [1, 2]


@pytest.mark.parametrize("partition", KEYED)
def test_partition_cuts_the_values_of_each_example(partition: Any) -> None:
    rows = [[[1, 2], [], [3]], [], [[4]]]
    payloads = []
    for example_rows in rows:
        stored = stored_partition(partition("p"), list(map(len, example_rows)))
        values = [value for row in example_rows for value in row]
        payloads.append(example([("v", ints(*values)), ("p", ints(*stored))]))
    specs = {"r": RaggedFeature(int, "v", [partition("p")])}
    assert parse_example(payloads, specs)["r"].to_list() == rows
    assert [parse_single_example(payload, specs)["r"].to_list() for payload in payloads] == rows


def test_last_partition_is_the_innermost() -> None:
    payload = example([("v", ints(*range(6))), ("inner", ints(1, 2, 0, 3)), ("outer", ints(0, 3, 4))])
    partitions = [RaggedFeature.RowSplits("outer"), RaggedFeature.RowLengths("inner")]
    result = parse_example([payload], {"r": RaggedFeature(int, "v", partitions)})["r"]
    assert result.to_list() == [[[[0], [1, 2], []], [[3, 4, 5]]]]
    assert result.shape == (1, None, None, None)


def test_uniform_rows_inside_stay_dense_and_outside_become_ragged() -> None:
    payload = example([("v", ints(*range(8))), ("l", ints(1, 3))])
    uniform = RaggedFeature.UniformRowLength(2)
    inner = parse_example(
        [payload, b""], {"r": RaggedFeature(int, "v", [RaggedFeature.RowLengths("l"), uniform])}
    )
    assert inner["r"].shape == (2, None, None, 2)
    assert inner["r"].to_list() == [[[[0, 1]], [[2, 3], [4, 5], [6, 7]]], []]
    flat = parse_single_example(payload, {"r": RaggedFeature(int, "v", [uniform, uniform])})["r"]
    assert flat.shape == (2, 2, 2)
    payload = example([("v", ints(*range(4))), ("l", ints(1, 3))])
    outer = parse_single_example(
        payload, {"r": RaggedFeature(int, "v", [uniform, RaggedFeature.RowLengths("l")])}
    )
    assert outer["r"].to_list() == [[[0], [1, 2, 3]]]


WRONG_PARTITIONS = [
    (RaggedFeature.RowSplits, [0, 2]),
    (RaggedFeature.RowSplits, [0, 4]),
    (RaggedFeature.RowSplits, [1, 3]),
    (RaggedFeature.RowSplits, [0, 2, 1, 3]),
    (RaggedFeature.RowSplits, []),
    (RaggedFeature.RowLengths, [1, 1]),
    (RaggedFeature.RowLengths, [4, -1]),
    (RaggedFeature.RowLengths, [2**63 - 1, 2**63 - 1, 5]),
    (RaggedFeature.RowLengths, []),
    (RaggedFeature.RowStarts, [1, 2]),
    (RaggedFeature.RowStarts, [0, 4]),
    (RaggedFeature.RowStarts, [0, 2, 1]),
    (RaggedFeature.RowStarts, []),
    (RaggedFeature.RowLimits, [1, 2]),
    (RaggedFeature.RowLimits, [-(2**63), 3]),
    (RaggedFeature.RowLimits, [2, 1, 3]),
    (RaggedFeature.RowLimits, []),
    (RaggedFeature.ValueRowIds, [0, 0]),
    (RaggedFeature.ValueRowIds, [0, 0, 0, 0]),
    (RaggedFeature.ValueRowIds, [1, 0, 1]),
    (RaggedFeature.ValueRowIds, [-1, 0, 1]),
    (RaggedFeature.ValueRowIds, [0, 0, 2**62]),
    (RaggedFeature.ValueRowIds, []),
]


@pytest.mark.parametrize(("partition", "stored"), WRONG_PARTITIONS)
def test_partition_that_does_not_fit_its_example_is_refused(partition: Any, stored: list[int]) -> None:
    good = example([])
    wrong = example([("v", ints(1, 2, 3)), ("p", ints(*stored))])
    specs = {"r": RaggedFeature(int, "v", [partition("p")])}
    for payloads, record in (([good, wrong, good], 1), ([wrong], 0), ([wrong, wrong], 0)):
        with pytest.raises(
            SchemaError, match=f"feature 'r': record {record}: the {partition.__name__} under 'p'"
        ):
            parse_example(payloads, specs)


def test_empty_rows_of_many_examples_together_are_bounded_too() -> None:
    payload = example([("v", ints(1)), ("p", ints(2**22))])
    specs = {"r": RaggedFeature(int, "v", [RaggedFeature.ValueRowIds("p")])}
    assert len(parse_single_example(payload, specs)["r"]) == 2**22 + 1
    with pytest.raises(SchemaError, match="record 5"):
        parse_example([b""] + [payload] * 9, specs)


def test_sparse_feature_sorts_by_index_unless_told_not_to() -> None:
    payloads = [
        example([("x", ints(2, 0)), ("y", ints(1, 1)), ("v", floats(1.0, 2.0))]),
        example([]),
        example([("x", ints(0, 0)), ("y", ints(3, 1)), ("v", floats(3.0, 4.0))]),
    ]
    result = parse_example(payloads, {"s": SparseFeature(["x", "y"], "v", float, [3, 4])})["s"]
    assert result.indices.tolist() == [[0, 0, 1], [0, 2, 1], [2, 0, 1], [2, 0, 3]]
    assert result.values.tolist() == [2.0, 1.0, 4.0, 3.0]
    assert result.dense_shape == (3, 3, 4)
    kept = parse_example(payloads, {"s": SparseFeature("x", "v", float, 3, already_sorted=True)})["s"]
    assert kept.values.tolist() == [1.0, 2.0, 3.0, 4.0]
    alone = parse_single_example(payloads[0], {"s": SparseFeature("x", "v", float, 3)})["s"]
    assert alone.to_dense().tolist() == [2.0, 0.0, 1.0]


def test_sparse_feature_with_fewer_indices_than_values_is_refused() -> None:
    payloads = [
        example([("x", ints(2)), ("v", floats(1.0, 2.0))]),
        example([("x", ints(1, 2)), ("v", floats(3.0))]),
    ]
    with pytest.raises(
        SchemaError, match="feature 's': record 0: 2 values under 'v', but 1 indices under 'x'"
    ):
        parse_example(payloads, {"s": SparseFeature("x", "v", float, 3)})


def test_index_outside_of_a_sparse_feature_names_the_first_value_at_fault() -> None:
    payloads = [
        example([("x", ints(0, 1)), ("y", ints(0, 3)), ("v", floats(1.0, 2.0))]),
        example([("x", ints(2, 1)), ("y", ints(3, 4)), ("v", floats(1.0, 2.0))]),
        example([("x", ints(-1)), ("y", ints(0)), ("v", floats(1.0))]),
    ]
    spec = SparseFeature(["x", "y"], "v", float, [3, 4])
    with pytest.raises(SchemaError, match=r"feature 's': record 1: index 4 under 'y' is not in") as caught:
        parse_example(payloads, {"s": spec})
    error = caught.value
    assert (error.problem, error.record, error.expected, error.found) == ("index", 1, 4, 4)
    with pytest.raises(SchemaError, match=r"feature 's': index -1 under 'x' is not in"):
        parse_single_example(payloads[2], {"s": spec})


@pytest.mark.parametrize("default", [None, []])
def test_missing_feature_without_values_is_not_told_to_have_a_default(default: Any) -> None:
    with pytest.raises(SchemaError, match="use RaggedFeature if it may be missing"):
        parse_example([b""], {"a": FixedLenFeature((0,), int, default)})


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
    result = parse_example(batch("a", ints(1, 2)), {"a": specs["a"], "b": specs["b"]})
    assert result["a"].to_list() == result["b"].to_list() == [[1, 2]]


def test_example_names_must_be_as_many_as_examples() -> None:
    with pytest.raises(ValueError, match="1 example_names for 2 examples"):
        parse_example([b"", b""], {"a": VarLenFeature(int)}, ["x"])


@pytest.mark.parametrize("size", [0, 2])
def test_batch_without_values_has_the_right_shapes(size: int) -> None:
    specs = {
        "fixed": FixedLenFeature((2,), int, [1, 2]),
        "var": VarLenFeature(float),
        "items": FixedLenSequenceFeature((3,), str, allow_missing=True),
        "ragged": RaggedFeature(str),
        "sparse": SparseFeature("i", "v", int, 9),
    }
    result = parse_example([b""] * size, specs)
    assert result["fixed"].shape == (size, 2)
    assert result["var"].dense_shape == (size, 0)
    assert result["var"].indices.shape == (0, 2)
    assert result["items"].shape == (size, 0, 3)
    assert result["ragged"].shape == (size, None)
    assert result["sparse"].dense_shape == (size, 9)
    dtypes = [result[name].dtype for name in specs]
    assert dtypes == [np.int64, np.float32, object, object, np.int64]


def test_the_first_record_at_fault_is_named_whichever_key_of_a_sparse_feature_it_is():
    encode = purerecord.encode_example
    rows = [
        {"v": [1.0], "i": [0], "j": [0]},
        {"v": [1.0], "i": [0], "j": np.zeros(0, np.int64)},
        {"v": [1.0], "i": np.zeros(0, np.int64), "j": [0]},
    ]
    spec = {"s": purerecord.SparseFeature(["i", "j"], "v", float, [4, 4])}
    with pytest.raises(purerecord.SchemaError) as caught:
        purerecord.parse_example([encode(row) for row in rows], spec)
    assert caught.value.record == 1


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
