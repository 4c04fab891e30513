"""There and back: what TFRecords hold is the same after it was written as another format and read again."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools import convert
from purerecord.tools.converters.pictures.written import pixels
from tests.support.interop import interop
from tests.support.picture_folders import png, save
from tests.support.settings import tries

OBJECT = "image/object/"
EDGES = ("xmin", "ymin", "xmax", "ymax")
SOURCES = {"coco": "annotations/instances.json", "voc": "", "yolo": "", "boxes-csv": "boxes.csv"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# Edges in hundredths of a pixel, at least one pixel apart; the same for both axes of a picture.
@st.composite
def pictures(draw, least=0):
    width, height = draw(st.integers(1, 900)), draw(st.integers(1, 900))
    boxes = []
    for _ in range(draw(st.integers(least, 4))):
        edges = []
        for side in (width, height):
            low = draw(st.integers(0, 100 * side - 100))
            edges.append((low / 100, draw(st.integers(low + 100, 100 * side)) / 100))
        name = draw(st.sampled_from(["cat", "a dog", "ünï & <x> 'y' \"z\"", "a,b;c", "1"]))
        boxes.append((name, (edges[0][0], edges[1][0], edges[0][1], edges[1][1])))
    return (width, height), boxes


def write_records(path, drawn):
    """Records as the Object Detection API has them, made without the code under test."""
    classes = sorted({name for _, boxes in drawn for name, _ in boxes})
    rows = []
    for number, ((width, height), boxes) in enumerate(drawn):
        row = {"image/encoded": png(width, height, number), "image/filename": f"in/{number}.png"}
        row["image/source_id"] = str(number + 10)
        for place, edge in enumerate(EDGES):
            side = (width, height)[place % 2]
            row[f"{OBJECT}bbox/{edge}"] = np.array([edges[place] / side for _, edges in boxes], np.float32)
        row[f"{OBJECT}class/text"] = [name for name, _ in boxes]
        row[f"{OBJECT}class/label"] = np.array([classes.index(name) + 1 for name, _ in boxes], np.int64)
        rows.append(pr.encode_example(row))
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(rows)


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()
    }


def there_and_back(drawn, kind):
    """The folders that come of records, and of the records that come of that folder."""
    shutil.rmtree("work", ignore_errors=True)
    for name in ("work/a", "work/b"):
        os.makedirs(name)
    write_records("work/a/x.tfrecord", drawn)
    assert not convert("work/a/x.tfrecord", "work/one", to_format=kind).lost
    report = convert(f"work/one/{SOURCES[kind]}", "work/b/x.tfrecord", from_format=kind)
    assert not report.lost
    convert("work/b/x.tfrecord", "work/two", to_format=kind)
    return tree("work/one"), tree("work/two")


def without_areas(files):
    """The files, without the areas that were computed and then stored as float32."""
    return {name: re.sub(rb'"area": [\d.e+]+', b"", data) for name, data in files.items()}


def boxes_in(kind, files):
    """The boxes of each picture in a folder, read without the code under test."""
    found: dict[str, list] = {}
    if kind == "coco":
        document = json.loads(files["annotations/instances.json"])
        names = {item["id"]: item["name"] for item in document["categories"]}
        images = {item["id"]: item["file_name"] for item in document["images"]}
        for item in document["annotations"]:
            x, y, width, height = item["bbox"]
            place = found.setdefault(images[item["image_id"]], [])
            place.append((names[item["category_id"]], (x, y, round(x + width, 2), round(y + height, 2))))
    elif kind == "voc":
        for name, data in files.items():
            if name.endswith(".xml"):
                root = ElementTree.fromstring(data)
                found[root.findtext("filename")] = [
                    (item.findtext("name"), tuple(float(item.findtext(f"bndbox/{edge}")) for edge in EDGES))
                    for item in root.iter("object")
                ]
    elif kind == "boxes-csv":
        for row in csv.DictReader(files["boxes.csv"].decode().splitlines()):
            edges = tuple(float(row[edge]) for edge in EDGES)
            found.setdefault(row["filename"], []).append((row["class"], edges))
    return {name: boxes for name, boxes in found.items() if boxes}


@settings(max_examples=tries(20))
@given(st.data(), st.sampled_from(["coco", "voc", "boxes-csv"]))
def test_boxes_names_and_pictures_are_the_same_there_and_back(data, kind):
    drawn = data.draw(st.lists(pictures(least=kind == "boxes-csv"), min_size=1, max_size=4))
    one, two = there_and_back(drawn, kind)
    assert without_areas(one) == without_areas(two)
    assert boxes_in(kind, one) == {
        f"in/{number}.png": boxes for number, (_, boxes) in enumerate(drawn) if boxes
    }
    images = {name: data for name, data in one.items() if name.endswith(".png")}
    assert sorted(images.values()) == sorted(png(*size, number) for number, (size, _) in enumerate(drawn))


@settings(max_examples=tries(15))
@given(st.lists(pictures(), min_size=1, max_size=4).filter(lambda drawn: any(boxes for _, boxes in drawn)))
def test_yolo_there_and_back_is_the_same_to_its_six_decimals(drawn):
    one, two = there_and_back(drawn, "yolo")
    assert one.keys() == two.keys()
    for name, data in one.items():
        if not name.endswith(".txt"):
            assert two[name] == data
            continue
        lines, again = (
            [list(map(float, line.split())) for line in text.split(b"\n")] for text in (data, two[name])
        )
        assert [line[:1] for line in lines] == [line[:1] for line in again]
        for line, other in zip(lines, again, strict=True):
            assert np.allclose(line, other, rtol=0, atol=2e-6)
    names = re.findall(rb"^  \d+: '(.*)'$", one["data.yaml"], re.MULTILINE)
    for number, ((width, height), boxes) in enumerate(drawn):
        lines = one[f"labels/in/{number}.txt"].decode().splitlines()
        for line, (name, (xmin, ymin, xmax, ymax)) in zip(lines, boxes, strict=True):
            kind, *values = line.split()
            assert names[int(kind)].decode().replace("''", "'") == name
            expected = ((xmin + xmax) / 2 / width, (ymin + ymax) / 2 / height, (xmax - xmin) / width)
            assert np.allclose(list(map(float, values))[:3], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", sorted(SOURCES))
def test_names_that_are_taken_keep_pictures_and_boxes_together(kind):
    drawn = [((40, 20), [("cat", (number, 1, 30, 15))]) for number in range(3)]
    write_records("a.tfrecord", drawn)
    rows = [dict(pr.decode_example(record)) for record in pr.read_records("a.tfrecord")]
    names = ["a.png", "a.png", "a.jpg"]
    with pr.TFRecordWriter("a.tfrecord") as writer:
        for row, name in zip(rows, names, strict=True):
            writer.write(pr.encode_example({**row, "image/filename": name}))
    report = convert("a.tfrecord", "out", to_format=kind)
    assert any("had their name: " in note for note in report.notes)
    os.mkdir("b")
    convert(f"out/{SOURCES[kind]}", "b/x.tfrecord", from_format=kind)
    found = [pr.decode_example(record) for record in pr.read_records("b/x.tfrecord")]
    edges = {row["image/encoded"][0]: round(row[f"{OBJECT}bbox/xmin"][0] * 40) for row in found}
    assert edges == {png(40, 20, number): number for number in range(3)}


def test_what_coco_alone_has_is_kept_there_and_back():
    write_records("a.tfrecord", [((40, 20), [("cat", (1, 1, 30, 15))])])
    (row,) = [dict(pr.decode_example(record)) for record in pr.read_records("a.tfrecord")]
    mask = png(40, 20, 1)
    row |= {f"{OBJECT}is_crowd": [1], f"{OBJECT}area": [12.5], f"{OBJECT}mask": [mask]}
    with pr.TFRecordWriter("a.tfrecord") as writer:
        writer.write(pr.encode_example(row))
    interop("PIL")
    convert("a.tfrecord", "out", to_format="coco")
    (note,) = json.loads(Path("out/annotations/instances.json").read_text())["annotations"]
    assert (note["iscrowd"], note["area"], note["segmentation"]) == (
        1,
        12.5,
        {"size": [20, 40], "counts": [0, 800]},
    )
    os.mkdir("b")
    convert("out", "b/x.tfrecord", masks=True)
    (back,) = [pr.decode_example(record) for record in pr.read_records("b/x.tfrecord")]
    assert back[f"{OBJECT}area"].tolist() == [12.5]
    assert back[f"{OBJECT}is_crowd"].tolist() == [1]
    row[f"{OBJECT}mask"] = [b"<no picture>"]
    with pr.TFRecordWriter("a.tfrecord") as writer:
        writer.write(pr.encode_example(row))
    with pytest.raises(ValueError, match=r"in/0\.png: a mask is broken: it is no"):
        convert("a.tfrecord", "c", to_format="coco")
    assert not os.path.exists("c")


@pytest.mark.parametrize("style", ["plain", "imagenet", "detection"])
def test_an_image_folder_is_the_same_there_and_back(style):
    for name in ("cats/1.png", "cats/in/2.png", "dogs/1.jpg", "a b & c/ü.gif.png"):
        save(f"pets/{name}", png(len(name)))
    os.mkdir("a")
    convert("pets", "a/x.tfrecord", style=style)
    report = convert("a/x.tfrecord", "out", to_format="images")
    expected = tree("pets")
    if style == "imagenet":  # which keeps no folders inside classes
        expected["cats/2.png"] = expected.pop("cats/in/2.png")
    assert tree("out") == expected
    assert not report.lost


def test_classes_that_no_folder_can_be_called_get_folders_of_their_own():
    classes = ["a/b", "a_b", "A_B", "..", "", "unlabelled", "x" * 300]
    rows = [{"image": png(4, 3, number), "class": name} for number, name in enumerate(classes)]
    with pr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_many([pr.encode_example(row) for row in (*rows, {"image": png(4, 3, 99)})])
    report = convert("a.tfrecord", "out", to_format="images")
    found = tree("out")
    assert len({name.partition("/")[0].lower() for name in found}) == 8
    assert sorted(found.values()) == sorted(png(4, 3, number) for number in (*range(7), 99))
    assert "class 'a/b': in the folder a_b" in report.notes
    assert "class 'A_B': in the folder A_B-2" in report.notes
    assert "pictures without a class: in the folder unlabelled-1" in report.notes


def test_out_must_be_a_new_folder():
    save("full/x", "")
    write_records("a.tfrecord", [((4, 3), [("cat", (0, 0, 2, 2))])])
    with pytest.raises(FileExistsError, match="not empty"):
        convert("a.tfrecord", "full", to_format="coco")
    with pytest.raises(ValueError, match=r"boxes\.json: pictures are written to a folder"):
        convert("a.tfrecord", "boxes.json")
    report = convert("a.tfrecord", "dry", to_format="voc", dry_run=True)
    assert report.records == 1
    assert not os.path.exists("dry")
    assert set(report.types) >= {"image/encoded", f"{OBJECT}bbox/xmin"}


@pytest.mark.parametrize(
    ("fraction", "side", "expected"),
    [(0.25, 40, 10), (np.float32(0.1), 640, 64), (1 / 3, 100, 33.333), (0, 9, 0)],
)
def test_pixels_are_as_they_were_before_float32(fraction, side, expected):
    found = pixels(float(fraction), side)
    assert (found, type(found)) == (expected, type(expected))
