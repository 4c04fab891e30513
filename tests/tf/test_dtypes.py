"""``tf.DType`` in numpy and in the core."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from purerecord import tf
from purerecord.payload.specs import FixedLenFeature


def test_dtypes_are_taken_by_numpy_and_by_the_specs_of_the_core():
    assert np.zeros(2, tf.float32).dtype == np.float32
    assert np.dtype(tf.string) == object
    assert FixedLenFeature([], tf.string) == FixedLenFeature([], bytes)
    assert pickle.loads(pickle.dumps(tf.int64)) is tf.int64
    with pytest.raises(AttributeError):
        tf.constant(1).no_such_thing  # noqa: B018 - asking is the test
