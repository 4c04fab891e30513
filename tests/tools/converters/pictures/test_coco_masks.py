"""Masks: PNG of zeros and ones, as pycocotools draws them; lengths of runs, there and back."""

from __future__ import annotations

import io
import json
import os
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import purerecord as pr
from purerecord.tools import convert
from purerecord.tools.converters.pictures import coco_masks
from purerecord.tools.converters.pictures.coco_masks import check_mask, mask_png, png, runs_of
from tests.support.interop import interop
from tests.support.picture_folders import png as grey
from tests.support.picture_folders import save

masks = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**30)).map(
    lambda drawn: np.random.default_rng(drawn[2]).integers(0, 2, drawn[:2]).astype(np.uint8)
)


def pixels(data):
    return np.asarray(interop("PIL.Image").open(io.BytesIO(data)))


@given(masks)
def test_a_png_has_the_pixels_of_its_mask(mask):
    assert np.array_equal(pixels(png(mask)), mask)


# pycocotools itself makes arrays in a way that numpy 2 warns about.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@given(masks)
def test_runs_are_those_of_pycocotools(mask):
    library = interop("pycocotools.mask")
    runs = runs_of(mask)
    json.dumps(runs)
    compressed = library.frPyObjects(runs, *mask.shape)
    assert np.array_equal(library.decode(compressed), mask)
    assert compressed == library.encode(np.asfortranarray(mask))
    assert np.array_equal(pixels(mask_png(runs, 1, 1)), mask)
    text = {**compressed, "counts": compressed["counts"].decode()}
    assert np.array_equal(pixels(mask_png(text, 1, 1)), mask)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_polygons_are_drawn_by_pycocotools():
    library = interop("pycocotools.mask")
    polygons = [[1.5, 1, 8, 2, 7, 9], [10, 10, 15, 10, 15, 14.5, 10, 14]]
    expected = library.decode(library.merge(library.frPyObjects(polygons, 20, 30)))
    assert np.array_equal(pixels(mask_png([*polygons, [1, 2]], 20, 30)), expected)
    assert expected.any()
    assert not pixels(mask_png(None, 20, 30)).any()
    assert not pixels(mask_png([], 20, 30)).any()
    assert mask_png(b"done", 1, 1) == b"done"


def test_what_is_no_segmentation_is_an_error():
    interop("pycocotools.mask")
    for good in (None, [], [[1, 2, 3, 4, 5, 6]], {"size": [1, 1], "counts": [1]}):
        check_mask(good)
    sizes = [{"size": size, "counts": [1]} for size in (5, [1], ["x", 1], [1.5, 1], [0, 1], None)]
    for bad in ("x", [[1]], [1], [["a", 1]], [[float("nan"), 1]], [[1e300, 1] * 3], {"counts": []}, *sizes):
        with pytest.raises(ValueError, match="must be polygons, or runs"):
            check_mask(bad)
    for bad in ([5], [2, -1], [0.5, 0.5], "00", 5, None, [], "", "\ud800", "é", "o" * 1_000_000):
        with pytest.raises(ValueError, match="the runs of a mask are not for 1 × 1 pixels"):
            check_mask({"size": [1, 1], "counts": bad})
    with pytest.raises(ValueError, match="whose outline is longer"):
        check_mask([[0, 0, 1e7, 0, 0, 1]])
    with pytest.raises(ValueError, match="too much memory"):
        check_mask({"size": [1 << 20, 1 << 20], "counts": [1]})


def test_masks_are_taken_when_they_are_asked_for(tmp_path, monkeypatch):
    interop("pycocotools.mask")
    monkeypatch.chdir(tmp_path)
    os.mkdir("out")
    save("data/a.png", grey(8, 6))
    polygon = [1, 1, 6, 1, 6, 5, 1, 5]
    note = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 4], "segmentation": [polygon]}
    document = {
        "images": [{"id": 1, "file_name": "a.png", "height": 6, "width": 8}],
        "annotations": [note, {**note, "id": 2, "segmentation": runs_of(np.eye(6, 8))}],
        "categories": [{"id": 1, "name": "cat"}],
    }
    save("data/boxes.json", json.dumps(document))
    convert("data/boxes.json", "out/a.tfrecord", masks=True)
    (row,) = [pr.decode_example(record) for record in pr.read_records("out/a.tfrecord")]
    first, second = row["image/object/mask"]
    assert pixels(first)[1:5, 1:6].all()
    assert pixels(first).sum() == 20
    assert np.array_equal(pixels(second), np.eye(6, 8))


def test_without_pycocotools_the_error_says_how_to_get_it(monkeypatch):
    coco_masks._pycocotools.cache_clear()
    monkeypatch.setitem(sys.modules, "pycocotools", None)
    with pytest.raises(ImportError, match="pip install pycocotools"):
        check_mask([[1, 1, 2, 2, 3, 3]])
    coco_masks._pycocotools.cache_clear()
