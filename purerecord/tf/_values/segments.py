"""Rows of arrays combined by segments: the sum, product, maximum or minimum of the rows of each segment.

Rows of negative segments are left out. A segment without rows gets what the operation begins with. This
module does not know tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .convert import Array


def lowest(dtype: np.dtype[Any]) -> Any:
    """The least number of a dtype, for floats a finite one."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return -_greatest_float(dtype)


def highest(dtype: np.dtype[Any]) -> Any:
    """The greatest number of a dtype, for floats a finite one."""
    return np.iinfo(dtype).max if dtype.kind in "iu" else _greatest_float(dtype)


def _greatest_float(dtype: np.dtype[Any]) -> Any:
    return np.finfo(dtype).max if dtype.kind == "f" else dtype.type(float.fromhex("0x1.fep127"))


def _combine(begin: Callable[[np.dtype[Any]], Any], step: Any, array: Array, ids: Array, count: int) -> Array:
    result = np.full((count, *array.shape[1:]), begin(array.dtype), array.dtype)
    chosen = ids >= 0
    with np.errstate(all="ignore"):
        step.at(result, ids[chosen], array[chosen])
    return result


def total(array: Array, ids: Array, count: int) -> Array:
    """The sums of the segments."""
    return _combine(lambda dtype: dtype.type(0), np.add, array, ids, count)


def product(array: Array, ids: Array, count: int) -> Array:
    """The products of the segments."""
    return _combine(lambda dtype: dtype.type(1), np.multiply, array, ids, count)


def maximum(array: Array, ids: Array, count: int) -> Array:
    """The maxima of the segments."""
    return _combine(lowest, np.maximum, array, ids, count)


def minimum(array: Array, ids: Array, count: int) -> Array:
    """The minima of the segments."""
    return _combine(highest, np.minimum, array, ids, count)


def sizes(ids: Array, count: int) -> Array:
    """The number of rows of each segment."""
    return np.bincount(ids[ids >= 0], minlength=count)
