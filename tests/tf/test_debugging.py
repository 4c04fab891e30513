"""``tf.debugging``: assertions."""

from __future__ import annotations

import pytest

from purerecord import tf

MET = [
    lambda: tf.debugging.assert_equal([1, 2], [1, 2]),
    lambda: tf.debugging.assert_less(1, [2, 3]),
    lambda: tf.debugging.assert_near(1.0, 1.0000001),
    lambda: tf.debugging.assert_shapes([(tf.ones([2, 3]), ("N", "M")), (tf.ones([3]), ("M",))]),
    lambda: tf.debugging.assert_equal(tf.ragged.constant([[1], []]), tf.ragged.constant([[1], []])),
    lambda: tf.Assert(True, [1]),
]
NOT_MET = [
    (
        lambda: tf.debugging.assert_equal([1, 2], [1, 3], "text"),
        tf.errors.InvalidArgumentError,
        "text\nCondition",
    ),
    (lambda: tf.debugging.assert_positive([0]), tf.errors.InvalidArgumentError, "Condition x > 0"),
    (lambda: tf.debugging.assert_rank([1], 2), ValueError, "must have rank 2"),
    (lambda: tf.debugging.assert_integer(1.5), TypeError, "to be integer type"),
    (lambda: tf.debugging.assert_shapes([(tf.ones([2, 3]), (2, 4))]), ValueError, "must have shape"),
    (lambda: tf.Assert(False, ["why"]), tf.errors.InvalidArgumentError, "why"),
]


def test_assertions_that_are_met_return_nothing():
    assert [assertion() for assertion in MET] == [None] * len(MET)


@pytest.mark.parametrize(("assertion", "kind", "text"), NOT_MET)
def test_assertions_that_are_not_met_raise_their_error(assertion, kind, text):
    with pytest.raises(kind, match=text):
        assertion()
