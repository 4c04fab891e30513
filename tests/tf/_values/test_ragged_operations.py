"""What functions of tensors do with ragged ones."""

from __future__ import annotations

import pytest

from purerecord import tf

R = tf.ragged.constant([[1, 2], [], [3]])
CASES = [
    (lambda: tf.concat([R, R], 1), [[1, 2, 1, 2], [], [3, 3]]),
    (lambda: tf.stack([R, R]).row_lengths(), [3, 3]),
    (lambda: tf.gather(R, [2, 0]), [[3], [1, 2]]),
    (lambda: tf.gather_nd(R, [[0, 1], [2, 0]]), [2, 3]),
    (lambda: tf.reduce_sum(R, 1), [3, 0, 3]),
    (lambda: tf.reduce_max(R, 0), [3, 2]),
    (lambda: tf.where(R > 1), [[0, 1], [2, 0]]),
    (lambda: tf.where(R > 1, R, 0), [[0, 2], [], [3]]),
    (lambda: tf.tile(R, [1, 2]), [[1, 2, 1, 2], [], [3, 3]]),
    (lambda: tf.reverse(R, [1]), [[2, 1], [], [3]]),
    (lambda: tf.one_hot(R, 2, dtype=tf.int32), [[[0, 1], [0, 0]], [], [[0, 0]]]),
    (lambda: tf.ragged.boolean_mask(R, R > 1), [[2], [], [3]]),
    (lambda: tf.math.unsorted_segment_sum(R, [0, 1, 0], 2), [[4, 2], []]),
    (lambda: tf.strings.reduce_join(tf.ragged.constant([["a", "b"], ["c"]]), 1), [b"ab", b"c"]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_functions_of_ragged_tensors(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected
