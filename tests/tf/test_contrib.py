"""``tf.contrib``."""

from __future__ import annotations

from purerecord import tf


def test_contrib_data_has_the_transformations_of_old_scripts() -> None:
    dataset = tf.data.Dataset.range(5).apply(tf.contrib.data.batch_and_drop_remainder(2))
    assert [batch.numpy().tolist() for batch in dataset] == [[0, 1], [2, 3]]
