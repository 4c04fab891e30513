"""Nested structures in which lists are structures."""

from __future__ import annotations

import pytest

from purerecord import tf
from purerecord.tf._values import list_nest


def test_lists_are_structures_and_keys_are_sorted():
    assert list_nest.flatten([1, {"b": (2, 3), "a": 4}]) == [1, 4, 2, 3]
    assert list_nest.pack({"b": [0], "a": 0}, [1, 2]) == {"b": [2], "a": 1}
    assert list_nest.apply(lambda x, y: x + y, [1, (2,)], [3, (4,)]) == [4, (6,)]


def test_ragged_tensors_are_taken_apart_on_request():
    ragged = tf.ragged.constant([[1], []])
    assert list_nest.flatten(ragged) == [ragged]
    assert len(list_nest.flatten(ragged, expand=True)) == 2
    assert list_nest.pack(ragged, list_nest.flatten(ragged, expand=True), expand=True).to_list() == [[1], []]


def test_keys_that_cannot_be_sorted_are_refused():
    with pytest.raises(TypeError, match="sortable keys"):
        list_nest.flatten({"a": 1, 2: 3})
