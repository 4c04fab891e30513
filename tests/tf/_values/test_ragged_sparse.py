"""``RaggedTensor`` and ``SparseTensor`` around the core's types."""

from __future__ import annotations

import numpy as np

from purerecord import tf
from purerecord.payload.ragged import Ragged
from purerecord.payload.sparse import Sparse
from purerecord.tf._values.ragged_sparse import unwrap, wrap


def test_core_types_are_wrapped_and_unwrapped_without_a_copy():
    array, ragged = np.arange(3), Ragged([1, 2], [0, 2])
    sparse = Sparse([[0]], [7], (2,))
    assert unwrap(wrap(array)) is array
    assert unwrap(wrap(ragged)) is ragged
    assert unwrap(wrap(sparse)) is sparse
    assert wrap(b"a\0").numpy() == b"a\0"
    assert unwrap("anything else") == "anything else"
    assert isinstance(wrap(ragged), tf.RaggedTensor)
    assert isinstance(wrap(sparse), tf.SparseTensor)
