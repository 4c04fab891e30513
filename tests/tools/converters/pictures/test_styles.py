"""The conventions: exactly the names that their readers ask for, and the values behind them."""

from __future__ import annotations

import hashlib

import pytest

import purerecord as pr
from purerecord.payload.image_header import ImageHeader
from purerecord.tools.converters.pictures.label_map import LabelMap
from purerecord.tools.converters.pictures.picture import Box, Contents, Loaded, Picture
from purerecord.tools.converters.pictures.styles import DETECTION, IMAGENET, PLAIN

FIELDS = frozenset({"difficult", "truncated", "view", "is_crowd", "area"})
BOX = Box("dog", 0.25, 0.5, 0.75, 1.0, difficult=1, view="Left", is_crowd=1)
PICTURE = Picture("/x/n01/a.jpg", "n01/a.jpg", source_id="7", class_name="cat", captions=("hi",), boxes=[BOX])
LOADED = Loaded(PICTURE, b"JPEG", ImageHeader("JPEG", 20, 40, 3), [BOX])


def example(style, contents, loaded=LOADED):
    records = style.of(contents).records([loaded], LabelMap.of(["cat", "dog"]))
    return {name: values.tolist() for name, values in pr.decode_example(records[0]).items()}


def test_detection_has_the_names_of_the_object_detection_api():
    assert example(DETECTION, Contents(boxes=True, fields=FIELDS)) == {
        "image/encoded": [b"JPEG"],
        "image/format": [b"jpeg"],
        "image/height": [20],
        "image/width": [40],
        "image/filename": [b"n01/a.jpg"],
        "image/source_id": [b"7"],
        "image/key/sha256": [hashlib.sha256(b"JPEG").hexdigest().encode()],
        "image/object/bbox/xmin": [0.25],
        "image/object/bbox/xmax": [0.75],
        "image/object/bbox/ymin": [0.5],
        "image/object/bbox/ymax": [1.0],
        "image/object/class/text": [b"dog"],
        "image/object/class/label": [2],
        "image/object/difficult": [1],
        "image/object/truncated": [0],
        "image/object/view": [b"Left"],
        "image/object/is_crowd": [1],
        "image/object/area": [200.0],
    }


def test_a_picture_without_boxes_has_empty_lists():
    found = example(DETECTION, Contents(boxes=True), LOADED._replace(boxes=[]))
    assert found["image/object/bbox/xmin"] == found["image/object/class/text"] == []
    assert "image/object/area" not in found


def test_imagenet_has_the_names_of_its_scripts():
    assert example(IMAGENET, Contents(classes=True)) == {
        "image/encoded": [b"JPEG"],
        "image/format": [b"JPEG"],
        "image/height": [20],
        "image/width": [40],
        "image/channels": [3],
        "image/colorspace": [b"RGB"],
        "image/filename": [b"a.jpg"],
        "image/class/label": [1],
        "image/class/synset": [b"cat"],
    }


@pytest.mark.parametrize(
    ("kind", "channels", "words"),
    [("JPEG", 1, b"Gray"), ("JPEG", 4, b"CMYK"), ("PNG", 4, b"RGBA"), ("PNG", 2, b"GrayAlpha")],
)
def test_imagenet_tells_the_colours_as_they_are(kind, channels, words):
    loaded = LOADED._replace(header=ImageHeader(kind, 20, 40, channels))
    found = example(IMAGENET, Contents(classes=True), loaded)
    assert (found["image/channels"], found["image/colorspace"]) == ([channels], [words])


def test_plain_has_labels_from_0_and_edges_in_pixels():
    assert example(PLAIN, Contents(classes=True, boxes=True, captions=True)) == {
        "image": [b"JPEG"],
        "height": [20],
        "width": [40],
        "filename": [b"n01/a.jpg"],
        "label": [0],
        "class": [b"cat"],
        "caption": [b"hi"],
        "boxes/xmin": [10.0],
        "boxes/ymin": [10.0],
        "boxes/xmax": [30.0],
        "boxes/ymax": [20.0],
        "boxes/label": [1],
        "boxes/class": [b"dog"],
    }


def test_types_tell_what_each_feature_holds():
    types = DETECTION.of(Contents(boxes=True)).types()
    assert types["image/encoded"] == "bytes"
    assert types["image/object/bbox/xmin"] == "float list"
