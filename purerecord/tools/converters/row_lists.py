"""Columns of Examples as lists of values, a list for each record: for formats that are text.

This module must not know the formats.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...bytes_column import BytesColumn
from ...payload.columns.gather import Column
from .survey import counts_of

# The values of one feature in each record; None where the record lacks it.
RowLists = list[list[Any] | None]


def row_lists(column: Column) -> RowLists:
    """The values of each record: ints, bytes, or floats that float32 holds as their shortest text shows."""
    values = plain_values(column.values)
    rows: RowLists = [values[begin:end] for begin, end in pairwise(column.row_splits.tolist())]
    if column.kinds is not None:
        for row in np.flatnonzero(counts_of(column) < 0).tolist():
            rows[row] = None
    return rows


def plain_values(values: Any) -> list[Any]:
    """A vector as Python's own values."""
    if isinstance(values, BytesColumn):
        return values.tolist()
    if values.dtype == np.float32:
        # The shortest text that reads back as the same float32; for the same float64 it would be longer.
        return list(map(float, values.astype(str).tolist()))
    listed: list[Any] = values.tolist()
    return listed
