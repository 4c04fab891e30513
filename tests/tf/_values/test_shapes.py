"""``TensorShape`` and the type specs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from purerecord import tf

Shape = tf.TensorShape


def test_shape_equals_a_tuple_and_numpy_takes_it() -> None:
    shape = Shape([2, 3])
    assert shape == (2, 3)
    assert [*shape] == [2, 3]
    assert np.zeros(shape).shape == (2, 3)
    assert (shape[0], shape[1:], len(shape), shape.num_elements()) == (2, Shape([3]), 2, 6)


def test_unknown_lengths_and_unknown_ranks_are_compatible_with_any() -> None:
    partial = Shape([None, 3])
    assert partial.is_compatible_with([2, 3])
    assert not partial.is_compatible_with([2, 4])
    assert not partial.is_compatible_with([3])
    assert Shape(None).is_compatible_with([1, 2])
    assert partial.merge_with([2, None]) == [2, 3]
    assert Shape([2, 3]).most_specific_compatible_shape([2, 4]) == [2, None]
    assert Shape([2]).most_specific_compatible_shape([2, 4]).rank is None
    assert (partial + (4,)).as_list() == [None, 3, 4]  # noqa: RUF005 - the operator is tested
    assert ((4,) + partial).as_list() == [4, None, 3]  # noqa: RUF005 - the operator is tested
    with pytest.raises(ValueError, match="not compatible"):
        partial.merge_with([2, 4])
    with pytest.raises(ValueError, match="must have rank 3"):
        partial.assert_has_rank(3)


@pytest.mark.parametrize(("dims", "error"), [([-1], ValueError), (["a"], TypeError), ("ab", TypeError)])
def test_what_is_no_shape_is_refused(dims: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        Shape(dims)


SPECS = [
    tf.TensorSpec([None, 2], tf.int64, "name"),
    tf.RaggedTensorSpec([2, None], tf.string),
    tf.SparseTensorSpec([2, None], tf.float32),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: type(spec).__name__)
def test_specs_are_equal_by_value_hashable_and_pickled(spec: tf.TypeSpec) -> None:
    again = pickle.loads(pickle.dumps(spec))
    assert again == spec
    assert hash(again) == hash(spec)
    assert {spec: 1}[again] == 1
    assert all((spec == other) is (spec is other) for other in SPECS)


def test_spec_says_which_tensors_it_describes() -> None:
    assert tf.TensorSpec([None], tf.int32).is_compatible_with(tf.constant([1, 2]))
    assert not tf.TensorSpec([None], tf.int64).is_compatible_with(tf.constant([1, 2]))
    assert tf.TensorSpec.from_tensor(tf.constant([1.0])) == tf.TensorSpec([1], tf.float32)
    assert tf.RaggedTensorSpec([2, None, None]).ragged_rank == 2
