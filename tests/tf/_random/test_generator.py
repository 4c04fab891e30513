"""A generator with a state of its own."""

from __future__ import annotations

from purerecord import tf


def test_state_restores_the_numbers() -> None:
    generator = tf.random.Generator.from_seed(7)
    generator.uniform([5])
    state = generator.state
    numbers = generator.normal([4]).numpy().tolist()
    generator.reset(state)
    assert generator.normal([4]).numpy().tolist() == numbers


def test_global_generator_can_be_set() -> None:
    before = tf.random.get_global_generator()
    try:
        tf.random.set_global_generator(tf.random.Generator.from_seed(1))
        first = tf.random.get_global_generator().uniform([2]).numpy().tolist()
        assert first == tf.random.Generator.from_seed(1).uniform([2]).numpy().tolist()
    finally:
        tf.random.set_global_generator(before)
