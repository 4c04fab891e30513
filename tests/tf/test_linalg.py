"""``tf.linalg``: the names of matrix functions."""

from __future__ import annotations

from purerecord import tf


def test_namespace_has_the_functions_of_the_top_level():
    assert tf.linalg.matmul is tf.matmul
    assert tf.linalg.inv is tf.matrix_inverse
    assert all(callable(getattr(tf.linalg, name)) for name in tf.linalg.__all__)
