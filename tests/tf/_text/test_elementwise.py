"""One function for each string of a tensor."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_ragged_strings_keep_their_rows() -> None:
    found = tf.strings.to_hash_bucket_fast(tf.ragged.constant([["a", "b"], []]), 1)
    assert found.to_list() == [[0, 0], []]


def test_another_dtype_is_an_error_of_the_operation() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"cannot compute StringLower .* a int32 tensor"):
        tf.strings.lower(tf.constant([1]))
