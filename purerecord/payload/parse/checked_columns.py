"""``CheckedColumns``: the columns of a batch, and the errors that name the record at fault.

A check is a mask over all rows, and a function that makes the error for one row. A batch without faults
costs a few array operations; only a fault makes the code look at a single row. This module does not know
the specs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import SchemaError
from ...records import Records
from ..columns.gather import Column
from ..dtypes import DType
from ..values import Offsets
from ..wire import BYTES, FLOAT, INT64

Mask = npt.NDArray[np.bool_]

KINDS: dict[DType, int] = {bytes: BYTES, np.float32: FLOAT, np.int64: INT64}
KIND_NAMES = {BYTES: "bytes", FLOAT: "float", INT64: "int64"}


# A mask of the rows at fault, and a function that makes the error for one of them.
Check = tuple[Mask, Callable[[int], SchemaError]]


@dataclass(frozen=True)
class Origin:
    """Where the examples of a batch come from, for errors; ``records`` is None for a single payload."""

    records: Records | None = None
    names: Sequence[Any] | None = None


@dataclass(frozen=True)
class CheckedColumns:
    """Columns of ``size`` rows each.

    A row is an example. With ``steps``, a row is a step of a feature list, and example ``i`` owns the
    rows ``steps[i]`` to ``steps[i + 1]``.
    """

    columns: Mapping[str, Column]
    size: int
    origin: Origin = Origin()
    steps: Offsets | None = None

    def mismatch(
        self, feature: str, row: int, problem: str, reason: str, *, expected: Any, found: Any
    ) -> SchemaError:
        """The error about ``feature`` in row ``row``, with its record and step filled in."""
        error = SchemaError(reason, feature=feature, problem=problem, expected=expected, found=found)
        if self.steps is not None:
            example = int(np.searchsorted(self.steps, row, side="right")) - 1
            error.step = row - int(self.steps[example])
            row = example
        return locate(row, self.origin, error)

    def count_mismatch(self, feature: str, needs: str, expected: int, row: int) -> SchemaError:
        """The error about a row whose number of values the spec does not allow."""
        column = self.columns[feature]
        found = int(column.row_splits[row + 1] - column.row_splits[row])
        reason = f"{found} {KIND_NAMES[column.kind]} values, but {needs}"
        return self.mismatch(feature, row, "count", reason, expected=expected, found=found)

    def column(self, feature: str) -> Column:
        """The column ``feature``; SchemaError if a row is of another kind than the column."""
        if self.columns[feature].kinds is not None:
            raise_first_fault(self.kind_check(feature))
        return self.columns[feature]

    def kind_check(self, feature: str) -> Check:
        """The check that marks rows of another kind than their column."""
        kinds = self.kinds(feature)
        return (kinds > 0) & (kinds != self.columns[feature].kind), partial(self._kind_mismatch, feature)

    def kinds(self, feature: str) -> npt.NDArray[np.int8]:
        """The kind of every row."""
        column = self.columns[feature]
        return np.full(self.size, column.kind, np.int8) if column.kinds is None else column.kinds

    def _kind_mismatch(self, feature: str, row: int) -> SchemaError:
        expected = KIND_NAMES[self.columns[feature].kind]
        found = KIND_NAMES[int(self.kinds(feature)[row])]
        reason = f"holds a list of {found}, but {expected} is asked for"
        return self.mismatch(feature, row, "kind", reason, expected=expected, found=found)

    def missing(self, feature: str, dtype: DType, remedy: str, row: int) -> SchemaError:
        """The error about a row that lacks a required feature."""
        kind = KIND_NAMES[KINDS[dtype]]
        reason = f"is required ({kind}) but could not be found; {remedy}"
        return self.mismatch(feature, row, "missing", reason, expected=kind, found=None)


def lengths_of(column: Column) -> Offsets:
    """The number of values in each row."""
    if column.uniform is None:
        return np.diff(column.row_splits)
    return np.full(column.rows, column.uniform, np.int64)


def locate(row: int, origin: Origin, error: SchemaError) -> SchemaError:
    """Fills in ``error`` where row ``row`` comes from, and returns it."""
    error.row = row
    if origin.records is not None:
        error.path, error.record, _ = origin.records.origin(row)
    if origin.names is not None:
        name = origin.names[row]
        error.name = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return error


def raise_first_fault(*checks: Check) -> None:
    """Raise the error of the first row at fault, if any; of several in that row, that of the first check."""
    faults = [(int(mask.argmax()), make) for mask, make in checks if mask.any()]
    if faults:
        row, make = min(faults, key=lambda fault: fault[0])
        raise make(row)
