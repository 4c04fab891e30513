"""Columns in which every feature has one kind."""

from __future__ import annotations

from purerecord import Records, encode_example
from purerecord.tools.one_kind import of_one_kind

ROWS = [{"x": 1, "y": 1}, {"x": "a"}, {"y": 2}, {"x": 0.5}, {"x": []}, {"x": "b", "y": 0.5}, {"x": 2, "y": 3}]


def test_records_are_divided_by_the_kinds_of_their_features():
    records = Records.of([encode_example(row) for row in ROWS])
    found = {}
    for rows, some, columns in of_one_kind(records, ["x", "y"]):
        assert list(some) == [records[row] for row in rows.tolist()]
        for name, column in columns.items():
            for place, row in enumerate(rows.tolist()):
                begin, end = column.row_splits[place : place + 2]
                found[row, name] = column.values[begin:end].tolist()
    expected = {
        (row, name): [value.encode() if isinstance(value, str) else value] if value != [] else []
        for row, features in enumerate(ROWS)
        for name, value in {"x": [], "y": [], **features}.items()
    }
    assert found == expected


def test_records_of_one_kind_stay_together():
    records = Records.of([encode_example({"x": i}) for i in range(10)])
    ((rows, some, _),) = of_one_kind(records, ["x", "missing"])
    assert some is records
    assert rows.tolist() == list(range(10))
