"""One process on one machine."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_head_of_a_kaggle_notebook_falls_back_to_one_replica() -> None:
    try:
        tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    except ValueError:
        strategy = tf.distribute.get_strategy()
    else:
        raise AssertionError(tpu)
    assert strategy.num_replicas_in_sync == 1
    with strategy.scope():
        assert strategy.run(lambda x: x + 1, args=(tf.constant(1),)).numpy() == 2
    dataset = tf.data.Dataset.range(3)
    assert strategy.experimental_distribute_dataset(dataset) is dataset
    with pytest.raises(AttributeError, match=r"MirroredStrategy is not in purerecord.tf"):
        tf.distribute.MirroredStrategy  # noqa: B018 - the name is missing
