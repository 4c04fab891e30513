"""``tf.nest``."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_leaves_are_mapped_and_packed():
    assert tf.nest.map_structure(lambda x, y: x + y, {"a": [1]}, {"a": [2]}) == {"a": [3]}
    assert tf.nest.pack_sequence_as([0, (0, 0)], [1, 2, 3]) == [1, (2, 3)]
    assert tf.nest.is_nested([])
    assert not tf.nest.is_nested("a")


@pytest.mark.parametrize(
    ("one", "two", "kind"),
    [
        ([1], [1, 2], ValueError),
        ([1], (1,), TypeError),
        ([1], 1, ValueError),
        ({"a": 1}, {"b": 1}, ValueError),
    ],
)
def test_structures_that_differ_are_refused(one, two, kind):
    with pytest.raises(kind, match="same nested structure"):
        tf.nest.assert_same_structure(one, two)
