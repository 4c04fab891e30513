"""The conventions for storing pictures in Examples: tables of features, one for each convention.

A table says for every feature its name, its kind, where its value comes from, and what a source must have
for it. This module must not know sources nor files.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....payload.encode.cells import Cells
from ....payload.encode.examples import encode_examples
from ....payload.wire import BYTES, FLOAT, INT64
from ....records import Records
from ..column_types import NAMES
from .coco_masks import mask_png
from .label_map import LabelMap
from .picture import Contents, Loaded

_COLOURS = {1: b"Gray", 2: b"GrayAlpha", 3: b"RGB", 4: b"RGBA"}


class Feature(NamedTuple):
    """One feature of a convention: ``value`` takes a picture and the classes; ``many`` says it is a list.

    ``needs`` is what a source must have: "classes", "boxes", "captions", or a field of a ``Box``.
    """

    name: str
    kind: int
    value: Callable[[Loaded, LabelMap], Any]
    many: bool = False
    needs: str = ""


class Style(NamedTuple):
    """A convention. ``label_map`` says whether its readers expect a label_map.pbtxt."""

    features: tuple[Feature, ...]
    label_map: bool = False

    def of(self, contents: Contents) -> Style:
        """The convention with only the features that a source has."""
        has = {*contents.fields}
        has |= {name for name in ("classes", "boxes", "captions") if getattr(contents, name)}
        kept = tuple(feature for feature in self.features if not feature.needs or feature.needs in has)
        return self._replace(features=kept)

    def types(self) -> dict[str, str]:
        """Each feature in a few words."""
        return {
            feature.name: NAMES[feature.kind] + (" list" if feature.many else "") for feature in self.features
        }

    def records(self, pictures: Sequence[Loaded], labels: LabelMap) -> Records:
        """The Examples of some pictures."""
        cells = {feature.name: _cells(feature, pictures, labels) for feature in self.features}
        return encode_examples(cells)


def _cells(feature: Feature, pictures: Sequence[Loaded], labels: LabelMap) -> Cells:
    found = [feature.value(picture, labels) for picture in pictures]
    counts = np.ones(len(found), np.int64)
    if feature.many:
        counts = np.fromiter(map(len, found), np.int64, len(found))
        found = [value for values in found for value in values]
    if feature.kind == BYTES:
        return Cells(
            BYTES,
            [
                value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
                for value in found
            ],
            counts,
        )
    return Cells(feature.kind, np.array(found, np.float32 if feature.kind == FLOAT else np.int64), counts)


def _of_boxes(field: str) -> Callable[[Loaded, LabelMap], Any]:
    return lambda loaded, labels: [getattr(box, field) for box in loaded.boxes]


def _pixels(field: str, side: str) -> Callable[[Loaded, LabelMap], Any]:
    return lambda loaded, labels: [getattr(box, field) * getattr(loaded.header, side) for box in loaded.boxes]


def _number(loaded: Loaded, labels: LabelMap) -> int:
    return labels.number(str(loaded.picture.class_name), loaded.picture.place)


def _numbers(loaded: Loaded, labels: LabelMap) -> list[int]:
    return [labels.number(box.name, loaded.picture.place) for box in loaded.boxes]


def _areas(loaded: Loaded, labels: LabelMap) -> list[float]:
    pixels = loaded.header.height * loaded.header.width
    return [
        (box.xmax - box.xmin) * (box.ymax - box.ymin) * pixels if box.area is None else box.area
        for box in loaded.boxes
    ]


def _corners(loaded: Loaded) -> list[float]:
    return [edge for box in loaded.boxes for edge in (box.ymin, box.xmin, box.ymax, box.xmax)]


def _masks(loaded: Loaded, labels: LabelMap) -> list[bytes]:
    height, width = loaded.picture.frame or (loaded.header.height, loaded.header.width)
    try:
        return [mask_png(box.mask, int(height), int(width)) for box in loaded.boxes]
    except ValueError as error:
        raise ValueError(f"{loaded.picture.path}: {error}") from None


_ENCODED = Feature("image/encoded", BYTES, lambda loaded, labels: loaded.data)
_HEIGHT = Feature("image/height", INT64, lambda loaded, labels: loaded.header.height)
_WIDTH = Feature("image/width", INT64, lambda loaded, labels: loaded.header.width)
_CLASS = Feature("", BYTES, lambda loaded, labels: loaded.picture.class_name, needs="classes")
_BOX_CLASSES = Feature("", BYTES, _of_boxes("name"), many=True, needs="boxes")

# The names that the TF Object Detection API reads, and its scripts write.
DETECTION = Style(
    (
        _ENCODED,
        Feature("image/format", BYTES, lambda loaded, labels: loaded.header.format.lower()),
        _HEIGHT,
        _WIDTH,
        Feature("image/filename", BYTES, lambda loaded, labels: loaded.picture.name),
        Feature(
            "image/source_id",
            BYTES,
            lambda loaded, labels: loaded.picture.source_id or loaded.picture.name,
        ),
        Feature("image/key/sha256", BYTES, lambda loaded, labels: hashlib.sha256(loaded.data).hexdigest()),
        _CLASS._replace(name="image/class/text"),
        Feature("image/class/label", INT64, _number, needs="classes"),
        Feature("image/caption", BYTES, lambda loaded, labels: loaded.picture.captions, True, "captions"),
        Feature("image/object/bbox/xmin", FLOAT, _of_boxes("xmin"), True, "boxes"),
        Feature("image/object/bbox/xmax", FLOAT, _of_boxes("xmax"), True, "boxes"),
        Feature("image/object/bbox/ymin", FLOAT, _of_boxes("ymin"), True, "boxes"),
        Feature("image/object/bbox/ymax", FLOAT, _of_boxes("ymax"), True, "boxes"),
        _BOX_CLASSES._replace(name="image/object/class/text"),
        Feature("image/object/class/label", INT64, _numbers, True, "boxes"),
        Feature("image/object/difficult", INT64, _of_boxes("difficult"), True, "difficult"),
        Feature("image/object/truncated", INT64, _of_boxes("truncated"), True, "truncated"),
        Feature("image/object/view", BYTES, _of_boxes("view"), True, "view"),
        Feature("image/object/is_crowd", INT64, _of_boxes("is_crowd"), True, "is_crowd"),
        Feature("image/object/area", FLOAT, _areas, True, "area"),
        Feature("image/object/mask", BYTES, _masks, True, "mask"),
    ),
    label_map=True,
)

# The names of the ImageNet files for TPUs: labels from 1 on in the order of the synsets, which name folders.
IMAGENET = Style(
    (
        _ENCODED,
        Feature("image/format", BYTES, lambda loaded, labels: loaded.header.format.upper()),
        _HEIGHT,
        _WIDTH,
        Feature("image/channels", INT64, lambda loaded, labels: loaded.header.channels),
        Feature("image/colorspace", BYTES, lambda loaded, labels: colours(loaded)),
        Feature("image/filename", BYTES, lambda loaded, labels: os.path.basename(loaded.picture.name)),
        Feature("image/class/label", INT64, _number, needs="classes"),
        _CLASS._replace(name="image/class/synset"),
    )
)

# Short names; labels from 0 on, edges of boxes in pixels.
PLAIN = Style(
    (
        Feature("image", BYTES, lambda loaded, labels: loaded.data),
        Feature("height", INT64, lambda loaded, labels: loaded.header.height),
        Feature("width", INT64, lambda loaded, labels: loaded.header.width),
        Feature("filename", BYTES, lambda loaded, labels: loaded.picture.name),
        Feature("label", INT64, lambda loaded, labels: _number(loaded, labels) - 1, needs="classes"),
        _CLASS._replace(name="class"),
        Feature("caption", BYTES, lambda loaded, labels: loaded.picture.captions, True, "captions"),
        Feature("boxes/xmin", FLOAT, _pixels("xmin", "width"), True, "boxes"),
        Feature("boxes/ymin", FLOAT, _pixels("ymin", "height"), True, "boxes"),
        Feature("boxes/xmax", FLOAT, _pixels("xmax", "width"), True, "boxes"),
        Feature("boxes/ymax", FLOAT, _pixels("ymax", "height"), True, "boxes"),
        Feature(
            "boxes/label",
            INT64,
            lambda loaded, labels: [number - 1 for number in _numbers(loaded, labels)],
            True,
            "boxes",
        ),
        _BOX_CLASSES._replace(name="boxes/class"),
    )
)

# The names of tensorflow-datasets; labels from 0 on, boxes as ymin, xmin, ymax, xmax.
TFDS = Style(
    (
        Feature("image", BYTES, lambda loaded, labels: loaded.data),
        Feature("file_name", BYTES, lambda loaded, labels: loaded.picture.name),
        Feature(
            "label", INT64, lambda loaded, labels: labels.place(_number(loaded, labels)), needs="classes"
        ),
        Feature("captions", BYTES, lambda loaded, labels: loaded.picture.captions, True, "captions"),
        Feature("objects/bbox", FLOAT, lambda loaded, labels: _corners(loaded), True, "boxes"),
        Feature(
            "objects/label",
            INT64,
            lambda loaded, labels: [labels.place(number) for number in _numbers(loaded, labels)],
            True,
            "boxes",
        ),
        Feature("objects/is_difficult", INT64, _of_boxes("difficult"), True, "difficult"),
        Feature("objects/is_truncated", INT64, _of_boxes("truncated"), True, "truncated"),
        Feature("objects/is_crowd", INT64, _of_boxes("is_crowd"), True, "is_crowd"),
        Feature("objects/area", FLOAT, _areas, True, "area"),
    )
)

STYLES = {"detection": DETECTION, "imagenet": IMAGENET, "plain": PLAIN, "tfds": TFDS}


def colours(loaded: Loaded) -> bytes:
    """The name of a picture's colours, as ImageNet's files have it."""
    header = loaded.header
    return b"CMYK" if header.format == "JPEG" and header.channels == 4 else _COLOURS.get(header.channels, b"")
