"""``tf.bitwise``: functions of the bits of integers.

This module only gathers the functions of ``_values``.
"""

from __future__ import annotations

from ._missing import missing
from ._values.arithmetic import bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift
from ._values.elementwise import invert

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]

__getattr__ = missing("bitwise")
