"""``floats="exact"``: the strict rule for floats, the same for rows, columns and tables.

An Example stores float32. A float64 that float32 cannot hold is rounded, unless the caller asks for
``floats="exact"``: then it is an ``EncodeError``. A float that would become infinite always is one. This
module does not know the wire format.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..bytes_column import BytesColumn
from ..errors import EncodeError
from .values import as_array, to_float32

_SINGLE = 4  # bytes of a float32


def is_exact(floats: str) -> bool:
    """Whether the option ``floats`` asks for exact floats; ValueError if there is no such option."""
    if floats not in ("round", "exact"):
        raise ValueError(f'floats must be "round" or "exact", not {floats!r}')
    return floats == "exact"


def check_exact(value: Any, feature: str) -> None:
    """Raise an EncodeError if float32 does not hold a float of ``value`` exactly.

    ``value`` is anything that can be stored; call this after it was encoded, which refuses everything else.
    """
    if isinstance(value, BytesColumn):
        return
    if isinstance(value, float):
        _check_array(np.asarray(value), feature)
    elif hasattr(value, "row_splits"):
        check_exact(value.values, feature)
    elif isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview)):
        if set(map(type, value)) == {float}:
            _check_array(np.array(value), feature)
        else:
            for item in value:
                check_exact(item, feature)
    elif hasattr(value, "__array__"):
        array = as_array(value, feature)
        if array.dtype == object:
            check_exact(array.ravel().tolist(), feature)
        else:
            _check_array(array, feature)


def check_exact_column(column: Any, feature: str) -> None:
    """The same for a column; the error names the record."""
    try:
        check_exact(column, feature)
    except EncodeError:
        for record, row in enumerate(_rows(column)):
            try:
                check_exact(row, feature)
            except EncodeError as error:
                error.record = record
                raise
        raise


def _check_array(array: Any, feature: str) -> None:
    if array.dtype.kind != "f" or array.itemsize <= _SINGLE:
        return
    with np.errstate(invalid="ignore"):
        changed = (to_float32(array, feature) != array) & ~np.isnan(array)
    if changed.any():
        raise EncodeError(
            'a float that float32 does not hold exactly; cast it to float32, or use floats="round"',
            feature=feature,
        )


def _rows(column: Any) -> Iterable[Any]:
    if hasattr(column, "row_splits"):  # of any library, so it may not be iterable
        return (column.values[a:b] for a, b in pairwise(np.asarray(column.row_splits).tolist()))
    rows: Iterable[Any] = column
    return rows
