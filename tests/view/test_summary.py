"""Summaries of columns."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools import Expression
from purerecord.tools.inspect import example_statistics
from purerecord.tools.inspect.example_statistics import ExampleStatistics
from purerecord.view.limits import DEFAULT
from purerecord.view.summary import column_of
from tests.support.damage import flip_byte, frames, starts
from tests.support.viewing import viewing
from tests.view.test_picture_size import png


def summary(asking, **parameters) -> Any:
    """The summary, once it is no longer counted."""
    while (got := asking.json("api/summary", **parameters))["running"]:
        time.sleep(0.01)
    return got


def columns(records) -> dict[str, Any]:
    found = ExampleStatistics(most=2000)
    found.add(pr.Records.of(records))
    return {feature.name: column_of(feature) for feature in found.summaries()}


def test_small_files_are_counted_completely(tmp_path):
    payloads = [
        pr.encode_example(
            {
                "label": n % 3,
                "score": n / 10,
                "name": f"n{n % 2}",
                "image": png(2, 2),
                **({"odd": n} if n % 2 else {}),
            }
        )
        for n in range(100)
    ]
    (tmp_path / "file").write_bytes(frames(payloads))
    with viewing(str(tmp_path / "file")) as asking:
        got = summary(asking)
        assert (got["records"], got["of"], got["exact"], got["note"]) == (100, 100, True, "all 100 records")
        assert (got["kind"], got["episodes"], got["undecodable"]) == ("Example", False, 0)
        found = {column["name"]: column for column in got["columns"]}
        assert found["label"]["histogram"] == [
            {"low": n, "high": n, "count": count, "where": f"label == {n}"}
            for n, count in enumerate([34, 33, 33])
        ]
        assert found["label"]["numbers"]["mean"] == 0.99
        assert (found["odd"]["present"], found["odd"]["missing"], found["odd"]["presence"]) == (50, 50, 0.5)
        assert (found["image"]["role"], found["image"]["content"]) == ("picture", {"PNG": 100})
        assert found["name"]["top"] == [
            {"value": "n0", "count": 50, "where": 'name == "n0"'},
            {"value": "n1", "count": 50, "where": 'name == "n1"'},
        ]
        assert len(found["score"]["histogram"]) == 20
        for bar in found["score"]["histogram"]:
            assert len(asking.all_rows(where=bar["where"], limit=200)) == bar["count"]


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=50))
def test_each_bar_of_integers_finds_its_records(values):
    records = [pr.encode_example({"x": value}) for value in values]
    bars = columns(records)["x"]["histogram"]
    assert sum(bar["count"] for bar in bars) == len(values)
    for bar in bars:
        assert int(Expression(bar["where"]).matches(records).sum()) == bar["count"]


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_each_bar_of_floats_finds_its_records(values):
    records = [pr.encode_example({"x": value}) for value in values]
    for bar in columns(records)["x"]["histogram"]:
        assert int(Expression(bar["where"]).matches(records).sum()) == bar["count"]


def test_bars_of_lists_ask_for_any_value():
    found = columns([pr.encode_example({"x": [1, 2]}), pr.encode_example({"x": [2, 3]})])["x"]
    assert [bar["where"] for bar in found["histogram"]] == ["any(x == 1)", "any(x == 2)", "any(x == 3)"]
    assert found["count"] == {"min": 2, "max": 2, "mean": 2, "deviation": 0}


def test_what_an_expression_cannot_see_has_no_condition():
    found = columns([pr.encode_sequence_example({}, {"f": [[1], [2]]})])["f"]
    assert (found["list"], found["steps"]["max"]) == (True, 2)
    assert {bar["where"] for bar in found["histogram"]} == {None}
    found = columns([pr.encode_example({"x": 1}), pr.encode_example({"x": "a"})])["x"]
    assert found["kinds"] == {"int64": 1, "bytes": 1}
    assert {one["where"] for one in [*found["histogram"], *found["top"]]} == {None}
    assert columns([pr.encode_example({"x": []})])["x"]["kind"] == "unset"
    found = columns([pr.encode_example({"x": [float("nan"), float("inf")]})])["x"]
    assert (found["numbers"]["nan"], found["numbers"]["infinite"], found["numbers"]["min"]) == (1, 1, None)


def test_of_large_files_a_sample_is_taken_and_all_of_it_on_request(tmp_path):
    (tmp_path / "file").write_bytes(frames([pr.encode_example({"x": n}) for n in range(50_000)]))
    with viewing(
        str(tmp_path / "file"), limits=replace(DEFAULT, sample_records=500, sample_bytes=1)
    ) as asking:
        got = summary(asking)
        assert 500 <= got["records"] < 50_000
        assert (got["of"], got["exact"]) == (50_000, False)
        assert got["note"] == f"the first {got['records']:,} of 50,000 records"
        got = summary(asking, more=1)
        assert (got["records"], got["exact"], got["note"]) == (50_000, True, "all 50,000 records")
        assert summary(asking)["records"] == 50_000


def test_of_many_files_some_are_sampled(tmp_path):
    for number in range(40):
        (tmp_path / f"{number:02d}").write_bytes(frames([pr.encode_example({"x": number})]))
    with viewing(str(tmp_path / "*")) as asking:
        got = summary(asking, scope="all")
        assert (got["records"], got["exact"]) == (16, False)
        assert got["note"] == "16 of 40 records: the first ones of 16 of 40 files"
        got = summary(asking, scope="all", more=1)
        assert (got["records"], got["exact"], got["columns"][0]["numbers"]["max"]) == (40, True, 39)
        assert summary(asking, scope=7)["columns"][0]["numbers"]["max"] == 7


def test_damaged_records_and_those_that_are_no_examples_are_left_out(tmp_path):
    payloads = [pr.encode_example({"x": n}) for n in range(10)] + [b"\xff"]
    (tmp_path / "file").write_bytes(flip_byte(frames(payloads), starts(payloads)[3] + 13))
    with viewing(str(tmp_path / "file")) as asking:
        got = summary(asking)
        assert (got["records"], got["undecodable"], got["columns"][0]["present"]) == (10, 1, 9)
        assert got["note"] == "all 10 records that can be read"


def test_too_many_features_are_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(example_statistics, "MOST_FEATURES", 100)
    (tmp_path / "file").write_bytes(frames([pr.encode_example({f"f{n}": 1 for n in range(101)})]))
    with viewing(str(tmp_path / "file")) as asking:
        got = summary(asking)
        assert "there are more than 100 features" in got["failure"]


@pytest.mark.parametrize("value", [np.inf, np.nan, 2**63 - 1])
def test_odd_numbers_are_json(tmp_path, value):
    (tmp_path / "file").write_bytes(frames([pr.encode_example({"x": value})]))
    with viewing(str(tmp_path / "file")) as asking:
        assert summary(asking)["records"] == 1
