"""New ragged tensors."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.ragged.range([3, 0, 2]), [[0, 1, 2], [], [0, 1]]),
    (lambda: tf.ragged.constant([[[1, 2]], []], inner_shape=(2,)), [[[1, 2]], []]),
    (lambda: tf.ragged.row_splits_to_segment_ids([0, 2, 2, 3]), [0, 0, 2]),
    (lambda: tf.ragged.segment_ids_to_row_splits([0, 0, 2]), [0, 2, 2, 3]),
    (lambda: tf.ragged.cross([[["a"]], [["b", "c"]]]), [[b"a_X_b", b"a_X_c"]]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_ragged_tensors_are_made(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


@pytest.mark.parametrize("rows", [[[1, [2]]], [[1], 2], [[], 1]])
def test_scalars_of_different_depth_are_refused(rows):
    with pytest.raises(ValueError, match="nesting"):
        tf.ragged.constant(rows)
