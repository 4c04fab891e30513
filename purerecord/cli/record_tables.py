"""Records as rows: CSV for other programs, and a table for people.

The columns are the selected features, or those of the first records. A later feature without a column is
counted, and the command says so. This module must not know how records are decoded.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from ..printable import printable
from .colours import bold, dim

# Rows of a table that show how wide its columns must be.
_MEASURED_ROWS = 100
# Characters that a column has at least, and at most where there is no room for all.
_NARROWEST, _WIDEST = 4, 40
_GAP = "  "
_CUT = "…"


class _Columns:
    """The columns of a table, and the features that have none."""

    def __init__(self, names: Sequence[str] | None) -> None:
        self.names = None if names is None else list(names)
        self.strange: set[str] = set()
        self.strange_records = 0

    def count(self, row: Mapping[str, Any]) -> None:
        """Note the features of a row that have no column."""
        if self.names is not None and (others := row.keys() - self.names):
            self.strange |= others
            self.strange_records += 1


class CsvRows(_Columns):
    """Records as CSV: a header, and a line for each.

    A single value is written as it is, and a list as JSON; an empty list is empty, as a missing feature is.
    """

    def __init__(self, names: Sequence[str] | None, *, escape: bool) -> None:
        super().__init__(names)
        self._escape = escape  # whether control characters are escaped
        self._begun = False

    def lines(self, row: Mapping[str, Any]) -> list[str]:
        """The lines that show a record, which maps names to lists of values of JSON."""
        if self.names is None:
            self.names = sorted(row)
        self.count(row)
        lines = self.last_lines()
        return [*lines, self._line([_csv_cell(row.get(name)) for name in self.names])]

    def last_lines(self) -> list[str]:
        """What is still to be printed: the header, if there was no record."""
        if self._begun or self.names is None:
            return []
        self._begun = True
        return [self._line(list(map(printable, self.names)))]

    def _line(self, cells: list[str]) -> str:
        text = io.StringIO()
        # Older Pythons quote a line break only if it is a part of their own.
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(map(printable, cells) if self._escape else cells)
        return text.getvalue().removesuffix("\r\n")


def _csv_cell(values: Any) -> str:
    if isinstance(values, list) and len(values) == 1:
        (values,) = values
    if values is None or values == []:
        return ""
    return values if isinstance(values, str) else json.dumps(values, ensure_ascii=False)


class TableRows(_Columns):
    """Records as a table that is as wide as the terminal."""

    def __init__(self, names: Sequence[str] | None) -> None:
        super().__init__(names)
        self._waiting: list[Mapping[str, str]] = []  # rows that show how wide the columns must be
        self._widths: list[int] | None = None

    def lines(self, row: Mapping[str, str]) -> list[str]:
        """The lines that show a record, which maps names to short texts."""
        if self._widths is not None:
            self.count(row)
            return [self._line(row)]
        self._waiting.append(row)
        return self.last_lines() if len(self._waiting) == _MEASURED_ROWS else []

    def last_lines(self) -> list[str]:
        """The rows that were held back, with the header before them."""
        if self._widths is not None:
            return []
        if self.names is None:
            self.names = sorted({name for row in self._waiting for name in row})
        self._measure()
        rows, self._waiting = self._waiting, []
        return [*self._header(), *map(self._line, rows)] if self.names else []

    def _measure(self) -> None:
        """Give each column its width; leave out the last ones if there is no room."""
        assert self.names is not None
        wanted = [max(map(len, self._cells_of(name))) for name in self.names]
        room = shutil.get_terminal_size().columns
        widths = [min(width, _WIDEST) for width in wanted]
        while sum(widths) + len(_GAP) * (len(widths) - 1) > room:
            widest = max(widths)
            if widest <= _NARROWEST * 2:
                break
            widths[widths.index(widest)] = widest - 1
        while len(widths) > 1 and sum(widths) + len(_GAP) * (len(widths) - 1) > room:
            widths.pop()
        if len(widths) == len(self.names):  # there may be room left
            left = room - sum(widths) - len(_GAP) * (len(widths) - 1)
            for place, width in enumerate(wanted):
                more = min(max(left, 0), max(0, width - widths[place]))
                widths[place] += more
                left -= more
        self._widths = widths

    def _cells_of(self, name: str) -> list[str]:
        return [printable(name), *(printable(row.get(name, "")) for row in self._waiting)]

    def _header(self) -> list[str]:
        assert self.names is not None
        assert self._widths is not None
        cells = {name: name for name in self.names}
        lines = [bold(self._line(cells))]
        if hidden := self.names[len(self._widths) :]:
            lines.append(dim(f"({len(hidden):,} more columns, see --features)"))
        return lines

    def _line(self, row: Mapping[str, str]) -> str:
        assert self.names is not None
        assert self._widths is not None
        cells = []
        for name, width in zip(self.names, self._widths, strict=False):
            text = printable(row.get(name, ""))
            text = text if len(text) <= width else text[: width - 1] + _CUT
            cells.append(text.rjust(width) if _is_number(row.get(name, "")) else text.ljust(width))
        return _GAP.join(cells).rstrip()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
