"""COCO: pictures found, numbers of categories kept, boxes counted, mistakes named."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.interop import interop
from tests.support.picture_folders import png, save

IMAGE = {"id": 7, "file_name": "a.png", "height": 20, "width": 40}
NOTE = {"id": 1, "image_id": 7, "category_id": 3, "bbox": [10, 5, 20, 10], "area": 150.5, "iscrowd": 1}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("out")


def document(annotations=(NOTE,), images=(IMAGE,), categories=((3, "cat"), (5, "dog"))):
    listed = [{"id": number, "name": name, "supercategory": "x"} for number, name in categories]
    return json.dumps({"images": list(images), "annotations": list(annotations), "categories": listed})


def converted(source="data/boxes.json", **options):
    report = convert(source, "out/a.tfrecord", **options)
    return [pr.decode_example(record) for record in pr.read_records("out/a.tfrecord")], report


LAYOUTS = [
    ("data/a.png", "data/boxes.json", "data/boxes.json"),
    ("data/images/a.png", "data/annotations/boxes.json", "data"),
    (
        "data/train2017/a.png",
        "data/annotations/instances_train2017.json",
        "data/annotations/instances_train2017.json",
    ),
    ("data/images/val/a.png", "data/annotations/instances_val.json", "data"),
    ("data/train/a.png", "data/train/_annotations.coco.json", "data/train"),
]


@pytest.mark.parametrize(("picture", "annotations", "source"), LAYOUTS)
def test_pictures_are_found_in_the_usual_layouts(picture, annotations, source):
    save(picture, png(40, 20))
    save(annotations, document())
    (row,), report = converted(source)
    assert (report.from_format, report.lost, len(report.notes)) == ("coco", False, 1)
    assert row["image/source_id"].tolist() == [b"7"]
    assert row["image/filename"].tolist() == [b"a.png"]
    found = {name.removeprefix("image/object/"): row[name].tolist() for name in row if "object" in name}
    assert found == {
        "bbox/xmin": [0.25],
        "bbox/ymin": [0.25],
        "bbox/xmax": [0.75],
        "bbox/ymax": [0.75],
        "class/text": [b"cat"],
        "class/label": [3],
        "is_crowd": [1],
        "area": [150.5],
    }
    assert "id: 5" in Path("out/label_map.pbtxt").read_text()


def test_boxes_are_left_out_or_cut_by_the_documented_rule_and_counted():
    boxes = [[0, 0, 40, 20], [1, 1, 0, 5], [1, 1, 5, -2], [30, 10, 20, 20], [50, 1, 5, 5], "x", [1, 2, 3]]
    notes = [{**NOTE, "id": number, "bbox": box} for number, box in enumerate(boxes)]
    save("data/a.png", png(40, 20))
    save("data/boxes.json", document(notes))
    (row,), report = converted()
    assert row["image/object/bbox/xmax"].tolist() == [1, 1]
    assert {reason: skipped.count for reason, skipped in report.skipped.items()} == {
        "annotations without a box of four numbers": 2,
        "boxes without area": 2,
        "boxes outside their picture": 1,
    }
    assert report.notes[-2].startswith(
        "boxes cut off at the edge of their picture: 1, first data/a.png: box 3"
    )


def test_numbers_below_1_are_changed_for_all_and_a_note_says_so():
    save("data/a.png", png(40, 20))
    save("data/boxes.json", document([{**NOTE, "category_id": 1}], categories=((0, "thing"), (1, "cat"))))
    (row,), report = converted()
    assert row["image/object/class/label"].tolist() == [2]
    assert report.notes[0] == "a category has a number below 1, so they were numbered from 1 on"


def test_captions_are_taken_where_annotations_have_them():
    save("data/a.png", png(40, 20))
    notes = [{"id": number, "image_id": 7, "caption": text} for number, text in enumerate(("é", "two"))]
    save("data/captions_x.json", document(notes, categories=()))
    (row,), _ = converted("data/captions_x.json")
    assert row["image/caption"].tolist() == ["é".encode(), b"two"]
    assert "image/object/bbox/xmin" not in row


def test_what_the_conventions_do_not_have_is_noted():
    save("data/a.png", png(40, 20))
    save(
        "data/boxes.json", document([{**NOTE, "segmentation": [[1, 1, 9, 1, 9, 9]], "keypoints": [1, 2, 2]}])
    )
    _, report = converted()
    assert report.notes[:2] == [
        "masks that were not taken, as --masks was not given: 1",
        "keypoints, for which the conventions have no feature: 1",
    ]


def test_annotations_of_no_picture_are_counted_and_pictures_without_annotations_stay():
    save("data/a.png", png(40, 20))
    save("data/b.png", png(40, 20))
    images = (IMAGE, {"id": "x", "file_name": "b.png"})
    save("data/boxes.json", document([{**NOTE, "image_id": 99}, {**NOTE, "image_id": [1]}, NOTE], images))
    found, report = converted()
    assert [len(row["image/object/class/label"]) for row in found] == [1, 0]
    assert report.skipped["annotations of pictures that the file does not list"].count == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is no JSON"),
        ("[" * 100000, "it is no JSON"),
        ("[]", "COCO has an object with the lists images, annotations and categories"),
        ('{"images": [1], "annotations": []}', "COCO has an object"),
        ('{"images": [], "annotations": [], "categories": {}}', "categories must be a list of objects"),
        (document(images=()), "the JSON lists no pictures"),
        (document(images=[{"id": 1}]), "a picture needs id and file_name"),
        (document(images=[IMAGE, IMAGE]), "two pictures have the id 7"),
        (document(categories=[(3, "a"), (3, "b")]), "two categories have the number 3"),
        (document(categories=[(3, "a"), (4, "a")]), "two categories"),
        (document(categories=[(3, None)]), "a category needs a number and a name"),
        (document(categories=[(10**12, "cat")]), "a category needs a number and a name, not 1000000000000"),
        (document(categories=[(3, "c\ud800")]), "a category needs a number and a name"),
        (document(images=[{**IMAGE, "file_name": "\ud800.png"}]), "a picture needs id and file_name"),
        (document([{**NOTE, "category_id": [4]}]), r"annotation 1: category_id \[4\] is not among"),
        (document([{**NOTE, "caption": "\ud800"}]), "annotation 1: its caption has half of a character"),
        (document([{**NOTE, "category_id": 4}]), "annotation 1: category_id 4 is not among the categories"),
        (
            document(images=[{**IMAGE, "file_name": "z.png"}], annotations=()),
            r"'z\.png' is not in data, nor is any",
        ),
    ],
)
def test_mistakes_are_one_clear_error(text, words):
    save("data/a.png", png(40, 20))
    save("data/boxes.json", text)
    with pytest.raises(ValueError, match=words):
        converted()
    assert os.listdir("out") == []


@pytest.mark.parametrize(
    ("note", "boxes", "crowd", "area"),
    [
        ({"bbox": [10**400, 0, 1, 1]}, 0, [], []),
        ({"bbox": [1e300, 0, 1, 1]}, 0, [], []),
        ({"bbox": [True, 0, 1, 1]}, 0, [], []),
        ({"area": 10**400}, 1, [1], [200]),
        ({"area": 1e39}, 1, [1], [200]),
        ({"iscrowd": "0"}, 1, [0], [150.5]),
        ({"iscrowd": [1]}, 1, [0], [150.5]),
        ({"category_id": 3.0, "image_id": 7.0}, 1, [1], [150.5]),  # as pandas writes them
    ],
)
def test_odd_values_are_left_out_or_what_they_mean(note, boxes, crowd, area):
    save("data/a.png", png(40, 20))
    save("data/boxes.json", document([{**NOTE, **note}], [{**IMAGE, "width": 10**400}]))
    ((row,), report) = converted()
    assert len(row["image/object/class/label"]) == boxes
    assert row["image/object/is_crowd"].tolist() == crowd
    assert row["image/object/area"].tolist() == area
    assert report.lost is (boxes == 0)


@pytest.mark.parametrize(
    "name", ["../../secret.png", "a/../../../secret.png", "pipe", "\0.png", "x" * 5000, "."]
)
def test_nothing_but_pictures_in_the_folder_is_opened(name):
    save("data/images/a.png", png(40, 20))
    save("secret.png", png(40, 20))
    if hasattr(os, "mkfifo"):
        os.mkfifo("data/images/pipe")  # reading it would wait for ever
    images = (IMAGE, {"id": "x", "file_name": name})
    save("data/boxes.json", document(images=images))
    found, report = converted()
    assert len(found) == 1
    assert sum(skipped.count for skipped in report.skipped.values()) == 1


def test_a_picture_that_is_listed_twice_is_noted():
    save("data/a.png", png(40, 20))
    save("data/boxes.json", document(images=(IMAGE, {**IMAGE, "id": 8})))
    found, report = converted()
    assert len(found) == 2
    assert report.notes[0].startswith("pictures that are named several times")
    assert report.notes[0].endswith("1, first data/a.png")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pycocotools itself uses numpy in an old way
def test_pycocotools_reads_what_is_written_and_writes_what_is_read(capsys):
    coco = interop("pycocotools.coco").COCO
    notes = [
        {**NOTE, "id": number, "bbox": [number, 1.25, 20, 10.5], "iscrowd": number % 2}
        for number in range(1, 5)
    ]
    notes[1] |= {"segmentation": {"size": [20, 40], "counts": [100, 50, 650]}}
    notes = [{"segmentation": {"size": [20, 40], "counts": [800]}, **note} for note in notes]
    save("data/a.png", png(40, 20))
    save("source.json", document(notes))
    source = coco("source.json")
    save("data/boxes.json", json.dumps(source.dataset))  # as pycocotools holds it
    converted(masks=True)
    convert("out/a.tfrecord", "written", to_format="coco")
    written = coco("written/annotations/instances.json")
    capsys.readouterr()
    assert written.getImgIds() == source.getImgIds() == [7]
    assert written.loadImgs([7]) == source.loadImgs([7])
    assert written.getCatIds() == [3, 5]
    for mine, theirs in zip(
        written.loadAnns(written.getAnnIds()), source.loadAnns(source.getAnnIds()), strict=True
    ):
        assert {**mine, "segmentation": 0} == {**theirs, "segmentation": 0}
        assert (written.annToMask(mine) == source.annToMask(theirs)).all()
    evaluated = interop("pycocotools.cocoeval").COCOeval(source, written.loadRes(_as_results(notes)), "bbox")
    evaluated.evaluate()
    evaluated.accumulate()
    evaluated.summarize()
    assert "Average Precision" in capsys.readouterr().out


def _as_results(notes):
    return [{"image_id": 7, "category_id": 3, "bbox": note["bbox"], "score": 1.0} for note in notes]


def test_a_folder_with_several_files_asks_for_one():
    save("data/annotations/a.json", document())
    save("data/annotations/b.json", document())
    with pytest.raises(ValueError, match=r"name the JSON of annotations, one of .*a\.json, .*b\.json"):
        converted("data")
    save("data/annotations/b.json", document(categories=[(3, "horse")]))
    save("data/images/a.png", png(40, 20))
    with pytest.raises(ValueError, match="category 3 is 'horse', and 'cat' in a file before"):
        converted(["data/annotations/a.json", "data/annotations/b.json"])
