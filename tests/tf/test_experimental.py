"""``tf.experimental``."""

from __future__ import annotations

from purerecord import tf


def test_optional_is_there() -> None:
    assert int(tf.experimental.Optional.from_value(3).get_value()) == 3
