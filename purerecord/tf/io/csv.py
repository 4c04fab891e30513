"""``tf.io.decode_csv``: lines of comma-separated values as one tensor for each column.

This module does not know files; ``tf.data.TextLineDataset`` gives the lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .._text.elementwise import string_array, texts_of
from .._text.numbers import as_float, as_integer
from .._values.convert import strings
from .._values.operators import kernel_name
from .._values.tensor import EagerTensor, convert_to_tensor, of_array
from ..dtypes import DType, float32, float64, int32, int64, of_numpy, string
from ..errors import invalid


class _Column:
    """The dtype of a column, and its default, which is None if the column is required."""

    def __init__(self, number: int, default: Any) -> None:
        array = convert_to_tensor(default)._array
        if array.ndim > 1:
            raise invalid("Each record default should be at most rank 1")
        if array.size > 1:
            raise invalid(f"There should only be 1 default per field but field {number} has {array.size}")
        self.dtype: DType = of_numpy(array.dtype)
        self.default = array.reshape(-1)[0] if array.size else None
        self._number = number
        self._parse = as_integer if self.dtype.is_integer else as_float

    def value(self, field: bytes, record: int, missing: bytes) -> Any:
        """A field as a value of this column."""
        if not field or field == missing:
            if self.default is None:
                raise invalid(f"Field {self._number} is required but missing in record {record}!")
            return self.default
        if self.dtype is string:
            return field
        number = self._parse(field, self.dtype)
        if number is None:
            shown = field.decode(errors="replace")
            raise invalid(
                f"Field {self._number} in record {record} is not a valid {kernel_name(self.dtype)}: {shown}"
            )
        return number


def decode_csv(  # noqa: PLR0917 - TensorFlow's signature
    records: Any,
    record_defaults: Any,
    field_delim: Any = ",",
    use_quote_delim: bool = True,
    na_value: Any = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[EagerTensor]:
    """One tensor for each column of lines of CSV. ``record_defaults`` gives dtypes and defaults.

    A column without a default (an empty tensor) is required. ``select_cols`` are the columns that are read.
    """
    if select_cols is not None:
        _check_selection(list(select_cols), len(record_defaults))
    columns = [_Column(number, default) for number, default in enumerate(record_defaults)]
    if not columns:
        raise invalid("Length for attr 'OUT_TYPE' of 0 must be at least minimum 1")
    for column in columns:
        if column.dtype not in (float32, float64, int32, int64, string):
            raise invalid(
                f"Value for attr 'OUT_TYPE' of {kernel_name(column.dtype)} is not in the list of allowed "
                "values: float, double, int32, int64, string"
            )
    delimiter = _as_bytes(field_delim)
    if len(delimiter) != 1:
        raise invalid("field_delim should be only 1 char")
    lines = string_array(records, "DecodeCSV", convert=not isinstance(records, EagerTensor))
    missing = _as_bytes(na_value)
    fields = _Fields(delimiter, bool(use_quote_delim), list(select_cols or []))
    rows = []
    for number, line in enumerate(texts_of(lines)):
        found = fields(line)
        if len(found) != len(columns):
            raise invalid(f"Expect {len(columns)} fields but have {len(found)} in record {number}")
        pairs = zip(columns, found, strict=True)
        rows.append([column.value(field, number, missing) for column, field in pairs])
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    return [
        of_array(_array(column.dtype, list(part), lines.shape))
        for column, part in zip(columns, values, strict=True)
    ]


def _check_selection(columns: list[int], count: int) -> None:
    if any(one >= other for one, other in pairwise(columns)):
        raise ValueError("select_cols is not strictly increasing.")
    if columns and columns[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if len(columns) != count:
        raise ValueError("Length of select_cols and record_defaults do not match.")


def _as_bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


def _array(dtype: DType, values: list[Any], shape: tuple[int, ...]) -> Any:
    if dtype is string:
        return strings(values, shape)
    with np.errstate(over="ignore"):
        return np.array(values, dtype.as_numpy_dtype).reshape(shape)


class _Fields:
    """Cuts a line into its fields, or into the selected ones."""

    def __init__(self, delimiter: bytes, quotes: bool, selected: list[int]) -> None:
        self._delimiter = delimiter
        self._quotes = quotes
        self._selected = selected

    def __call__(self, line: bytes) -> list[bytes]:
        plain = b"\n" not in line and b"\r" not in line and not (self._quotes and b'"' in line)
        if plain and line and not self._selected:
            return line.split(self._delimiter)
        return self._slowly(line)

    def _slowly(self, line: bytes) -> list[bytes]:
        found: list[bytes] = []
        number = at = 0
        while at < len(line):
            if line[at] in b"\n\r":
                at += 1
                continue
            if self._quotes and line[at] == ord('"'):
                field, at = self._quoted(line, at + 1)
            else:
                field, at = self._unquoted(line, at)
            if not self._selected or number == self._selected[len(found)]:
                found.append(field)
                if len(found) == len(self._selected):
                    return found
            number += 1
        last_empty = not self._selected or number == self._selected[len(found)]
        if line and last_empty and line.endswith(self._delimiter):
            found.append(b"")
        return found

    def _unquoted(self, line: bytes, begin: int) -> tuple[bytes, int]:
        end = line.find(self._delimiter, begin)
        field = line[begin:] if end < 0 else line[begin:end]
        if b"\n" in field or b"\r" in field or (self._quotes and b'"' in field):
            raise invalid("Unquoted fields cannot have quotes/CRLFs inside")
        return field, begin + len(field) + 1

    def _quoted(self, line: bytes, at: int) -> tuple[bytes, int]:
        parts = []
        while at < len(line) - 1 and line[at : at + 2] != b'"' + self._delimiter:
            if line[at] != ord('"'):
                end = line.find(b'"', at)
                end = len(line) if end < 0 else end
                parts.append(line[at:end])
                at = end
                continue
            if line[at + 1] != ord('"'):
                raise invalid("Quote inside a string has to be escaped by another quote")
            parts.append(b'"')
            at += 2
        if line[at : at + 1] != b'"' or line[at + 1 : at + 2] not in (b"", self._delimiter):
            raise invalid("Quoted field has to end with quote followed by delim or end")
        return b"".join(parts), at + 2
