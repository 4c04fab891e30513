"""Archives of webdataset: there and back, the rule for each extension, keys, and every mistake."""

from __future__ import annotations

import gzip
import io
import tarfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools import convert
from purerecord.tools.converters import webdataset
from tests.support.feature_rows import rows_of, written

MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "jpg": st.binary(max_size=9),
        "cls": st.integers(-(1 << 63), (1 << 63) - 1).map(lambda value: str(value).encode()),
        "x.txt": st.text(max_size=5).map(str.encode),
        "json": st.just(b'{"a": 1}'),
    },
).filter(bool)


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def archive(members, compress=False):
    """An archive of (name, content); a content of None is a folder."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members:
            header = tarfile.TarInfo(name)
            header.size = len(content or b"")
            if content is None:
                header.type = tarfile.DIRTYPE
            tar.addfile(header, io.BytesIO(content or b""))
    return gzip.compress(file.getvalue()) if compress else file.getvalue()


def contents(path):
    with tarfile.open(path) as tar:
        return [(member.name, tar.extractfile(member).read()) for member in tar]


def converted(members, **options):
    out = io.BytesIO()
    report = convert(io.BytesIO(archive(members)), out, from_format="webdataset", **options)
    out.seek(0)
    return rows_of(out), report


@given(st.lists(MEMBERS, max_size=5), st.sampled_from([".tar", ".tar.gz"]), st.sampled_from([1, 2, 100]))
def test_there_and_back(tmp_path, samples, suffix, batch):
    members = [
        (f"d/{number:03d}.{extension}", sample[extension])
        for number, sample in enumerate(samples)
        for extension in sorted(sample)
    ]
    source = tmp_path / f"a{suffix}"
    source.write_bytes(archive(members, suffix.endswith("gz")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(webdataset, "_BATCH_SAMPLES", batch)
        patch.setattr("purerecord.tools.converters.job._BATCH_RECORDS", batch)
        report = convert(source, tmp_path / "a.tfrecord")
        assert report.records == len(samples)
        assert not report.lost
        if samples:
            convert(tmp_path / "a.tfrecord", tmp_path / f"b{suffix}")
            convert(tmp_path / "a.tfrecord", tmp_path / f"c{suffix}")
            assert contents(tmp_path / f"b{suffix}") == members
            assert (tmp_path / f"b{suffix}").read_bytes() == (tmp_path / f"c{suffix}").read_bytes()


def test_rules_of_extensions():
    rows, report = converted(
        [
            ("a/1.JPG", b"\xff\xd8"),
            ("a/1.label.cls", b" 7\n"),
            ("a/1.json", b'{"x": 1}'),
            ("a/1.npy", npy(np.arange(3, dtype=np.uint8))),
            ("a/1.emb.npy", npy(np.ones((2, 1)))),
            ("a/1.pyd", b"a pickle, which is bytes"),
        ]
    )
    assert rows == [
        {
            "__key__": [b"a/1"],
            "jpg": [b"\xff\xd8"],
            "label.cls": [7],
            "json": [b'{"x": 1}'],
            "npy": [0, 1, 2],
            "emb.npy": [1.0, 1.0],
            "emb.npy/shape": [2, 1],
            "pyd": [b"a pickle, which is bytes"],
        }
    ]
    assert report.types["label.cls"] == "int64"


def test_arrays_come_back_with_their_shapes(tmp_path):
    arrays = [np.arange(6).reshape(2, 3), np.array(5), np.zeros((0, 2), np.float32), np.arange(3)]
    for array in arrays:
        (tmp_path / "a.tar").write_bytes(archive([("1.npy", npy(array))]))
        convert(tmp_path / "a.tar", tmp_path / "a.tfrecord")
        convert(tmp_path / "a.tfrecord", tmp_path / "b.tar")
        assert contents(tmp_path / "b.tar") == [("1.npy", npy(array))]


def test_a_sample_without_a_member_is_told(tmp_path):
    members = [("1.jpg", b"x"), ("1.cls", b"1"), ("2.jpg", b"x"), ("3.jpg", b"x"), ("3.txt", b"late")]
    (tmp_path / "a.tar").write_bytes(archive(members))
    report = convert(tmp_path / "a.tar", tmp_path / "a.tfrecord", dry_run=True)
    assert report.types["cls"] == "int64, missing in 2, first 2"
    assert report.types["txt"] == "bytes, missing in 2, first an earlier one"
    with pytest.raises(pr.EncodeError, match=r"a\.tar: 2: feature 'cls': is missing"):
        convert(tmp_path / "a.tar", tmp_path / "a.tfrecord", schema={"cls": pr.FixedLenFeature([], np.int64)})


def test_a_sample_of_which_nothing_is_wanted_is_still_a_record():
    rows, _ = converted([("1.jpg", b"x"), ("2.txt", b"y"), ("3.jpg", b"z")], columns=["txt"])
    assert rows == [{}, {"txt": [b"y"]}, {}]


def test_what_is_no_member_of_a_sample_is_counted(tmp_path):
    link = tarfile.TarInfo("1.txt")
    link.type, link.linkname = tarfile.SYMTYPE, "2.txt"
    data = link.tobuf() + archive(
        [("d", None), ("README", b"x"), ("__index__", b"x"), ("1.jpg", b"x"), (".hidden", b"x")]
    )
    (tmp_path / "a.tar").write_bytes(data)
    report = convert(tmp_path / "a.tar", tmp_path / "a.tfrecord")
    assert {reason: found.count for reason, found in report.skipped.items()} == {
        "members that are no files": 1,
        "members without an extension": 2,
    }
    assert rows_of(tmp_path / "a.tfrecord") == [{"__key__": [b"1"], "jpg": [b"x"]}]


def test_members_get_names_of_features_and_back(tmp_path):
    rows = [{"image/encoded": [b"x"], "image/filename": [b"d/cat.1.jpg"], "label": [5]}]
    source = written(tmp_path / "a.tfrecord", rows)
    members = {"jpg": "image/encoded", "cls": "label"}
    convert(source, tmp_path / "a.tar", members=members, key="image/filename")
    assert contents(tmp_path / "a.tar") == [("d/cat.jpg", b"x"), ("d/cat.cls", b"5")]
    convert(tmp_path / "a.tar", tmp_path / "b.tfrecord", members=members, columns=["image/encoded", "label"])
    assert rows_of(tmp_path / "b.tfrecord") == [{"image/encoded": [b"x"], "label": [5]}]
    convert(tmp_path / "b.tfrecord", tmp_path / "b.tar", members=members)
    assert contents(tmp_path / "b.tar") == [("000000000.jpg", b"x"), ("000000000.cls", b"5")]


@pytest.mark.parametrize(
    ("members", "options", "words"),
    [
        ([("1.cls", b"x")], {}, r"1\.cls: 'x' is no integer"),
        ([("1.cls", b"9" * 30)], {}, "int64 cannot hold"),
        ([("1.npy", b"x")], {}, r"1\.npy: it is no array: it does not begin like one"),
        ([("1.npy", npy(np.arange(9))[:-1])], {}, r"1\.npy: it is no array of numbers"),
        ([("1.npy", npy(np.array([None])))], {}, "it is no array of numbers"),
        ([("1.npy", npy(np.array(["x"])))], {}, "an array of <U1"),
        ([("1.npy", npy(np.array([1 << 63], np.uint64)))], {}, r"1\.npy: "),
        ([("1.txt", b"x"), ("1.TXT", b"y")], {}, r"1\.TXT: there are two of this name"),
        ([("1.txt", b"x")], {"columns": ["jpg"]}, "feature 'jpg': no sample has it"),
        (
            [("1.txt", b"x")],
            {"schema": {"txt": pr.FixedLenFeature([], np.float32)}},
            "1: feature 'txt': bytes",
        ),
    ],
)
def test_mistakes_are_errors_with_the_member(members, options, words):
    with pytest.raises(pr.EncodeError, match=words):
        converted(members, **options)


def test_kinds_of_arrays_meet_and_a_schema_makes_text_integers(tmp_path):
    (tmp_path / "a.tar").write_bytes(archive([("1.npy", npy(np.arange(2))), ("2.npy", npy(np.ones(1)))]))
    convert(tmp_path / "a.tar", tmp_path / "a.tfrecord", columns=["npy"])
    assert rows_of(tmp_path / "a.tfrecord") == [{"npy": [0.0, 1.0]}, {"npy": [1.0]}]
    rows, _ = converted([("1.txt", b"5")], schema={"txt": pr.FixedLenFeature([], np.int64)})
    assert rows == [{"txt": [5]}]


def test_a_stream_has_its_features_as_they_come(monkeypatch):
    monkeypatch.setattr(webdataset, "_BATCH_SAMPLES", 2)
    rows, report = converted([("1.a", b"x"), ("2.a", b"x"), ("3.b", b"x")])
    assert [sorted(row) for row in rows] == [["__key__", "a"], ["__key__", "a"], ["__key__", "b"]]
    assert report.notes == [
        "a stream: the features are those of the first 2 samples",
        "b: none of the first samples has it",
    ]


@pytest.mark.parametrize(
    ("row", "options", "words"),
    [
        ({"label": [5]}, {}, "say --members label.cls=label"),
        ({"a/b": [b"x"]}, {}, "say --members b.txt=a/b"),
        ({"a/b": [b"\xff"]}, {}, "say --members b.jpg=a/b"),
        ({"x": [0.5, 1]}, {}, "say --members x.npy=x"),
        ({"cls": [b"x"]}, {}, "feature 'cls': as 'cls' it is no member"),
        ({"JPG": [b"x"]}, {}, "feature 'JPG'"),
        ({"a": [b"x"]}, {"key": "b"}, "feature 'b': no record has it"),
        ({"a": [b"x"], "k": [b"../x"]}, {"key": "k"}, "is no key"),
        ({"a": [b"x"], "k": [b"/x"]}, {"key": "k"}, "is no key"),
        ({"a": [b"x"], "k": [b"x\\y"]}, {"key": "k"}, "is no key"),
        ({"a": [b"x"], "k": [b".jpg"]}, {"key": "k"}, "is no key"),
        ({"a": [b"x"], "__key__": [b"a.b"]}, {}, "is no key"),
        ({"a": [b"x"], "__key__": [b"__x__"]}, {}, "is no key"),
        ({"a": [b"x"], "k": [b"x", b"y"]}, {"key": "k"}, "has not one value"),
    ],
)
def test_records_that_are_no_samples_are_errors(tmp_path, row, options, words):
    with pytest.raises(pr.SchemaError, match=words):
        convert(written(tmp_path / "a.tfrecord", [row]), tmp_path / "a.tar", **options)
    assert not (tmp_path / "a.tar").exists()


def test_samples_that_would_become_one_are_an_error(tmp_path):
    rows = [{"a": [b"x"], "__key__": [b"k"]}] * 2
    with pytest.raises(pr.SchemaError, match="'k' is that of the record before"):
        convert(written(tmp_path / "a.tfrecord", rows), tmp_path / "a.tar")
    report = convert(written(tmp_path / "a.tfrecord", [{"a": [b"x"]}, {}]), tmp_path / "a.tar")
    assert report.skipped["records without a member"].count == 1
    assert report.lost


def test_a_cut_archive_is_an_error_with_the_file(tmp_path):
    (tmp_path / "a.tar").write_bytes(archive([("1.txt", b"x" * 1000)])[:1000])
    with pytest.raises(pr.EncodeError, match=r"a\.tar: .*is cut off"):
        convert(tmp_path / "a.tar", tmp_path / "a.tfrecord")
