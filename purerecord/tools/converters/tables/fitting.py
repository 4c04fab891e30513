"""Columns in the types that a schema gives. This module must not know where columns come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ....errors import EncodeError
from ....payload.encode.cells import Cells, as_cells
from ....payload.wire import ABSENT, FLOAT, INT64, UNSET
from ..column_types import NAMES, FeatureType, float32_values, row_of


def fitted(columns: Mapping[str, Any], types: Mapping[str, FeatureType], floats: str) -> dict[str, Cells]:
    """The columns of a batch of records that ``types`` names; an EncodeError if one does not fit.

    Integers fit where floats are needed, and are rounded as these are.
    """
    return {
        name: _fitted(name, columns[name], kept, floats) for name, kept in types.items() if name in columns
    }


def _fitted(name: str, column: Any, needed: FeatureType, floats: str) -> Cells:
    cells = as_cells(name, column)
    if cells.kind == INT64 and needed.kind == FLOAT:
        try:
            values = float32_values(name, np.asarray(cells.values).astype(np.float64), floats)
        except EncodeError as error:
            error.record = row_of(cells.counts, error.record)
            raise
        kinds = None if cells.kinds is None else np.where(cells.kinds == INT64, FLOAT, cells.kinds)
        cells = Cells(FLOAT, values, cells.counts, None if kinds is None else kinds.astype(np.int8))
    if cells.kind not in (UNSET, needed.kind):
        reason = f"holds {NAMES[cells.kind]}, where the schema says {NAMES[needed.kind]}"
        raise EncodeError(reason, feature=name)
    absent = np.zeros(len(cells.counts), bool) if cells.kinds is None else cells.kinds == ABSENT
    if needed.required and bool(absent.any()):
        reason = "is missing, and the schema requires it"
        raise EncodeError(reason, feature=name, record=int(absent.argmax()))
    wrong = ~absent & (cells.counts != needed.count)
    if needed.count is not None and bool(wrong.any()):
        row = int(wrong.argmax())
        reason = f"has {cells.counts[row]} values, where the schema has {needed.count}"
        raise EncodeError(reason, feature=name, record=row)
    return cells
