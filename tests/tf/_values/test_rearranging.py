"""Elements in other places."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.roll([1, 2, 3], 1, 0), [3, 1, 2]),
    (lambda: tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1), [[2, 1, 3], [6, 5, 4]]),
    (lambda: tf.searchsorted([1, 3, 5], [0, 3, 6], side="right"), [0, 2, 3]),
    (lambda: tf.bitcast(tf.constant([1, 2]), tf.int64), 8589934593),
    (lambda: tf.dynamic_partition([1, 2, 3], [0, 1, 0], 2)[0], [1, 3]),
    (lambda: tf.dynamic_stitch([[0, 2], [1, 3]], [[1, 2], [3, 4]]), [1, 3, 2, 4]),
    (lambda: tf.unique_with_counts([1, 1, 2]).count, [2, 1]),
    (lambda: tf.unravel_index([5, 1], [2, 3]), [[1, 0], [2, 1]]),
    (lambda: tf.meshgrid([1, 2], [3])[0], [[1, 2]]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_elements_move(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected
