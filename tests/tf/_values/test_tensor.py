"""``EagerTensor``: repr, copies, pickles."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from purerecord import tf

REPRS = [
    ("tf.constant(5)", "<tf.Tensor: shape=(), dtype=int32, numpy=5>"),
    ("tf.constant(0.1)", "<tf.Tensor: shape=(), dtype=float32, numpy=0.10000000149011612>"),
    ("tf.constant('a')", "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
    ("tf.constant([1, 2])", "<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>"),
    ("tf.constant(['a'])", "<tf.Tensor: shape=(1,), dtype=string, numpy=array([b'a'], dtype=object)>"),
    (
        "tf.constant([[1.0], [2.0]])",
        "<tf.Tensor: shape=(2, 1), dtype=float32, numpy=\narray([[1.],\n       [2.]], dtype=float32)>",
    ),
    ("str(tf.constant([1, 2]))", "'tf.Tensor([1 2], shape=(2,), dtype=int32)'"),
    ("tf.int64", "tf.int64"),
    ("str(tf.int64)", "\"<dtype: 'int64'>\""),
    ("tf.TensorShape([2, None])", "TensorShape([2, None])"),
    ("tf.TensorSpec([None], tf.int64)", "TensorSpec(shape=(None,), dtype=tf.int64, name=None)"),
    ("tf.ragged.constant([[1], []])", "<tf.RaggedTensor [[1], []]>"),
    (
        "tf.SparseTensor([[0, 1]], [5], [2, 3])",
        "SparseTensor(indices=tf.Tensor([[0 1]], shape=(1, 2), dtype=int64), values=tf.Tensor([5], "
        "shape=(1,), dtype=int32), dense_shape=tf.Tensor([2 3], shape=(2,), dtype=int64))",
    ),
]


@pytest.mark.parametrize(("expression", "text"), REPRS)
def test_repr_is_tensorflows(expression, text):
    assert repr(eval(expression, {"tf": tf})) == text


def test_tensor_does_not_change_with_the_array_it_was_made_of_nor_with_those_made_of_it():
    array = np.arange(3)
    tensor = tf.constant(array)
    array[0] = 9
    tensor.numpy()[0] = 8
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(tensor)[0] = 7
    assert tensor.numpy().tolist() == [0, 1, 2]


def test_tensors_can_be_pickled_and_stored_by_numpy(tmp_path):
    for tensor in (tf.constant([1, 2]), tf.constant(b"a\0"), tf.ragged.constant([[1], []])):
        again = pickle.loads(pickle.dumps(tensor))
        assert repr(again) == repr(tensor)
    sparse = pickle.loads(pickle.dumps(tf.SparseTensor([[0]], ["a"], [2])))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [b"a", b""]
    np.save(tmp_path / "tensor.npy", tf.constant([1, 2]))
    assert np.load(tmp_path / "tensor.npy").tolist() == [1, 2]


def test_tensor_is_a_tensor_for_the_helper_of_all_tutorials():
    def bytes_feature(value):
        if isinstance(value, type(tf.constant(0))):
            value = value.numpy()
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    assert bytes_feature(tf.constant("a")) == bytes_feature(b"a")
    assert bytes_feature(tf.io.serialize_tensor(tf.constant([1]))).bytes_list.value[0].startswith(b"\x08\x03")
