"""Records as CSV and as a table: columns, what fits into them, and features that have none."""

from __future__ import annotations

import csv
import io

import pytest

from purerecord.cli.record_tables import CsvRows, TableRows


def csv_of(rows: CsvRows, *records) -> list[list[str]]:
    lines = [line for record in records for line in rows.lines(record)] + rows.last_lines()
    return list(csv.reader(io.StringIO("\n".join(lines))))


def table_of(rows: TableRows, *records) -> list[str]:
    return [line for record in records for line in rows.lines(record)] + rows.last_lines()


@pytest.fixture(autouse=True)
def width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_the_first_record_has_the_columns():
    rows = CsvRows(None, escape=False)
    assert csv_of(rows, {"b": [1], "a": ["x"]}, {"b": [2]}, {"a": ["y"], "c": [3]}) == [
        ["a", "b"],
        ["x", "1"],
        ["", "2"],
        ["y", ""],
    ]
    assert (rows.strange, rows.strange_records) == ({"c"}, 1)


def test_named_columns_keep_their_order():
    rows = CsvRows(["b", "a"], escape=False)
    assert csv_of(rows, {"a": [1], "b": [2]}) == [["b", "a"], ["2", "1"]]
    assert not rows.strange


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        ([], ""),
        ([0], "0"),
        ([0.1], "0.1"),
        (['a "b", c'], 'a "b", c'),
        (["two\nlines"], "two\nlines"),
        ([1, 2], "[1, 2]"),
        (["a", "b"], '["a", "b"]'),
        ([{"base64": "/w=="}], '{"base64": "/w=="}'),
        ([[1], [2, 3]], "[[1], [2, 3]]"),
    ],
)
def test_a_cell_reads_back(values, cell):
    assert csv_of(CsvRows(None, escape=False), {"x": values, "y": [7]}) == [["x", "y"], [cell, "7"]]


def test_no_record_gives_a_header_if_the_columns_are_named():
    assert csv_of(CsvRows(["a"], escape=False)) == [["a"]]
    assert csv_of(CsvRows(None, escape=False)) == []


def test_a_terminal_gets_no_control_characters():
    lines = CsvRows(None, escape=True).lines({"\x1bname": ["\x1b[31m\u202e"]})
    assert lines == [r"\x1bname", r"\x1b[31m\u202e"]
    lines = table_of(TableRows(None), {"\x1bname": "\x1b[31m"})
    assert lines == [r"\x1bname", r"\x1b[31m"]


def test_numbers_stand_to_the_right():
    lines = table_of(TableRows(None), {"n": "7", "s": "cat"}, {"n": "1234", "s": "x"})
    assert lines == ["n     s", "   7  cat", "1234  x"]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_table_is_never_wider_than_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    row = {f"feature/{n}": "v" * 10 * n for n in range(1, 30)}
    lines = table_of(TableRows(None), *[row] * 150)
    assert len(lines) == 152
    assert max(map(len, lines)) <= columns
    assert "more columns" in lines[1]
    few = table_of(TableRows(None), {"a": "x" * 200, "b": "y"})
    assert max(map(len, few)) <= columns
    assert "…" in few[1]


def test_columns_take_the_room_that_is_left():
    lines = table_of(TableRows(None), {"a": "x" * 70, "b": "y"})
    assert lines[1] == "x" * 70 + "  y"


def test_the_first_rows_have_the_columns_of_a_table():
    rows = TableRows(None)
    table_of(rows, *[{"a": "1"}] * 99, {"b": "2"}, {"c": "3"})
    assert (rows.strange, rows.strange_records) == ({"c"}, 1)


def test_no_record_gives_no_table():
    assert table_of(TableRows(None)) == []
