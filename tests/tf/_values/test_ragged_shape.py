"""The shape of a ragged tensor."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_shape_names_the_lengths_of_ragged_dimensions():
    shape = tf.shape(tf.ragged.constant([[1, 2], [], [3]]))
    assert repr(shape) == "<DynamicRaggedShape lengths=[3, (2, 0, 1)] num_row_partitions=1>"
    assert shape[0].numpy() == 3
    assert shape.rank == 2
    assert shape.is_uniform(0)
    assert not shape.is_uniform(1)
    assert shape.static_lengths(ragged_lengths=False) == [3, None]
    with pytest.raises(ValueError, match="not uniform"):
        shape[1]
