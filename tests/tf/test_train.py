"""``tf.train``: real messages, and lists that take what tutorials put into them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord import tf

Int64List, FloatList, BytesList = tf.train.Int64List, tf.train.FloatList, tf.train.BytesList

INTS: list[tuple[Any, list[int]]] = [
    ([True, False], [1, 0]),
    ([np.bool_(True)], [1]),
    (np.array([True, False]), [1, 0]),
    (np.arange(3), [0, 1, 2]),
    (np.arange(3, dtype=np.uint8), [0, 1, 2]),
    ([np.int16(-7), np.array(3)], [-7, 3]),
    (tf.constant([1, 2]), [1, 2]),
    ([tf.constant(5), tf.constant(True)], [5, 1]),
    (range(3), [0, 1, 2]),
    ((value for value in (True, 2)), [1, 2]),
    ([], []),
]


@pytest.mark.parametrize(("value", "stored"), INTS, ids=lambda case: type(case).__name__)
def test_int64_list_takes_booleans_arrays_and_tensors(value: Any, stored: list[int]) -> None:
    assert list(Int64List(value=value).value) == stored


def test_float_and_bytes_lists_take_arrays_and_tensors() -> None:
    assert list(FloatList(value=[True, np.float64(2.5), tf.constant(1.0)]).value) == [1.0, 2.5, 1.0]
    assert list(FloatList(value=np.array([1, 2])).value) == [1.0, 2.0]
    assert list(BytesList(value=[b"x", tf.constant("é"), np.bytes_(b"y")]).value) == [
        b"x",
        "é".encode(),
        b"y",
    ]
    assert list(BytesList(value=tf.constant(["a", b"\0"])).value) == [b"a", b"\0"]
    assert list(BytesList(value=np.array([b"a", b"b\0"], object)).value) == [b"a", b"b\0"]


@pytest.mark.parametrize("value", [[1.5], ["1"], 3, "ab", [None], [np.array([1, 2])], np.array([1.5])])
def test_int64_list_refuses_what_is_no_integer(value: Any) -> None:
    with pytest.raises(TypeError):
        Int64List(value=value)


def test_number_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="range"):
        Int64List(value=[2**63])


def test_text_must_be_encoded() -> None:
    with pytest.raises(TypeError):
        BytesList(value=["text"])


def test_lists_are_purerecords_own_messages() -> None:
    made = Int64List(value=[True])
    assert isinstance(made, Int64List)
    assert isinstance(made, pr.Int64List)
    assert isinstance(pr.Int64List(), Int64List)
    assert not isinstance(FloatList(), Int64List)
    assert issubclass(pr.FloatList, FloatList)
    assert made == pr.Int64List(value=[1])
    assert pickle.loads(pickle.dumps(made)) == made


def test_lists_inside_a_message_are_recognised() -> None:
    feature = tf.train.Feature(bytes_list=BytesList(value=[b"x"]))
    assert isinstance(feature.bytes_list, BytesList)
    assert isinstance(feature, tf.train.Feature)
    assert feature.WhichOneof("kind") == "bytes_list"


def test_what_a_message_class_can_do_the_lists_can_do_too() -> None:
    made = Int64List(value=[1, 2])
    assert Int64List.FromString(made.SerializeToString()) == made
    assert Int64List.DESCRIPTOR.full_name == "tensorflow.Int64List"
    other = Int64List()
    other.MergeFromString(made.SerializeToString())
    assert other == made
    other.value.append(3)
    assert list(other.value) == [1, 2, 3]


def test_example_prints_as_in_the_tutorial() -> None:
    feature = {"feature0": tf.train.Feature(int64_list=Int64List(value=[False]))}
    message = tf.train.Example(features=tf.train.Features(feature=feature))
    assert str(message) == (
        'features {\n  feature {\n    key: "feature0"\n    value {\n      int64_list {\n        value: 0\n'
        "      }\n    }\n  }\n}\n"
    )
    assert tf.train.Example.FromString(message.SerializeToString()) == message
    assert pr.decode_example(message.SerializeToString())["feature0"].tolist() == [0]


def test_the_rest_of_tf_train_is_explained() -> None:
    with pytest.raises(AttributeError, match=r"tf\.train\.Checkpoint is not in purerecord\.tf"):
        tf.train.Checkpoint  # noqa: B018 - asking is the test
