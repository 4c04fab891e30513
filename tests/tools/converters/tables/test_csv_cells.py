"""The cells of CSV files: what Python's ``csv`` finds, at any size of the pieces, and every mistake."""

from __future__ import annotations

import csv
import io
from itertools import dropwhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools.converters.tables import csv_cells
from purerecord.tools.converters.tables.csv_cells import CsvFile

CELLS = st.text(st.sampled_from('ab,;"\n\r é\t'), max_size=4)
ROWS = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=6)
)


def cells_of(data: bytes, delimiter: str | None = ",", **options) -> list[list[str]]:
    """All rows, of which the first ones are the names of the columns."""
    file = CsvFile(io.BytesIO(data), "a.csv", delimiter, **options)
    rows = [file.columns]
    for block in file.blocks():
        columns = [block.column(number).strings.tolist() for number in range(len(file.columns))]
        rows += [[cell.decode() for cell in row] for row in zip(*columns, strict=True)]
    return rows


@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.sampled_from([1, 2, 5, 1 << 20]), st.booleans())
def test_what_csv_writes_is_read_at_any_size_of_pieces(rows, end, piece, all_quoted):
    text = io.StringIO()
    returns = any("\r" in cell for row in rows for cell in row)  # not all versions quote these
    quoting = csv.QUOTE_ALL if all_quoted or returns else csv.QUOTE_MINIMAL
    csv.writer(text, lineterminator=end, quoting=quoting).writerows(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_cells, "_PIECE", piece)
        assert cells_of(text.getvalue().encode()) == rows
        assert cells_of(text.getvalue().encode("utf-16"), encoding="utf-16") == rows
        without_end = text.getvalue().removesuffix(end)
        assert cells_of(without_end.encode()) == rows


@given(st.text(st.sampled_from('a,"\n\r'), max_size=12), st.sampled_from([1, 3, 1 << 20]))
def test_any_text_is_read_as_csv_reads_it_or_is_an_error(text, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_cells, "_PIECE", piece)
        try:
            found = cells_of(text.encode())
        except pr.EncodeError:
            return
    lines = io.StringIO(text + "\n" * text.endswith("\r"), newline="\n")
    rows = dropwhile(lambda row: not row, csv.reader(lines, strict=True))
    assert found == [row or [""] for row in rows if row or len(found[0]) == 1]


def test_lines_are_those_of_the_file():
    file = CsvFile(io.BytesIO(b'a,b\n\n1,"x\ny"\n\n2,z\n'), "a.csv", None)
    (block,) = file.blocks()
    assert block.lines.tolist() == [3, 6]


def test_quotes_tell_an_empty_string_from_nothing():
    (block,) = CsvFile(io.BytesIO(b'a,b\n,""\n'), "a.csv", None).blocks()
    assert [block.column(number).bare.tolist() for number in (0, 1)] == [[True], [False]]


def test_marks_are_no_part_of_a_name():
    assert cells_of(b"\xef\xbb\xbfa,b\n1,2\n") == [["a", "b"], ["1", "2"]]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "a.csv: is empty"),
        (b"a\n1,2\n", r"line 2: has 2 cells, where there is 1 column \('a'\)"),
        (b"\n\n", "a.csv: is empty"),
        (b"a;b\n1;2\n", "line 1: there is one column, 'a;b'; is the delimiter ';'"),
        (b"a\tb\n", r"is the delimiter '\\t'"),
        (b"a,b\n1,2\n\n1\n", r"line 4: has 1 cell, where there are 2 columns \('a', 'b'\)"),
        (b"a,b\n1,2,3\n", "line 2: has 3 cells"),
        (b'a,b\n1,2\n1,5" pipe\n', "line 3: a quote inside of a cell"),
        (b'a,b\n1,"x"y\n', "line 2: a quote inside of a cell"),
        (b'a,b\n1,2\n1,"x\n\n\n', "line 3: a quote opens in this row and is not closed"),
        (b"a,b\n1,2\n3,\xe9\n", r"line 3: column 'b': byte 0xe9 is not UTF-8.*--encoding"),
        (b"a,\xe9\n", "line 1: byte 0xe9 is not UTF-8"),
        ("a,b\n".encode("utf-16"), "a.csv: is UTF-16; say so"),
        ("a,b\n".encode("utf-32"), "a.csv: is UTF-32; say so"),
        ("a,b\n".encode("utf-16-le"), "line 1: NUL bytes"),
        (b"a,b\r1,2\r", "line 1: a CR alone; end every line"),
        (b"a\n1\n2\r3\r", "line 3: a CR alone"),
        (b"a,b\n1,2\r\r\n", "line 2: a CR alone"),
        ("a,b\r\n".encode("utf-16-le"), "line 1: NUL bytes"),
    ],
)
def test_mistakes_are_errors_with_the_line(data, words):
    with pytest.raises(pr.EncodeError, match=words):
        cells_of(data, None)


def test_another_encoding_that_does_not_fit_is_an_error():
    with pytest.raises(pr.EncodeError, match="is not in this encoding"):
        cells_of(b"a,b\n1,\xff\n", encoding="ascii")
