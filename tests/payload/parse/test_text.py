"""purerecord.payload.parse.text: strings are ``str`` where the caller says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.payload.parse.checked_columns import CheckedColumns
from purerecord.payload.parse.text import text_column

BATCH = CheckedColumns({}, 3)


def objects(*items: Any) -> Any:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def strings(last: bytes) -> dict[str, tuple[Any, int]]:
    """Columns of three rows that hold ``last`` in the row that stands beside them."""
    return {
        "vector": (objects(b"a", last, b"c"), 1),
        "matrix": (objects(b"a", b"b", b"c", b"d", last, b"f").reshape(3, 2), 2),
        "ragged": (pr.Ragged(objects(b"a", b"b", last), [0, 2, 2, 3]), 2),
        "ragged items": (pr.Ragged(objects(b"a", b"b", b"c", last).reshape(2, 2), [0, 0, 1, 2]), 2),
        "nested": (pr.Ragged(pr.Ragged(objects(b"a", last), [0, 0, 1, 2]), [0, 1, 3, 3]), 1),
        "sparse": (pr.Sparse([[0, 3], [2, 1]], objects(b"a", last), (3, 4)), 2),
        "one string": (last, 0),
    }


@pytest.mark.parametrize("name", strings(b""))
def test_every_column_can_be_text(name: str) -> None:
    column, row = strings("é".encode())[name]
    text = text_column(name, column, BATCH, required=True)
    if isinstance(column, bytes):
        assert text == "é"
    else:
        flat = text.flat_values if isinstance(text, pr.Ragged) else getattr(text, "values", text)
        assert set(map(type, flat.ravel())) == {str}
        assert text.shape == getattr(column, "shape", None)
    bad, row = strings(b"\xff")[name]
    with pytest.raises(pr.SchemaError, match="not UTF-8") as caught:
        text_column(name, bad, BATCH, required=False)
    assert (caught.value.row, caught.value.problem, caught.value.feature) == (row, "text", name)


RECORDS = [
    pr.encode_example({"id": 1, "name": "é", "tags": ["x", "y"], "raw": b"\xff"}),
    pr.encode_example({"id": 2, "name": "b", "tags": [], "raw": b"1"}),
    pr.encode_example({"id": 3, "name": "c", "raw": b"2"}),
]


def test_columns_are_text_where_the_caller_says_so() -> None:
    plain = pr.decode_examples(RECORDS)
    columns = pr.decode_examples(RECORDS, text=["name", "tags", "in no record"])
    assert columns["name"].tolist() == ["é", "b", "c"]
    assert columns["tags"].to_list() == [["x", "y"], [], []]
    assert columns["tags"].missing.tolist() == plain["tags"].missing.tolist()
    assert columns["raw"].tolist() == [b"\xff", b"1", b"2"]
    assert list(pr.encode_examples(columns)) == list(pr.encode_examples(plain)) == RECORDS
    assert pr.decode_examples(RECORDS[1:], text=True)["raw"].tolist() == ["1", "2"]
    assert pr.decode_examples(RECORDS[1:], text=True)["id"].tolist() == [2, 3]


def test_parsed_columns_can_be_text_too() -> None:
    features = {"name": pr.FixedLenFeature((), bytes), "tags": pr.VarLenFeature(bytes)}
    columns = pr.decode_examples(RECORDS, features, text=True)
    assert columns["name"].tolist() == ["é", "b", "c"]
    assert columns["tags"].to_list() == [["x", "y"], [], []]
    assert columns["tags"].to_dense().tolist() == [["x", "y"], ["", ""], ["", ""]]
    assert pr.decode_examples(RECORDS[0], features, text=True)["name"] == "é"


def test_what_is_no_text_is_an_error_that_says_where() -> None:
    with pytest.raises(pr.SchemaError, match=r"feature 'raw': record 1: .*not UTF-8"):
        pr.decode_examples([RECORDS[1], RECORDS[0]], text=True)
    with pytest.raises(pr.SchemaError, match="'id': holds int64 values, which are no text"):
        pr.decode_examples(RECORDS, text=["id"])
    for wrong in ("name", b"name", 1, None):
        with pytest.raises(TypeError, match="list of names"):
            pr.decode_examples(RECORDS, text=wrong)  # type: ignore[arg-type]


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=3)))
def test_text_comes_back(rows: list[list[str]]) -> None:
    records = pr.encode_examples({"x": [row or None for row in rows], "y": np.arange(len(rows))})
    if any(rows):
        column = pr.decode_examples(records, text=["x"])["x"]
        found = (
            column.to_list() if isinstance(column, pr.Ragged) else [list(np.atleast_1d(r)) for r in column]
        )
        assert found == rows
