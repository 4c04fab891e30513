"""Folders that tensorflow-datasets has written open without it, and hold what it says they hold.

The golden folders and ``expected.json`` were written by tests/tfds/generate.py.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tfds import TFDSFolder
from purerecord.tfds.features import describe
from tests.repository.test_docs import same

GOLDEN = Path(__file__).parent
EXPECTED = json.loads((GOLDEN / "expected.json").read_text())
EVERYTHING = GOLDEN / "everything" / "1.2.0"

each_folder = pytest.mark.parametrize("name", EXPECTED)


def plain(value: object) -> object:
    """A parsed value as expected.json has it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, pr.Ragged):
        return [plain(row) for row in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    return [plain(part) for part in value] if isinstance(value, list) else value


def restored(value: object, feature: object) -> object:
    """A value of an example in the dtype and shape that it had."""
    if feature.dtype == "uint64":
        return int(np.int64(value).view(np.uint64))
    if feature.dtype == "bool":
        return bool(value)
    if None in feature.shape[1:] and isinstance(value, np.ndarray) and not feature.encoding:
        return value.reshape([-1 if length is None else length for length in feature.shape])
    return value


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


def test_info_says_what_the_features_are():
    info = TFDSFolder(EVERYTHING).info
    facts = {
        name: (info[name].kind, info[name].shape, info[name].dtype, info[name].encoding) for name in info
    }
    assert facts["image"] == ("Image", (4, 5, 3), "uint8", "png")
    assert facts["any_image"] == ("Image", (None, None, 1), "uint8", "png")
    assert facts["label"] == ("ClassLabel", (), "int64", "")
    assert facts["truth"] == ("Tensor", (), "bool", "")
    assert facts["text"] == ("Text", (), "string", "")
    assert facts["packed"] == ("Tensor", (3,), "int16", "zlib")
    assert facts["dynamic/shape"][1:3] == ((2,), "int32")
    assert facts["dynamic/value"] == ("Tensor", (None, None), "int32", "zlib")
    assert facts["objects/box"] == ("BBoxFeature", (None, 4), "float32", "")
    assert facts["deep"] == ("Tensor", (None, None, None, 2), "int64", "")
    assert facts["video"] == ("Video", (None, 2, 2, 3), "uint8", "png")
    assert facts["steps/image"] == ("Image", (None, 1, 1, 1), "uint8", "image")
    assert (info["label"].names, info["label"].num_classes) == (("ant", "bee", "cat dog"), 3)
    assert (info["counted"].names, info["counted"].num_classes) == (None, 7)
    assert info["objects/kind"].names == ("car", "tree")
    assert info["mask"].names == ("no", "yes")
    assert info["text"].names is None


def test_arrays_that_are_stored_as_bytes_are_decoded():
    folder = TFDSFolder(EVERYTHING)
    (batch,) = folder.dataset("test").batch(9).parse(folder.features)
    for row, number in enumerate(-batch["number"]):
        raw = folder.info["raw"].decode(batch["raw"][row])
        assert raw.dtype == np.float64
        assert raw.tolist() == (np.arange(4.0).reshape(2, 2) / 3 + number).tolist()
        assert folder.info["packed"].decode(batch["packed"][row]).tolist() == [number, -1, 300]
        shape = batch["dynamic/shape"][row]
        dynamic = folder.info["dynamic/value"].decode(batch["dynamic/value"][row], shape)
        assert dynamic.shape == (number % 3, 2)
    for data in (b"", b"junk", batch["dynamic/value"][1]):
        with pytest.raises(pr.DecodeError, match="packed"):
            folder.info["packed"].decode(data)
    for shape in ([10**9, 10**9], [-5, 1], [2, 2, 2]):
        with pytest.raises(pr.DecodeError, match="dynamic/value"):
            folder.info["dynamic/value"].decode(batch["dynamic/value"][0], shape)
    with pytest.raises(ValueError, match="beside"):
        folder.info["dynamic/value"].decode(batch["dynamic/value"][0])
    with pytest.raises(ValueError, match="png"):
        folder.info["image"].decode(batch["image"][0])


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


def test_files_may_be_named_in_any_way(tmp_path):
    template = "{SPLIT}/{DATASET}.{SHARD_INDEX}of{NUM_SHARDS}.{FILEFORMAT}"
    split = {"name": "a", "shardLengths": ["1", "2"], "filepathTemplate": template}
    folder = TFDSFolder(changed(tmp_path, splits=[split, {"name": "b", "shardLengths": [1]}]))
    names = [Path(path).relative_to(tmp_path).as_posix() for path in folder.splits["a"].paths]
    assert names == ["a/everything.00000of00002.tfrecord", "a/everything.00001of00002.tfrecord"]
    assert Path(folder.splits["b"].paths[0]).name == "everything-b.tfrecord-00000-of-00001"


def node(kind: str, form: str, **content: object) -> dict:
    return {"pythonClassName": f"tensorflow_datasets.core.features.{kind}", form: content}


def features(**nodes: dict) -> dict:
    return node("FeaturesDict", "featuresDict", features=nodes)


def none(_: str) -> None:
    return None


def test_a_feature_of_an_unknown_class_is_named_and_leaves_the_others(tmp_path):
    shutil.copytree(EVERYTHING, tmp_path, dirs_exist_ok=True)
    own = {"pythonClassName": "mine.Molecule", "jsonFeature": {"json": "{}"}}
    document = features(own=own, text=node("Text", "text"))
    (tmp_path / "features.json").write_text(json.dumps(document))
    folder = TFDSFolder(tmp_path)
    assert folder.info["own"].spec is None
    assert folder.info["text"].spec == pr.FixedLenFeature((), bytes)
    with pytest.raises(pr.SchemaError, match=r"'own' \(Molecule\)"):
        _ = folder.features


def test_the_older_form_of_features_is_read_too():
    where = "tensorflow_datasets.core.features"
    document = {
        "type": f"{where}.features_dict.FeaturesDict",
        "content": {
            "image": {
                "type": f"{where}.image_feature.Image",
                "content": {"shape": [None, None, 3], "dtype": "uint8", "encoding_format": "jpeg"},
            },
            "label": {"type": f"{where}.class_label_feature.ClassLabel", "content": {"num_classes": 3}},
            "words": {
                "type": f"{where}.sequence_feature.Sequence",
                "content": {
                    "feature": {"type": f"{where}.text_feature.Text", "content": {}},
                    "length": None,
                },
            },
            "x": {
                "type": f"{where}.tensor_feature.Tensor",
                "content": {"shape": [2, 3], "dtype": "float32", "encoding": "none"},
            },
        },
    }
    found = describe(document, lambda name: ("a", "b", "c") if name == "label" else None)
    assert {name: feature.spec for name, feature in found.items()} == {
        "image": pr.FixedLenFeature((), bytes),
        "label": pr.FixedLenFeature((), np.int64),
        "words": pr.RaggedFeature(bytes, row_splits_dtype=np.int64),
        "x": pr.FixedLenFeature((2, 3), np.float32),
    }
    assert found["label"].names == ("a", "b", "c")
    assert (found["image"].shape, found["image"].encoding) == ((None, None, 3), "jpeg")


def test_sequences_of_a_known_length_in_sequences_are_stored_with_their_lengths():
    tensor = node("Tensor", "tensor", dtype="int64", shape={})
    inner = node("Sequence", "sequence", feature=tensor, length="2")
    found = describe(features(x=node("Sequence", "sequence", feature=inner, length="-1")), none)["x"]
    assert found.shape == (None, 2)
    assert found.spec == pr.RaggedFeature(
        np.int64,
        "x/ragged_flat_values",
        [pr.RaggedFeature.RowLengths("x/ragged_row_lengths_0")],
        row_splits_dtype=np.int64,
    )


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"pythonClassName": "x.FeaturesDict", "featuresDict": {"features": {"a": 1}}},
        features(x=node("Tensor", "tensor", shape={"dimensions": ["x"]}, dtype="int64")),
        features(x=node("Sequence", "sequence")),
        features(x=node("Tensor", "tensor")),
    ],
)
def test_strange_features_are_a_schema_error(document):
    with pytest.raises(pr.SchemaError, match=r"features\.json"):
        describe(document, none)


_JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.sampled_from(["", "-1", "9" * 30, "x"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(node: object) -> list[tuple[object, object]]:
    """Every place in a JSON document where something can be put."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    return [(node, key) for key in keys] + [place for key in keys for place in places(node[key])]


@given(st.data())
def test_any_features_give_specs_or_a_schema_error(data):
    document = json.loads((EVERYTHING / "features.json").read_text())
    for _ in range(data.draw(st.integers(1, 3))):
        node, key = data.draw(st.sampled_from(places(document)))
        node[key] = data.draw(_JSON)
    try:
        found = describe(document, none)
    except pr.SchemaError:
        return
    for name, feature in found.items():
        assert feature.name == name


@given(st.data())
def test_any_info_gives_a_folder_or_a_schema_error(tmp_path_factory, data):
    document = json.loads((EVERYTHING / "dataset_info.json").read_text())
    node, key = data.draw(st.sampled_from(places(document)))
    node[key] = data.draw(_JSON)
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
    page = (GOLDEN.parent.parent / "docs" / "tfds.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|text) tfds\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 6
    namespace: dict = {"__name__": "__main__"}
    output = ""
    for language, text in blocks:
        if language == "text":
            same(text, output)
            continue
        stdout = io.StringIO()
        with contextlib.redirect_stdout(stdout):
            exec(compile(text, "tfds.md", "exec"), namespace)
        output = stdout.getvalue()
