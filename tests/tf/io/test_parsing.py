"""``tf.io.parse_example`` and its variants: tensors, and errors of both libraries."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord import tf

A = pr.encode_example({"a": [1, 2], "s": "text", "f": 0.5})


def test_example_comes_as_tensors() -> None:
    parsed = tf.io.parse_single_example(
        A,
        {
            "a": tf.io.FixedLenFeature([2], tf.int64),
            "s": tf.io.FixedLenFeature([], tf.string),
            "f": tf.io.VarLenFeature(tf.float32),
            "r": tf.io.RaggedFeature(tf.int64),
        },
    )
    assert isinstance(parsed["a"], type(tf.constant(0)))
    assert parsed["a"].numpy().tolist() == [1, 2]
    assert parsed["s"].numpy() == b"text"
    assert tf.sparse.to_dense(parsed["f"]).numpy().tolist() == [0.5]
    assert parsed["r"].shape == (0,)


def test_batch_of_a_dataset_is_parsed_at_once() -> None:
    dataset = tf.data.Dataset.from_tensor_slices([A, A, A]).batch(2)
    parsed = dataset.map(
        lambda batch: tf.io.parse_example(batch, {"a": tf.io.FixedLenFeature([2], tf.int64)})
    )
    assert [batch["a"].shape.as_list() for batch in parsed] == [[2, 2], [1, 2]]
    assert parsed.element_spec["a"] == tf.TensorSpec([None, 2], tf.int64)


def test_error_is_tensorflows_and_purerecords_at_once() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key: a, Index: 1") as caught:
        tf.io.parse_example([pr.encode_example({"a": 1}), A], {"a": tf.io.FixedLenFeature([], tf.int64)})
    assert isinstance(caught.value, pr.SchemaError)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.feature, caught.value.problem) == ("a", "count")  # type: ignore[attr-defined]


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_refused(payload: bytes) -> None:
    specs = {"a": tf.io.VarLenFeature(tf.int64)}
    for source in (payload, [payload, A]):
        with contextlib.suppress(tf.errors.InvalidArgumentError):
            tf.io.parse_example(source, specs)
    with contextlib.suppress(tf.errors.InvalidArgumentError):
        tf.io.parse_single_sequence_example(payload, specs)
    with contextlib.suppress(tf.errors.InvalidArgumentError):
        tf.io.parse_tensor(payload, tf.float32)


def test_payload_is_never_in_the_message() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.parse_single_example(b"\x0a\x7fsecret", {"a": tf.io.VarLenFeature(tf.int64)})
    assert "secret" not in str(caught.value)


def test_values_never_move_from_one_example_to_another() -> None:
    """Where TensorFlow lets them, this namespace keeps the core's error."""
    payloads = [pr.encode_example({"a": list(range(6))}), pr.encode_example({"a": list(range(6, 12))})]
    spec = tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.UniformRowLength(4)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="6 values cannot be cut into rows of 4"):
        tf.io.parse_example(payloads, {"a": spec})
