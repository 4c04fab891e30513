"""Columns as lists, a list for each record."""

from __future__ import annotations

import numpy as np

import purerecord as pr
from purerecord.payload.parse.sequences import natural_batch
from purerecord.records import Records
from purerecord.tools.converters.row_lists import row_lists


def test_rows_are_lists_or_none():
    rows = [{"a": [1, 2]}, {}, {"a": []}, {"a": 5, "b": b"x", "f": np.float32(0.1)}]
    columns, _ = natural_batch(Records.of([pr.encode_example(row) for row in rows]), None)
    assert row_lists(columns["a"]) == [[1, 2], None, [], [5]]
    assert row_lists(columns["b"]) == [None, None, None, [b"x"]]
    assert row_lists(columns["f"]) == [None, None, None, [0.1]]  # the shortest text of the float32
