"""``tf.data``: numbers that tell datasets apart."""

from __future__ import annotations

from purerecord import tf


def added(number: int) -> tf.data.Dataset:
    return tf.data.Dataset.range(5).map(lambda x: x + number)


def test_fingerprint_covers_functions_and_what_they_refer_to() -> None:
    assert int(added(1).fingerprint()) == int(added(1).fingerprint())
    other = tf.data.Dataset.range(5).map(lambda x: x - 1)
    datasets = [added(1), added(2), other, added(1).batch(2), added(1).batch(3), tf.data.Dataset.range(6)]
    assert len({int(dataset.fingerprint()) for dataset in datasets}) == len(datasets)


def test_fingerprint_is_the_same_after_iterating() -> None:
    dataset = added(1).shuffle(3, seed=1).cache()
    before = int(dataset.fingerprint())
    assert len(list(dataset)) == 5
    assert int(dataset.fingerprint()) == before
