"""``tf.data``: iteration, element spec, and methods that do not exist."""

from __future__ import annotations

from typing import Any

import pytest

from purerecord import tf
from tests.support.facade_datasets import values

Dataset = tf.data.Dataset


def test_elements_are_eager_tensors() -> None:
    for element in Dataset.from_tensor_slices([1, 2]):
        assert isinstance(element, type(tf.constant(0)))
        assert element.dtype is tf.int32


def test_element_spec_is_known_without_running_anything() -> None:
    def generator() -> Any:
        raise AssertionError("no element was requested")

    dataset = Dataset.from_generator(generator, output_signature=tf.TensorSpec([None], tf.int64))
    assert dataset.take(3).padded_batch(2, [None]).element_spec == tf.TensorSpec([None, None], tf.int64)


def test_looking_at_the_spec_does_not_change_what_comes() -> None:
    def order(look: bool) -> list[Any]:
        dataset = Dataset.range(20).shuffle(20, seed=5)
        mapped = dataset.map(lambda x: x)
        if look:
            assert mapped.element_spec == tf.TensorSpec([], tf.int64)
        return values(mapped)

    assert order(look=True) == order(look=False)


def test_attribute_error_in_a_function_is_not_taken_for_a_missing_method() -> None:
    with pytest.raises(TypeError, match=r"an element could not be made.*nothing_here"):
        Dataset.range(3).map(lambda x: x.nothing_here).element_spec  # noqa: B018 - asking is the test


def test_method_that_is_not_there_is_explained() -> None:
    with pytest.raises(AttributeError, match=r"tf\.data\.Dataset\.shuffle_rows is not in purerecord\.tf"):
        Dataset.range(3).shuffle_rows(2)
