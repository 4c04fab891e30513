"""Random numbers that depend on their seed alone."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, two = (tf.random.stateless_uniform([3], [1, 2]).numpy().tolist() for _ in range(2))
    assert one == two
    assert one != tf.random.stateless_uniform([3], [1, 3]).numpy().tolist()


def test_seed_is_two_integers() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"seed must have shape \[2\]"):
        tf.random.stateless_uniform([3], [1, 2, 3])
