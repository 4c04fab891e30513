"""Image folders: classes, order, labels from a CSV, what is no picture, and the mistakes people make."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.picture_folders import jpeg_header, pets, png, save


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def rows(path="a.tfrecord"):
    return [
        {name: values[0] for name, values in pr.decode_example(record).items()}
        for record in pr.read_records(path)
    ]


def test_folders_are_classes_in_the_order_of_their_names():
    made = pets()
    report = convert("pets", "a.tfrecord")
    assert (report.from_format, report.records, report.lost) == ("images", 6, False)
    assert [row["filename"].decode() for row in rows()] == list(made)
    assert [row["image"] for row in rows()] == list(made.values())
    assert [(row["label"], row["class"]) for row in rows()] == [(0, b"cats")] * 3 + [(1, b"dogs")] * 3
    assert [(row["width"], row["height"]) for row in rows()[:3]] == [(4, 3), (5, 3), (6, 3)]
    assert set(report.types) == set(rows()[0])


def test_folders_inside_classes_come_as_torchvision_sorts_them():
    for name in ("a/b/1.png", "a/b-c/2.png", "a/b/d/3.png", "a/0.png", "a/.hidden.png", ".git/x.png"):
        save(f"root/{name}", png())
    convert("root", "a.tfrecord")
    found = [row["filename"].decode() for row in rows()]
    # The order that torchvision's sorted(os.walk(...)) gives.
    walked = [
        os.path.join(where, name)
        for where, _, names in sorted(os.walk("root/a"))
        for name in sorted(names)
        if not name.startswith(".")
    ]
    assert found == [name.removeprefix("root/") for name in walked]


def test_what_is_no_picture_is_counted_and_named():
    pets()
    save("pets/cats/web.jpg", "<html>not found</html>")
    save("pets/cats/cut.png", png()[:40])
    save("pets/cats/empty.jpg", "")
    save("pets/dogs/scan.tiff", "II*")
    save("pets/dogs/Thumbs.db", "?")
    save("pets/loose.png", png())
    report = convert("pets", "a.tfrecord")
    assert report.records == 6
    assert {reason: skipped.names for reason, skipped in report.skipped.items()} == {
        "pictures in formats that TensorFlow does not read": ["pets/dogs/scan.tiff"],
        "pictures beside the folders of classes": ["pets/loose.png"],
        "broken pictures": [
            "pets/cats/cut.png: the file is cut off",
            "pets/cats/empty.jpg: it is empty",
            "pets/cats/web.jpg: it is no JPEG, PNG, GIF, BMP or WebP",
        ],
    }
    with pytest.raises(ValueError, match=r"cut\.png: the file is cut off; on_broken='skip' leaves"):
        convert("pets", "b.tfrecord", on_broken="raise")
    assert not Path("b.tfrecord").exists()


def test_pictures_are_told_by_their_content_and_not_by_their_names():
    save("root/a/1.png", jpeg_header(7, 5))
    convert("root", "a.tfrecord", style="detection")
    assert rows()[0]["image/format"] == b"jpeg"
    assert (rows()[0]["image/width"], rows()[0]["image/height"]) == (7, 5)


@pytest.mark.parametrize("names", [["1.png", "2.png"], ["cats/1.png", "2.png"], ["1", "cats/2.png"]])
def test_labels_come_from_a_csv(names):
    for number in (1, 2):
        save(f"root/cats/{number}.png", png(grey=number))
    save("labels.csv", f"\ufefffile,class,more\n{names[0]},lion,x\n\n{names[1]},bear,y\n")
    report = convert("root", "a.tfrecord", labels="labels.csv")
    assert [(row["class"], row["label"], row["image"]) for row in rows()] == [
        (b"lion", 1, png(grey=1)),
        (b"bear", 0, png(grey=2)),
    ]
    assert bool(report.notes) == ("1" in names)


def test_labels_that_are_numbers_stay_the_same():
    pets("root")
    save("labels.csv", "file,class\ncats/1.png, 10\ndogs/1.png ,9\n")
    convert("root", "a.tfrecord", labels="labels.csv")
    assert [row["label"] for row in rows()] == [10, 9]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1.png,cat\n", "line 1: a header with two columns"),
        ("file,class\n\n , \n", "labels.csv: it names no pictures"),
        ("file\n", "line 1: a header with two columns"),
        ("file,class\n1.png\n", "line 2: a file name and a class are needed"),
        ("file,class\n1.png,\n", "line 2: a file name and a class are needed"),
        ("file,class\ncats/1.png,a\ncats/1.png,b\n", "line 3: 'cats/1.png' has two classes, 'a' and 'b'"),
        ('file,class\n"1.png,cat\n', "line 2: unexpected end of data; is there a quote too many"),
        (b"file,class\n1.png,\xe9\n", "line 2: byte 0xe9 is not UTF-8"),
        ("file,class\n1.png,cat\n", "1.png: several pictures in pets have this name"),
        ("file,class\nnone.png,cat\n", "line 2: 'none.png' is not in pets, nor is any other picture"),
    ],
)
def test_mistakes_in_the_csv_are_named(text, words):
    pets()
    save("labels.csv", text)
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        convert("pets", "a.tfrecord", labels="labels.csv")
    assert not Path("a.tfrecord").exists()


def test_a_picture_that_the_csv_names_and_nobody_has_is_counted():
    pets()
    save("labels.csv", "file,class\ncats/1.png,cat\ncats/9.png,cat\n")
    report = convert("pets", "a.tfrecord", labels="labels.csv")
    assert report.skipped["pictures that are not there"].names == [
        "pets/cats/9.png: no such file, named in labels.csv: line 3"
    ]


def test_pictures_without_folders_have_no_classes_and_a_note_says_so():
    save("flat/1.png", png())
    report = convert("flat", "a.tfrecord")
    assert "class" not in rows()[0]
    assert report.notes == ["flat has no folders of classes, so the pictures have no classes"]


def test_wrong_folders_are_one_clear_error():
    os.makedirs("empty/inner")
    with pytest.raises(ValueError, match="no pictures in this folder"):
        convert("empty", "a.tfrecord", from_format="images")
    save("bad/a/1.png", "?")
    with pytest.raises(
        ValueError, match=r"none of the pictures can be used; the first is bad/a/1\.png: it is"
    ):
        convert("bad", "a.tfrecord")
    with pytest.raises(NotADirectoryError):
        convert("bad/a/1.png", "a.tfrecord", from_format="images")
    with pytest.raises(ValueError, match="local disk"):
        convert("memory://x", "a.tfrecord", from_format="images")
    assert not Path("a.tfrecord").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_folders_whose_names_are_no_utf8():
    pets()
    os.rename("pets/cats", b"pets/\xff")
    convert("pets", "a.tfrecord")
    assert {row["class"] for row in rows()} == {b"\xff", b"dogs"}
    for style, out in (("detection", "b.tfrecord"), ("tfds", "x/pets-train.tfrecord")):
        with pytest.raises(ValueError, match=r"class '\\udcff' is not UTF-8"):
            convert("pets", out, style=style)


def test_several_folders_are_one_set_of_classes():
    save("one/b/1.png", png(5))
    save("two/a/1.png", png(6))
    save("two/b/1.png", png(7))
    convert(["one", "two"], "a.tfrecord")
    assert [(row["label"], row["width"]) for row in rows()] == [(0, 6), (1, 5), (1, 7)]


def test_a_class_without_pictures_keeps_its_number():
    pets()
    os.makedirs("pets/birds")
    report = convert("pets", "a.tfrecord")
    assert {row["label"] for row in rows()} == {1, 2}
    assert report.notes == ["classes without pictures: 1, first 'birds'"]


def test_shuffling_is_the_same_for_the_same_seed_and_dry_run_writes_nothing():
    made = pets()
    convert("pets", "a.tfrecord", shuffle=1)
    convert("pets", "b.tfrecord", shuffle=1)
    assert rows("a.tfrecord") == rows("b.tfrecord")
    assert [row["filename"].decode() for row in rows()] != list(made)
    assert sorted(row["filename"].decode() for row in rows()) == list(made)
    before = sorted(os.listdir())
    report = convert("pets", "c.tfrecord", dry_run=True, style="detection")
    assert report.records == 6
    assert sorted(os.listdir()) == before
    json.dumps(report.as_json())


def test_links_that_lead_back_end():
    pets()
    os.symlink(os.path.abspath("pets"), "pets/cats/up")
    os.symlink("nowhere.png", "pets/cats/broken.png")
    os.symlink("self.png", "pets/cats/self.png")
    os.symlink("self", "pets/self")
    report = convert("pets", "a.tfrecord")
    assert len(rows()) == 6  # those of dogs are no cats
    assert report.skipped["pictures that are not there"].names == [
        "pets/cats/broken.png: no such file",
        "pets/cats/self.png: no such file",
    ]
