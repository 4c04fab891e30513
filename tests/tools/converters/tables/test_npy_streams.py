"""Arrays of numpy, some rows at a time: what numpy writes is read, and the other way round."""

from __future__ import annotations

import io

import numpy as np
import pytest

import purerecord as pr
from purerecord.tools.converters.tables.npy_streams import NpyReader, NpySpool

ARRAYS = [
    np.arange(5),
    np.arange(12, dtype=np.float32).reshape(3, 4),
    np.arange(12, dtype=">i2").reshape(3, 2, 2),
    np.asfortranarray(np.arange(12).reshape(3, 4)),
    np.array(["a", "bé", ""]),
    np.array([b"a", b"bc"]),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.zeros(3, [("x", "i4"), ("y", "f4", (2,))]),
]


def stored(array):
    file = io.BytesIO()
    np.save(file, array)
    file.seek(0)
    return file


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.kind}{array.shape}")
@pytest.mark.parametrize("step", [1, 2, 100])
def test_rows_of_an_array(array, step):
    reader = NpyReader(stored(array), "a")
    assert (reader.rows, reader.shape, reader.dtype) == (len(array), array.shape, array.dtype)
    assert reader.whole is bool(array.ndim > 1 and not array.flags.c_contiguous)
    parts = [reader.read(min(step, len(array) - begin)) for begin in range(0, len(array), step)]
    assert b"".join(part.tobytes() for part in parts) == array.tobytes()


@pytest.mark.parametrize(
    "array", ARRAYS[:3] + ARRAYS[5:7], ids=lambda array: f"{array.dtype.kind}{array.shape}"
)
def test_numpy_reads_what_is_written(tmp_path, array):
    spool = NpySpool(str(tmp_path / "spool"), array.dtype, array.shape[1:])
    for begin in range(0, len(array), 2):
        spool.write(array[begin : begin + 2])
    target = io.BytesIO()
    spool.finish(target)
    again = np.load(io.BytesIO(target.getvalue()))
    assert again.dtype == array.dtype
    if array.size:
        assert again.tolist() == array.tolist()
        assert target.getvalue() == stored(np.ascontiguousarray(array)).getvalue()
    assert list(tmp_path.iterdir()) == []


def header(shape, *, fortran=False):
    made = io.BytesIO()
    about = {"descr": "<i8", "fortran_order": fortran, "shape": shape}
    np.lib.format.write_array_header_1_0(made, about)
    return made.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is no array"),
        (b"\x93NUMPY\x07\x00", "version 7.0"),
        (stored(np.array([None])).getvalue(), "only unpickling could read"),
        (stored(np.array(5)).getvalue(), "has no rows"),
        (b"\x93NUMPY\x01\x00\x02\x00{}", "is no array"),
        (header((-5,)), r"is no array: its shape is \(-5,\)"),
        (header((10**20, 10**20)), "ends inside of this array"),
        (header((3, 1 << 32, 1 << 32)), "ends inside of this array"),
        (header((10**20, 10**20), fortran=True), "ends inside of this array"),
    ],
)
def test_what_is_no_array_is_an_error(data, words):
    with pytest.raises(pr.EncodeError, match=words):
        NpyReader(io.BytesIO(data), "a").read(1)


def test_an_array_that_is_cut_off_is_an_error():
    reader = NpyReader(io.BytesIO(stored(np.arange(5)).getvalue()[:-1]), "a")
    reader.read(4)
    with pytest.raises(pr.EncodeError, match="ends inside of this array"):
        reader.read(1)
