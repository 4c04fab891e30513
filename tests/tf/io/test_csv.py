"""Lines of comma-separated values."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_columns_have_their_dtypes_and_defaults() -> None:
    numbers, names = tf.io.decode_csv(["1,a", ',"b,""c"'], [[7], [""]])
    assert numbers.numpy().tolist() == [1, 7]
    assert names.numpy().tolist() == [b"a", b'b,"c']


def test_broken_line_is_named() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 0 in record 1 is not a valid int32: x"):
        tf.io.decode_csv(["1", "x"], [[0]])
