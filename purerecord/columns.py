"""Columns: one feature over a whole batch of records.

``gather`` turns records into columns. It knows neither feature specs nor defaults nor files: what a
missing feature or a surprising kind means is decided by its callers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import DecodeError
from .records import BytesLike, Records
from .wire import ABSENT, BYTES, FLOAT, INT64, UNSET, Value, decode_features

_DTYPES: dict[int, Any] = {UNSET: np.int64, BYTES: object, FLOAT: np.float32, INT64: np.int64}


@dataclass(frozen=True)
class Column:
    """The values of one feature in ``rows`` records, one row behind the other.

    ``kind`` is BYTES, FLOAT, INT64, or UNSET when no record says. ``kinds`` holds the kind of the feature
    in each record (ABSENT where it is missing); None means that every record has ``kind``. ``values`` is
    flat: int64, float32, or objects that are ``bytes``; a record of another kind adds none. ``uniform`` is
    the number of values of every row, if it is the same for all, else None; ``splits`` is given then.
    """

    __slots__ = ("kind", "kinds", "rows", "splits", "uniform", "values")

    kind: int
    kinds: npt.NDArray[np.int8] | None
    values: npt.NDArray[Any]
    rows: int
    uniform: int | None
    splits: npt.NDArray[np.int64] | None

    @property
    def row_splits(self) -> npt.NDArray[np.int64]:
        """Row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``."""
        if self.uniform is None:
            assert self.splits is not None
            return self.splits
        return np.arange(self.rows + 1, dtype=np.int64) * self.uniform


def gather(
    records: Records | Sequence[BytesLike], wanted: Mapping[str, int | None] | None = None
) -> dict[str, Column]:
    """The columns of the ``wanted`` features: name -> kind, or None for the first kind that appears.

    Without ``wanted``, every feature that is found, in the order of the names. All payloads are checked
    as a whole, whatever is wanted of them: the first malformed one is a ``DecodeError``.
    """
    records = Records.of(records)
    rows = [_decode(records, i) for i in range(len(records))]
    if wanted is None:
        wanted = dict.fromkeys(sorted(set().union(*rows)))
    return {name: _column([row.get(name, (ABSENT, None)) for row in rows], wanted[name]) for name in wanted}


def _decode(records: Records, index: int) -> dict[str, Value]:
    try:
        return decode_features(records[index])
    except DecodeError as error:
        error.record = records.first + index
        error.path = records.path
        if records.base is not None:
            error.offset = records.base + int(records.begins[index]) - 12
        raise


def _column(row: list[Value], kind: int | None) -> Column:
    kinds = np.array([k for k, _ in row], np.int8)
    if kind is None:
        kind = next((k for k, _ in row if k > UNSET), UNSET)
    parts = [values if k == kind and values is not None else () for k, values in row]
    lengths = np.array([len(part) for part in parts], np.int64)
    if kind == BYTES:
        values = np.fromiter(chain.from_iterable(parts), object, int(lengths.sum()))
    else:
        values = np.concatenate([np.empty(0, _DTYPES[kind]), *parts]).astype(_DTYPES[kind])
    same = not len(row) or bool((lengths == lengths[0]).all())
    splits = None if same else np.concatenate(([0], np.cumsum(lengths)))
    uniform = None if not same else int(lengths[0]) if len(row) else 0
    return Column(kind, None if (kinds == kind).all() else kinds, values, len(row), uniform, splits)
