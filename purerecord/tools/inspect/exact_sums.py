"""``ExactSum``: the sum of many numbers and the sum of their squares, without any rounding.

So the mean and the deviation are the same however the numbers were divided among batches and processes. A
block of numbers is split into digits of 20 bits. The sum of a block of digits, and the dot product of two of
them, fit into the 53 bits of a float64; numpy may add them up in any order. Python's integers take over from
there. This module does not know where numbers come from.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

_Float64s = npt.NDArray[np.float64]

_BLOCK = 1 << 13  # numbers; 2**13 products of two digits need 13 + 40 bits
_DIGIT_BITS = 20
_FEW = 8  # so often a number is added as if it was another one each time
# Every finite float32 is a whole number of 2**-149.
_SCALE = 149
_MOST_EXACT = 1 << 53  # integers up to here are float64 without rounding


class ExactSum:
    """The sum of numbers that are int64 or finite float32, and the sum of their squares."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0  # in units of 2**-149
        self._squares = 0  # in units of 2**-298

    def add(self, numbers: npt.NDArray[Any]) -> None:
        """Add an array of int64, or of float32 that are finite."""
        self.count += numbers.size
        for low in range(0, numbers.size, _BLOCK):
            digits = _digits(numbers[low : low + _BLOCK])
            for place, digit in enumerate(digits):
                self._sum += _scaled(float(digit.sum()), _SCALE)
                self._squares += _scaled(float(digit @ digit), 2 * _SCALE)
                for other in digits[:place]:
                    self._squares += 2 * _scaled(float(digit @ other), 2 * _SCALE)

    def add_counted(self, numbers: npt.NDArray[Any], counts: npt.NDArray[np.int64]) -> None:
        """Add each of the ``numbers`` as often as ``counts`` says."""
        few = counts <= _FEW
        self.add(np.repeat(numbers[few], counts[few]))
        numbers, counts = numbers[~few], counts[~few]
        mantissas, exponents = _mantissas(numbers)
        for mantissa, exponent, count in zip(mantissas, exponents, counts.tolist(), strict=True):
            number = mantissa << exponent
            self.count += count
            self._sum += number * count
            self._squares += number * number * count

    def merge(self, other: ExactSum) -> None:
        """Add the numbers of another sum."""
        self.count += other.count
        self._sum += other._sum
        self._squares += other._squares

    @property
    def mean(self) -> float:
        """The mean, rounded once; NaN without numbers."""
        return float(Fraction(self._sum, self.count << _SCALE)) if self.count else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation of the numbers themselves (divided by their count); NaN without numbers."""
        if not self.count:
            return math.nan
        variance = self.count * self._squares - self._sum * self._sum
        return math.sqrt(Fraction(variance, self.count * self.count << 2 * _SCALE))


def _scaled(number: float, exponent: int) -> int:
    """``number`` in units of 2**-exponent; it is a whole number of them."""
    numerator, denominator = number.as_integer_ratio()
    return (numerator << exponent) // denominator


def _mantissas(numbers: npt.NDArray[Any]) -> tuple[list[int], list[int]]:
    """Integers and powers of two; their products are the numbers in units of 2**-149."""
    if numbers.dtype.kind == "i":
        return numbers.tolist(), [_SCALE] * numbers.size
    fractions, exponents = np.frexp(numbers.astype(np.float64))
    whole = np.ldexp(fractions, 24).astype(np.int64)
    places = exponents.astype(np.int64) - 24 + _SCALE
    # The smallest float32 have fewer than 24 bits; the lowest bits of these mantissas are zeros.
    low = np.minimum(places, 0)
    return (whole >> -low).tolist(), (places - low).tolist()


def _digits(block: npt.NDArray[Any]) -> list[_Float64s]:
    """Arrays whose sum is ``block``; each is a power of two times integers of at most 20 bits and a sign."""
    if block.dtype.kind != "i":
        return _float_digits(block.astype(np.float64))
    if int(block.min()) >= -_MOST_EXACT and int(block.max()) <= _MOST_EXACT:
        return _float_digits(block.astype(np.float64))
    high = (block >> 32).astype(np.float64) * 2.0**32
    low = (block & 0xFFFFFFFF).astype(np.float64)
    return [*_float_digits(high), *_float_digits(low)]


def _float_digits(rest: _Float64s) -> list[_Float64s]:
    """The same for float64, which is overwritten."""
    largest = max(float(rest.max()), -float(rest.min()))
    digits: list[_Float64s] = []
    exponent = math.frexp(largest)[1]
    while True:
        # Adding this number rounds to multiples of 2**(exponent - 20), and subtracting it leaves them.
        rounder = math.ldexp(1.5, exponent + 52 - _DIGIT_BITS)
        digit = rest + rounder
        digit -= rounder
        rest -= digit
        digits.append(digit)
        exponent -= _DIGIT_BITS + 1
        if not rest.any():
            return digits
