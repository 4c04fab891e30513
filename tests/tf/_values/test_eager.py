"""``tf.function``, ``tf.py_function`` and others as plain Python."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_functions_run_with_and_without_arguments_of_the_decorator():
    @tf.function
    def one(x):
        return x + 1

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)], autograph=False)
    def two(x):
        """Doc."""
        return x + 2

    assert one(tf.constant(1)).numpy() == 2
    assert two(tf.constant(1)).numpy() == 3
    assert two.__doc__ == "Doc."
    assert one.__name__ == "one"


def test_numpy_function_refuses_another_type_than_it_was_told():
    with pytest.raises(tf.errors.InvalidArgumentError, match="is double, but expects float"):
        tf.numpy_function(lambda: 1.5, [], tf.float32)


def test_errors_of_python_functions_are_tensorflows_and_their_own():
    for wrong, kinds in (
        (lambda: {}["a"], (tf.errors.UnknownError, KeyError)),
        (lambda: int("a"), (tf.errors.InvalidArgumentError, ValueError)),
        (b"\xff".decode, (tf.errors.InvalidArgumentError, ValueError)),
        (lambda: 1 + "", (tf.errors.InvalidArgumentError, TypeError)),
    ):
        for call in (tf.py_function, tf.numpy_function):
            for kind in kinds:
                with pytest.raises(kind) as caught:
                    call(wrong, [], tf.int64)
                assert caught.value.__cause__ is not None
