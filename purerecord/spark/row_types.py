"""The types of rows: for each column, which kind of feature it is made of, and in which form.

A schema is an Arrow schema, as Spark makes it of its own: columns of values, of lists, and of lists of lists,
which are feature lists. This module must not know records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..arrow.types import is_list, pa
from ..errors import SchemaError
from ..payload.wire import BYTES, FLOAT, INT64

VALUE, LIST, STEPS = 0, 1, 2  # how many lists are around a value
_KINDS = ("boolean", "integer"), ("floating", "decimal"), ("binary", "string")


@dataclass(frozen=True)
class RowColumn:
    """A column of rows: the feature ``name`` of ``kind``, whose values have the Arrow type ``values``."""

    name: str
    type: Any
    nullable: bool
    kind: int
    depth: int  # VALUE, LIST or STEPS
    values: Any

    @property
    def step_nullable(self) -> bool:
        """Whether a step of a feature list may have no list."""
        return bool(self.type.value_field.nullable)


def row_columns(schema: Any, *, sequences: bool) -> list[RowColumn]:
    """The columns of ``schema``; a SchemaError if a feature cannot be of such a type.

    Without ``sequences``, the records are Examples, which have no feature lists.
    """
    if len(set(schema.names)) != len(schema.names):
        name = next(name for name in schema.names if schema.names.count(name) > 1)
        raise SchemaError("is the name of several columns", feature=name)
    found = [_column(field) for field in schema]
    for column in found:
        if column.depth == STEPS and not sequences:
            raise SchemaError(
                "is an array of arrays, which only a SequenceExample has; set recordType to SequenceExample",
                feature=column.name,
            )
    return found


def _column(field: Any) -> RowColumn:
    values, depth = field.type, 0
    while is_list(values) and depth < STEPS:
        values, depth = values.value_type, depth + 1
    for kind, types in zip((INT64, FLOAT, BYTES), _KINDS, strict=True):
        if any(getattr(pa.types, f"is_{name}")(values) for name in types):
            return RowColumn(field.name, field.type, field.nullable, kind, depth, values)
    raise SchemaError(
        f"no feature holds values of {values}; a column is of integers, floats, decimals, booleans, strings, "
        "binary, or of arrays of these",
        feature=field.name,
    )
