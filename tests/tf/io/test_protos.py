"""Messages as tensors of their fields."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_fields_come_back() -> None:
    sizes, values = [[2], [0]], tf.constant([[1, -2], [0, 0]], tf.int64)
    encoded = tf.io.encode_proto(sizes, [values], ["value"], "tensorflow.Int64List")
    decoded = tf.io.decode_proto(encoded, "tensorflow.Int64List", ["value"], [tf.int64])
    assert decoded.sizes.numpy().tolist() == sizes
    assert decoded.values[0].numpy().tolist() == [[1, -2], [0, 0]]


def test_unknown_message_says_how_to_give_it() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="FileDescriptorSet"):
        tf.io.decode_proto([b""], "x.M", ["a"], [tf.int64])
