"""Which features hold pictures, classes and boxes, in the conventions of several tools."""

from __future__ import annotations

import pytest

from purerecord.payload.wire import BYTES, FLOAT, INT64
from purerecord.tools.converters.pictures.roles import Roles, first_number, without_place

OBJECT = "image/object/"
EDGES = {f"{OBJECT}bbox/{edge}": FLOAT for edge in ("xmin", "ymin", "xmax", "ymax")}


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"image": BYTES, "label": INT64}, ("image", "", "", "", "label")),
        (
            {"image_bytes": BYTES, "label": BYTES, "filename": BYTES},
            ("image_bytes", "filename", "", "label", ""),
        ),
        (
            {"image/encoded": BYTES, "image/class/label": INT64, "image/class/synset": BYTES, "image": INT64},
            ("image/encoded", "", "", "image/class/synset", "image/class/label"),
        ),
        ({"image/id": INT64, "file_name": BYTES}, ("", "file_name", "image/id", "", "")),
        ({"image": FLOAT}, ("", "", "", "", "")),
    ],
)
def test_the_usual_names_are_known(kinds, expected):
    roles = Roles.of(kinds, None, None)
    assert (roles.picture, roles.file_name, roles.source_id, roles.class_name, roles.class_number) == expected


def test_boxes_of_both_generations_of_scripts_are_known():
    old = {f"{OBJECT}area": FLOAT, f"{OBJECT}mask": BYTES, f"{OBJECT}is_crowd": INT64}
    new = {f"{OBJECT}segment/area": FLOAT, "image/segmentation/object": BYTES}
    assert Roles.of({**EDGES, **old, **new}, None, None).fields == {
        "is_crowd": f"{OBJECT}is_crowd",
        "area": f"{OBJECT}area",
        "mask": f"{OBJECT}mask",
    }
    roles = Roles.of({**EDGES, **new, f"{OBJECT}difficult": BYTES}, None, None)
    assert roles.fields == {"area": f"{OBJECT}segment/area", "mask": "image/segmentation/object"}
    assert roles.boxes is not None
    assert Roles.of({"objects/bbox": FLOAT}, None, None).boxes.numbers == "objects/label"
    assert Roles.of({"boxes/xmin": FLOAT}, None, None).boxes.pixels
    assert Roles.of({}, None, None).boxes is None


def test_the_caller_may_name_features():
    kinds = {"image": BYTES, "jpg": BYTES, "label": INT64, "kind": BYTES}
    roles = Roles.of(kinds, "jpg", "kind")
    assert (roles.picture, roles.class_name, roles.class_number) == ("jpg", "kind", "")


def test_what_gets_lost_is_known():
    kinds = {**EDGES, "image/encoded": BYTES, "image/height": INT64, "image/source_id": BYTES, "score": FLOAT}
    roles = Roles.of(kinds, None, None)
    assert without_place(kinds, roles.used(boxes=True, classes=True)) == ["score"]
    assert without_place(kinds, roles.used(boxes=False, classes=True)) == [*sorted(EDGES), "score"]


def test_classes_begin_with_1_where_the_convention_says_so():
    assert first_number("image/object/class/label") == first_number("image/class/label") == 1
    assert first_number("label") == first_number("objects/label") == 0
