"""The cells of CSV files: bytes to whole rows, as RFC 4180 has them, without a Python object for each cell.

A file is read in pieces. Quotes, delimiters and line ends are found in the whole piece at once; those inside
of quotes are told by the number of quotes before them. This module must not know what cells hold.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from ....bytes_column import BytesColumn
from ....errors import EncodeError
from ....payload.values import Mask
from ....printable import printable
from ..column_types import Ints

_PIECE = 1 << 21
_LARGEST_ROW = 1 << 30
_QUOTE, _NEWLINE, _RETURN = b'"\n\r'
# Encodings that a byte order mark tells. The mark of UTF-16 begins that of UTF-32.
_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
_MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_USUAL_DELIMITERS = ",;\t|"


class CellColumn(NamedTuple):
    """One column of a block: its cells without quotes, and which of them have none in the file."""

    strings: BytesColumn
    bare: Mask
    lines: Ints


@dataclass
class Block:
    """Whole rows. The cell of a row and column is ``data[begins[row, column] : ends[row, column]]``."""

    data: bytes
    begins: Ints
    ends: Ints
    lines: Ints  # the number of the line on which each row begins

    def __len__(self) -> int:
        return len(self.lines)

    def column(self, number: int) -> CellColumn:
        """A column by its place."""
        begins, ends = self.begins[:, number], self.ends[:, number]
        octets = np.frombuffer(self.data, np.uint8)
        quoted = (ends > begins) & (octets[np.minimum(begins, len(octets) - 1)] == _QUOTE)
        strings = BytesColumn(self.data, begins + quoted, ends - quoted)
        if bool(quoted.any()) and b'""' in self.data:
            strings = BytesColumn.of(
                string.replace(b'""', b'"') if has else string
                for string, has in zip(strings.tolist(), quoted.tolist(), strict=True)
            )
        return CellColumn(strings, ~quoted, self.lines)


class CsvFile:
    """A file of CSV: the names of its columns, and then ``blocks`` of rows.

    ``name`` is for errors. ``columns`` are the names if the file does not begin with them. An ``encoding``
    is that of the file; None is UTF-8, with or without a mark.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: str,
        delimiter: str | None,
        columns: list[str] | None = None,
        encoding: str | None = None,
    ) -> None:
        self.name = printable(name)
        self._file = file
        self._delimiter = ord(delimiter or ",")
        self._decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)()
        self._line = 1
        self._rest = self._without_mark()
        self._ended = False
        self._first: _Rows | None = self._next_rows()
        if columns is not None:
            self.columns = columns
            return
        while self._first is not None and not self._first.without_leading_blank_lines():
            self._first = self._next_rows()
        if self._first is None:
            raise EncodeError(f"{self.name}: is empty; a CSV file begins with a line of column names")
        self.columns = self._header(self._first, chosen=delimiter is not None)

    def place(self, line: Any) -> str:
        """Where a line is, for an error."""
        return f"{self.name}: line {line}"

    def blocks(self) -> Iterator[Block]:
        """The rows of all columns, behind the header."""
        rows = self._first
        while rows is not None:
            block = self._block(rows)
            if len(block):
                yield block
            rows = self._next_rows()

    # --- Bytes ---

    def _without_mark(self) -> bytes:
        """The first bytes, as UTF-8 and without a byte order mark."""
        head = self._file.read(4)
        if self._decoder is None:
            for mark, encoding in _MARKS.items():
                if head.startswith(mark):
                    raise EncodeError(f"{self.name}: is {encoding.upper()}; say so (--encoding {encoding})")
            return head.removeprefix(codecs.BOM_UTF8)
        return self._decoded(head, final=False).removeprefix(codecs.BOM_UTF8)

    def _read(self, size: int) -> bytes:
        """About ``size`` more bytes as UTF-8; nothing at the end."""
        while data := self._file.read(size):
            if self._decoder is None:
                return data
            if decoded := self._decoded(data, final=False):
                return decoded
        return b"" if self._decoder is None else self._decoded(b"", final=True)

    def _decoded(self, data: bytes, *, final: bool) -> bytes:
        assert self._decoder is not None
        try:
            return self._decoder.decode(data, final).encode()
        except UnicodeError as error:
            reason = f"{self.place(self._line)} or behind: is not in this encoding: {error}"
            raise EncodeError(reason) from None

    # --- Rows ---

    def _next_rows(self) -> _Rows | None:
        """The next piece of the file that ends with a row."""
        while not self._ended:
            piece = self._read(max(_PIECE, len(self._rest)))
            data = self._rest + piece
            self._ended = not piece
            if self._ended and data and not data.endswith(b"\n"):
                data += b"\n"
            rows, size = self._rows(data)
            self._rest = data[size:]
            if self._rest and (self._ended or len(self._rest) > _LARGEST_ROW):
                line = self._line + data.count(b"\n", 0, size)
                raise EncodeError(f"{self.place(line)}: a quote opens in this row and is not closed")
            self._line += data.count(b"\n", 0, size)
            if rows is not None:
                return rows
        return None

    def _rows(self, data: bytes) -> tuple[_Rows | None, int]:
        """The rows at the beginning of ``data``, and how many bytes they take."""
        octets = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(octets == _QUOTE)
        ends = np.flatnonzero((octets == self._delimiter) | (octets == _NEWLINE))
        if len(quotes):
            self._check_quotes(data, octets, quotes)
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        if b"\r" in data:
            self._check_returns(data, octets, quotes)
        last = np.flatnonzero(octets[ends] == _NEWLINE)
        if not len(last):
            return None, 0
        ends = ends[: last[-1] + 1]
        size = int(ends[-1]) + 1
        begins = np.append(0, ends[:-1] + 1)
        counts = np.diff(last, prepend=-1)
        newlines = np.flatnonzero(octets[:size] == _NEWLINE)
        lines = self._line + np.searchsorted(newlines, begins[last - counts + 1])
        returns = last[(ends[last] > begins[last]) & (octets[ends[last] - 1] == _RETURN)]
        ends[returns] -= 1
        return _Rows(data[:size], begins, ends, counts, lines), size

    def _check_quotes(self, data: bytes, octets: Any, quotes: Ints) -> None:
        """Raise an error for a quote that neither opens nor closes a cell, nor stands for one in it."""
        opening, closing = quotes[::2], quotes[1::2]
        before = octets[np.maximum(opening - 1, 0)]
        good = (opening == 0) | (before == self._delimiter) | (before == _NEWLINE)
        good[1:] |= opening[1:] == closing[: len(opening) - 1] + 1
        after = octets[np.minimum(closing + 1, len(octets) - 1)]
        last = len(octets) - 1
        closed = (closing >= last) | (after == self._delimiter) | (after == _NEWLINE)
        second = octets[np.minimum(closing + 2, last)]
        closed |= (after == _RETURN) & ((closing + 1 >= last) | (second == _NEWLINE))
        closed[: len(opening) - 1] |= opening[1:] == closing[: len(opening) - 1] + 1
        wrong = np.concatenate([opening[~good], closing[~closed]])
        if len(wrong):
            line = self._line + data.count(b"\n", 0, int(wrong.min()))
            reason = 'a quote inside of a cell; it is written "" there, and the cell in quotes'
            raise EncodeError(f"{self.place(line)}: {reason}")

    def _check_returns(self, data: bytes, octets: Any, quotes: Ints) -> None:
        """Raise an error for a CR that is neither in quotes nor before a LF: a line may end there."""
        returns = np.flatnonzero(octets == _RETURN)
        returns = returns[returns < len(octets) - 1]
        after = octets[returns + 1]
        lone = returns[(after != _NEWLINE) & (after != 0)]  # 0 is UTF-16, which has an error of its own
        lone = lone[np.searchsorted(quotes, lone) % 2 == 0]
        if len(lone):
            line = self._line + data.count(b"\n", 0, int(lone[0]))
            reason = "a CR alone; end every line with LF or CR LF, and quote the cells that hold a CR"
            raise EncodeError(f"{self.place(line)}: {reason}")

    def _header(self, rows: _Rows, *, chosen: bool) -> list[str]:
        """The names in the first row that is not blank, which is taken away from ``rows``."""
        count = int(rows.counts[0])
        first = Block(rows.data, rows.begins[None, :count], rows.ends[None, :count], rows.lines[:1])
        rows.drop(1)
        place = self.place(first.lines[0])
        cells = [first.column(number) for number in range(count)]
        try:
            names = [cell.strings[0].decode() for cell in cells]
        except UnicodeDecodeError:
            raise EncodeError(f"{place}: {_not_utf8(first.data)}") from None
        if any("\0" in name for name in names):
            raise EncodeError(f"{place}: NUL bytes; if it is UTF-16, say so (--encoding utf-16-le)")
        others = [one for one in _USUAL_DELIMITERS if one in names[0]]
        if count == 1 and others and not chosen:
            reason = f"there is one column, {names[0][:60]!r}; is the delimiter {others[0]!r}? Then say so"
            raise EncodeError(f"{place}: {reason} (--delimiter)")
        return names

    def _block(self, rows: _Rows) -> Block:
        """The cells of rows, of which each must have as many as there are columns."""
        width = len(self.columns)
        if width > 1 or not width:
            rows.without_blank_lines()
        wrong = np.flatnonzero(rows.counts != width)
        if len(wrong):
            row = int(wrong[0])
            found, names = int(rows.counts[row]), ", ".join(map(repr, self.columns[:4]))
            more = ", ..." if width > 4 else ""
            columns = "is 1 column" if width == 1 else f"are {width} columns"
            reason = f"has {found} cell{'s' * (found != 1)}, where there {columns} ({names}{more})"
            raise EncodeError(f"{self.place(rows.lines[row])}: {reason}")
        shape = (len(rows.counts), width)
        block = Block(rows.data, rows.begins.reshape(shape), rows.ends.reshape(shape), rows.lines)
        try:
            rows.data.decode()
        except UnicodeDecodeError as error:
            place = int(np.searchsorted(rows.ends, error.start))
            row, column = divmod(place, width)
            where = f"{self.place(rows.lines[row])}: column {self.columns[column]!r}"
            raise EncodeError(f"{where}: {_not_utf8(rows.data)}") from None
        return block


@dataclass
class _Rows:
    """Cells one after the other, how many each row has, and on which line it begins."""

    data: bytes
    begins: Ints
    ends: Ints
    counts: Ints
    lines: Ints

    def _blank(self) -> tuple[Mask, Ints]:
        """Which rows are one empty cell, and the last cell of each row."""
        lasts = np.cumsum(self.counts) - 1
        blank: Mask = (self.counts == 1) & (self.begins[lasts] == self.ends[lasts])
        return blank, lasts

    def without_blank_lines(self) -> None:
        """Leave out the rows that are one empty cell."""
        blank, lasts = self._blank()
        if bool(blank.any()):
            kept = np.ones(len(self.begins), bool)
            kept[lasts[blank]] = False
            self.begins, self.ends = self.begins[kept], self.ends[kept]
            self.counts, self.lines = self.counts[~blank], self.lines[~blank]

    def without_leading_blank_lines(self) -> int:
        """Leave out such rows at the beginning; how many rows are left."""
        blank, _ = self._blank()
        self.drop(len(blank) if bool(blank.all()) else int(blank.argmin()))
        return len(self.counts)

    def drop(self, rows: int) -> None:
        """Leave out the first rows."""
        cells = int(self.counts[:rows].sum())
        self.begins, self.ends = self.begins[cells:], self.ends[cells:]
        self.counts, self.lines = self.counts[rows:], self.lines[rows:]


def _not_utf8(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return f"byte 0x{data[error.start]:02x} is not UTF-8; say what it is (--encoding latin-1)"
    raise AssertionError
