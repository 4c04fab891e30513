"""Files against their manifest: what no file tells by itself."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from purerecord import (
    Manifest,
    ShardedWriter,
    TFRecordOptions,
    TFRecordWriter,
    load_manifest,
    read_records,
    validate,
)
from purerecord.recovery.against_manifest import differences

PAYLOADS = [b"record %d" % n for n in range(100)]
STALE = "it holds other records than the manifest says, or in another order; one of both is stale"


@pytest.fixture
def paths(tmp_path):
    with ShardedWriter(tmp_path / "x@4", manifest=True) as writer:
        writer.write_many(PAYLOADS)
    return writer.paths


def errors(paths, tmp_path, **options):
    report = validate(paths, manifest=tmp_path / "x.manifest.json", **options)
    assert report.ok == (not report.manifest_errors)
    assert report.to_dict()["manifest_errors"] == list(report.manifest_errors)
    for error in report.manifest_errors:
        assert error in str(report)
    return [error.replace(f"{tmp_path}{os.sep}", "") for error in report.manifest_errors]


def rewrite(path, payloads, options=None):
    with TFRecordWriter(path, options) as writer:
        writer.write_many(payloads)


def test_files_as_the_manifest_says_bring_no_error(tmp_path, paths):
    assert errors(paths, tmp_path) == []
    assert errors(paths, tmp_path, workers=2, decode=False) == []
    rewrite(paths[1], list(read_records(paths[1])), TFRecordOptions("GZIP"))
    assert errors(paths, tmp_path) == []  # the same records


CASES = {
    "a record lost at its edges": (
        lambda paths: rewrite(paths[1], list(read_records(paths[1]))[:7] + list(read_records(paths[1]))[8:]),
        ["x-00001-of-00004: 1 record missing: it has 24, the manifest says 25"],
    ),
    "the last records lost": (
        lambda paths: rewrite(paths[0], list(read_records(paths[0]))[:-2]),
        ["x-00000-of-00004: 2 records missing: it has 23, the manifest says 25"],
    ),
    "a record twice": (
        lambda paths: rewrite(paths[2], [*read_records(paths[2]), b"more"]),
        ["x-00002-of-00004: 1 record too many: it has 26, the manifest says 25"],
    ),
    "another record": (
        lambda paths: rewrite(paths[2], [*list(read_records(paths[2]))[1:], b"other"]),
        [f"x-00002-of-00004: {STALE}"],
    ),
    "another order": (
        lambda paths: rewrite(paths[2], list(read_records(paths[2]))[::-1]),
        [f"x-00002-of-00004: {STALE}"],
    ),
    "a copy of another shard": (
        lambda paths: shutil.copy(paths[0], paths[3]),
        [
            "x-00003-of-00004: it holds the records of x-00000-of-00004; "
            "the files are swapped, or one is there twice"
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_no_file_tells_the_manifest_does(tmp_path, paths, name):
    change, expected = CASES[name]
    change(paths)
    assert validate(paths).ok
    assert errors(paths, tmp_path) == expected


def test_swapped_files_are_told(tmp_path, paths):
    os.rename(paths[0], tmp_path / "other")
    os.rename(paths[1], paths[0])
    os.rename(tmp_path / "other", paths[1])
    found = errors(paths, tmp_path)
    assert [error.partition(": ")[0] for error in found] == ["x-00000-of-00004", "x-00001-of-00004"]
    assert "it holds the records of x-00001-of-00004" in found[0]


def test_missing_and_extra_files_are_told(tmp_path, paths):
    rewrite(tmp_path / "x-more", [b"more"])
    assert errors([*paths[:3], tmp_path / "x-more"], tmp_path) == [
        "x-more: the manifest does not list it",
        "x-00003-of-00004: the manifest lists it, but it is not among the files",
    ]


def test_lengths_of_tensorflow_datasets_are_enough_to_count(tmp_path):
    split = {
        "name": "train",
        "shardLengths": ["2", "3"],
        "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
    }
    info = tmp_path / "dataset_info.json"
    info.write_text(json.dumps({"name": "d", "fileFormat": "tfrecord", "splits": [split]}))
    files = load_manifest(info).paths()
    rewrite(files[0], PAYLOADS[:2])
    rewrite(files[1], PAYLOADS[:3])
    assert validate(files, manifest=info).ok
    rewrite(files[1], PAYLOADS[:2])
    (error,) = validate(files, manifest=info).manifest_errors
    assert error.endswith("1 record missing: it has 2, the manifest says 3")


def test_empty_files_are_not_taken_for_one_another(tmp_path):
    with ShardedWriter(tmp_path / "x@3", manifest=True) as writer:
        writer.write(b"one")
    rewrite(writer.paths[0], [])
    assert errors(writer.paths, tmp_path) == [
        "x-00000-of-00003: 1 record missing: it has 0, the manifest says 1"
    ]


def test_a_manifest_may_be_a_value():
    assert list(differences([], Manifest(()))) == []
