"""``Batch``: the columns that a spec is applied to, and how to say which record does not fit.

A check is a mask over all rows and the error to raise for the first row that the mask marks, so that
checking costs a few array operations and nothing is looked at row by row unless something is wrong. This
module does not know the specs.
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
from ..ragged import Offsets
from ..wire import BYTES, FLOAT, INT64

Mask = npt.NDArray[np.bool_]

KINDS: dict[DType, int] = {bytes: BYTES, np.float32: FLOAT, np.int64: INT64}
KIND_NAMES = {BYTES: "bytes", FLOAT: "float", INT64: "int64"}


# Which rows are at fault, and what makes the error for one of them.
Check = tuple[Mask, Callable[[int], SchemaError]]


@dataclass(frozen=True)
class Origin:
    """Where the examples of a batch come from, for messages; ``records`` is None for a lone example."""

    records: Records | None = None
    names: Sequence[Any] | None = None


@dataclass(frozen=True)
class Batch:
    """Columns of ``size`` rows each. With ``steps``, rows are steps: example ``i`` has those of
    ``[steps[i], steps[i + 1])``."""

    columns: Mapping[str, Column]
    size: int
    origin: Origin = Origin()
    steps: Offsets | None = None

    def mismatch(
        self, feature: str, row: int, problem: str, reason: str, *, expected: Any, found: Any
    ) -> SchemaError:
        """The error about ``feature`` in row ``row``."""
        error = SchemaError(reason, feature=feature, problem=problem, expected=expected, found=found)
        if self.steps is not None:
            example = int(np.searchsorted(self.steps, row, side="right")) - 1
            error.step = row - int(self.steps[example])
            row = example
        return place(error, row, self.origin)

    def count_mismatch(self, feature: str, needs: str, expected: int, row: int) -> SchemaError:
        """The error about a number of values that a spec does not allow."""
        column = self.columns[feature]
        found = int(column.row_splits[row + 1] - column.row_splits[row])
        reason = f"{found} {KIND_NAMES[column.kind]} values, but {needs}"
        return self.mismatch(feature, row, "count", reason, expected=expected, found=found)

    def column(self, feature: str) -> Column:
        """The column ``feature``, in which no row is of another kind."""
        if self.columns[feature].kinds is not None:
            first_fault(self.kind_check(feature))
        return self.columns[feature]

    def kind_check(self, feature: str) -> Check:
        """Which rows are of another kind than their column."""
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
        """The error about a feature that must be there."""
        kind = KIND_NAMES[KINDS[dtype]]
        reason = f"is required ({kind}) but could not be found; {remedy}"
        return self.mismatch(feature, row, "missing", reason, expected=kind, found=None)


def lengths_of(column: Column) -> Offsets:
    """The number of values of each row."""
    if column.uniform is None:
        return np.diff(column.row_splits)
    return np.full(column.rows, column.uniform, np.int64)


def place(error: SchemaError, row: int, origin: Origin) -> SchemaError:
    """``error`` with the place of row ``row`` filled in."""
    error.row = row
    if origin.records is not None:
        error.path, error.record, _ = origin.records.origin(row)
    if origin.names is not None:
        name = origin.names[row]
        error.name = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    return error


def first_fault(*checks: Check) -> None:
    """Raise the error of the first row that a check finds at fault; in one row, of the first check."""
    faults = [(int(mask.argmax()), make) for mask, make in checks if mask.any()]
    if faults:
        row, make = min(faults, key=lambda fault: fault[0])
        raise make(row)
