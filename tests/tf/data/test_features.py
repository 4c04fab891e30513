"""``tf.data``: batches of features."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_only_vectors_of_strings_are_parsed() -> None:
    parse = tf.data.experimental.parse_example_dataset({"x": tf.io.VarLenFeature(tf.int64)})
    with pytest.raises(TypeError, match="vectors of strings"):
        tf.data.Dataset.range(3).apply(parse)
