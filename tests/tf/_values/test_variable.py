"""``Variable``."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_value_is_replaced():
    variable = tf.Variable([1, 2], name="x")
    assert variable.assign_add([1, 1]).numpy().tolist() == [2, 3]
    assert variable.assign([5, 6]) is variable
    assert (variable + 1).numpy().tolist() == (1 + variable).numpy().tolist() == [6, 7]
    assert tf.reduce_sum(variable).numpy() == 11
    assert repr(variable) == "<tf.Variable 'x:0' shape=(2,) dtype=int32, numpy=array([5, 6], dtype=int32)>"


def test_shape_and_dtype_stay():
    variable = tf.Variable([1, 2])
    with pytest.raises(ValueError, match="Shape mismatch"):
        variable.assign([1, 2, 3])
    with pytest.raises(TypeError, match=r"Cannot convert"):
        variable.assign([1.5, 2])
