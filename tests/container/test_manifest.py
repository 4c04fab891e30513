"""``Manifest``: written, read, and refused where it cannot be one."""

from __future__ import annotations

import json

import pytest

from purerecord import CorruptionError, Manifest, ManifestEntry, load_manifest
from purerecord.container.manifest import manifest_path

CHECKSUM = "sha256:" + "0a" * 32
FILES = (ManifestEntry("a-0", 5, 100, CHECKSUM), ManifestEntry("a-1", 0))


def test_a_saved_manifest_is_loaded_again(tmp_path):
    Manifest(FILES).save(tmp_path / "m.json")
    loaded = load_manifest(tmp_path / "m.json")
    assert loaded.files == FILES
    assert loaded.records == 5
    assert loaded.paths() == [str(tmp_path / "a-0"), str(tmp_path / "a-1")]


def test_its_name_is_that_of_the_shards():
    assert manifest_path("data/train", ".tfrecord") == "data/train.tfrecord.manifest.json"
    assert manifest_path("data/", "") == "data/MANIFEST.json"


def test_dataset_info_is_a_manifest_too(tmp_path):
    splits = [
        {"name": "train", "shardLengths": ["2", "3"]},
        {"name": "test", "shardLengths": [4], "filepathTemplate": "{SPLIT}/{SHARD_INDEX}.{FILEFORMAT}"},
    ]
    (tmp_path / "dataset_info.json").write_text(json.dumps({"name": "digits", "splits": splits}))
    loaded = load_manifest(tmp_path / "dataset_info.json")
    assert [(entry.name, entry.records) for entry in loaded.files] == [
        ("digits-train.tfrecord-00000-of-00002", 2),
        ("digits-train.tfrecord-00001-of-00002", 3),
        ("test/00000.tfrecord", 4),
    ]


ENTRY = {"name": "a", "size": 1, "records": 2, "checksum": None}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("nonsense", "it is no manifest: not valid JSON"),
        ("[" * 100_000, "it is no manifest: not valid JSON"),
        ([], "neither ours nor dataset_info.json"),
        ({}, "neither ours nor dataset_info.json"),
        ({"purerecord_manifest": 2}, "a newer version"),
        ({"purerecord_manifest": 1, "records": 1, "files": [ENTRY]}, "do not add up"),
        ({"purerecord_manifest": 1, "records": 4, "files": [ENTRY, ENTRY]}, "lists a file twice"),
        ({"purerecord_manifest": 1, "records": 0, "files": [{**ENTRY, "name": "../a"}]}, "is not the name"),
        ({"purerecord_manifest": 1, "records": 0, "files": [{**ENTRY, "name": "/etc/a"}]}, "is not the name"),
        ({"purerecord_manifest": 1, "records": 0, "files": [{**ENTRY, "name": 3}]}, "is not the name"),
        ({"purerecord_manifest": 1, "records": 0, "files": [{**ENTRY, "records": -1}]}, "-1 is not a size"),
        ({"purerecord_manifest": 1, "records": 0, "files": [{**ENTRY, "records": True}]}, "True is not"),
        (
            {"purerecord_manifest": 1, "records": 0, "files": [{**ENTRY, "checksum": "x"}]},
            "must be like sha256",
        ),
        ({"name": "a", "fileFormat": "riegeli", "splits": []}, "the files are riegeli"),
        ({"name": "a", "splits": [{"name": "b", "shardLengths": [1], "filepathTemplate": "{X}"}]}, "neither"),
        ({"name": "../a", "splits": [{"name": "b", "shardLengths": [1]}]}, "is not the name"),
    ],
)
def test_anything_else_is_refused(tmp_path, document, reason):
    text = document if isinstance(document, str) else json.dumps(document)
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(CorruptionError, match=reason) as caught:
        load_manifest(tmp_path / "m.json")
    assert caught.value.path == str(tmp_path / "m.json")
