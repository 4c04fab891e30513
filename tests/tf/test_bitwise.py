"""``tf.bitwise``."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_bits_are_combined():
    assert tf.bitwise.bitwise_and([5], [3]).numpy().tolist() == [1]
    assert tf.bitwise.bitwise_xor([5], [3]).numpy().tolist() == [6]
    assert tf.bitwise.invert([5]).numpy().tolist() == [-6]
    assert tf.bitwise.left_shift([5], [1]).numpy().tolist() == [10]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.bitwise.bitwise_or([1.0], [2.0])
