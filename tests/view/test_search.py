"""Filtered rows, step by step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools import Expression
from purerecord.view.limits import DEFAULT
from purerecord.view.search import Query
from purerecord.view.source import Fetched
from tests.support.damage import flip_byte, frames, starts
from tests.support.viewing import viewing

PAYLOADS = [pr.encode_example({"x": n, "name": f"Number {n}", "y": [n, n + 1]}) for n in range(500)]


def write(tmp_path, payloads=PAYLOADS) -> str:
    (tmp_path / "file").write_bytes(frames(payloads))
    return str(tmp_path / "file")


def test_matching_rows_are_found_a_page_at_a_time(tmp_path):
    with viewing(write(tmp_path)) as asking:
        got = asking.json("api/rows", where="x >= 100 and x < 150", limit=20)
        assert [row["row"] for row in got["rows"]] == list(range(100, 120))
        assert got["next"] == "0:120"
        assert got["searched"]["records"] == 120
        rows = asking.all_rows(where="x >= 100 and x < 150", limit=20)
        assert [row["row"] for row in rows] == list(range(100, 150))
        assert asking.all_rows(where="x < 0") == []


def test_a_page_costs_a_bounded_search_and_says_how_far_it_came(tmp_path):
    limits = replace(DEFAULT, search_records=50)
    with viewing(write(tmp_path, PAYLOADS * 100), limits=limits) as asking:
        got = asking.json("api/rows", where="x == 1000")
        assert got["rows"] == []
        assert 50 <= got["searched"]["records"] < 50_000
        assert got["searched"]["done"] is False
        assert got["next"] == got["searched"]["to"]
        assert asking.all_rows(where="x == 1000") == []


def test_all_files_are_searched(tmp_path):
    for number in range(3):
        (tmp_path / f"part-{number}").write_bytes(frames(PAYLOADS[100 * number : 100 * number + 100]))
    with viewing(str(tmp_path / "part-*")) as asking:
        rows = asking.all_rows(scope="all", where="x % 50 == 7", limit=2)
        assert [(row["file"], row["row"]) for row in rows] == [
            (0, 7),
            (0, 57),
            (1, 7),
            (1, 57),
            (2, 7),
            (2, 57),
        ]
        assert [row["row"] for row in asking.all_rows(scope=1, where="x % 50 == 7")] == [7, 57]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("number 42", [42, *range(420, 430)]),
        ("NUMBER 499", [499]),
        ("umber 5 ", [5, *range(50, 60)]),
        ("NAME", list(range(500))),
        ("nothing", []),
        ("ü", []),
    ],
)
def test_texts_are_found_in_names_and_strings(tmp_path, text, rows):
    with viewing(write(tmp_path)) as asking:
        found = [row["row"] for row in asking.all_rows(text=text, limit=200)]
        assert found == (
            rows if text != "umber 5 " else [row for row in range(500) if str(row).startswith("5")]
        )


def test_text_and_expression_must_both_hold(tmp_path):
    with viewing(write(tmp_path)) as asking:
        assert [row["row"] for row in asking.all_rows(text="number 4", where="x < 45")] == [4, *range(40, 45)]


def test_bytes_that_are_no_text_do_not_count(tmp_path):
    payloads = [
        pr.encode_example({"x": b"\x00needle"}),
        pr.encode_example({"x": "a needle"}),
        b"\x00needle",
        b"Needle",
    ]
    with viewing(write(tmp_path, payloads)) as asking:
        assert [row["row"] for row in asking.all_rows(text="needle")] == [1, 3]


def test_feature_lists_are_searched_too(tmp_path):
    payloads = [
        pr.encode_sequence_example({}, {"f": ["a", "needle"]}),
        pr.encode_sequence_example({}, {"f": ["a"]}),
    ]
    with viewing(write(tmp_path, payloads)) as asking:
        assert [row["row"] for row in asking.all_rows(text="needle")] == [0]


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("x ==", "the expression is wrong at character "),
        ("__import__('os')", "the expression is wrong at character "),
        ("y == 1", "it has 2 values, and one is needed"),
        ("name > 3", "a string cannot be compared with a number"),
        ("x == 1 " * 700, "where is longer than 4,096 characters"),
    ],
)
def test_an_expression_that_does_not_fit_gets_one_sentence(tmp_path, where, reason):
    with viewing(write(tmp_path)) as asking:
        status, text = asking.error("api/rows", where=where)
        assert status == 400
        assert reason in text


def test_records_that_are_damaged_or_no_examples_do_not_match_and_do_not_stop_the_search(tmp_path):
    payloads = [*PAYLOADS[:5], b"\x09no example", b"\xff", *PAYLOADS[5:9]]
    edges = starts(payloads)
    (tmp_path / "file").write_bytes(flip_byte(frames(payloads), edges[2] + 13))
    with viewing(str(tmp_path / "file")) as asking:
        assert [row["row"] for row in asking.all_rows(where="x >= 0")] == [0, 1, 3, 4, 7, 8, 9, 10]
        assert [row["row"] for row in asking.all_rows(where="not x == 1")][:2] == [0, 3]


@given(st.lists(st.text("abN", max_size=4), max_size=30), st.text("abn", min_size=1, max_size=2))
def test_the_quick_search_finds_what_a_slow_one_finds(texts, needle):
    payloads = [pr.encode_example({"s": text}) for text in texts]
    records = pr.Records.of(payloads)
    fetched = Fetched(0, records, records.lengths.tolist(), [None] * len(texts))
    query = Query(None, needle.encode())
    assert query.matches(fetched) == [n for n, text in enumerate(texts) if needle in text.lower()]


def test_a_query_of_nothing_is_none():
    assert Query.of(" ", "") is None
    query = Query.of("x == 1", "Ab")
    assert query == Query(Expression("x == 1"), b"ab")
    assert np.array_equal(query.where.matches([pr.encode_example({"x": 1})]), [True])
