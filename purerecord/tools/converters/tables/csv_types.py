"""What the cells of a column of CSV hold: integers, floats, booleans, lists in JSON, or text.

A cell is a number only if it is written as one that comes back: ``007``, ``1_000`` and integers that int64
cannot hold are text. A column is one of numbers if all its cells are. This module must not know files.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from ....bytes_column import BytesColumn
from ....errors import EncodeError
from ....payload.encode.cells import Cells
from ....payload.values import Mask
from ....payload.wire import ABSENT, BYTES, FLOAT, INT64, UNSET
from ....printable import printable
from ..column_types import (
    GREATEST_INT,
    LEAST_INT,
    NAMES,
    Collected,
    FeatureType,
    float32_values,
    loses_digits,
    misfit,
)
from .csv_cells import CellColumn, CsvFile

_NUMBER = re.compile(
    rb"[ \t]*(?:(?P<int>0|-?[1-9][0-9]*)"
    rb"|(?P<float>[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rb"|(?P<special>[+-]?(?:nan|inf|infinity)))[ \t]*",
    re.IGNORECASE,
)
_INTEGER = re.compile(rb"[ \t]*[+-]?[0-9]+[ \t]*")  # where a schema says that it is one
_DECIMAL = re.compile(rb"[ \t]*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t]*")
_TRUE, _FALSE = (b"true", b"True", b"TRUE"), (b"false", b"False", b"FALSE")
_SURE_DIGITS = 7  # characters of a number that float32 always brings back: six digits and a point
# Many cells of one form, with line ends between them, are matched at once.
_MATCHED = 1024
_ONE_INT, _ONE_NUMBER = rb"(?:0|-?[1-9][0-9]{0,17})", rb"[+-]?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{0,30})?"
_INTS = re.compile(rb"%b(?:\n%b)*" % (_ONE_INT, _ONE_INT))
_NUMBERS = re.compile(rb"%b(?:\n%b)*" % (_ONE_NUMBER, _ONE_NUMBER))

# The forms of a cell: those of a column are merged into its type.
INT, FLOATING, BOOLEAN, TEXT, BLANK = "int64", "float", "boolean", "text", "an empty string"
LISTS = {UNSET: "an empty list", INT64: "int64 list", FLOAT: "float list", BYTES: "text list"}


def form_of(cell: bytes) -> str:
    """How a cell that is not missing is written."""
    if found := _NUMBER.fullmatch(cell):
        if found.lastgroup == "int":
            return INT if LEAST_INT <= int(cell) <= GREATEST_INT else TEXT
        if found.lastgroup == "float" and float(cell) in (float("inf"), float("-inf")):
            return TEXT
        return FLOATING
    if cell.startswith(b"[") and cell.endswith(b"]"):
        with suppress(ValueError):
            return LISTS[_listed(cell)[0]]
    if cell in _TRUE or cell in _FALSE:
        return BOOLEAN
    return TEXT if cell else BLANK


def _in_groups(cells: list[bytes], known: str) -> Iterator[tuple[int, list[bytes], bool]]:
    """Groups of cells, their places, and whether all are surely of the ``known`` form, INT or FLOATING (of
    which integers are, too)."""
    pattern = _INTS if known == INT else _NUMBERS
    for begin in range(0, len(cells), _MATCHED):
        group = cells[begin : begin + _MATCHED]
        joined = b"\n".join(group)
        sure = pattern.fullmatch(joined) is not None and joined.count(b"\n") == len(group) - 1
        yield begin, group, sure


def _listed(cell: bytes) -> tuple[int, list[Any]]:
    """The kind and the values of a cell that is a list; ValueError if it is none that can be stored."""
    try:
        values = json.loads(cell)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(values, list):
        raise ValueError("it is no list")
    types = set(map(type, values))
    if types <= {int}:
        if not all(LEAST_INT <= value <= GREATEST_INT for value in values):
            raise ValueError("an integer that int64 cannot hold")
        return (INT64 if values else UNSET), values
    if types <= {int, float}:
        return FLOAT, [float(value) for value in values]
    if types == {str}:
        return BYTES, [value.encode() for value in values]
    raise ValueError("a list holds numbers or strings")


class ColumnForm:
    """The forms of the cells of one column so far, each with the place of its first cell."""

    def __init__(self, *, base64: bool) -> None:
        self._base64 = base64
        self._first: dict[str, tuple[int, bytes]] = {}
        self.missing = 0
        self.rounded = False
        self._widths: set[int] = set()

    def add(self, column: CellColumn, missing: Mask) -> None:
        """Take a block of cells into account."""
        self.missing += int(missing.sum())
        cells = column.strings[~missing].tolist()
        if self._base64:
            if cells:
                self._first.setdefault(TEXT, (0, b""))
            return
        if TEXT in self._first:
            return  # nothing makes it another type
        lines = column.lines[~missing]
        known = FLOATING if FLOATING in self._first else INT
        for begin, group, sure in _in_groups(cells, known):
            # Of a group that is sure, the first cell tells all.
            for place, cell in enumerate(group[:1] if sure else group, begin):
                self._first.setdefault(known if sure else form_of(cell), (int(lines[place]), cell))
        if self.type.kind == FLOAT and self.type.count == 1 and not self.rounded:
            self.rounded = loses_digits(
                float(cell) for cell in cells if len(cell) > _SURE_DIGITS or b"e" in cell or b"E" in cell
            )

    @property
    def type(self) -> FeatureType:
        """What the column holds."""
        forms = self._first.keys()
        if not forms:
            return FeatureType(UNSET, 1)
        if forms <= {INT, BLANK} and INT in forms:
            return FeatureType(INT64, 1)
        if forms <= {BOOLEAN, BLANK} and BOOLEAN in forms:
            return FeatureType(INT64, 1)
        if forms <= {INT, FLOATING, BLANK} and forms != {BLANK}:
            return FeatureType(FLOAT, 1)
        kinds = {kind for kind, form in LISTS.items() if form in forms}
        if forms <= set(LISTS.values()) and (len(kinds - {UNSET}) < 2 or BYTES not in kinds):
            return FeatureType(FLOAT if FLOAT in kinds else max(kinds - {UNSET}, default=UNSET), None)
        return FeatureType(BYTES, 1)

    def words(self) -> str:
        """The type in words, and what kept it from being one of numbers."""
        feature = self.type
        words = str(feature)
        if feature.kind == BYTES and feature.count == 1:
            if self._base64:
                words += " (from base64)"
            others = [form for form in self._first if form not in (TEXT, BLANK)]
            odd = self._first.get(TEXT) or self._first.get(BLANK)
            if others and odd is None:
                odd = self._first[others.pop()]
            if others and odd is not None:
                line, cell = odd
                words += f" ({shown(cell)} in line {line:,} is not {others[0]})"
        elif BOOLEAN in self._first:
            words += " (from true and false)"
        elif feature.kind == FLOAT and self.rounded:
            words += " (rounded to float32)"
        return words + (f", missing in {self.missing:,}" if self.missing else "")


def shown(cell: bytes) -> str:
    """A cell as an error shows it."""
    text = printable(repr(cell[:40].decode(errors="replace")))
    return text if len(cell) <= 40 else f"{text[:-1]}...{text[-1]}"


class Converter:
    """Makes the values of one feature of blocks of rows; an error names the line that is wrong."""

    def __init__(self, name: str, feature: FeatureType, *, given: bool, base64: bool, floats: str) -> None:
        self._name, self._feature, self._given = name, feature, given
        self._base64, self._floats = base64, floats

    def cells(self, file: CsvFile, column: CellColumn, missing: Mask) -> Cells:
        """The values of a block."""
        if self._feature.required and bool(missing.any()):
            place = file.place(column.lines[int(missing.argmax())])
            raise misfit(place, self._name, "is missing, and the schema requires it")
        kind = self._feature.kind
        if kind != BYTES and not self._base64:
            missing = missing | (column.strings.lengths == 0)
        present = np.flatnonzero(~missing)
        if self._feature.count != 1 or kind == UNSET:
            return self._lists(file, column, present)
        strings = column.strings if len(present) == len(missing) else column.strings[present]
        counts = (~missing).astype(np.int64)
        kinds = None if bool(counts.all()) else np.where(missing, ABSENT, kind).astype(np.int8)
        try:
            values = self._values(strings)
        except (ValueError, EncodeError):
            for row, cell in zip(present.tolist(), strings.tolist(), strict=True):
                self._named(file, int(column.lines[row]), self._values, BytesColumn.of([cell]))
            raise
        return Cells(kind, values, counts, kinds)

    def _named(self, file: CsvFile, line: int, work: Any, argument: Any) -> Any:
        """What ``work`` gives; its error gets the line and the name."""
        try:
            return work(argument)
        except EncodeError as error:
            raise misfit(file.place(line), self._name, error.reason) from None
        except ValueError as error:
            raise misfit(file.place(line), self._name, str(error)) from None

    def _values(self, strings: BytesColumn) -> Any:
        """The values of cells that are one value each."""
        if self._feature.kind == BYTES:
            return BytesColumn.of(map(_from_base64, strings)) if self._base64 else strings
        cells = strings.tolist()
        for _, group, sure in _in_groups(cells, INT if self._feature.kind == INT64 else FLOATING):
            for cell in () if sure else group:
                self._check(cell)
        if self._feature.kind == FLOAT:
            return self._as_floats(list(map(float, cells)))
        if any(cell[-1:] in b"eE" for cell in cells):
            cells = [b"1" if cell in _TRUE else b"0" if cell in _FALSE else cell for cell in cells]
        return np.array(list(map(int, cells)), np.int64)

    def _check(self, cell: bytes) -> None:
        form = form_of(cell)
        if self._feature.kind == INT64:
            good = form in (INT, BOOLEAN)
            if not good and self._given and _INTEGER.fullmatch(cell):
                good = LEAST_INT <= int(cell) <= GREATEST_INT
        else:
            good = form in (INT, FLOATING) or (self._given and _DECIMAL.fullmatch(cell) is not None)
        if not good:
            known = "the schema says" if self._given else "the first rows have"
            raise ValueError(f"{shown(cell)}, where {known} {NAMES[self._feature.kind]}")

    def _as_floats(self, values: list[float]) -> Any:
        return float32_values(self._name, np.array(values, np.float64), self._floats)

    def _lists(self, file: CsvFile, column: CellColumn, present: Any) -> Cells:
        """The values of cells that are lists; a cell that is none is a list of one value."""
        collected = Collected(self._name, self._feature)
        has = np.zeros(len(column.lines), bool)
        has[present] = True
        rows = zip(column.strings.tolist(), has.tolist(), column.lines.tolist(), strict=True)
        for cell, there, line in rows:
            values = self._named(file, line, self._list, cell) if there else None
            self._named(file, line, collected.add, values)
        return collected.cells(self._floats)

    def _list(self, cell: bytes) -> list[Any]:
        wanted = self._feature.kind
        found = None
        if cell.startswith(b"["):
            with suppress(ValueError):
                found = _listed(cell)
        if found is not None:
            kind, values = found
        elif wanted == UNSET:
            raise ValueError(f"{shown(cell)}, where the first rows have no value; give a schema")
        else:
            vector = self._values(BytesColumn.of([cell]))
            return [cell] if wanted == BYTES and not self._base64 else list(vector)
        if kind == INT64 and wanted == FLOAT:
            values = [float(value) for value in values]
        elif kind not in (UNSET, wanted):
            known = "the schema says" if self._given else "the first rows have"
            raise ValueError(f"a list of {NAMES[kind]}, where {known} {NAMES[wanted]}")
        if wanted == FLOAT:
            self._as_floats(values)
        return [_from_base64(value) for value in values] if self._base64 else values


def _from_base64(text: bytes) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise ValueError(f"{shown(text)} is not base64") from None
