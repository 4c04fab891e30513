"""Which row of a ``Ragged`` or a ``Sparse`` an integer means.

This module does not know what a row holds.
"""

from __future__ import annotations

from operator import index as as_index
from typing import Any


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
