"""Pictures of a record, and boxes, masks and classes on them."""

from __future__ import annotations

import pytest

import purerecord as pr
from purerecord.view.cells import Place
from purerecord.view.decoded import decoded
from purerecord.view.pictures import MOST_BOXES, overlay_of, pictures_of
from tests.view.test_picture_size import png

PLACE = Place(0, 3)
PICTURE = png(200, 100)


def overlay(**features):
    found = decoded(pr.encode_example({name.replace("__", "/"): value for name, value in features.items()}))
    return overlay_of(found, PLACE, pictures_of(found, PLACE, 8))


def corners(found):
    return [[round(box[side], 3) for side in ("ymin", "xmin", "ymax", "xmax")] for box in found["boxes"]]


def test_pictures_are_found_by_content_and_not_by_name():
    found = decoded(
        pr.encode_example(
            {"image/encoded": b"no picture", "x": [PICTURE, b"text", PICTURE], "image/object/mask": PICTURE}
        )
    )
    listed = pictures_of(found, PLACE, 8)
    assert [(one["feature"], one["step"], one["value"], one["width"]) for one in listed] == [
        ("x", None, 0, 200),
        ("x", None, 2, 200),
    ]
    assert len(pictures_of(found, PLACE, 1)) == 1


def test_pictures_of_steps_are_found():
    found = decoded(pr.encode_sequence_example({}, {"f": [PICTURE, b"x", PICTURE]}))
    listed = pictures_of(found, PLACE, 8)
    assert [(one["step"], one["media"]) for one in listed] == [
        (0, "media?file=0&row=3&feature=f&list=1&step=0&value=0"),
        (2, "media?file=0&row=3&feature=f&list=1&step=2&value=0"),
    ]


BBOX = {
    "image__object__bbox__ymin": [0.1, 0.2],
    "image__object__bbox__xmin": [0.3, 0.4],
    "image__object__bbox__ymax": [0.5, 0.6],
    "image__object__bbox__xmax": [0.7, 0.8],
}
SIDES = [[0.1, 0.3, 0.5, 0.7], [0.2, 0.4, 0.6, 0.8]]


def test_boxes_of_the_detection_api():
    found = overlay(
        image__encoded=PICTURE,
        **BBOX,
        image__object__class__text=["cat", "dog"],
        image__object__class__label=[1, 2],
        image__object__is_crowd=[0, 1],
    )
    assert corners(found) == SIDES
    assert [(box["label"], box["text"], box["score"], box["crowd"]) for box in found["boxes"]] == [
        (1, "cat", None, False),
        (2, "dog", None, True),
    ]
    assert (found["note"], found["feature"]) == (None, "image/encoded")


def test_predicted_boxes_have_scores_and_are_marked():
    found = overlay(
        **{name.replace("object", "detection"): value for name, value in BBOX.items()},
        image__detection__score=[0.5, 0.25],
        image__detection__label=[3, 4],
    )
    assert corners(found) == SIDES
    assert [(box["score"], box["label"], box["detection"]) for box in found["boxes"]] == [
        (0.5, 3, True),
        (0.25, 4, True),
    ]


@pytest.mark.parametrize("name", ["objects__bbox", "faces__bbox", "image__object__bbox"])
def test_boxes_of_tfds_are_four_numbers_in_turn(name):
    label = name.replace("bbox", "label")
    found = overlay(image=PICTURE, **{name: SIDES, label: [5, 6]})
    assert corners(found) == SIDES
    assert [box["label"] for box in found["boxes"]] == [5, 6]


def test_boxes_in_pixels_are_recognised():
    found = overlay(image=PICTURE, objects__bbox=[10, 20, 50, 200])
    assert (corners(found), found["note"]) == ([[0.1, 0.1, 0.5, 1]], "the boxes are in pixels")
    found = overlay(image__height=[100], image__width=[200], objects__bbox=[10, 20, 50, 200])
    assert corners(found) == [[0.1, 0.1, 0.5, 1]]
    found = overlay(objects__bbox=[10, 20, 50, 200], label=1)
    assert (found["boxes"], found["note"]) == (
        [],
        "the boxes are in pixels, and the size of the picture is not known",
    )


def test_odd_boxes_are_named_and_never_an_error():
    found = overlay(image=PICTURE, objects__bbox=[float("nan")] * 4 + [0.5, 0.5, 0.1, 0.1])
    assert (corners(found), found["note"]) == (
        [[0.5, 0.5, 0.1, 0.1]],
        "1 boxes are not finite; some boxes end before they begin",
    )
    found = overlay(**{**BBOX, "image__object__bbox__xmax": [0.7]})
    assert (corners(found), found["note"]) == (
        SIDES[:1],
        "image/object/bbox: the sides of the boxes differ in number",
    )
    assert overlay(objects__bbox=[1.0, 2.0, 3.0]) is None
    found = overlay(image=PICTURE, objects__bbox=[0.5] * 4 * 1000)
    assert (len(found["boxes"]), found["note"]) == (MOST_BOXES, "the first 200 of 1,000 boxes")


@pytest.mark.parametrize("name", ["image__object__mask", "image__segmentation__object"])
def test_masks_are_pictures_by_the_number_of_their_box(name):
    found = overlay(image__encoded=PICTURE, **BBOX, **{name: [PICTURE, b"broken", PICTURE]})
    assert [mask["box"] for mask in found["masks"]] == [0, 2]
    assert found["masks"][1]["media"].endswith("&value=2")


@pytest.mark.parametrize(
    ("features", "labels"),
    [
        ({"label": 3}, [{"text": None, "label": 3}]),
        ({"image__class__label": 3, "image__class__text": "cat"}, [{"text": "cat", "label": 3}]),
        ({"label": "cat"}, [{"text": "cat", "label": None}]),
        ({"image__class__synset": "n01"}, [{"text": "n01", "label": None}]),
    ],
)
def test_classes_of_the_whole_picture(features, labels):
    assert overlay(image=PICTURE, **features)["labels"] == labels
