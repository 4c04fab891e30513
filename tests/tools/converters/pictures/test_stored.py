"""Pictures in TFRecords: their features, classes and boxes in any convention; what is broken is named."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.picture_folders import png, save

OBJECT = "image/object/"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(*rows, path="a.tfrecord"):
    with pr.TFRecordWriter(path) as writer:
        writer.write_many([pr.encode_example(row) for row in rows])


def boxed(edges=((0.25, 0.25, 0.75, 0.75),), names=("cat",), numbers=(1,), **more):
    columns = (
        dict(zip(("xmin", "ymin", "xmax", "ymax"), zip(*edges, strict=True), strict=True)) if edges else {}
    )
    return {
        "image/encoded": png(40, 20),
        "image/filename": "a.png",
        **{
            f"{OBJECT}bbox/{edge}": np.array(columns.get(edge, ()), np.float32)
            for edge in ("xmin", "ymin", "xmax", "ymax")
        },
        f"{OBJECT}class/text": list(names),
        f"{OBJECT}class/label": np.array(numbers, np.int64),
        **more,
    }


def instances(path):
    return json.loads(Path(path, "annotations", "instances.json").read_text())


def tree(path):
    return sorted(
        os.path.join(where, name)[len(path) + 1 :] for where, _, names in os.walk(path) for name in names
    )


@pytest.mark.parametrize(
    ("row", "options", "expected"),
    [
        ({"image": png(), "label": 3}, {}, "3/00000000.png"),
        ({"image_bytes": png(), "label": "cat", "filename": "x/y.jpg"}, {}, "cat/x/y.jpg"),
        ({"image/encoded": png(), "image/class/synset": "n01", "image/filename": "a"}, {}, "n01/a.png"),
        ({"image/encoded": png(), "image/class/label": 2}, {"label_map": "map.pbtxt"}, "dog/00000000.png"),
        ({"image": png(), "label": 1}, {"label_map": "map.pbtxt"}, "dog/00000000.png"),
        ({"image": png(), "label": 8}, {"label_map": "map.pbtxt"}, "8/00000000.png"),
        ({"photo": png(), "text": "x"}, {}, "00000000.png"),
        (
            {"a": png(), "b": png(9), "kind": 5},
            {"picture_feature": "b", "label_feature": "kind"},
            "5/00000000.png",
        ),
    ],
)
def test_features_of_several_conventions_are_found(row, options, expected):
    save("map.pbtxt", "item { id: 1 name: 'cat' } item { id: 2 name: 'dog' }")
    write(row)
    report = convert("a.tfrecord", "out", to_format="images", **options)
    assert tree("out") == [expected]
    assert report.records == 1
    assert report.size == os.path.getsize(f"out/{expected}")


def test_a_label_map_beside_the_records_names_the_classes():
    save("label_map.pbtxt", "item { id: 1 name: 'cat' } item { id: 2 name: 'dog' }")
    write({"image/encoded": png(), "image/class/label": 2})
    convert("a.tfrecord", "out", to_format="images")
    assert tree("out") == ["dog/00000000.png"]


def test_what_a_format_has_no_place_for_is_noted():
    write(boxed(**{"image/height": 20, "score": 0.5, "image/caption": "x"}))
    report = convert("a.tfrecord", "out", to_format="yolo")
    assert report.notes == ["features that yolo has no place for: image/caption, score"]
    assert "image/caption" not in report.types
    report = convert("a.tfrecord", "flat", to_format="images")
    assert len(report.notes) == 1
    assert f"{OBJECT}bbox/xmin" in report.notes[0]


BROKEN = [
    ({"image/encoded": b"<html>"}, "it is no JPEG, PNG"),
    ({"image/encoded": [png(), png()]}, "has 2 values, where a picture is one"),
    ({"image/encoded": []}, "has 0 values"),
    (
        {f"{OBJECT}bbox/xmin": [0.1, 0.2]},
        "its boxes have different numbers of edges and classes: 2, 1, 1, 1, 1",
    ),
    ({f"{OBJECT}class/text": ["a", "b"]}, "has 2 values, and"),
    ({f"{OBJECT}class/text": [], f"{OBJECT}class/label": np.array([], np.int64)}, "classes: 1, 1, 1, 1, 0"),
    ({f"{OBJECT}bbox/xmin": [float("nan")]}, "an edge that is no number"),
]


@pytest.mark.parametrize(("change", "words"), BROKEN)
def test_a_record_without_a_sound_picture_is_counted_and_named(change, words):
    write(boxed(), {**boxed(), **change})
    report = convert("a.tfrecord", "out", to_format="coco")
    assert report.records == 1
    (name,) = report.skipped["broken pictures"].names
    assert name.startswith("a.tfrecord: record 1: ")
    assert words in name
    with pytest.raises(ValueError, match=r"a\.tfrecord: record 1: .*on_broken='skip'"):
        convert("a.tfrecord", "other", to_format="coco", on_broken="raise")
    assert not os.path.exists("other")
    write({**boxed(), **change})
    with pytest.raises(ValueError, match=r"can be used; the first is a\.tfrecord: rec|no feature of bytes"):
        convert("a.tfrecord", "other", to_format="coco")
    assert not os.path.exists("other")


def test_boxes_that_are_empty_or_reach_too_far_are_written_and_noted():
    inside, beyond, empty = (0, 0, 1, 1), (0.5, 0, 1.5, 1), (0.5, 0.5, 0.25, 0.75)
    write(boxed([inside]), boxed([inside, beyond, empty], ("cat",) * 3, (1,) * 3), boxed([empty]))
    report = convert("a.tfrecord", "out", to_format="boxes-csv")
    assert report.notes[0] == (
        "boxes that are empty, or reach beyond their picture, written as they are: 3, "
        "first a.tfrecord: record 1"
    )
    assert len(Path("out/boxes.csv").read_text().splitlines()) == 6


def test_what_json_and_utf8_cannot_hold_is_written_otherwise():
    area = np.array([np.nan], np.float32)
    write(boxed(names=[b"\xff"], **{f"{OBJECT}area": area}), boxed(names=[b"\xfe"], numbers=[2]))
    convert("a.tfrecord", "out", to_format="coco")
    made = instances("out")
    assert [note["area"] for note in made["annotations"]] == [200, 200]
    assert [item["name"] for item in made["categories"]] == ["\\xff", "\\xfe"]


def test_wrong_records_are_one_clear_error():
    write({"x": 1, "y": b"text"})
    with pytest.raises(
        ValueError, match=r"a\.tfrecord: no feature of bytes is image/encoded or .*; there is y; say"
    ):
        convert("a.tfrecord", "out", to_format="images")
    with pytest.raises(ValueError, match="no feature of bytes is x; there is y"):
        convert("a.tfrecord", "out", to_format="images", picture_feature="x")
    write({"image": png()})
    with pytest.raises(ValueError, match="no record has a class in a feature 'none'"):
        convert("a.tfrecord", "out", to_format="images", label_feature="none")
    with pytest.raises(ValueError, match="not made of a stream"):
        convert(
            io.BytesIO(Path("a.tfrecord").read_bytes()), "out", from_format="tfrecord", to_format="images"
        )
    write({"image": png()}, {"image": 1})
    with pytest.raises((ValueError, pr.SchemaError), match="image"):
        convert("a.tfrecord", "out", to_format="images")
    sequence = pr.encode_sequence_example({"image": png()}, {"steps": [[1]]})
    with pr.TFRecordWriter("a.tfrecord") as writer:
        writer.write(sequence)
    with pytest.raises(ValueError, match="'steps' is a feature list"):
        convert("a.tfrecord", "out", to_format="images")


def test_classes_keep_their_numbers_if_each_has_one():
    write(boxed(names=["b"], numbers=[7]), boxed(names=["a"], numbers=[9]))
    convert("a.tfrecord", "out", to_format="coco")
    found = instances("out")
    assert found["categories"] == [{"id": 7, "name": "b"}, {"id": 9, "name": "a"}]
    write(boxed(names=["b"], numbers=[7]), boxed(names=["a"], numbers=[7]))
    convert("a.tfrecord", "two", to_format="coco")
    found = instances("two")
    assert found["categories"] == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [(["5", "7"], [5, 7]), (["5", "05"], [1, 2]), (["a", "5"], [1, 2]), (["", "1"], [1, 2])],
)
def test_ids_of_pictures_are_kept_if_they_are_different_numbers(ids, expected):
    write(*(boxed(**{"image/source_id": number}) for number in ids))
    convert("a.tfrecord", "out", to_format="coco")
    assert [image["id"] for image in instances("out")["images"]] == expected


def test_boxes_of_tfds_are_read_with_the_names_beside_them():
    write({"image": png(40, 20), "objects/bbox": [0.25, 0.1, 0.75, 0.9], "objects/label": [1]})
    convert("a.tfrecord", "out", to_format="yolo")
    assert Path("out/labels/00000000.txt").read_text() == "0 0.500000 0.500000 0.800000 0.500000\n"
    assert Path("out/data.yaml").read_text().endswith("0: '1'\n")
