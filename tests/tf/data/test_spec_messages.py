"""``tf.data``: element specs as messages."""

from __future__ import annotations

from purerecord import tf
from purerecord.tf.data.spec_messages import decoded_spec, encoded_spec


def test_spec_comes_back_from_its_message() -> None:
    for spec in (
        tf.TensorSpec(None, tf.string, "name"),
        {"a": (tf.TensorSpec([None, 3], tf.int8), tf.NoneTensorSpec())},
        tf.RaggedTensorSpec([None, None, 2], tf.int32, 1, tf.int32),
        (tf.SparseTensorSpec([None, 4], tf.bool),),
    ):
        assert decoded_spec(encoded_spec(spec)) == spec
