"""Text as numbers."""

from __future__ import annotations

import pytest

from purerecord import tf
from purerecord.tf._text.numbers import as_float, as_integer


@pytest.mark.parametrize(
    ("text", "number"), [(b" -3 ", -3), (b"+1", 1), (b"1_0", None), (b"1.5", None), (b"128", None)]
)
def test_integers_must_fit(text: bytes, number: int | None) -> None:
    assert as_integer(text, tf.int8) == number


@pytest.mark.parametrize(
    ("text", "number"), [(b"1e3", 1000.0), (b".5", 0.5), (b"0x10", 16.0), (b"0x1p3", 8.0), (b"1_0", None)]
)
def test_floats_may_be_hexadecimal(text: bytes, number: float | None) -> None:
    assert as_float(text, tf.float32) == number
