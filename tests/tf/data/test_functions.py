"""``tf.data``: how functions are called, and the specs of their results."""

from __future__ import annotations

from collections import namedtuple

import pytest

from purerecord import tf
from tests.support.facade_datasets import values

Dataset = tf.data.Dataset


Point = namedtuple("Point", ["x", "y"])


def test_named_tuple_is_one_argument_and_a_tuple_is_several() -> None:
    points = Dataset.from_tensor_slices(Point([1, 2], [3, 4]))
    assert values(points.map(lambda point: point.x + point.y)) == [4, 6]
    pairs = Dataset.from_tensor_slices(([1, 2], [3, 4]))
    assert values(pairs.map(lambda x, y: x + y)) == [4, 6]


def stop(*_: object) -> None:
    raise StopIteration("over")


@pytest.mark.parametrize(
    ("dataset", "kind"),
    [
        (Dataset.range(3).map(stop), tf.errors.InvalidArgumentError),
        (Dataset.range(3).map(stop, num_parallel_calls=2), tf.errors.InvalidArgumentError),
        (Dataset.range(3).map(stop, num_parallel_calls=-1), tf.errors.InvalidArgumentError),
        (Dataset.range(3).scan(0, stop), tf.errors.InvalidArgumentError),
        (Dataset.range(3).filter(stop), tf.errors.InternalError),
        (Dataset.range(3).take_while(stop), tf.errors.InternalError),
        (Dataset.range(3).flat_map(stop), tf.errors.InternalError),
        (Dataset.range(3).interleave(stop, cycle_length=2), tf.errors.InternalError),
        (Dataset.range(3).group_by_window(stop, stop, window_size=2), tf.errors.InternalError),
        (Dataset.range(3).group_by_window(lambda x: 0, stop, window_size=2), tf.errors.InternalError),
        (
            Dataset.range(3).group_by_window(lambda x: 0, stop, window_size_func=stop),
            tf.errors.InternalError,
        ),
        (Dataset.range(3).map(lambda x: tf.py_function(stop, [x], tf.int64)), tf.errors.InvalidArgumentError),
    ],
)
def test_stop_iteration_in_a_function_does_not_end_the_dataset(
    dataset: tf.data.Dataset, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match="StopIteration: over"):
        next(iter(dataset))
    with pytest.raises(tf.errors.OutOfRangeError, match="StopIteration: over"):
        Dataset.range(3).reduce(0, stop)


def test_python_runs_inside_of_functions() -> None:
    """Nothing is traced: values can be looked at, and ``if`` is ``if``."""
    dataset = Dataset.range(4).map(lambda x: x * 10 if x.numpy() % 2 else x)
    assert values(dataset) == [0, 10, 2, 30]


def test_element_spec_after_a_function_is_seen_from_the_first_elements() -> None:
    assert Dataset.range(3).map(lambda x: tf.zeros([2, 3])).element_spec == tf.TensorSpec([2, 3])
    lengths = Dataset.range(9).map(lambda x: tf.fill([x], 1))
    assert lengths.element_spec == tf.TensorSpec([None], tf.int32)
    assert Dataset.range(9).batch(3).map(lambda x: x * 2).element_spec == tf.TensorSpec([None], tf.int64)


def test_element_spec_without_elements_is_seen_from_zeros() -> None:
    none = Dataset.range(0)
    assert none.map(lambda x: (tf.cast(x, tf.float32), tf.fill([x], "s"))).element_spec == (
        tf.TensorSpec([], tf.float32),
        tf.TensorSpec([None], tf.string),
    )
    with pytest.raises(ValueError, match="has no elements"):
        none.map(lambda x: 1 // int(x - x)).element_spec  # noqa: B018 - asking is the test
