"""Strings as code points."""

from __future__ import annotations

import pytest

from purerecord import tf


def test_code_points_come_back_as_the_same_string() -> None:
    texts = tf.constant(["aé€😀", "", "x"])
    points = tf.strings.unicode_decode(texts, "UTF-8")
    assert points.to_list() == [[97, 233, 8364, 128512], [], [120]]
    assert tf.strings.unicode_encode(points, "UTF-8").numpy().tolist() == texts.numpy().tolist()


def test_broken_text_is_replaced_or_refused() -> None:
    assert tf.strings.unicode_decode(b"a\xff", "UTF-8").numpy().tolist() == [97, 0xFFFD]
    assert tf.strings.unicode_decode(b"a\xff", "UTF-8", "ignore").numpy().tolist() == [97]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid formatting"):
        tf.strings.unicode_decode(b"a\xff", "UTF-8", "strict")
