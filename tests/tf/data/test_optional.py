"""``tf.data``: optionals."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_optional_without_a_value_raises_an_error() -> None:
    empty = tf.experimental.Optional.empty(tf.TensorSpec([]))
    assert not bool(empty.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        empty.get_value()
