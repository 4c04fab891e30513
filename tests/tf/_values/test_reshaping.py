"""The shapes of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from purerecord import tf

CUBE = tf.constant(np.arange(24).reshape(2, 3, 4))


def test_shape_size_and_rank_are_tensors() -> None:
    assert tf.shape(CUBE).numpy().tolist() == [2, 3, 4]
    assert (int(tf.size(CUBE)), int(tf.rank(CUBE))) == (24, 3)
    assert tf.shape(tf.SparseTensor([[0, 0]], [1], [2, 5])).numpy().tolist() == [2, 5]


def test_reshape_computes_the_length_that_is_left() -> None:
    assert tf.reshape(CUBE, [4, -1]).shape == (4, 6)
    assert tf.reshape(CUBE, tf.constant([24])).shape == (24,)
    assert tf.reshape(tf.zeros([0, 3]), [0, -1]).shape == (0, 3)


def test_dimensions_are_added_removed_and_permuted() -> None:
    assert tf.expand_dims(CUBE, -1).shape == (2, 3, 4, 1)
    assert tf.squeeze(tf.zeros([1, 2, 1])).shape == (2,)
    assert tf.squeeze(tf.zeros([1, 2, 1]), [0]).shape == (2, 1)
    assert tf.transpose(CUBE).shape == (4, 3, 2)
    assert tf.transpose(CUBE, [1, 0, 2]).shape == (3, 2, 4)
    assert tf.broadcast_to([1, 2], [3, 2]).numpy().tolist() == [[1, 2]] * 3
    assert tf.ensure_shape(CUBE, [None, 3, 4]) is CUBE


WRONG: list[tuple[Any, str]] = [
    (lambda: tf.reshape(CUBE, [5]), "24 values, but the requested shape has 5"),
    (lambda: tf.reshape(CUBE, [5, -1]), "requires a multiple of 5"),
    (lambda: tf.reshape(CUBE, [-1, -1]), "Only one input size may be -1, not both 0 and 1"),
    (lambda: tf.expand_dims(CUBE, 5), "Tried to expand dim index 5"),
    (lambda: tf.squeeze(CUBE, 0), "expected a dimension of 1, got 2"),
    (lambda: tf.transpose(CUBE, [0, 0, 1]), "repeated|missing"),
    (lambda: tf.broadcast_to([1, 2], [3]), "Incompatible shapes"),
    (lambda: tf.ensure_shape(CUBE, [2, 2]), "is not compatible with expected shape"),
]


@pytest.mark.parametrize(("program", "text"), WRONG, ids=[text for _, text in WRONG])
def test_what_tensorflow_refuses_is_refused(program: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        program()
