"""Where we differ from TensorFlow on purpose: docs/examples.md has the table, here is the proof.

Every test shows both sides, so that a change of either is noticed.
"""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest

from purerecord.errors import DecodeError, PureRecordError, SchemaError
from purerecord.payload.parse.examples import parse_example, parse_single_example
from purerecord.payload.parse.sequences import parse_sequence_example
from purerecord.payload.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from purerecord.payload.wire import delimited
from tests.support.core_vs_tensorflow import outcome, plain, tensorflow_spec, tensorflow_specs
from tests.support.handmade_messages import UNSET_FEATURE, example, floats, ints, sequence_example
from tests.support.interop import interop
from tests.support.spec_cases import KEYED, stored_partition

tf = interop("tensorflow")

CAMPAIGN = int(os.environ.get("PURERECORD_CAMPAIGN", "1"))
TF_ERRORS = (tf.errors.OpError, ValueError, TypeError, UnicodeDecodeError)
INT = FixedLenFeature((), "int64", -1)
RAGGED = RaggedFeature("int64")

PACKED_12 = delimited(1, b"\x01\x02")
PACKED_3 = delimited(1, b"\x03")
UNPACKED_4 = b"\x08\x04"
UNKNOWN = b"\x78\x05"  # field 15, varint

# What protobuf says that these bytes mean, and what TensorFlow's own parser makes of them.
WIRE_FORMS: list[tuple[str, bytes, Any, list[int], Any]] = [
    ("split packed list", delimited(3, PACKED_12 + PACKED_3), RAGGED, [1, 2, 3], [1, 2]),
    ("packed, then unpacked", delimited(3, PACKED_12 + UNPACKED_4), RAGGED, [1, 2, 4], [1, 2]),
    ("unpacked, then packed", delimited(3, UNPACKED_4 + PACKED_12), RAGGED, [4, 1, 2], None),
    ("unknown field in the list", delimited(3, UNKNOWN + PACKED_12), RAGGED, [1, 2], None),
    ("unknown field before the list", UNKNOWN + delimited(3, PACKED_12), RAGGED, [1, 2], None),
    ("the same list twice", delimited(3, PACKED_12) + delimited(3, PACKED_3), RAGGED, [1, 2, 3], [1, 2]),
    ("two kinds", delimited(2, b"") + delimited(3, PACKED_3), RAGGED, [3], None),
]


@pytest.mark.parametrize(
    ("form", "message", "spec", "ours", "theirs"), WIRE_FORMS, ids=[f[0] for f in WIRE_FORMS]
)
def test_legal_wire_forms_mean_what_protobuf_says(
    form: str, message: bytes, spec: Any, ours: Any, theirs: Any
) -> None:
    payload = example([("a", message)])
    known = tf.train.Example.FromString(payload).features.feature["a"].int64_list.value
    assert parse_single_example(payload, {"a": spec})["a"].tolist() == ours == list(known)
    result = outcome(tf.io.parse_single_example, TF_ERRORS, payload, {"a": tensorflow_spec(tf, spec)})
    if theirs is None:
        assert isinstance(result, Exception)
    else:
        assert result == [{"a": plain(np.array(theirs))}]


MALFORMED = {
    "junk": (b"junk", True),
    "cut": (example([("a", ints(1))])[:-1], False),
    "floats that end inside a value": (example([("a", delimited(2, delimited(1, b"12345")))]), True),
    "a name that is not UTF-8": (
        delimited(1, delimited(1, delimited(1, b"\xff") + delimited(2, ints(1)))),
        True,
    ),
    "a broken feature that nobody asks for": (example([("z", b"\x0a\x7f")]), True),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_payload_is_a_decode_error_also_where_tensorflow_accepts_it(case: str) -> None:
    payload, accepted = MALFORMED[case]
    spec = VarLenFeature("float32" if "floats" in case else "int64")
    with pytest.raises(DecodeError):
        parse_example([payload], {"a": spec})
    with pytest.raises(DecodeError):
        parse_single_example(payload, {"a": spec})
    theirs = outcome(tf.io.parse_example, TF_ERRORS, [payload], {"a": tensorflow_spec(tf, spec)})
    assert isinstance(theirs, Exception) is not accepted


def test_last_of_duplicate_keys_counts_even_if_it_is_unset() -> None:
    payload = example([("a", ints(5)), ("a", UNSET_FEATURE)])
    assert parse_single_example(payload, {"a": INT})["a"] == -1
    assert tf.train.Example.FromString(payload).features.feature["a"].WhichOneof("kind") is None
    assert tf.io.parse_single_example(payload, {"a": tensorflow_spec(tf, INT)})["a"].numpy() == 5


def test_value_before_key_is_read_in_sequence_examples_too() -> None:
    swapped = delimited(1, delimited(2, ints(5)) + delimited(1, b"a"))
    payload = delimited(1, swapped)
    assert parse_sequence_example([payload], {"a": INT})[0]["a"].tolist() == [5]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_sequence_example([payload], {"a": tensorflow_spec(tf, INT)})


def test_uniform_rows_never_take_values_from_another_example() -> None:
    payloads = [example([("a", ints(*range(6)))]), example([("a", ints(*range(6, 12)))])]
    spec = RaggedFeature("int64", partitions=[RaggedFeature.UniformRowLength(4)])
    with pytest.raises(SchemaError, match=r"feature 'a': record 0: 6 values cannot be cut into rows of 4"):
        parse_example(payloads, {"a": spec})
    theirs = tf.io.parse_example(payloads, {"a": tensorflow_spec(tf, spec)})["a"]
    assert theirs[1].numpy().tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]  # 4 and 5 belong to the first example


def test_sparse_values_never_take_an_index_from_another_example() -> None:
    payloads = [
        example([("i", ints(1)), ("v", floats(1.0, 2.0))]),
        example([("i", ints(2, 3)), ("v", floats(3.0))]),
    ]
    spec = SparseFeature("i", "v", "float32", 10)
    with pytest.raises(
        SchemaError, match="feature 's': record 0: 2 values under 'v', but 1 indices under 'i'"
    ):
        parse_example(payloads, {"s": spec})
    theirs = tf.io.parse_example(payloads, {"s": tensorflow_spec(tf, spec)})["s"]
    assert theirs.indices.numpy().tolist() == [[0, 1], [1, 2], [1, 3]]  # 2.0 is now in the second


@pytest.mark.parametrize("index", [-1, 10, 2**63 - 1])
@pytest.mark.parametrize("already_sorted", [False, True])
def test_sparse_indices_outside_of_the_size_are_refused(index: int, already_sorted: bool) -> None:
    payloads = [
        example([("i", ints(1)), ("v", floats(1.0))]),
        example([("i", ints(index)), ("v", floats(2.0))]),
    ]
    spec = SparseFeature("i", "v", "float32", 10, already_sorted)
    with pytest.raises(
        SchemaError, match=rf"feature 's': record 1: index {index} under 'i' is not in \[0, 10\)"
    ):
        parse_example(payloads, {"s": spec})
    theirs = tf.io.parse_example(payloads, {"s": tensorflow_spec(tf, spec)})["s"]
    assert theirs.indices.numpy().tolist() == [[0, 1], [1, index]]
    with pytest.raises(tf.errors.InvalidArgumentError):  # which is found out later, or never
        tf.sparse.to_dense(theirs)


@pytest.mark.parametrize("seed", range(2 * CAMPAIGN))
def test_partitions_are_checked_as_tensorflow_does_when_told_to(seed: int) -> None:
    """An example is refused if and only if TensorFlow refuses it with validate=True, one at a time."""
    rng = random.Random(seed)
    seen = set()
    for _ in range(300):
        partition = rng.choice(KEYED)("p")
        lengths = [rng.randrange(3) for _ in range(rng.randrange(1, 4))]
        stored = list(stored_partition(partition, lengths))
        if stored and rng.random() < 0.7:
            stored[rng.randrange(len(stored))] += rng.choice((-1, 1, 2, -9))
        count = max(0, sum(lengths) + rng.choice((0, 0, 0, -1, 1)))
        payload = example([("v", ints(*range(count))), ("p", ints(*stored))])
        spec = RaggedFeature("int64", "v", [partition], "int64", validate=True)
        ours = outcome(parse_single_example, PureRecordError, payload, {"r": spec})
        theirs = outcome(tf.io.parse_single_example, TF_ERRORS, payload, {"r": tensorflow_spec(tf, spec)})
        same = isinstance(ours, Exception) == isinstance(theirs, Exception)
        assert same, (partition, stored, count, ours, theirs)
        if not isinstance(ours, Exception):
            assert ours == theirs
        seen.add((type(partition).__name__, isinstance(ours, Exception)))
    assert len(seen) == 2 * len(KEYED)


def test_partitions_are_checked_without_being_told_to() -> None:
    payloads = [
        example([("v", ints(1, 2, 3)), ("p", ints(0, 2))]),
        example([("v", ints(4)), ("p", ints(0, 1))]),
    ]
    spec = RaggedFeature("int64", "v", [RaggedFeature.RowSplits("p")])
    with pytest.raises(SchemaError, match="feature 'r': record 0: the RowSplits under 'p'"):
        parse_example(payloads, {"r": spec})
    theirs = tf.io.parse_example(payloads, {"r": tensorflow_spec(tf, spec)})["r"]
    assert theirs[1].to_list() == [[3, 4]]  # 3 belongs to the first example


def test_missing_row_splits_mean_no_rows() -> None:
    spec = RaggedFeature("int64", "v", [RaggedFeature.RowSplits("p")])
    assert parse_single_example(b"", {"r": spec})["r"].to_list() == []
    theirs = tf.io.parse_single_example(b"", {"r": tensorflow_spec(tf, spec)})["r"]
    assert theirs.row_splits.shape == (0,)  # which is not a ragged tensor


def test_few_bytes_cannot_ask_for_any_number_of_empty_rows() -> None:
    payload = example([("v", ints(1)), ("p", ints(2**62))])
    spec = RaggedFeature("int64", "v", [RaggedFeature.ValueRowIds("p")])
    with pytest.raises(SchemaError, match="ValueRowIds"):  # TensorFlow tries to allocate them
        parse_single_example(payload, {"r": spec})


@pytest.mark.parametrize(("default", "theirs"), [(1e39, np.inf), (2**24 + 1, 2.0**24)])
def test_default_that_float32_cannot_hold_is_refused(default: Any, theirs: float) -> None:
    with pytest.raises(ValueError, match="default_value"):
        FixedLenFeature((), "float32", default)
    spec = tf.io.FixedLenFeature([], tf.float32, default)
    assert tf.io.parse_single_example(b"", {"a": spec})["a"].numpy() == theirs


def test_dense_and_sparse_specs_may_share_a_feature() -> None:
    payload = example([("a", ints(3)), ("v", floats(1.0))])
    specs = {"a": FixedLenFeature((), "int64"), "s": SparseFeature("a", "v", "float32", 9)}
    result = parse_single_example(payload, specs)
    assert (result["a"], result["s"].indices.tolist()) == (3, [[3]])
    with pytest.raises(ValueError, match="Dense and sparse keys must not intersect"):
        tf.io.parse_single_example(payload, tensorflow_specs(tf, specs))


def test_equal_indices_keep_the_order_of_the_data() -> None:
    payload = example([("i", ints(3, 1, 3, 1)), ("v", floats(1, 2, 3, 4))])
    spec = SparseFeature("i", "v", "float32", 9)
    assert parse_single_example(payload, {"s": spec})["s"].values.tolist() == [2, 4, 1, 3]
    theirs = tf.io.parse_single_example(payload, {"s": tensorflow_spec(tf, spec)})["s"].values.numpy()
    assert sorted(theirs[:2]) == [2, 4]  # in which order, nobody promises


def test_empty_list_is_an_empty_batch() -> None:
    spec = FixedLenFeature((2,), "int64")
    assert parse_example([], {"a": spec})["a"].shape == (0, 2)
    with pytest.raises(ValueError, match="string"):
        tf.io.parse_example([], {"a": tensorflow_spec(tf, spec)})


def test_empty_batch_of_sequence_examples_gives_empty_arrays() -> None:
    context = {"c": FixedLenFeature((2,), "int64")}
    assert parse_sequence_example([], context)[0]["c"].shape == (0, 2)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_sequence_example(tf.constant([], tf.string), tensorflow_specs(tf, context))


def test_unaligned_partitions_of_a_feature_list_are_refused() -> None:
    steps = [("v", [ints(1, 2), ints(3)]), ("p", [ints(1, 1, 1)])]
    spec = RaggedFeature("int64", "v", [RaggedFeature.RowLengths("p")])
    payload = sequence_example([], steps)
    with pytest.raises(SchemaError, match="2 steps of values under 'v', but 1 of partitions under 'p'"):
        parse_sequence_example([payload], None, {"r": spec})
    theirs = tf.io.parse_sequence_example([payload], None, {"r": tensorflow_spec(tf, spec)})[1]["r"]
    assert theirs.flat_values.numpy().tolist() == [1, 2, 3]


def test_items_without_values_are_refused_when_the_spec_is_made() -> None:
    with pytest.raises(ValueError, match="must be positive"):  # TensorFlow 2.21 divides by zero
        FixedLenSequenceFeature((0,), "int64", allow_missing=True)
