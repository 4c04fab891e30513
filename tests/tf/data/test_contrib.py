"""``tf.contrib.data``."""

from __future__ import annotations

from purerecord import tf


def test_padded_batches_leave_out_a_smaller_last_one() -> None:
    made = tf.contrib.data.padded_batch_and_drop_remainder(2, [3])
    dataset = tf.data.Dataset.from_tensor_slices([[1], [2], [3]]).apply(made)
    assert [batch.numpy().tolist() for batch in dataset] == [[[1, 0, 0], [2, 0, 0]]]
