"""YOLO: the layouts of folders, the lines of labels, and what is missing on either side."""

from __future__ import annotations

import os

import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.picture_folders import png, save

LINE = "1 0.5 0.5 0.5 0.25\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("out")


def converted(source="data", **options):
    report = convert(source, "out/a.tfrecord", **options)
    return [pr.decode_example(record) for record in pr.read_records("out/a.tfrecord")], report


LAYOUTS = [
    ("data/images/a.png", "data/labels/a.txt", "data/data.yaml", "data"),
    ("data/images/train/a.png", "data/labels/train/a.txt", "data/data.yaml", "data/images/train"),
    ("data/train/images/a.png", "data/train/labels/a.txt", "data/data.yaml", "data/train"),
    ("data/images/a.png", "data/labels/a.txt", "data/data.yaml", "data/data.yaml"),
]


@pytest.mark.parametrize(("picture", "labels", "names", "source"), LAYOUTS)
@pytest.mark.parametrize("absolute", [False, True])
def test_labels_are_found_in_the_usual_layouts(picture, labels, names, source, absolute):
    save(picture, png(40, 20))
    save(labels, "0 0.5 0.5 1 1\n\n" + LINE)
    save(names, "names: [cat, dog]")
    source = os.path.abspath(source) if absolute else source
    (row,), report = converted(source, from_format="yolo")
    assert (report.lost, len(report.notes)) == (False, 1)
    assert row["image/object/class/text"].tolist() == [b"cat", b"dog"]
    assert row["image/object/class/label"].tolist() == [1, 2]
    assert row["image/object/bbox/xmin"].tolist() == [0, 0.25]
    assert row["image/object/bbox/ymax"].tolist() == [1, 0.625]
    assert row["image/filename"].tolist() == [b"a.png"]


def test_labels_beside_pictures_and_classes_as_labelimg_writes_them():
    save("data/a.png", png(40, 20))
    save("data/a.txt", LINE)
    save("data/classes.txt", "cat\ndog\n")
    (row,), report = converted()
    assert report.from_format == "yolo"
    assert row["image/object/class/text"].tolist() == [b"dog"]


def test_what_is_missing_on_either_side_is_counted():
    for name in "abc":
        save(f"data/images/{name}.png", png())
    save("data/labels/a.txt", LINE)
    save("data/labels/b.txt", "")
    save("data/labels/z.txt", LINE)
    save("data/classes.txt", "cat\ndog\n")
    found, report = converted()
    assert [len(row["image/object/class/label"]) for row in found] == [1, 0, 0]
    assert "pictures without a file of labels, which show nothing: 1, first data/labels/c.txt" in report.notes
    assert report.skipped["labels of pictures that are not there"].names == ["data/labels/z.txt"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("2 0.5 0.5 1 1", "line 1: class 2 has no name; there are names for 0 to 1"),
        ("-1 0.5 0.5 1 1", "class -1 has no name"),
        ("cat 0.5 0.5 1 1", "a class number and fractions are needed, not 'cat 0.5"),
        ("0 0.5 0.5 1", "4 fractions are needed after the class, not 3"),
        ("0 0.5 0.5 1 1 0.9", "4 fractions are needed after the class, not 5"),
        ("0 20 10 40 20", "YOLO has fractions of the picture, from 0 to 1, and no pixels"),
        ("0 nan 0.5 1 1", "YOLO has fractions"),
        (b"\xff\xfe0\0", "line 1: byte 0xff is not UTF-8"),
    ],
)
def test_broken_labels_are_counted_and_named_or_an_error(line, words):
    save("data/images/a.png", png())
    save("data/images/b.png", png())
    save("data/labels/a.txt", LINE)
    save("data/labels/b.txt", line)
    save("data/classes.txt", "cat\ndog\n")
    found, report = converted()
    assert len(found) == 1
    assert words in report.skipped["broken annotations"].first
    with pytest.raises(ValueError, match=r"labels/b\.txt"):
        converted(on_broken="raise")


def test_polygons_become_the_boxes_around_them_and_a_note_says_so():
    save("data/images/a.png", png())
    save("data/labels/a.txt", "0 0.25 0.5 0.75 0.25 0.5 1\n")
    save("data/classes.txt", "cat\n")
    (row,), report = converted()
    edges = [row[f"image/object/bbox/{edge}"].tolist() for edge in ("xmin", "ymin", "xmax", "ymax")]
    assert edges == [[0.25], [0.25], [0.75], [1]]
    assert any(
        note.startswith("polygons, of which the boxes around them were taken: 1") for note in report.notes
    )


def test_training_and_test_pictures_are_not_mixed():
    for part in ("train", "val"):
        save(f"data/images/{part}/a.png", png())
        save(f"data/labels/{part}/a.txt", LINE)
    save("data/data.yaml", "names: [cat, dog]")
    with pytest.raises(
        ValueError, match=r"it has train and val; convert each by itself: name data/images/train or"
    ):
        converted()
    found, _ = converted(["data/images/train", "data/images/val"])
    assert [len(row["image/object/class/label"]) for row in found] == [1, 1]


def test_wrong_folders_are_one_clear_error():
    save("data/images/a.png", png())
    with pytest.raises(ValueError, match=r"neither data\.yaml nor classes\.txt"):
        converted(from_format="yolo")
    save("data/data.yaml", "names: [cat, dog]")
    with pytest.raises(ValueError, match=r"data/labels/a\.txt: no such file, nor one for any other picture"):
        converted()
    save("data/labels/a.txt", "?")
    with pytest.raises(ValueError, match=r"no labels that can be used; .* line 1: a class number"):
        converted()
    os.unlink("data/images/a.png")
    with pytest.raises(ValueError, match="no pictures in this folder"):
        converted()


def test_a_label_map_may_give_the_names_and_classes_must_agree():
    save("data/images/a.png", png())
    save("data/labels/a.txt", LINE)
    save("map.pbtxt", "item { id: 4 name: 'x' } item { id: 9 name: 'y' }")
    (row,), _ = converted(label_map="map.pbtxt")
    assert (row["image/object/class/text"][0], row["image/object/class/label"][0]) == (b"y", 9)
    save("data/classes.txt", "cat\ndog\n")
    save("more/images/a.png", png())
    save("more/labels/a.txt", LINE)
    save("more/classes.txt", "dog\ncat\n")
    with pytest.raises(ValueError, match="more: it has other classes than the folder before"):
        converted(["data", "more"])
