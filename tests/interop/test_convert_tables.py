"""Files that pandas and polars make: to TFRecords and back, and TensorFlow parses what is between."""

from __future__ import annotations

import numpy as np
import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.interop import interop

pandas = interop("pandas")
interop("pyarrow")

FRAME = pandas.DataFrame(
    {
        "id": np.arange(5),
        "score": np.array([0.5, 0.25, -1, 3, 0], np.float32),
        "name": ["a", 'b"c', "d,e", "f\ng", "é"],
        "good": [True, False, True, True, False],
    }
)
FORMATS = {
    "csv": (lambda frame, path: frame.to_csv(path, index=False), pandas.read_csv),
    "tsv": (
        lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
        lambda path: pandas.read_csv(path, sep="\t"),
    ),
    "csv.gz": (lambda frame, path: frame.to_csv(path, index=False), pandas.read_csv),
    "parquet": (lambda frame, path: frame.to_parquet(path), pandas.read_parquet),
    "feather": (lambda frame, path: frame.to_feather(path), pandas.read_feather),
    "jsonl": (
        lambda frame, path: frame.to_json(path, orient="records", lines=True),
        lambda path: pandas.read_json(path, lines=True),
    ),
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_frames_of_pandas_there_and_back(tmp_path, suffix):
    write, read = FORMATS[suffix]
    write(FRAME, tmp_path / f"a.{suffix}")
    report = convert(tmp_path / f"a.{suffix}", tmp_path / "a.tfrecord")
    assert report.records == len(FRAME)
    convert(tmp_path / "a.tfrecord", tmp_path / f"b.{suffix}")
    again = read(tmp_path / f"b.{suffix}")
    for name in FRAME:
        assert again[name].tolist() == FRAME[name].astype(int if name == "good" else object).tolist()


def test_pandas_marks_of_missing_values(tmp_path):
    frame = pandas.DataFrame(
        {"n": pandas.array([1, None, 3], "Int64"), "s": ["x", None, ""], "f": [0.5, None, 2]}
    )
    for suffix in ("csv", "parquet"):
        FORMATS[suffix][0](frame, tmp_path / f"a.{suffix}")
        convert(tmp_path / f"a.{suffix}", tmp_path / f"{suffix}.tfrecord")
    second = [
        pr.decode_example(list(pr.read_records(tmp_path / f"{suffix}.tfrecord"))[1])
        for suffix in ("csv", "parquet")
    ]
    assert [sorted(row) for row in second] == [[], []]


def test_the_index_of_pandas_is_an_error_that_says_so(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv")
    with pytest.raises(pr.EncodeError, match="column 1 has no name, as the index that pandas writes"):
        convert(tmp_path / "a.csv", tmp_path / "a.tfrecord")
    convert(tmp_path / "a.csv", tmp_path / "a.tfrecord", columns=["id", "name"])


def test_frames_of_polars(tmp_path):
    polars = interop("polars")
    frame = polars.DataFrame(
        {"a": [1, None, 3], "s": ["x", "y", None], "l": [[1, 2], [], None], "t": [{"u": 1}, None, {"u": 2}]}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow")
    for name in ("a.parquet", "a.arrow"):
        convert(tmp_path / name, tmp_path / f"{name}.tfrecord")
    assert (tmp_path / "a.parquet.tfrecord").read_bytes() == (tmp_path / "a.arrow.tfrecord").read_bytes()
    convert(tmp_path / "a.parquet.tfrecord", tmp_path / "b.parquet")
    again = polars.read_parquet(tmp_path / "b.parquet")
    assert again.select("a", "l", "s").rows() == frame.select("a", "l", "s").rows()
    assert again["t/u"].to_list() == [1, None, 2]


def test_tensorflow_parses_the_records_of_a_table(tmp_path):
    tf = interop("tensorflow")
    FRAME.to_parquet(tmp_path / "a.parquet")
    convert(tmp_path / "a.parquet", tmp_path / "a.tfrecord")
    spec = {
        "id": tf.io.FixedLenFeature([], tf.int64),
        "score": tf.io.FixedLenFeature([], tf.float32),
        "name": tf.io.FixedLenFeature([], tf.string),
    }
    batch = next(iter(tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord")).batch(5)))
    parsed = tf.io.parse_example(batch, spec)
    assert parsed["id"].numpy().tolist() == FRAME["id"].tolist()
    assert parsed["score"].numpy().tolist() == FRAME["score"].tolist()
    assert [name.decode() for name in parsed["name"].numpy()] == FRAME["name"].tolist()
