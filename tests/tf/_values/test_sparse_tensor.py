"""``SparseTensor``."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_values_are_replaced_and_computed_with():
    sparse = tf.SparseTensor([[0, 1]], [5], [2, 3])
    assert sparse.with_values([7]).values.numpy().tolist() == [7]
    assert (sparse * 2).values.numpy().tolist() == [10]
    assert tf.SparseTensor.from_value(sparse) is sparse
    assert tf.rank(sparse).numpy() == 2
    assert tf.size(sparse).numpy() == 6


@pytest.mark.parametrize(
    "arguments", [([[0, 1]], [5], [2]), ([[0, 1]], [5, 6], [2, 3]), ([0], [5], [2]), ([[0]], 5, [2])]
)
def test_parts_that_do_not_fit_are_refused(arguments):
    with pytest.raises(ValueError, match=r"Dimensions|must have rank"):
        tf.SparseTensor(*arguments)
