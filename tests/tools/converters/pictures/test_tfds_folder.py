"""Folders for tensorflow-datasets: what stands beside the shards, further splits, and what is refused."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.tfds import TFDSFolder
from purerecord.tools import convert
from tests.support.picture_folders import pets, png, save

OUT = "data/pets/1.2.3/pets-train.tfrecord@2"
FOLDER = "data/pets/1.2.3"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pets()


def coco():
    note = {"id": 1, "image_id": 1, "category_id": 9, "bbox": [10, 5, 20, 10], "area": 7.5, "iscrowd": 1}
    return json.dumps(
        {
            "images": [{"id": n, "file_name": f"{n}.png", "height": 20, "width": 40} for n in (1, 2)],
            "annotations": [note, {**note, "id": 2, "category_id": 4, "iscrowd": 0}],
            "categories": [{"id": 9, "name": "dog"}, {"id": 4, "name": "cat"}],
        }
    )


def test_the_folder_opens_as_one_of_tensorflow_datasets():
    report = convert("pets", OUT, style="tfds")
    assert report.notes == [f"the folder for tensorflow-datasets is {FOLDER}"]
    found = TFDSFolder(FOLDER)
    assert (found.name, found.version, found.splits["train"].lengths) == ("pets", "1.2.3", (3, 3))
    assert found.splits["train"].num_bytes == sum(
        len(record) for record in pr.read_records(f"{FOLDER}/pets-train.tfrecord-*")
    )
    assert found.info["label"].names == ("cats", "dogs")
    assert {name: feature.kind for name, feature in found.info.items()} == {
        "image": "Image",
        "file_name": "Text",
        "label": "ClassLabel",
    }
    rows = [pr.parse_single_example(record, found.features) for record in found.dataset("train")]
    assert {row["file_name"]: int(row["label"]) for row in rows} == {
        f"{name}/{number}.png".encode(): place
        for place, name in enumerate(("cats", "dogs"))
        for number in range(3)
    }


def test_boxes_are_fractions_in_the_order_of_tensorflow_datasets():
    for number in (1, 2):
        save(f"coco/{number}.png", png(40, 20, number))
    save("coco/boxes.json", coco())
    convert("coco/boxes.json", "x/x-train.tfrecord@1", style="tfds")
    found = TFDSFolder("x")
    assert found.version == "1.0.0"
    assert found.info["objects/bbox"].shape == (None, 4)
    assert found.info["objects/label"].names == ("cat", "dog")
    first, second = [pr.parse_single_example(record, found.features) for record in found.dataset("train")]
    assert first["objects/bbox"].tolist() == [[0.25, 0.25, 0.75, 0.75]] * 2
    assert first["objects/label"].tolist() == [1, 0]
    assert first["objects/is_crowd"].tolist() == [1, 0]
    assert first["objects/area"].tolist() == [7.5, 7.5]
    assert second["objects/bbox"].tolist() == []
    back = convert("x/x-train.tfrecord@1", "back", to_format="coco")
    assert not back.lost
    again = json.loads(Path("back/annotations/instances.json").read_text())
    assert [note["bbox"] for note in again["annotations"]] == [[10, 5, 20, 10]] * 2
    names = {item["id"]: item["name"] for item in again["categories"]}
    assert [names[note["category_id"]] for note in again["annotations"]] == ["dog", "cat"]


def test_another_split_is_added_with_the_same_classes():
    convert("pets", OUT, style="tfds")
    save("more/dogs/9.png", png())
    convert("more", f"{FOLDER}/pets-test@1.tfrecord", style="tfds")
    found = TFDSFolder(FOLDER)
    assert {name: split.num_examples for name, split in found.splits.items()} == {"train": 6, "test": 1}
    (row,) = [pr.parse_single_example(record, found.features) for record in found.dataset("test")]
    assert row["label"] == 1
    convert("more", f"{FOLDER}/pets-test.tfrecord", style="tfds", max_records=5)
    convert("more", f"{FOLDER}/pets-test.tfrecord", style="tfds")
    assert TFDSFolder(FOLDER).splits["test"].lengths == (1,)
    save("more/birds/1.png", png())
    with pytest.raises(ValueError, match=r"more/birds/1\.png: class 'birds' is not in .*labels\.txt"):
        convert("more", f"{FOLDER}/pets-val@1.tfrecord", style="tfds")
    assert set(TFDSFolder(FOLDER).splits) == {"train", "test"}


@pytest.mark.parametrize(
    ("out", "options", "words"),
    [
        ("data/pets", {}, "with the style tfds, OUT names a local folder, a dataset, a split"),
        ("data/pets.tfrecord", {}, "OUT names a local folder"),
        ("pets-train.txt@4", {}, "OUT names"),
        ("memory://x/pets-train@4", {}, "OUT names a local folder"),
        (io.BytesIO(), {}, "OUT names a local folder"),
        (OUT, {"options": "GZIP"}, "reads no compressed files"),
    ],
)
def test_other_outputs_are_one_clear_error(out, options, words):
    with pytest.raises(ValueError, match=words):
        convert("pets", out, from_format="images", style="tfds", **options)
    assert os.listdir() == ["pets"]


def test_a_folder_of_something_else_is_not_changed():
    convert("pets", OUT, style="tfds")
    before = {path: path.read_bytes() for path in Path(FOLDER).iterdir()}
    with pytest.raises(ValueError, match="the dataset there is called pets, not cars"):
        convert("pets", f"{FOLDER}/cars-train@1", style="tfds")
    save("flat/1.png", png())
    with pytest.raises(ValueError, match="the splits there have other features than file_name, image"):
        convert("flat", f"{FOLDER}/pets-test@1", style="tfds")
    save("bad/ a /1.png", png())
    with pytest.raises(ValueError, match="class ' a ' cannot stand in a line"):
        convert("bad", "b/b-train@1", style="tfds")
    assert {path: path.read_bytes() for path in Path(FOLDER).iterdir()} == before
    save(f"{FOLDER}/dataset_info.json", "?")
    with pytest.raises(ValueError, match=r"dataset_info\.json: it is no JSON"):
        convert("pets", OUT, style="tfds")
    save(f"{FOLDER}/dataset_info.json", "[]")
    with pytest.raises(ValueError, match="not as tensorflow-datasets writes it"):
        convert("pets", OUT, style="tfds")


def test_webp_is_noted_as_tensorflow_does_not_decode_it():
    webp = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\0\0\0\0" + bytes(9)
    save("root/a/1.webp", webp)
    report = convert("root", "x/x-train@1", style="tfds")
    assert report.notes[0] == "pictures in WebP, which TensorFlow does not decode: 1, first root/a/1.webp"
    assert convert("root", "plain.tfrecord").notes == []


def test_dry_run_makes_no_folder():
    convert("pets", OUT, style="tfds", dry_run=True)
    assert os.listdir() == ["pets"]
