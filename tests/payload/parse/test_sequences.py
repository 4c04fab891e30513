"""purerecord.payload.parse.sequences: contexts and feature lists, padded, sparse and ragged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purerecord
from purerecord.errors import DecodeError, SchemaError
from purerecord.payload.parse.sequences import parse_sequence_example, parse_single_sequence_example
from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from purerecord.records import Records
from tests.support.handmade_messages import UNSET_FEATURE, floats, ints, sequence_example, strings

ID = FixedLenFeature((), int)
ITEMS = FixedLenSequenceFeature((), int)


def lists(*steps: bytes) -> bytes:
    """A SequenceExample with the feature list "a"."""
    return sequence_example([], [("a", steps)])


def test_context_is_parsed_like_an_example() -> None:
    payloads = [
        sequence_example([("id", ints(1)), ("tags", strings(b"x", b"y"))], []),
        sequence_example([("id", ints(2))], []),
    ]
    specs = {
        "id": ID,
        "tags": VarLenFeature(str),
        "same": RaggedFeature(str, "tags"),
        "gone": FixedLenFeature((2,), int, [3, 4]),
    }
    context, sequence, lengths = parse_sequence_example(payloads, specs)
    assert context["id"].tolist() == [1, 2]
    assert context["tags"].to_list() == context["same"].to_list() == [[b"x", b"y"], []]
    assert context["gone"].tolist() == [[3, 4], [3, 4]]
    assert (sequence, lengths) == ({}, {})


def test_steps_are_padded_and_their_number_is_told() -> None:
    payloads = [lists(floats(1, 2), floats(3, 4)), lists(), lists(floats(5, 6))]
    _, sequence, lengths = parse_sequence_example(payloads, None, {"a": FixedLenSequenceFeature((2,), float)})
    assert sequence["a"].tolist() == [[[1, 2], [3, 4]], [[0, 0], [0, 0]], [[5, 6], [0, 0]]]
    assert lengths["a"].tolist() == [2, 0, 1]
    assert lengths["a"].dtype == np.int64


def test_steps_of_any_length_are_sparse_or_ragged() -> None:
    payloads = [lists(ints(1, 2), ints(), UNSET_FEATURE, ints(3)), sequence_example([], [])]
    specs = {"a": VarLenFeature(int), "r": RaggedFeature(int, "a")}
    _, sequence, lengths = parse_sequence_example(payloads, None, specs)
    assert sequence["r"].to_list() == [[[1, 2], [], [], [3]], []]
    assert sequence["r"].row_splits.dtype == np.int32
    assert sequence["a"].indices.tolist() == [[0, 0, 0], [0, 0, 1], [0, 3, 0]]
    assert sequence["a"].dense_shape == (2, 4, 2)
    assert lengths == {}


def test_partitions_cut_each_step() -> None:
    steps = [("v", [ints(1, 2, 3), ints(4)]), ("p", [ints(2, 1), ints(1)])]
    spec = RaggedFeature(int, "v", [RaggedFeature.RowLengths("p")])
    payloads = [sequence_example([], steps), sequence_example([], [])]
    _, sequence, _ = parse_sequence_example(payloads, None, {"r": spec})
    assert sequence["r"].to_list() == [[[[1, 2], [3]], [[4]]], []]
    assert sequence["r"].shape == (2, None, None, None)


def test_context_and_sequence_may_use_the_same_name() -> None:
    payload = sequence_example([("a", ints(7))], [("a", [ints(1), ints(2)])])
    context, sequence, lengths = parse_sequence_example([payload], {"a": ID}, {"a": ITEMS})
    assert (context["a"].tolist(), sequence["a"].tolist(), lengths["a"].tolist()) == ([7], [[1, 2]], [2])


def test_single_sequence_example_has_no_batch_dimension() -> None:
    payload = sequence_example([("id", ints(7)), ("w", strings(b"x"))], [("a", [ints(1), ints(2)])])
    context_specs = {"id": ID, "w": RaggedFeature(str)}
    specs = {"a": ITEMS, "v": RaggedFeature(int, "a"), "s": VarLenFeature(int)}
    context, sequence = parse_single_sequence_example(payload, context_specs, specs)
    assert context["id"] == 7
    assert context["w"].tolist() == [b"x"]
    assert sequence["a"].tolist() == [1, 2]
    assert sequence["v"].to_list() == [[1], [2]]
    assert sequence["s"].dense_shape == (0, 0)
    *_, lengths = parse_sequence_example(payload, context_specs, specs)
    assert lengths["a"] == 2


MISMATCHES: dict[str, tuple[Any, Any, bytes, str, int | None]] = {
    "context missing": ({"c": ID}, None, sequence_example([], []), "missing", None),
    "context without a list": ({"c": FixedLenFeature((), int, 1)}, None,
                               sequence_example([("c", UNSET_FEATURE)], []), "count", None),
    "context of another kind": ({"c": ID}, None, sequence_example([("c", floats(1))], []), "kind", None),
    "list missing": (None, {"c": ITEMS}, sequence_example([], []), "missing", None),
    "step of another kind": (None, {"c": ITEMS},
                             sequence_example([], [("c", [ints(1), floats(1)])]), "kind", 1),
    "step with too much": (None, {"c": ITEMS},
                           sequence_example([], [("c", [ints(1), ints(1, 2)])]), "count", 1),
    "step without a list": (None, {"c": ITEMS}, sequence_example([], [("c", [UNSET_FEATURE])]), "count", 0),
    "VarLen kind": (None, {"c": VarLenFeature(int)}, sequence_example([], [("c", [floats()])]), "kind", 0),
    "partition": (None, {"c": RaggedFeature(int, "v", [RaggedFeature.RowLengths("p")])},
                  sequence_example([], [("v", [ints(), ints(1)]), ("p", [ints(), ints(2)])]), "partition", 1),
    "fewer partitions than steps": (None, {"c": RaggedFeature(int, "v", [RaggedFeature.RowLengths("p")])},
                                    sequence_example([], [("v", [ints(1)])]), "partition", None),
}  # fmt: skip


@pytest.mark.parametrize("case", MISMATCHES)
def test_mismatch_names_feature_record_and_step(case: str) -> None:
    context, sequence, payload, problem, step = MISMATCHES[case]
    good = sequence_example([("c", ints(1))], [("c", [ints(1)])])
    with pytest.raises(SchemaError, match="feature 'c': record 1: ") as caught:
        parse_sequence_example([good, payload], context, sequence)
    error = caught.value
    assert isinstance(error, SchemaError)
    assert (error.feature, error.record, error.step, error.problem) == ("c", 1, step, problem)
    with pytest.raises(SchemaError, match="feature 'c': "):
        parse_single_sequence_example(payload, context, sequence)


def test_malformed_payload_is_a_decode_error_with_its_place() -> None:
    payloads = Records.of([b"", b"junk"])
    records = Records(payloads.buffer, payloads.begins, payloads.ends, path="f", first=7)
    with pytest.raises(DecodeError) as caught:
        parse_sequence_example(records, {"c": VarLenFeature(int)})
    assert (caught.value.record, caught.value.path) == (8, "f")


def test_missing_list_has_no_steps_where_that_is_allowed() -> None:
    spec = FixedLenSequenceFeature((2,), str, allow_missing=True)
    _, sequence, lengths = parse_sequence_example([b""], None, {"a": spec})
    assert sequence["a"].shape == (1, 0, 2)
    assert sequence["a"].dtype == object
    assert lengths["a"].tolist() == [0]


def test_no_records_give_empty_batches() -> None:
    context, sequence, lengths = parse_sequence_example([], {"c": ID}, {"a": ITEMS, "v": VarLenFeature(int)})
    assert context["c"].shape == (0,)
    assert sequence["a"].shape == (0, 0)
    assert sequence["v"].dense_shape == (0, 0, 0)
    assert lengths["a"].shape == (0,)


@pytest.mark.parametrize(
    ("context", "sequence", "match"),
    [
        (None, None, "both empty"),
        ({}, {}, "both empty"),
        ({"a": SparseFeature("i", "v", int, 5)}, None, "Unsupported SparseFeature"),
        ({"a": ITEMS}, None, "Unsupported FixedLenSequenceFeature"),
        (None, {"a": ID}, "Unsupported FixedLenFeature"),
        (None, {"a": FixedLenSequenceFeature((), int, default_value=5)}, "no default_value"),
        (None, {"a": VarLenFeature(int), "b": RaggedFeature(float, "a")}, "both as"),
    ],
)
def test_specs_that_make_no_sense_in_a_sequence_example_are_refused(
    context: Any, sequence: Any, match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        parse_sequence_example([b""], context, sequence)


def test_batch_is_no_single_payload() -> None:
    with pytest.raises(ValueError, match="parse_sequence_example for a batch"):
        parse_single_sequence_example([b""], {"a": ID})  # type: ignore[arg-type]


def test_example_names_appear_in_messages() -> None:
    with pytest.raises(SchemaError, match=r"^clip 7: feature 'c'"):
        parse_sequence_example([b""], {"c": ID}, None, ["clip 7"])
    with pytest.raises(ValueError, match="2 example_names for 1"):
        parse_sequence_example([b""], {"c": ID}, None, ["a", "b"])


def test_the_first_record_at_fault_is_named_whether_in_its_context_or_in_its_lists():
    encode = purerecord.encode_sequence_example
    payloads = [encode({"c": 1}, {"s": [["x"]]}), encode({"c": "x"}, {"s": [[1]]})]
    specs = {"c": purerecord.VarLenFeature(int)}, {"s": purerecord.VarLenFeature(int)}
    with pytest.raises(purerecord.SchemaError) as caught:
        purerecord.parse_sequence_example(payloads, *specs)
    assert (caught.value.record, caught.value.feature) == (0, "s")
