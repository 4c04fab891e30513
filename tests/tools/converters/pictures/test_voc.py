"""Pascal VOC: the layouts of folders, and the annotations that are empty, broken or about other pictures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.picture_folders import png, save


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def xml(filename="a.png", size=(40, 20), edges=(10, 5, 30, 15), name="cat", more=""):
    width, height = size
    places = "".join(f"<{k}>{v}</{k}>" for k, v in zip(("xmin", "ymin", "xmax", "ymax"), edges, strict=True))
    return (
        f"<annotation><folder>x</folder><filename>{filename}</filename>"
        f"<size><width>{width}</width><height>{height}</height><depth>3</depth></size>"
        f"<object><name>{name}</name>{more}<part><name>head</name><bndbox/></part>"
        f"<bndbox>{places}</bndbox></object></annotation>"
    )


def rows(path="out/a.tfrecord"):
    return [pr.decode_example(record) for record in pr.read_records(path)]


def convert_one(source="data", **options):
    os.makedirs("out", exist_ok=True)
    report = convert(source, "out/a.tfrecord", **options)
    return rows(), report


LAYOUTS = [
    ("data/JPEGImages", "data/Annotations", "data"),
    ("data/images", "data/Annotations", "data"),
    ("data/images", "data/Annotations", "data/Annotations"),
    ("data", "data", "data"),
    ("data", "data", "data/a.xml"),
    ("data/deep/x", "data/deep/y", "data"),
    ("JPEGImages", "data", "data"),
]


@pytest.mark.parametrize(("pictures", "annotations", "source"), LAYOUTS)
def test_pictures_are_found_in_the_usual_layouts(pictures, annotations, source):
    save(f"{pictures}/a.png", png(40, 20))
    save(
        f"{annotations}/a.xml", xml(more="<pose>Left</pose><truncated>1</truncated><difficult>1</difficult>")
    )
    (row,), report = convert_one(source)
    assert (report.from_format, report.lost, report.notes[:-1]) == ("voc", False, [])
    found = {name.removeprefix("image/object/"): row[name].tolist() for name in row if "object" in name}
    assert found == {
        "bbox/xmin": [0.25],
        "bbox/ymin": [0.25],
        "bbox/xmax": [0.75],
        "bbox/ymax": [0.75],
        "class/text": [b"cat"],
        "class/label": [1],
        "difficult": [1],
        "truncated": [1],
        "view": [b"Left"],
    }
    assert row["image/filename"].tolist() == [b"a.png"]
    assert row["image/encoded"][0] == png(40, 20)


def test_another_folder_of_pictures_can_be_named():
    save("elsewhere/a.png", png(40, 20))
    save("data/a.xml", xml())
    with pytest.raises(ValueError, match=r"data/a\.xml: 'a\.png' is not in data, nor .* --images DIR"):
        convert_one()
    assert len(convert_one(images="elsewhere")[0]) == 1


@pytest.mark.parametrize(
    ("filename", "noted"),
    [
        ("a.png", False),
        ("C:\\Users\\me\\a.png", False),
        ("a", True),
        ("a.jpg", True),
        ("IMG_1234.JPG", True),
        ("", True),
    ],
)
def test_the_names_in_annotations_may_be_those_of_other_files(filename, noted):
    save("data/a.png", png(40, 20))
    save("data/b.png", png(40, 20))
    save("data/a.xml", xml(filename))
    (row,), report = convert_one()
    assert row["image/filename"].tolist() == [b"a.png"]
    assert len(report.notes) == 1 + noted


def test_a_part_that_imagesets_lists_is_taken_alone():
    for name in "abc":
        save(f"data/JPEGImages/{name}.png", png(40, 20))
        save(f"data/Annotations/{name}.xml", xml(f"{name}.png"))
    save("data/ImageSets/Main/train.txt", "c\n\na  1\n")
    found, _ = convert_one(split="train")
    assert [row["image/filename"][0] for row in found] == [b"c.png", b"a.png"]
    with pytest.raises(FileNotFoundError, match=r"val\.txt"):
        convert_one(split="val")
    save("data/ImageSets/Main/val.txt", "b\nd\n")
    found, report = convert_one(split="val")
    assert [row["image/filename"][0] for row in found] == [b"b.png"]
    assert report.skipped["broken annotations"].names == ["data/Annotations/d.xml: no such file"]
    save("data/ImageSets/Main/val.txt", b"b\n\xff\n")
    with pytest.raises(ValueError, match=r"val\.txt: line 2: byte 0xff is not UTF-8"):
        convert_one(split="val")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "bad.xml: the file is empty; annotate its picture again"),
        (" \n", "the file is empty"),
        ("<annotation><object>", "bad.xml: it is no XML: no element found"),
        ("\x89PNG", "it is no XML"),
        ("<html/>", "it begins with <html>, where Pascal VOC has <annotation>"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><annotation>&a;</annotation>", "it declares entities"),
        (
            '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x [<!ENTITY a "b">]><annotation/>'.encode(
                "utf-16"
            ),
            "it declares entities",
        ),
        (xml(name=""), "object 0: it has no name"),
        (xml(edges=("", 5, 30, 15)), "object 0, 'cat': it has no xmin"),
        (xml(edges=("ten", 5, 30, 15)), "object 0, 'cat': xmin is 'ten', not a number"),
        (xml(edges=("nan", 5, 30, 15)), "not a number"),
        (xml(size=("x", 3)), "width is 'x', not a number"),
        (xml().replace("bndbox", "polygon"), "object 0, 'cat': it has no xmin"),
        ('<?xml version="1.0" encoding="no-such"?><annotation/>', "it is no XML"),
    ],
)
def test_broken_annotations_are_counted_and_named_or_an_error(text, words):
    save("data/a.png", png(40, 20))
    save("data/a.xml", xml())
    save("data/bad.xml", text)
    found, report = convert_one()
    assert len(found) == 1
    assert words in report.skipped["broken annotations"].first
    with pytest.raises(ValueError, match="bad") as caught:
        convert_one(on_broken="raise")
    assert words in str(caught.value)
    os.unlink("data/a.xml")
    with pytest.raises(ValueError, match="there is no annotation in XML that can be used") as caught:
        convert_one()
    assert words in str(caught.value)


def test_a_size_of_zero_is_none_and_floats_are_numbers():
    save("data/a.png", png(40, 20))
    save("data/a.xml", xml(size=(0, 0), edges=("10.0", "5", "30.00", " 15 ")))
    (row,), report = convert_one()
    assert row["image/object/bbox/xmin"].tolist() == [0.25]
    assert len(report.notes) == 1


def test_a_class_that_is_not_in_the_label_map_is_an_error_that_names_the_file():
    save("data/a.png", png(40, 20))
    save("data/a.xml", xml(name="dog"))
    save("map.pbtxt", "item { id: 3 name: 'cat' }")
    with pytest.raises(ValueError, match=r"data/a\.xml: class 'dog' is not in map\.pbtxt, which has 'cat'"):
        convert_one(label_map="map.pbtxt")
    assert not Path("out/a.tfrecord").exists()


def test_plain_style_has_pixels():
    save("data/a.png", png(40, 20))
    save("data/a.xml", xml())
    (row,), _ = convert_one(style="plain")
    assert [row[f"boxes/{edge}"].tolist() for edge in ("xmin", "ymin", "xmax", "ymax")] == [
        [10],
        [5],
        [30],
        [15],
    ]
    assert row["boxes/label"].tolist() == [0]
