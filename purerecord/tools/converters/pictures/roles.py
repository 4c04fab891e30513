"""``Roles``: which features of TFRecords hold the pictures, their classes and their boxes.

The names are those of all conventions that ``styles`` writes, and of what others write. This module must not
know records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....payload.wire import BYTES, FLOAT, INT64

# The features that may hold each part of a picture; the first that is there counts.
PICTURES = ("image/encoded", "image", "image_bytes", "encoded")
_FILE_NAMES = ("image/filename", "filename", "file_name")
_SOURCE_IDS = ("image/source_id", "image/id")
_CLASS_NAMES = ("image/class/text", "image/class/synset", "class", "label")
_CLASS_NUMBERS = ("image/class/label", "label")
_EDGES = ("xmin", "ymin", "xmax", "ymax")
# The fields of ``Box``, their kinds, and the features that may hold them.
_FIELDS = {
    "difficult": (INT64, ("image/object/difficult",)),
    "truncated": (INT64, ("image/object/truncated",)),
    "view": (BYTES, ("image/object/view",)),
    "is_crowd": (INT64, ("image/object/is_crowd", "objects/is_crowd")),
    "area": (FLOAT, ("image/object/area", "image/object/segment/area", "objects/area")),
    "mask": (BYTES, ("image/object/mask", "image/segmentation/object")),
}
# What a picture's own file says too.
_IN_THE_FILE = frozenset(
    prefix + name
    for prefix in ("image/", "")
    for name in ("height", "width", "channels", "colorspace", "format", "key/sha256", "depth")
)
# Conventions that number classes from 1 on.
_FROM_ONE = ("image/class/label", "image/object/class/label")


class BoxFeatures(NamedTuple):
    """The features of boxes: ``edges`` are four, or one of ymin, xmin, ymax, xmax for each box."""

    edges: tuple[str, ...]
    names: str
    numbers: str
    pixels: bool = False


_BOXES = (
    BoxFeatures(
        tuple(f"image/object/bbox/{edge}" for edge in _EDGES),
        "image/object/class/text",
        "image/object/class/label",
    ),
    BoxFeatures(tuple(f"boxes/{edge}" for edge in _EDGES), "boxes/class", "boxes/label", pixels=True),
    BoxFeatures(("objects/bbox",), "", "objects/label"),
)


@dataclass(frozen=True)
class Roles:
    """The feature for each part; "" or None for what is not there. ``fields`` is by field of ``Box``."""

    picture: str
    file_name: str
    source_id: str
    class_name: str
    class_number: str
    boxes: BoxFeatures | None
    fields: Mapping[str, str]

    @classmethod
    def of(cls, kinds: Mapping[str, int], picture: str | None, label: str | None) -> Roles:
        """The roles of features of some kinds; ``picture`` and ``label`` are those that the caller names."""

        def first(names: Iterable[str], kind: int) -> str:
            return next((name for name in names if kinds.get(name) == kind), "")

        return cls(
            first(PICTURES if picture is None else (picture,), BYTES),
            first(_FILE_NAMES, BYTES),
            next((name for name in _SOURCE_IDS if name in kinds), ""),
            first(_CLASS_NAMES if label is None else (label,), BYTES),
            first(_CLASS_NUMBERS if label is None else (label,), INT64),
            next((boxes for boxes in _BOXES if first(boxes.edges, FLOAT)), None),
            {field: found for field, (kind, names) in _FIELDS.items() if (found := first(names, kind))},
        )

    def used(self, *, boxes: bool, classes: bool, fields: Sequence[str] = ()) -> set[str]:
        """The features whose content a format takes."""
        found = {self.picture, self.file_name, self.source_id}
        if boxes and self.boxes is not None:
            found |= {*self.boxes.edges, self.boxes.names, self.boxes.numbers}
            found |= {self.fields[field] for field in fields if field in self.fields}
        if classes:
            found |= {self.class_name, self.class_number}
        return found - {""}


def first_number(feature: str) -> int:
    """The number of the first class in a feature of class numbers."""
    return 1 if feature in _FROM_ONE else 0


def without_place(kinds: Iterable[str], used: set[str]) -> list[str]:
    """The features that get lost where only ``used`` ones are written."""
    return sorted(set(kinds) - used - _IN_THE_FILE)
