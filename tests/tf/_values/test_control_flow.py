"""Choices and loops as functions."""

from __future__ import annotations

import pytest

from purerecord import tf

CASES = [
    (lambda: tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])), [1, 3, 6]),
    (lambda: tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3]), 10), 4),
    (lambda: tf.vectorized_map(lambda x: x * 2, tf.constant([1, 2])), [2, 4]),
    (lambda: tf.switch_case(tf.constant(1), [lambda: tf.constant(5), lambda: tf.constant(6)]), 6),
]


@pytest.mark.parametrize(("made", "expected"), CASES)
def test_choices_and_loops(made, expected):
    found = made()
    assert (found.to_list() if isinstance(found, tf.RaggedTensor) else found.numpy().tolist()) == expected


def test_first_true_condition_decides():
    no, yes = tf.constant(False), tf.constant(True)
    assert tf.case([(no, lambda: 1), (yes, lambda: 2), (yes, lambda: 3)]) == 2
    assert tf.case([(no, lambda: 1)], default=lambda: 9) == 9
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of the conditions"):
        tf.case([(no, lambda: 1)])
