"""NPZ and NPY: there and back, what numpy has of them, and what cannot be records or arrays."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from hypothesis import assume, given

import purerecord as pr
from purerecord.tools import convert
from purerecord.tools.converters.tables import numpy_arrays
from tests.support.feature_rows import feature_rows, rows_of, written


@given(feature_rows())
def test_there_and_back(tmp_path, table):
    rows, schema = table
    strings = [
        value for row in rows for values in row.values() for value in values if isinstance(value, bytes)
    ]
    assume(not any(string.endswith(b"\0") for string in strings))
    assume(not any(name.endswith(("/values", "/row_splits", "/missing")) for name in schema))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("purerecord.tools.converters.job._BATCH_RECORDS", 2)
        patch.setattr(numpy_arrays, "_READ_ROWS", 2)
        source = written(tmp_path / "a.tfrecord", rows)
        convert(source, tmp_path / "a.npz")
        convert(tmp_path / "a.npz", tmp_path / "b.tfrecord")
        convert(source, tmp_path / "b.npz")
    assert rows_of(tmp_path / "b.tfrecord") == rows_of(source)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_numpy_reads_arrays_that_are_written(tmp_path):
    rows = [{"a": [1, 2], "b": [b"x"], "c": [1]}, {"a": [], "c": [2]}, {"a": [3], "b": [b"yy"], "c": [3]}]
    report = convert(written(tmp_path / "a.tfrecord", rows), tmp_path / "a.npz")
    assert report.types == {"a": "int64 list", "b": "bytes, missing in 1", "c": "int64"}
    with np.load(tmp_path / "a.npz") as arrays:
        assert {name: array.tolist() for name, array in arrays.items()} == {
            "a/values": [1, 2, 3],
            "a/row_splits": [0, 2, 2, 3],
            "b/values": [b"x", b"yy"],
            "b/row_splits": [0, 1, 1, 2],
            "b/missing": [False, True, False],
            "c": [1, 2, 3],
        }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "a.tfrecord"]


def test_arrays_of_numpy_become_records(tmp_path):
    arrays = {
        "images": np.arange(24, dtype=np.uint8).reshape(3, 2, 4),
        "labels": np.array([1, 2, 3], ">i2"),
        "scores": np.array([0.5, 0.1, 2]),
        "half": np.array([0.5, 1, 2], np.float16),
        "names": np.array(["a", "bé", ""]),
        "codes": np.array([b"a", b"", b"b"]),
        "good": np.array([True, False, True]),
        "fortran": np.asfortranarray(np.arange(6).reshape(3, 2)),
        "pairs": np.array([(1, (0.5, 1.5))] * 3, [("id", "i4"), ("box", "f4", (2,))]),
    }
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    report = convert(tmp_path / "a.npz", tmp_path / "a.tfrecord")
    assert report.types == {
        "images": "int64[2][4]",
        "labels": "int64",
        "scores": "float (rounded from double)",
        "half": "float",
        "names": "bytes (text)",
        "codes": "bytes",
        "good": "int64 (from bool)",
        "fortran": "int64[2]",
        "pairs/id": "int64",
        "pairs/box": "float[2]",
    }
    assert report.notes == ["fortran: in Fortran's order, so it is read as a whole"]
    second = rows_of(tmp_path / "a.tfrecord")[1]
    assert second == {
        "images": [*range(8, 16)],
        "labels": [2],
        "scores": [np.float32(0.1)],
        "half": [1.0],
        "names": ["bé".encode()],
        "codes": [b""],
        "good": [0],
        "fortran": [2, 3],
        "pairs/id": [1],
        "pairs/box": [0.5, 1.5],
    }
    schema = {
        "images": pr.FixedLenFeature([2, 4], np.int64),
        "pairs/box": pr.FixedLenFeature([2], np.float32),
    }
    convert(tmp_path / "a.tfrecord", tmp_path / "b.npz", schema=schema, columns=["images", "good"])
    with np.load(tmp_path / "b.npz") as again:
        assert {name: array.shape for name, array in again.items()} == {"images": (3, 2, 4), "good": (3,)}
        assert (again["images"] == arrays["images"]).all()


def test_columns_and_schema_choose(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(3), b=np.arange(4), c=np.array(5))
    convert(tmp_path / "a.npz", tmp_path / "a.tfrecord", columns=["b"])
    assert rows_of(tmp_path / "a.tfrecord") == [{"b": [i]} for i in range(4)]
    np.savez(tmp_path / "a.npz", a=np.arange(3), b=np.zeros(3))
    report = convert(
        tmp_path / "a.npz", tmp_path / "a.tfrecord", schema={"a": pr.FixedLenFeature([], np.float32)}
    )
    assert report.types == {"a": "float"}
    assert rows_of(tmp_path / "a.tfrecord") == [{"a": [float(i)]} for i in range(3)]


def test_npy_holds_one_feature(tmp_path):
    np.save(tmp_path / "images.npy", np.arange(6).reshape(3, 2))
    convert(tmp_path / "images.npy", tmp_path / "a.tfrecord")
    assert rows_of(tmp_path / "a.tfrecord")[0] == {"images": [0, 1]}
    convert(tmp_path / "a.tfrecord", tmp_path / "b.npy")
    assert (tmp_path / "b.npy").read_bytes() == (tmp_path / "images.npy").read_bytes()
    written(tmp_path / "b.tfrecord", [{"a": [1], "b": [1, 2]}, {"a": [2], "b": []}])
    for columns in (None, ["b"]):
        with pytest.raises(ValueError, match="an NPY file holds one array"):
            convert(tmp_path / "b.tfrecord", tmp_path / "c.npy", columns=columns)
    with pytest.raises(ValueError, match="several NPY files"):
        convert([tmp_path / "images.npy", tmp_path / "b.npy"], tmp_path / "a.tfrecord")


def test_files_follow_one_another(tmp_path):
    np.savez(tmp_path / "1.npz", a=np.arange(3))
    np.savez(tmp_path / "2.npz", a=np.arange(2))
    report = convert(tmp_path / "?.npz", tmp_path / "a.tfrecord", dry_run=True)
    assert report.records == 5
    convert(tmp_path / "?.npz", tmp_path / "a.tfrecord")
    assert [row["a"] for row in rows_of(tmp_path / "a.tfrecord")] == [[0], [1], [2], [0], [1]]
    np.savez(tmp_path / "3.npz", a=np.zeros(2))
    with pytest.raises(pr.EncodeError, match=r"3\.npz: the arrays differ from those of the first file: a"):
        convert(tmp_path / "?.npz", tmp_path / "a.tfrecord")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"a": np.arange(3), "b": np.arange(4)}, "feature 'b': has 4 rows, where 'a' has 3"),
        ({"a": np.array([object()])}, "feature 'a': Python objects"),
        ({"a": np.array(5)}, "feature 'a': has no rows"),
        ({"a": np.array([1j])}, "feature 'a': .*complex128"),
        ({"a": np.array(["2020"], "datetime64[D]")}, "feature 'a': .*datetime64"),
        ({"a": np.array([1, 1 << 63], np.uint64)}, "row 1: feature 'a': an integer does not fit"),
        ({"a/values": np.arange(3), "a/row_splits": np.array([0, 4])}, "row_splits must ascend from 0 to 3"),
        (
            {"a/values": np.arange(3), "a/row_splits": np.array([0, 3]), "a/missing": np.zeros(1)},
            "a boolean for each",
        ),
        ({}, "there is no array in it"),
    ],
)
def test_what_cannot_be_records_is_an_error(tmp_path, arrays, words):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(pr.EncodeError, match=r"a\.npz: .*" + words):
        convert(tmp_path / "a.npz", tmp_path / "a.tfrecord")
    assert not (tmp_path / "a.tfrecord").exists()


def test_columns_that_are_not_there(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(3))
    for options in ({"columns": ["b"]}, {"schema": {"b": pr.FixedLenFeature([], np.int64)}}):
        with pytest.raises(pr.EncodeError, match="there is no array 'b'"):
            convert(tmp_path / "a.npz", tmp_path / "a.tfrecord", **options)


def test_damaged_files_are_errors(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.arange(1000))
    data = (tmp_path / "a.npz").read_bytes()
    flipped = bytearray(data)
    flipped[4000] ^= 1
    for bad, words in [
        (b"", "is empty"),
        (b"hello world", "neither an NPZ nor an NPY"),
        (data[:300], "a.npz: "),
        (bytes(flipped), "Bad CRC-32"),
    ]:
        (tmp_path / "a.npz").write_bytes(bad)
        with pytest.raises(pr.EncodeError, match=words):
            convert(tmp_path / "a.npz", tmp_path / "a.tfrecord")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(pr.EncodeError, match=r"feature 'readme\.txt': is no array"):
        convert(tmp_path / "a.npz", tmp_path / "a.tfrecord")


def test_what_cannot_be_arrays_is_an_error(tmp_path):
    with pytest.raises(pr.SchemaError, match="no record has a feature"):
        convert(written(tmp_path / "a.tfrecord", [{}]), tmp_path / "a.npz")
    with pytest.raises(pr.SchemaError, match="feature 'a': a string ends in a NUL"):
        convert(written(tmp_path / "a.tfrecord", [{"a": [b"x\0"]}]), tmp_path / "a.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tfrecord"]
