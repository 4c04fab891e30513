"""Functions of each element."""

from __future__ import annotations

import pytest

pytest.importorskip("ml_dtypes")

from purerecord import tf

CASES = [
    (lambda: tf.math.reciprocal_no_nan([0.0, 2.0]), [0.0, 0.5]),
    (lambda: tf.math.rint([1.5, 2.5]), [2.0, 2.0]),
    (lambda: tf.math.conj([1 + 2j]), [1 - 2j]),
    (lambda: tf.abs([3 + 4j]), [5.0]),
    (lambda: tf.square(tf.cast([1.5], tf.bfloat16)), [2.25]),
    (lambda: tf.clip_by_value(tf.ragged.constant([[1, 9], []]), 2, 5), [[2, 5], []]),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_functions_of_one_element(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


def test_numbers_are_checked():
    assert tf.debugging.check_numerics([1.0], "m").numpy().tolist() == [1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="m : Tensor had Inf and NaN values"):
        tf.debugging.check_numerics([float("inf"), float("nan")], "m")
