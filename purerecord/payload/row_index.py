"""Which rows of a ``Ragged`` or a ``Sparse`` a key means: an integer, a list or array of integers, or a mask.

This module does not know what a row holds.
"""

from __future__ import annotations

from operator import index as as_index
from typing import Any

import numpy as np

from .values import Offsets


def row_number(key: Any, count: int, kind: str, other_keys: str = "") -> int:
    """The number, from 0 on, of the row that an integer ``key`` means in a column of ``count`` rows.

    ``kind`` names the column's type in errors, ``other_keys`` what it takes besides integers and slices.
    """
    try:
        index = as_index(key)
    except TypeError:
        raise TypeError(
            f"a {kind} is indexed with an integer,{other_keys} or a slice, not with a {type(key).__name__}"
        ) from None
    if not -count <= index < count:
        raise IndexError(f"row {index} of a {kind} that has {count}")
    return index % count


def row_numbers(keys: Any, count: int) -> Offsets:
    """The numbers, from 0 on, of the rows that a list or array of integers, or a mask, means in a Ragged."""
    try:
        numbers = np.asarray(keys)
    except ValueError:
        raise TypeError("rows are chosen with a vector of integers or a mask, not with lists") from None
    if not numbers.size:
        numbers = numbers.astype(np.int64)
    if numbers.ndim != 1 or numbers.dtype.kind not in "biu":
        raise TypeError(f"rows are chosen with a vector of integers or a mask, not with {numbers.dtype}")
    if numbers.dtype.kind == "b":
        if len(numbers) != count:
            raise IndexError(f"a mask of {len(numbers)} for a Ragged of {count} rows")
        return np.flatnonzero(numbers)
    outside = (numbers < -count) | (numbers >= count)
    if outside.any():
        raise IndexError(f"row {numbers[outside][0]} of a Ragged that has {count}")
    return np.where(numbers < 0, numbers + count, numbers).astype(np.int64)
