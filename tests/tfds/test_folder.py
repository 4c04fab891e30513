"""Folders that tensorflow-datasets has written open without it, and hold what it says they hold.

The golden folders and ``expected.json`` were written by tests/tfds/generate.py.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tfds import TFDSFolder
from tests.support.doc_pages import run_blocks
from tests.support.tfds_folders import EVERYTHING, EXPECTED, GOLDEN, any_json, places, plain, restored

each_folder = pytest.mark.parametrize("name", EXPECTED)


@each_folder
def test_splits_are_those_that_tensorflow_datasets_names(name):
    folder = TFDSFolder(GOLDEN / name)
    expected = EXPECTED[name]["splits"]
    assert sorted(folder.splits) == sorted(expected)
    for split, facts in expected.items():
        found = folder.splits[split]
        assert [Path(path).name for path in found.paths] == facts["files"]
        assert list(found.lengths) == facts["shards"]
        assert (found.num_examples, found.num_bytes) == (facts["examples"], facts["bytes"])
        assert [len(pr.RecordFile(path)) for path in found.paths] == facts["shards"]
        assert len(folder.dataset(split)) == facts["examples"]


@each_folder
def test_examples_are_those_that_tensorflow_datasets_reads(name):
    folder = TFDSFolder(GOLDEN / name)
    assert sorted(folder.features) == EXPECTED[name]["features"]
    for split, facts in EXPECTED[name]["splits"].items():
        dataset = folder.dataset(split)
        rows = []
        for record in dataset:
            parsed = pr.parse_single_example(record, folder.features)
            rows.append({key: plain(restored(parsed[key], folder.info[key])) for key in parsed})
        assert rows == facts["rows"]


def test_batches_are_parsed_with_the_features():
    folder = TFDSFolder(EVERYTHING)
    (batch,) = folder.dataset("train").batch(20).parse(folder.features)
    rows = EXPECTED["everything/1.2.0"]["splits"]["train"]["rows"]
    assert batch["matrix"].shape == (11, 2, 3)
    for name in ("label", "place/at/x", "tokens", "nested", "deep", "vectors", "objects/kind", "video"):
        assert [plain(row) for row in batch[name]] == [row[name] for row in rows], name
    missing = np.iinfo(np.int32).min
    assert batch["perhaps"].tolist() == [missing if row["number"] % 2 else -row["number"] for row in rows]


@pytest.mark.parametrize(
    ("split", "ids"),
    [
        ("train", range(10)),
        ("train[:3]", range(3)),
        ("train[2:8]", range(2, 8)),
        ("train[-2:]", range(8, 10)),
        ("train[:-7]", range(3)),
        ("train[:25%]", range(2)),
        ("train[25%:75%]", range(2, 8)),
        ("train[-30%:]", range(7, 10)),
        ("train[99%:]", None),
        ("train[3:7]+train[:2]", [3, 4, 5, 6, 0, 1]),
        ("all", range(10)),
        ("all+train[:2]", [*range(10), 0, 1]),
    ],
)
def test_parts_of_splits(split, ids):
    folder = TFDSFolder(GOLDEN / "small" / "more" / "1.10.0")
    if ids is None:
        with pytest.raises(ValueError, match="no record"):
            folder.dataset(split)
        return
    dataset = folder.dataset(split)
    assert len(dataset) == len(ids)
    found = [int(pr.decode_example(record)["id"][0]) for record in dataset]
    assert found == list(ids)


@pytest.mark.parametrize(
    ("split", "reason"),
    [
        ("valid", "there is train"),
        ("train[", "looks like"),
        ("train[3]", "looks like"),
        ("train[a:b]", "neither"),
        ("train[:11]", "more than the 3"),
        ("train[2:1]", "no record"),
        ("train[1:90%]", "a number and a percentage"),
        ("", "looks like"),
        ("train[1.5:3]", "neither"),
    ],
)
def test_a_split_that_is_not_there_is_an_error(split, reason):
    with pytest.raises(ValueError, match=reason):
        TFDSFolder(GOLDEN / "small" / "few").dataset(split)


def test_damage_does_not_move_records_from_one_part_into_another(tmp_path):
    shutil.copytree(GOLDEN / "small" / "more" / "1.10.0", tmp_path, dirs_exist_ok=True)
    folder = TFDSFolder(tmp_path)
    first = Path(folder.splits["train"].paths[0])
    data = bytearray(first.read_bytes())
    data[13] ^= 1
    first.write_bytes(data)
    for border in range(1, 10):
        parts = [folder.dataset(part, on_error="skip") for part in (f"train[:{border}]", f"train[{border}:]")]
        found = [int(pr.decode_example(record)["id"][0]) for part in parts for record in part]
        assert found == list(range(1, 10))


def test_tail_ends_each_cut_file_of_a_split_and_raises_at_other_damage(tmp_path):
    shutil.copytree(GOLDEN / "small" / "more" / "1.10.0", tmp_path, dirs_exist_ok=True)
    folder = TFDSFolder(tmp_path)
    first = Path(folder.splits["train"].paths[0])
    whole = first.read_bytes()
    length = folder.splits["train"].lengths[0]
    kept = [number for number in range(10) if number != length - 1]  # all but the last of the first file
    first.write_bytes(whole[:-3])
    for splits in ("train", "train[:5]", "train[2:]", f"train[{length - 1}:]", f"train[:{length}]"):
        found = [
            int(pr.decode_example(record)["id"][0]) for record in folder.dataset(splits, on_error="tail")
        ]
        low, _, high = splits.removeprefix("train").strip("[]").partition(":")
        assert found == [number for number in kept if int(low or 0) <= number < int(high or 10)]
        with pytest.raises(pr.TruncatedError):
            list(folder.dataset(splits))
    damaged = bytearray(whole)
    damaged[13] ^= 1
    first.write_bytes(damaged)
    with pytest.raises(pr.ChecksumError):
        list(folder.dataset("train", on_error="tail"))


def test_files_of_a_part_are_dealt_out_only_where_they_are_whole():
    folder = TFDSFolder(GOLDEN / "small" / "more" / "1.10.0")
    whole = folder.dataset("train[:7]")
    assert [len(list(whole.iterator(0, rank=rank, world_size=2, share="files"))) for rank in (0, 1)] == [3, 4]
    with pytest.raises(ValueError, match="concatenate"):
        folder.dataset("train[:6]").iterator(0, rank=0, world_size=2, share="files")


def test_a_folder_above_will_do():
    assert TFDSFolder(GOLDEN / "everything").path == str(EVERYTHING)
    more = TFDSFolder(str(GOLDEN / "small" / "more"))
    assert (more.name, more.config, more.version) == ("small", "more", "1.10.0")
    assert repr(more) == "<TFDSFolder small/more/1.10.0 (train: 10)>"
    assert repr(more.splits["train"]) == "<TFDSSplit 'train': 10 examples in 3 files>"
    with pytest.raises(ValueError, match=r"several datasets.*few.1\.10\.0, more.1\.10\.0, more.1\.9\.0"):
        TFDSFolder(GOLDEN / "small")


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        TFDSFolder(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"no dataset_info\.json"):
        TFDSFolder(tmp_path)
    folder = tmp_path / "copy"
    shutil.copytree(EVERYTHING, folder)
    (folder / "everything-train.tfrecord-00001-of-00002").unlink()
    opened = TFDSFolder(folder)
    assert len(opened.dataset("test")) == 3
    with pytest.raises(FileNotFoundError, match=r"1 of 2 files of split 'train'.*00001-of-00002"):
        opened.dataset("train")
    (folder / "label.labels.txt").unlink()
    assert TFDSFolder(folder).info["label"].names is None
    (folder / "features.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"features\.json"):
        _ = opened.features


def changed(tmp_path: Path, **changes: object) -> Path:
    document = json.loads((EVERYTHING / "dataset_info.json").read_text())
    (tmp_path / "dataset_info.json").write_text(json.dumps({**document, **changes}))
    return tmp_path


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"fileFormat": "array_record"}, "array_record, not tfrecord"),
        ({"splits": [{"name": "old", "numShards": "3"}]}, "'old' does not say"),
        ({"splits": [{"shardLengths": ["x"], "name": "a"}]}, "not as tensorflow-datasets"),
        ({"splits": [7]}, "not as tensorflow-datasets"),
        ({"splits": [{"name": "a", "shardLengths": [float("inf")]}]}, "not as tensorflow-datasets"),
        ({"splits": [{"name": "a", "shardLengths": ["2", "-1"]}]}, "a file of -1 records"),
        ({"splits": [{"name": "a", "shardLengths": [1], "filepathTemplate": "{WHAT}"}]}, "WHAT"),
    ],
)
def test_a_strange_info_is_a_schema_error(changes, reason, tmp_path):
    with pytest.raises(pr.SchemaError, match=reason):
        TFDSFolder(changed(tmp_path, **changes))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '{"version": "1.0.0"}'])
def test_an_info_that_is_no_info_is_a_schema_error(text, tmp_path):
    (tmp_path / "dataset_info.json").write_text(text)
    with pytest.raises(pr.SchemaError):
        TFDSFolder(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["../secret/x", "a/../../x", "..", "/etc/x", "\\\\host\\x", "..\\x", "C:\\x", "c:x", "gs://bucket/x"],
)
@pytest.mark.parametrize("where", ["template", "split", "dataset"])
def test_files_outside_the_folder_are_not_followed(where, name, tmp_path):
    split = {"name": name if where == "split" else "a", "shardLengths": ["1"]}
    split["filepathTemplate"] = name if where == "template" else f"{{{where.upper()}}}/x"
    with pytest.raises(pr.SchemaError, match="not inside the folder"):
        TFDSFolder(changed(tmp_path, splits=[split], name=name if where == "dataset" else "everything"))


def test_class_names_outside_the_folder_are_not_followed(tmp_path):
    folder = changed(tmp_path)
    document = json.loads((EVERYTHING / "features.json").read_text())
    inner = document["featuresDict"]["features"]
    inner["..\\label"] = inner.pop("label")
    (tmp_path / "features.json").write_text(json.dumps(document))
    with pytest.raises(pr.SchemaError, match="not inside the folder"):
        _ = TFDSFolder(folder).info


def test_a_folder_without_a_description_of_its_features_says_how_to_make_one(tmp_path):
    folder = TFDSFolder(changed(tmp_path))
    (tmp_path / "features.json").unlink(missing_ok=True)
    assert len(folder.splits) == 2
    with pytest.raises(FileNotFoundError, match=r"save_config.*features\.json"):
        _ = folder.features


def test_files_may_be_named_in_any_way(tmp_path):
    template = "{SPLIT}/{DATASET}.{SHARD_INDEX}of{NUM_SHARDS}.{FILEFORMAT}"
    split = {"name": "a", "shardLengths": ["1", "2"], "filepathTemplate": template}
    folder = TFDSFolder(changed(tmp_path, splits=[split, {"name": "b", "shardLengths": [1]}]))
    names = [Path(path).relative_to(tmp_path).as_posix() for path in folder.splits["a"].paths]
    assert names == ["a/everything.00000of00002.tfrecord", "a/everything.00001of00002.tfrecord"]
    assert Path(folder.splits["b"].paths[0]).name == "everything-b.tfrecord-00000-of-00001"


@given(st.data())
def test_any_info_gives_a_folder_or_a_schema_error(tmp_path_factory, data):
    document = json.loads((EVERYTHING / "dataset_info.json").read_text())
    node, key = data.draw(st.sampled_from(places(document)))
    node[key] = data.draw(any_json)
    path = tmp_path_factory.getbasetemp() / "any-info"
    path.mkdir(exist_ok=True)
    (path / "dataset_info.json").write_text(json.dumps(document))
    try:
        folder = TFDSFolder(path)
    except pr.SchemaError:
        return
    for split in folder.splits.values():
        assert split.num_examples >= 0
        assert len(split.paths) == len(split.lengths)


def test_a_folder_may_be_remote():
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(str(EVERYTHING), "/golden", recursive=True)
    folder = TFDSFolder("memory://golden/")
    assert folder.splits["train"].num_examples == 11
    assert folder.info["label"].names == ("ant", "bee", "cat dog")
    assert sum(1 for _ in folder.dataset("train")) == 11


def test_code_on_the_page_about_tfds_folders_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("everything", "small"):
        shutil.copytree(GOLDEN / name, tmp_path / "tensorflow_datasets" / name)
    assert run_blocks("docs/tfds.md", " tfds") > 6
