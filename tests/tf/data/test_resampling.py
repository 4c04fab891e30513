"""``tf.data``: resampling."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_class_without_a_share_is_an_error() -> None:
    dataset = tf.data.Dataset.range(2, 60).rejection_resample(lambda x: x, [0.5, 0.5], [0.9, 0.1], seed=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
        list(dataset)
