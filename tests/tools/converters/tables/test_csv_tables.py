"""CSV and TSV: there and back, options, streams, and what cannot be a table."""

from __future__ import annotations

import csv
import gzip
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools import convert
from purerecord.tools.converters.tables import csv_cells, csv_tables
from tests.support.feature_rows import feature_rows, rows_of, written


def converted(text, **options):
    out = io.BytesIO()
    source = io.BytesIO(text.encode() if isinstance(text, str) else text)
    report = convert(source, out, from_format="csv", **options)
    out.seek(0)
    return rows_of(out), report


@given(feature_rows(), st.sampled_from([",", ";", "tab"]))
def test_there_and_back_with_a_schema(tmp_path, table, delimiter):
    rows, schema = table
    source = written(tmp_path / "a.tfrecord", rows)
    convert(source, tmp_path / "a.csv", delimiter=delimiter)
    convert(tmp_path / "a.csv", tmp_path / "b.tfrecord", schema=schema, delimiter=delimiter)
    assert rows_of(tmp_path / "b.tfrecord") == rows_of(source)


@given(feature_rows())
def test_what_is_written_is_the_table_that_csv_reads(tmp_path, table):
    rows, _ = table
    convert(written(tmp_path / "a.tfrecord", rows), tmp_path / "a.csv")
    with open(tmp_path / "a.csv", encoding="utf-8", newline="") as file:
        found = list(csv.reader(file, strict=True))
    names = sorted({name for row in rows for name in row}, key=str)
    assert found[0] == names
    assert len(found) == 1 + len(rows)
    for row, cells in zip(rows, found[1:], strict=True):
        for name, cell in zip(names, cells or [""], strict=True):
            lists = any(len(other.get(name, [0])) != 1 for other in rows)
            assert (cell == "") == (name not in row or (row[name] == [b""] and not lists))


def test_types_are_inferred_over_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_cells, "_PIECE", 16)
    text = "id,score,name\n" + "1,2,x\n" * 20 + "2,0.5,y\n"
    (tmp_path / "a.csv").write_text(text)
    report = convert(tmp_path / "a.csv", tmp_path / "a.tfrecord")
    assert report.types == {"id": "int64", "score": "float", "name": "bytes"}
    assert report.records == 21
    assert rows_of(tmp_path / "a.tfrecord")[-1] == {"id": [2], "score": [0.5], "name": [b"y"]}


def test_bytes_that_are_no_text_become_base64_and_come_back(tmp_path):
    rows = [{"image": [b"\xff\xd8"], "more": [b"\xff", b"x"]}, {"image": [b"text"], "more": []}]
    source = written(tmp_path / "a.tfrecord", rows)
    report = convert(source, tmp_path / "a.csv")
    assert report.types == {"image": "bytes (as base64)", "more": "bytes list (as base64)"}
    assert (tmp_path / "a.csv").read_text().splitlines() == [
        "image,more",
        '/9g=,"[""/w=="", ""eA==""]"',
        "dGV4dA==,[]",
    ]
    schema = {"image": pr.FixedLenFeature([], bytes), "more": pr.VarLenFeature(bytes)}
    back = tmp_path / "b.tfrecord"
    convert(tmp_path / "a.csv", back, base64=["image", "more"], schema=schema)
    assert rows_of(back) == rows
    report = convert(tmp_path / "a.csv", back, base64=["image"], columns=["image"])
    assert report.types == {"image": "bytes (from base64)"}
    assert rows_of(back) == [{"image": [b"\xff\xd8"]}, {"image": [b"text"]}]


def test_options_of_reading():
    assert converted("a,b\n1,2\n", columns=["b"])[0] == [{"b": [2]}]
    assert converted("1,2\n", names=["x", "y"])[0] == [{"x": [1], "y": [2]}]
    assert converted('a,b\nNA,"NA"\n', missing=["NA"])[0] == [{"b": [b"NA"]}]
    assert converted("a\nx\n", missing=["x"])[0] == [{}]
    assert converted("a|b\n1|2\n", delimiter="|")[0] == [{"a": [1], "b": [2]}]
    assert converted("a;b\n1;2\n", delimiter=",")[0] == [{"a;b": [b"1;2"]}]
    assert converted("a\n\xe9\n".encode("latin-1"), encoding="latin-1")[0] == [{"a": ["é".encode()]}]
    assert converted("a,b\n1,2\n", schema={"b": pr.FixedLenFeature([], np.float32)})[0] == [{"b": [2.0]}]
    assert converted(",a\n0,1\n", columns=["a"])[0] == [{"a": [1]}]
    assert converted("a,b\n")[0] == []


def test_tsv_is_told_by_its_name(tmp_path):
    (tmp_path / "a.tsv").write_text("a\tb\n1\t2,3\n")
    convert(tmp_path / "a.tsv", tmp_path / "a.tfrecord")
    assert rows_of(tmp_path / "a.tfrecord") == [{"a": [1], "b": [b"2,3"]}]
    convert(tmp_path / "a.tfrecord", tmp_path / "b.tsv.gz")
    assert gzip.decompress((tmp_path / "b.tsv.gz").read_bytes()) == (tmp_path / "a.tsv").read_bytes()
    convert(tmp_path / "b.tsv.gz", tmp_path / "b.tfrecord")
    assert rows_of(tmp_path / "b.tfrecord") == rows_of(tmp_path / "a.tfrecord")


def test_columns_of_several_files_may_stand_in_another_order(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "2.csv").write_text("b,a\ny,2\n")
    convert(tmp_path / "?.csv", tmp_path / "a.tfrecord")
    assert rows_of(tmp_path / "a.tfrecord") == [{"a": [1], "b": [b"x"]}, {"a": [2], "b": [b"y"]}]
    (tmp_path / "3.csv").write_text("b,c\ny,2\n")
    with pytest.raises(pr.EncodeError, match=r"3\.csv: the columns differ .*: a, c"):
        convert(tmp_path / "?.csv", tmp_path / "a.tfrecord")


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (",a\n0,1\n", {}, "column 1 has no name"),
        ("a,a\n0,1\n", {}, "several columns 'a'"),
        ("a\n1\n", {"columns": ["b"]}, "no column 'b'; it has 'a'"),
        ("a\n1\n", {"base64": ["b"]}, "no column 'b'"),
        ("a\n1\n", {"schema": {"b": pr.FixedLenFeature([], bytes)}}, "no column 'b'"),
        ("a\n1\n", {"schema": {"a": pr.FixedLenFeature([2], np.int64)}}, "has 1 values"),
    ],
)
def test_mistakes_of_columns(text, options, words):
    with pytest.raises(pr.EncodeError, match=words):
        converted(text, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delimiter": "--"}, "one ASCII character"),
        ({"delimiter": '"'}, "no quote"),
        ({"encoding": "nonsense"}, "'nonsense' is not known"),
    ],
)
def test_wrong_options(options, words):
    with pytest.raises(ValueError, match=words):
        converted("a\n1\n", **options)


def test_types_of_a_stream_are_those_of_its_sample(monkeypatch):
    monkeypatch.setattr(csv_cells, "_PIECE", 8)
    monkeypatch.setattr(csv_tables, "_SAMPLE", 5)
    rows, report = converted("a,b\n" + "1,\n" * 20)
    assert len(rows) == 20
    assert report.notes == ["a stream: the types are those of the first 5 rows"]
    with pytest.raises(
        pr.EncodeError, match=r"line 22: feature 'a': '1\.5', where the first rows have int64"
    ):
        converted("a,b\n" + "1,\n" * 20 + "1.5,\n")
    with pytest.raises(pr.EncodeError, match="line 22: feature 'b': '5', where the first rows have no value"):
        converted("a,b\n" + "1,\n" * 20 + "1,5\n")


def streamed(rows, tmp_path, monkeypatch):
    """The CSV of a stream of TFRecords, whose batches are two records."""
    monkeypatch.setattr("purerecord.tools.converters.job._BATCH_RECORDS", 2)
    data = written(tmp_path / "a.tfrecord", rows).read_bytes()
    out = io.BytesIO()
    convert(io.BytesIO(data), out, from_format="tfrecord", to_format="csv")
    return out.getvalue().decode()


def test_a_stream_has_the_columns_of_its_first_records(tmp_path, monkeypatch):
    same = [{"a": [1]}, {"a": [2]}, {}, {"a": [3]}]
    assert streamed(same, tmp_path, monkeypatch) == "a\n1\n2\n\n3\n"
    for odd, words in [
        ({"b": [1]}, "comes after the first records"),
        ({"a": [1, 2]}, "has 2 values"),
        ({"a": [0.5]}, "holds float, where"),
    ]:
        with pytest.raises(pr.SchemaError, match=words):
            streamed([{"a": [1]}, {"a": [2]}, odd], tmp_path, monkeypatch)
    with pytest.raises(pr.SchemaError, match=r"feature 'a': record 2: .*base64"):
        streamed([{"a": [b"x"]}, {"a": [b"y"]}, {"a": [b"\xff"]}], tmp_path, monkeypatch)


def test_what_is_no_table_is_an_error(tmp_path):
    with pytest.raises(pr.SchemaError, match="no record has a feature"):
        convert(written(tmp_path / "a.tfrecord", []), tmp_path / "a.csv")
    with pr.TFRecordWriter(tmp_path / "s.tfrecord") as writer:
        writer.write(pr.encode_sequence_example({}, {"s": [[1]]}))
    with pytest.raises(pr.SchemaError, match="SequenceExample"):
        convert(tmp_path / "s.tfrecord", tmp_path / "a.csv")
    source = written(tmp_path / "b.tfrecord", [{"a": [1]}, {"a": [b"x"]}])
    with pytest.raises(pr.SchemaError, match="feature 'a'"):
        convert(source, tmp_path / "a.csv")
    with pytest.raises(ValueError, match="'a' is no feature of bytes"):
        convert(written(tmp_path / "c.tfrecord", [{"a": [1]}]), tmp_path / "a.csv", base64=["a"])
    assert not (tmp_path / "a.csv").exists()


def test_pipes_of_the_shell(tmp_path):
    command = [sys.executable, "-m", "purerecord", "convert", "-q"]
    data = subprocess.run(
        [*command, "-", str(tmp_path / "a.tfrecord"), "--from", "csv"],
        input=b"a,b\n1,x\n",
        check=True,
        capture_output=True,
    )
    assert data.stderr == b""
    done = subprocess.run(
        [*command, "a.tfrecord", "-", "--to", "csv"], cwd=tmp_path, check=True, capture_output=True
    )
    assert done.stdout == b"a,b\n1,x\n"
    wrong = subprocess.run(
        [*command, "-", "x.tfrecord", "--from", "csv"],
        cwd=tmp_path,
        input=b"a;b\n",
        check=False,
        capture_output=True,
    )
    assert wrong.returncode == 1
    assert wrong.stderr.count(b"\n") == 1
    assert b"is the delimiter ';'" in wrong.stderr
    assert [path.name for path in Path(tmp_path).iterdir()] == ["a.tfrecord"]
