"""The CSV of generate_tfrecord.py: rows of one picture together, pictures found, mistakes named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.tools import convert
from purerecord.tools.converters.pictures.boxes_csv import recognizes
from tests.support.picture_folders import png, save

HEADER = "filename,width,height,class,xmin,ymin,xmax,ymax\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("out")
    for name in "ab":
        save(f"images/{name}.png", png(40, 20))


def converted(text, path="boxes.csv", **options):
    save(path, text)
    report = convert(path, "out/a.tfrecord", **options)
    return [pr.decode_example(record) for record in pr.read_records("out/a.tfrecord")], report


def test_rows_of_one_picture_are_one_record():
    text = HEADER + "b.png,40,20,dog,0,0,40,20\na.png,40,20,cat,10,5,30,15\n\nb.png,40,20,cat,0,0,20,20\n"
    found, report = converted(text)
    assert (report.from_format, report.records) == ("boxes-csv", 2)
    assert [row["image/filename"][0] for row in found] == [b"b.png", b"a.png"]
    assert found[0]["image/object/class/text"].tolist() == [b"dog", b"cat"]
    assert found[0]["image/object/class/label"].tolist() == [2, 1]
    assert found[1]["image/object/bbox/ymax"].tolist() == [0.75]
    assert Path("out/label_map.pbtxt").read_text().count("item") == 2


@pytest.mark.parametrize("path", ["boxes.csv", "images/boxes.csv", "data/x.csv", "images_labels.csv"])
def test_pictures_are_beside_the_csv_or_in_the_usual_folder(path):
    found, _ = converted(HEADER + "a.png,40,20,cat,10,5,30,15\n", path)
    assert len(found) == 1


def test_names_without_extension_are_found_and_noted():
    found, report = converted(HEADER + "a,40,20,cat,10,5,30,15\n")
    assert found[0]["image/filename"].tolist() == [b"a.png"]
    assert (
        report.notes[0]
        == "pictures whose names in the annotations have no extension, or another one: 1, first a"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: the columns filename, width, .* are needed; filename, class, xmin, .* are not there"),
        (HEADER.replace("class", "label") + "a", "class is not there"),
        (HEADER, "boxes.csv: there is no row with a box"),
        (HEADER + "a.png,40,20,cat,1\n", r"no row with a box; the first .* line 2: ymin is '', not a number"),
        (HEADER + 'a.png,40,20,"cat,1,1,2,2\nb.png,40,20,cat,1,1,2,2\n', "line 2: .* a quote too many"),
        (HEADER + f"a.png,40,20,{'x' * 200_000},1,1,2,2\n", "line 2: field larger than"),
        ((HEADER + "a.png,40,20,\xe9,1,1,2,2\n").encode("latin-1"), "line 2: byte 0xe9 is not UTF-8"),
        (
            HEADER + "c.png,40,20,cat,1,1,2,2\n",
            r"line 2: 'c.png' is not in .*images, nor is any other .*--images DIR",
        ),
        (
            HEADER + "a.png,40,20,cat,1,1,2,2\na.png,41,20,cat,1,1,2,2\n",
            "line 3: 'a.png' has another size than in",
        ),
    ],
)
def test_mistakes_are_one_clear_error(text, words):
    with pytest.raises(ValueError, match=words):
        converted(text, from_format="boxes-csv")
    assert os.listdir("out") == []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("a.png,40,20,cat,1,x,2,2", "line 3: ymin is 'x', not a number"),
        ("a.png,40,20,cat,1", "line 3: ymin is '', not a number"),
        ("a.png,40,20,cat,1,1,inf,2", "line 3: xmax is 'inf', not a number"),
        ("a.png,40,nan,cat,1,1,2,2", "line 3: height is 'nan', not a number"),
        ("a.png,40,20,cat,1,1,2,2,3", "line 3: it has 9 cells, where there are 8 columns"),
        ("a.png,40,20,,1,1,2,2", "line 3: a file name and a class are needed"),
    ],
)
def test_broken_rows_are_counted_and_named(row, words):
    found, report = converted(HEADER + "b.png,40,20,cat,1,1,2,2\n" + row + "\n")
    assert len(found) == 1
    assert words in report.skipped["broken annotations"].first
    with pytest.raises(ValueError, match=words):
        converted(HEADER + "b.png,40,20,cat,1,1,2,2\n" + row + "\n", on_broken="raise")


def test_size_may_be_left_out_and_columns_may_come_in_any_order():
    (row,), _ = converted("class, xmax,xmin,ymin,ymax,filename\ncat,30,10,5,15,images/a.png\n")
    assert row["image/object/bbox/xmin"].tolist() == [0.25]


@pytest.mark.parametrize(
    ("data", "is_one"),
    [(HEADER, True), ("\ufeff" + HEADER, True), ("a,b\n", False), ("", False), (b"\xff\xfe", False)],
)
def test_its_columns_tell_it_from_other_csvs(data, is_one):
    save("x.csv", data)
    assert recognizes("x.csv") is is_one
    assert recognizes("images") is False
