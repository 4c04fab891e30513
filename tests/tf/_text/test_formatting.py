"""A template with tensors in it."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_tensors_are_written_into_the_template() -> None:
    assert (
        tf.strings.format("{} of {}", (tf.range(9), tf.constant("x"))).numpy() == b'[0 1 2 ... 6 7 8] of "x"'
    )
    with pytest.raises(ValueError, match="expects 2 tensors"):
        tf.strings.format("{} {}", tf.range(2))
