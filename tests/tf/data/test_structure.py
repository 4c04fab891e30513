"""``tf.data``: the structures of elements."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

from purerecord import tf

Dataset = tf.data.Dataset


Point = namedtuple("Point", ["x", "y"])


def test_named_tuples_and_ordered_dictionaries_keep_their_kind() -> None:
    (point,) = Dataset.from_tensor_slices(Point([1, 2], ["x", "y"])).batch(2)
    assert isinstance(point, Point)
    assert point.y.numpy().tolist() == [b"x", b"y"]
    (ordered,) = Dataset.from_tensor_slices(OrderedDict(b=[1, 2], a=[3, 4])).batch(2)
    assert type(ordered) is OrderedDict
    assert list(ordered) == ["b", "a"]
