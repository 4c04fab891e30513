"""``features.json``: the specs and the meaning of stored features, in both forms of the file."""

from __future__ import annotations

import json
import shutil
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tfds import TFDSFeature, TFDSFolder
from purerecord.tfds.features import describe
from tests.support.tfds_folders import EVERYTHING, any_json, places


def node(kind: str, form: str, **content: object) -> dict:
    return {"pythonClassName": f"tensorflow_datasets.core.features.{kind}", form: content}


def features(**nodes: dict) -> dict:
    return node("FeaturesDict", "featuresDict", features=nodes)


def none(_: str) -> None:
    return None


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


@pytest.mark.parametrize("dynamic", [False, True])
def test_bytes_that_inflate_to_too_much_are_an_error_before_they_fill_the_memory(dynamic):
    shape = (None, None) if dynamic else (None,)
    feature = TFDSFeature("x", "Tensor", shape, "uint8", None, encoding="zlib")
    bomb = zlib.compress(bytes(10 << 20))
    given = (10, 1 << 20) if dynamic else None
    assert feature.decode(bomb, given).size == 10 << 20
    tracemalloc.start()
    try:
        with pytest.raises(pr.DecodeError, match=r"more than 100000 bytes; .* larger max_size"):
            feature.decode(bomb, given, max_size=100_000)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_bytes_of_unknown_length_that_are_cut_are_an_error(cut):
    feature = TFDSFeature("x", "Tensor", (None,), "int64", None, encoding="zlib")
    data = zlib.compress(np.arange(9).tobytes())
    assert feature.decode(data).tolist() == list(range(9))
    with pytest.raises(pr.DecodeError, match="end of its stream"):
        feature.decode(data[:-cut])


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


def test_the_oldest_form_of_features_has_messages_as_the_text_of_their_json():
    where = "tensorflow_datasets.core.features"
    tensor = {"shape": {}, "dtype": "float32", "encoding": "none"}
    inner = {"pythonClassName": f"{where}.tensor_feature.Tensor", "tensor": tensor}
    document = {
        "type": f"{where}.features_dict.FeaturesDict",
        "content": {
            "toxicity": {
                "type": f"{where}.tensor_feature.Tensor",
                "content": json.dumps(tensor),
                "proto_cls": "tensorflow_datasets.TensorFeature",
            },
            "label": {
                "type": f"{where}.class_label_feature.ClassLabel",
                "content": '{"numClasses": "1000"}',
                "proto_cls": "tensorflow_datasets.ClassLabel",
            },
            "text": {
                "type": f"{where}.text_feature.Text",
                "content": "{}",
                "proto_cls": "tensorflow_datasets.TextFeature",
            },
            "list": {
                "type": f"{where}.sequence_feature.Sequence",
                "content": json.dumps({"feature": inner, "length": "-1"}),
                "proto_cls": "tensorflow_datasets.SequenceFeature",
            },
        },
    }
    whole = {
        "type": f"{where}.features_dict.FeaturesDict",
        "content": json.dumps({"features": {"inner": inner}}),
        "proto_cls": "tensorflow_datasets.FeaturesDict",
    }
    found = describe(document, none)
    assert {name: feature.spec for name, feature in found.items()} == {
        "toxicity": pr.FixedLenFeature((), np.float32),
        "label": pr.FixedLenFeature((), np.int64),
        "text": pr.FixedLenFeature((), bytes),
        "list": pr.RaggedFeature(np.float32, row_splits_dtype=np.int64),
    }
    assert found["label"].num_classes == 1000
    assert describe(whole, none)["inner"].spec == pr.FixedLenFeature((), np.float32)


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
        {"type": "x.Tensor", "content": "no JSON"},
        {"type": "x.Tensor", "content": "[1]"},
    ],
)
def test_strange_features_are_a_schema_error(document):
    with pytest.raises(pr.SchemaError, match=r"features\.json"):
        describe(document, none)


@given(st.data())
def test_any_features_give_specs_or_a_schema_error(data):
    document = json.loads((EVERYTHING / "features.json").read_text())
    for _ in range(data.draw(st.integers(1, 3))):
        node, key = data.draw(st.sampled_from(places(document)))
        node[key] = data.draw(any_json)
    try:
        found = describe(document, none)
    except pr.SchemaError:
        return
    for name, feature in found.items():
        assert feature.name == name
