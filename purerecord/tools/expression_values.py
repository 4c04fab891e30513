"""The values that an expression computes with: one for each row, or none; and what can be done with them.

Numbers behave as in Python, but integers have 64 bits, and an overflow is an error. A number that is compared
with a float feature is rounded to float32 before, as the stored values were. A comparison in which a value is
missing is false. This module must not know how expressions are written, nor what a record is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from ..bytes_column import BytesColumn

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]
Constant = Union[int, float, bytes]

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# Integers up to here are exact as float64.
_EXACT = 2**53
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


class UnfitError(Exception):
    """A value is not of the kind that is needed, or is out of range; ``row`` tells where."""

    def __init__(self, reason: str, row: int) -> None:
        super().__init__(reason)
        self.row = row


@dataclass(frozen=True)
class Values:
    """The values of all rows. ``known`` marks the rows that have one; None that all have.

    ``data`` is an array of int64, float32 (as stored) or float64 (computed), a ``BytesColumn``, or None if no
    row has a value. Constants are arrays without a dimension, or ``bytes``.
    """

    data: Numbers | BytesColumn | bytes | None
    known: Mask | None = None

    @classmethod
    def constant(cls, value: Constant) -> Values:
        """A value that is the same in every row."""
        return cls(value if isinstance(value, bytes) else np.array(value))

    @property
    def is_constant(self) -> bool:
        """Whether the value is the same in every row."""
        return isinstance(self.data, bytes) or (isinstance(self.data, np.ndarray) and self.data.ndim == 0)

    @property
    def is_text(self) -> bool:
        """Whether the values are strings."""
        return isinstance(self.data, (BytesColumn, bytes))

    def first(self) -> int:
        """The first row that has a value."""
        return 0 if self.known is None else int(self.known.argmax())


def both_known(left: Values, right: Values) -> Mask | None:
    """Which rows have both values; None for all."""
    if left.known is None or right.known is None:
        return right.known if left.known is None else left.known
    return left.known & right.known


def compare(symbol: str, left: Values, right: Values, rows: int) -> Mask:
    """In which rows a comparison holds."""
    if left.data is None or right.data is None:
        return np.zeros(rows, bool)
    known = both_known(left, right)
    if left.is_text != right.is_text:
        if known is not None and not known.any():
            return np.zeros(rows, bool)
        text, number = ("a string", "a number")[:: 1 if left.is_text else -1]
        raise UnfitError(f"{text} cannot be compared with {number}", Values(None, known).first())
    if left.is_text:
        found = _compare_strings(symbol, left.data, right.data, rows)
    else:
        found = _compare_numbers(COMPARISONS[symbol], left.data, right.data)
    found = np.broadcast_to(found, rows)
    return found if known is None else found & known


def _compare_strings(symbol: str, left: Any, right: Any, rows: int) -> Mask:
    if symbol in ("==", "!=") and isinstance(left, BytesColumn) != isinstance(right, BytesColumn):
        column, constant = (left, right) if isinstance(left, BytesColumn) else (right, left)
        same = equals(column, constant)
        return same if symbol == "==" else ~same
    lists = [one if isinstance(one, BytesColumn) else [one] * rows for one in (left, right)]
    return np.fromiter(map(COMPARISONS[symbol], *lists), bool, rows)


def equals(column: BytesColumn, constant: bytes) -> Mask:
    """Which strings are this one."""
    same: Mask = column.lengths == len(constant)
    places = same.nonzero()[0]
    same[places] = np.fromiter((string == constant for string in column.take(places)), bool, len(places))
    return same


def _compare_numbers(holds: Callable[[Any, Any], Any], left: Any, right: Any) -> Mask:
    left, right = _as_stored(left, right), _as_stored(right, left)
    if (left.dtype.kind == "i") != (right.dtype.kind == "i"):
        return _compare_kinds(holds, left, right)
    if left.dtype.kind == "f":
        left, right = left.astype(np.float64), right.astype(np.float64)
    found: Mask = holds(left, right)
    return found


def _as_stored(one: Numbers, other: Numbers) -> Numbers:
    """A constant that is compared with a float feature, as that would store it."""
    if one.ndim or not other.ndim or other.dtype != np.float32:
        return one
    with np.errstate(over="ignore"):
        stored = one.astype(np.float32)
    return stored if np.isfinite(stored) or not np.isfinite(one) else one


def _compare_kinds(holds: Callable[[Any, Any], Any], left: Numbers, right: Numbers) -> Mask:
    """Compare integers with floats exactly: float64 does not hold all integers."""
    found: Mask = np.array(holds(left.astype(np.float64), right.astype(np.float64)))
    integers = left if left.dtype.kind == "i" else right
    large = np.broadcast_to((integers > _EXACT) | (integers < -_EXACT), found.shape)
    if large.any():
        left, right = np.broadcast_to(left, found.shape)[large], np.broadcast_to(right, found.shape)[large]
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        found[large] = [holds(one, other) for one, other in pairs]
    return found


def arithmetic(symbol: str, left: Values, right: Values) -> Values:
    """The values of a sum, difference, product, quotient or remainder. A division by zero has none."""
    known = both_known(left, right)
    if left.data is None or right.data is None:
        return Values(None, known)
    for side in (left, right):
        if side.is_text:
            raise UnfitError(f"{symbol} needs numbers, and this is a string", Values(None, known).first())
    one, other = left.data, right.data
    assert isinstance(one, np.ndarray)
    assert isinstance(other, np.ndarray)
    whole = one.dtype.kind == other.dtype.kind == "i"
    if symbol in ("/", "%"):
        return _divide(symbol, one, other, known, whole)
    if whole:
        return Values(_exact(symbol, one, other, known), known)
    return Values(_ARITHMETIC[symbol](one.astype(np.float64), other.astype(np.float64)), known)


def _divide(symbol: str, one: Numbers, other: Numbers, known: Mask | None, whole: bool) -> Values:
    if symbol == "%" and not whole:
        raise UnfitError("% is for integers", Values(None, known).first())
    sensible = np.array(other != 0)
    if sensible.all():
        sensible = np.array(True)
    divisor = np.where(sensible, other, 1)
    with np.errstate(all="ignore"):
        if symbol == "%":
            result = np.remainder(one, np.where(divisor == -1, 1, divisor))
        else:
            result = one.astype(np.float64) / divisor.astype(np.float64)
    if not sensible.all():
        known = np.broadcast_to(sensible, result.shape) & (True if known is None else known)
    return Values(np.asarray(result), known)


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda one, other: _quietly(np.add, one, other),
    "-": lambda one, other: _quietly(np.subtract, one, other),
    "*": lambda one, other: _quietly(np.multiply, one, other),
}
_EXACTLY = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def _quietly(function: Any, one: Numbers, other: Numbers) -> Numbers:
    with np.errstate(all="ignore"):
        return np.asarray(function(one, other))


def _exact(symbol: str, one: Numbers, other: Numbers, known: Mask | None) -> Numbers:
    """Integers, computed in 64 bits; an overflow is an error."""
    result: Numbers = _ARITHMETIC[symbol](one, other)
    about = _ARITHMETIC[symbol](one.astype(np.float64), other.astype(np.float64))
    suspects = np.abs(about) > 2.0**62
    if suspects.any():
        suspects = suspects & (True if known is None else known)
        pair = np.broadcast_to(one, suspects.shape), np.broadcast_to(other, suspects.shape)
        for row in np.flatnonzero(suspects).tolist():
            exact = _EXACTLY[symbol](int(pair[0].flat[row]), int(pair[1].flat[row]))
            if not _SMALLEST <= exact <= _LARGEST:
                raise UnfitError(f"{exact} does not fit in 64 bits", row)
    return result


def text_matches(function: str, values: Values, constant: bytes, rows: int) -> Mask:
    """Which strings contain, start or end with another one."""
    if values.data is None:
        return np.zeros(rows, bool)
    strings = values.data
    if isinstance(strings, bytes):
        strings = BytesColumn.of([strings] * rows)
    if not isinstance(strings, BytesColumn):
        raise UnfitError(f"{function}() needs a string, and this is a number", values.first())
    if function == "contains":
        found = np.fromiter((constant in string for string in strings), bool, rows)
    elif function == "startswith":
        ends = np.minimum(strings.ends, strings.begins + len(constant))
        found = equals(BytesColumn(strings.buffer, strings.begins, ends), constant)
    else:
        begins = np.maximum(strings.begins, strings.ends - len(constant))
        found = equals(BytesColumn(strings.buffer, begins, strings.ends), constant)
    return found if values.known is None else found & values.known


def text_sizes(values: Values) -> Values:
    """The lengths of strings in bytes."""
    if values.data is None:
        return values
    if isinstance(values.data, bytes):
        return Values.constant(len(values.data))
    if not isinstance(values.data, BytesColumn):
        raise UnfitError("size() needs a string, and this is a number", values.first())
    return Values(values.data.lengths, values.known)
