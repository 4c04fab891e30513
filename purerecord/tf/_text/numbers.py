"""Text as numbers, by TensorFlow's rules: no underscores, no other digits than ASCII, hexadecimal floats.

This module does not know tensors.
"""

from __future__ import annotations

import re

from ..dtypes import DType

_FLOAT = re.compile(
    rb"\s*([+-]?)(?:0[xX]([0-9a-fA-F]+)|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
    rb"|(?i:inf|infinity|nan))\s*"
)
_HEXADECIMAL = re.compile(rb"\s*[+-]?0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*[pP][+-]?\d+\s*")
_INTEGER = re.compile(rb"\s*[+-]?\d+\s*")


def as_integer(text: bytes, dtype: DType) -> int | None:
    """An integer of ``dtype``, or None if the text is none."""
    if not _INTEGER.fullmatch(text) or (dtype.is_unsigned and b"-" in text):
        return None
    number = int(text)
    return number if dtype.min <= number <= dtype.max else None


def as_float(text: bytes, dtype: DType) -> float | None:
    """A float, or None if the text is none; one out of range is infinite."""
    match = _FLOAT.fullmatch(text)
    if match and match[2]:
        return float(int(match[2], 16)) * (-1 if match[1] == b"-" else 1)
    if match:
        return float(text)
    return float.fromhex(text.decode()) if _HEXADECIMAL.fullmatch(text) else None
