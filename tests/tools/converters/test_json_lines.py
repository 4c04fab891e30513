"""JSON lines: there and back, what ``cat`` prints, and every mistake with its line."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.cli import main
from purerecord.tools import convert

INTS = st.integers(-(1 << 63), (1 << 63) - 1)
FLOATS = st.floats(width=32)
BYTES = st.binary(max_size=5) | st.text(max_size=5).map(str.encode)
VALUES = st.sampled_from([INTS, FLOATS, BYTES])


@st.composite
def tables(draw):
    """Rows of features, each of one kind; a row may lack a feature."""
    kinds = draw(st.dictionaries(st.text(max_size=3), VALUES, max_size=3))
    row = st.fixed_dictionaries({}, optional={name: st.lists(one, max_size=3) for name, one in kinds.items()})
    return draw(st.lists(row, max_size=6))


def converted(text: str | bytes, **options) -> list[dict]:
    out = io.BytesIO()
    source = io.BytesIO(text.encode() if isinstance(text, str) else text)
    convert(source, out, from_format="jsonl", **options)
    out.seek(0)
    return [
        {name: list(values) for name, values in pr.decode_example(record).items()}
        for record in pr.read_records(out)
    ]


def same(one, other):
    return one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


@given(tables())
def test_there_and_back(tmp_path, rows):
    payloads = []
    for row in rows:
        payloads.append(
            pr.encode_example(
                {
                    name: np.array(values, np.float32) if values and isinstance(values[0], float) else values
                    for name, values in row.items()
                }
            )
        )
    with pr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_many(payloads)
    for lists in (True, None):
        convert(tmp_path / "a.tfrecord", tmp_path / "a.jsonl", lists=lists)
        convert(tmp_path / "a.jsonl", tmp_path / "b.tfrecord")
        back = [pr.decode_example(record) for record in pr.read_records(tmp_path / "b.tfrecord")]
        assert [row.keys() for row in back] == [row.keys() for row in rows]
        for old, new in zip(rows, back, strict=True):
            for name, values in old.items():
                assert len(values) == len(new[name])
                assert all(map(same, values, new[name]))


def test_what_cat_prints_converts_back(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"a": 1, "b": b"\xff", "c": "text", "d": np.array([np.nan, 0.1], np.float32)},
        {"a": [], "b": b""},
    ]
    with pr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_many([pr.encode_example(row) for row in rows])
    assert main(["cat", "a.tfrecord"]) == 0
    Path("cat.jsonl").write_text(capfd.readouterr().out)
    convert("cat.jsonl", "b.tfrecord")
    convert("a.tfrecord", "lists.jsonl", lists=True)
    assert Path("lists.jsonl").read_text() == Path("cat.jsonl").read_text()
    main(["cat", "b.tfrecord"])
    assert capfd.readouterr().out == Path("cat.jsonl").read_text()


def test_sequence_examples_there_and_back(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    payloads = [
        pr.encode_sequence_example({"id": 1}, {"s": [[1, 2], [], [3]], "t": [[b"x"]]}),
        pr.encode_sequence_example({"id": 2, "f": 0.5}, {"s": [], "t": [[b"\xff", b"y"]]}),
    ]
    with pr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_many(payloads)
    convert("a.tfrecord", "a.jsonl")
    convert("a.jsonl", "b.tfrecord")
    main(["cat", "a.tfrecord"])
    main(["cat", "b.tfrecord"])
    first, second, third, fourth = capfd.readouterr().out.splitlines()
    assert (first, second) == (third, fourth)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"a": 5}\n{"a": [6]}', [{"a": [5]}, {"a": [6]}]),
        ('{"a": true, "b": null}', [{"a": [1]}]),
        ('{"a": 1}\n\n{"a": 1.5}\n', [{"a": [1.0]}, {"a": [1.5]}]),
        ('{"a": {"base64": "/w=="}}\n{"a": "é"}', [{"a": [b"\xff"]}, {"a": ["é".encode()]}]),
        ('{"a": {"float": "inf"}}\n{"a": -Infinity}', [{"a": [math.inf]}, {"a": [-math.inf]}]),
        ("{}\n{}", [{}, {}]),
        ("", []),
    ],
)
def test_values(text, rows):
    assert converted(text) == rows


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1}\n{"a": "x"}', r"line 2: feature 'a': bytes, where line 1 holds int64"),
        ('{"a": 1}\n{"a": 9223372036854775808}', r"line 2: feature 'a': an integer that int64 cannot hold"),
        ('{"a": {"x": 1}}', r"line 1: feature 'a': an object cannot be stored"),
        ('{"a": {"base64": "?"}}', r"line 1: feature 'a'"),
        ('{"a": [1, null]}', r"line 1: feature 'a': a null in a list"),
        ('{"a": [[1]]}', r"line 1: feature 'a': a list in a list"),
        ('{"a": [1, "x"]}', r"line 1: feature 'a': a list of bytes and int64"),
        ('{"a": 1, "a": 2}', r"line 1: 'a' is there twice"),
        ('{"a": 1e400}', r"line 1: the number 1e400 is too large"),
        ('{"a": 1}\n{"b": 1}\n{"a": 1e300}', r"line 3: feature 'a': a float is too large for float32"),
        ('{"context": {}, "sequence": {"a": [[1e300]]}}', r"line 1: feature 'a': a float is too large"),
        ("\n]\n", r"line 2: it is no JSON: Expecting value, at column 1; each line is an object of its own"),
        ('{"a": "\\ud800"}', r"line 1: feature 'a': a string that is half of a character"),
        ("[1]", r"line 1: an object with the features of a record is needed"),
        ('{"a": 1', r"line 1: "),
        ("\n\n?", r"line 3: "),
        ("[" * 100_000, r"line 1: "),
        ('{"a": 1}\n{"context": {}, "sequence": {}}', r"cannot be in one file"),
        ('{"context": {}, "sequence": {"a": 5}}', r"line 1: a feature list is a list of steps"),
        (b'{"a": "\xff"}', r"line 1: byte 0xff is not UTF-8"),
    ],
)
def test_mistakes_are_errors_with_the_line(text, words):
    with pytest.raises(pr.EncodeError, match=words):
        converted(text)


def test_schema_decides_kinds_counts_and_columns():
    schema = {"a": pr.FixedLenFeature([2], np.float32), "b": pr.VarLenFeature(bytes)}
    assert converted('{"a": [1, 2], "c": 5, "b": null}', schema=schema) == [{"a": [1.0, 2.0]}]
    for text, words in [
        ('{"a": [1]}', "line 1: feature 'a': has 1 values, where the schema has 2"),
        ('{"b": "x"}', "no line has it"),
        ('{"a": [1, 2], "b": "x"}\n{"b": "x"}', "line 2: feature 'a': is missing"),
        ('{"a": "x", "b": "x"}', "feature 'a': bytes, where the schema says float"),
    ]:
        with pytest.raises(pr.EncodeError, match=words):
            converted(text, schema=schema)


def test_numbers_that_are_rounded_are_told_and_refused_on_request(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"a": 0.1, "b": 0.123456789, "c": 16777217, "d": 16777217}\n{"a": 1, "b": 1, "c": 1.5}\n'
    )
    report = convert(path, tmp_path / "a.tfrecord", dry_run=True)
    assert report.types == {
        "a": "float",
        "b": "float (rounded to float32)",
        "c": "float (rounded to float32)",
        "d": "int64, missing in 1",
    }
    with pytest.raises(pr.EncodeError, match=r"a.jsonl: line 1: feature 'a': .* does not hold exactly"):
        convert(path, tmp_path / "a.tfrecord", floats="exact")


def test_columns_choose():
    assert converted('{"a": 1, "b": 2}', columns=["b"]) == [{"b": [2]}]
    with pytest.raises(pr.EncodeError, match="no line has it"):
        converted('{"a": 1}', columns=["b"])


def test_floats_of_a_stream_after_its_sample_are_an_error():
    lines = '{"a": 1}\n' * 10_000
    assert len(converted(lines)) == 10_000
    with pytest.raises(pr.EncodeError, match="line 10001: feature 'a': float, where line 1 holds int64"):
        converted(lines + '{"a": 1.5}\n')


def test_control_characters_are_escaped_in_lines(tmp_path):
    with pr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write(pr.encode_example({"a": "\x1b\u202e\x7f"}))
    convert(tmp_path / "a.tfrecord", tmp_path / "a.jsonl")
    text = (tmp_path / "a.jsonl").read_text()
    assert text == '{"a": "\\u001b\\u202e\\u007f"}\n'
    assert json.loads(text) == {"a": "\x1b\u202e\x7f"}
