"""The pictures of a record, found by what the bytes are, and what the usual features say is on them.

Boxes, masks and class names come from the names of the TF Object Detection API, of ImageNet's files and of
tensorflow-datasets, old and new ones. Boxes in pixels are recognised. This module does not draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..payload.wire import BYTES, FLOAT, INT64
from ..tools.inspect.content import PICTURES, content_of
from .cells import Place, bytes_value, numbers
from .decoded import Decoded

MOST_BOXES = 200
_MASKS = ("image/object/mask", "image/segmentation/object", "image/object/segment/mask")
# With what pictures begin: a quick look, as a record may have a million strings.
_FIRST = {b"\xff", b"\x89", b"G", b"R", b"B"}
_NOT_PICTURES = {*_MASKS, "image/segmentation/class"}
# The sides of a box, in the order of tensorflow-datasets.
_SIDES = ("ymin", "xmin", "ymax", "xmax")


class _Boxed(NamedTuple):
    """The names of the features that hold boxes, as four features, and what else is known of each box."""

    bbox: str
    labels: tuple[str, ...]
    texts: tuple[str, ...]
    scores: tuple[str, ...] = ()
    crowds: tuple[str, ...] = ()
    detection: bool = False


_FOUR = (
    _Boxed(
        "image/object/bbox",
        ("image/object/class/label",),
        ("image/object/class/text",),
        ("image/object/score",),
        ("image/object/is_crowd",),
    ),
    _Boxed(
        "image/detection/bbox",
        ("image/detection/label", "image/detection/class/label"),
        ("image/detection/class/text", "image/detection/text"),
        ("image/detection/score",),
        detection=True,
    ),
)
_CLASS_TEXTS = ("image/class/text", "image/class/synset", "class/text")
_CLASS_LABELS = ("image/class/label", "label")
_PIXELS_FROM = 2.0  # a coordinate above this is no share of a picture


def pictures_of(found: Decoded, place: Place, most: int) -> list[dict[str, Any]]:
    """The pictures of a record, those that are masks excepted."""
    listed: list[dict[str, Any]] = []
    for name, step, number, data in _strings(found):
        if len(listed) >= most:
            break
        if data[:1] in _FIRST and name not in _NOT_PICTURES and content_of(data[:64]) in PICTURES:
            value = bytes_value(data, place.of(name, step), number, 0)
            listed.append({"feature": name, "step": step, "value": number, **value})
    return listed


def _strings(found: Decoded) -> Iterator[tuple[str, int | None, int, bytes]]:
    """The strings of a record: the feature, the step of a feature list, the number, the string."""
    for name, (kind, values) in found.features.items():
        if kind == BYTES:
            yield from ((name, None, number, data) for number, data in enumerate(values))
    for name, steps in found.lists.items():
        for step, (kind, values) in enumerate(steps):
            if kind == BYTES:
                yield from ((name, step, number, data) for number, data in enumerate(values))


def overlay_of(found: Decoded, place: Place, pictures: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What is on the first picture; None if nothing is known of it."""
    size = _size(found, pictures)
    notes: list[str] = []
    boxes = [box for boxes in _all_boxes(found, size, notes) for box in boxes]
    masks = _masks(found, place)
    labels = _labels(found)
    if not boxes and not masks and not labels:
        return None
    feature = pictures[0]["feature"] if pictures else None
    return {
        "boxes": boxes,
        "masks": masks,
        "labels": labels,
        "note": "; ".join(notes) or None,
        "feature": feature,
    }


def with_names(overlay: dict[str, Any] | None, names: Mapping[int, str]) -> dict[str, Any] | None:
    """What is on a picture, with the names of classes that have only numbers."""
    if overlay is None or not names:
        return overlay
    named = {
        part: [
            one | {"text": names.get(one["label"])} if one["text"] is None else one for one in overlay[part]
        ]
        for part in ("boxes", "labels")
    }
    return overlay | named


def _size(found: Decoded, pictures: list[dict[str, Any]]) -> tuple[float, float] | None:
    """The height and width of the first picture: its own, or as features state them."""
    for one in pictures:
        if one["width"]:
            return float(one["height"]), float(one["width"])
    stated = [_array(found, name) for name in ("image/height", "image/width")]
    if all(len(side) == 1 and side[0] > 0 for side in stated):
        return float(stated[0][0]), float(stated[1][0])
    return None


def _all_boxes(
    found: Decoded, size: tuple[float, float] | None, notes: list[str]
) -> Iterator[list[dict[str, Any]]]:
    for names in _FOUR:
        sides = [_array(found, f"{names.bbox}/{side}") for side in _SIDES]
        count = min(map(len, sides))
        if len({len(side) for side in sides}) > 1:
            notes.append(f"{names.bbox}: the sides of the boxes differ in number")
        if count:
            corners = np.stack([side[:count] for side in sides], axis=1).astype(np.float64)
            yield _boxes(found, names, corners, size, notes)
    for name, (kind, values) in found.features.items():
        prefix, _, last = name.rpartition("/")
        if last == "bbox" and kind in (FLOAT, INT64) and len(values) and not len(values) % 4:
            corners = np.asarray(values, np.float64).reshape(-1, 4)
            yield _boxes(found, _beside(f"{prefix}/" if prefix else ""), corners, size, notes)


def _beside(prefix: str) -> _Boxed:
    """The names beside a feature ``bbox`` that holds the four sides of each box in turn."""
    if not prefix:  # a label beside it is that of the picture
        return _Boxed("bbox", (), ())
    labels = (f"{prefix}label", f"{prefix}class/label")
    return _Boxed(f"{prefix}bbox", labels, (f"{prefix}class/text", *labels), (), (f"{prefix}is_crowd",))


def _boxes(found: Decoded, names: _Boxed, corners: Any, size: Any, notes: list[str]) -> list[dict[str, Any]]:
    """Boxes as shares of the picture; what is odd about them is added to ``notes``."""
    finite = np.isfinite(corners).all(axis=1)
    if not finite.all():
        notes.append(f"{int((~finite).sum()):,} boxes are not finite")
    if finite.any() and corners[finite].max() > _PIXELS_FROM:
        if size is None:
            notes.append("the boxes are in pixels, and the size of the picture is not known")
            return []
        notes.append("the boxes are in pixels")
        corners = corners / np.array([*size, *size])
    if bool((corners[finite][:, :2] > corners[finite][:, 2:]).any()):
        notes.append("some boxes end before they begin")
    labels, texts = _first(found, names.labels), _texts(found, names.texts)
    scores, crowds = _first(found, names.scores), _first(found, names.crowds)
    made = []
    shown = np.flatnonzero(finite)
    if len(shown) > MOST_BOXES:
        notes.append(f"the first {MOST_BOXES} of {len(shown):,} boxes")
    for number in shown[:MOST_BOXES].tolist():
        box: dict[str, Any] = dict(zip(_SIDES, corners[number].tolist(), strict=True))
        box |= {
            "label": numbers(labels[number : number + 1])[0] if number < len(labels) else None,
            "text": texts[number] if number < len(texts) else None,
            "score": numbers(scores[number : number + 1])[0] if number < len(scores) else None,
            "crowd": bool(number < len(crowds) and crowds[number]),
            "detection": names.detection,
        }
        made.append(box)
    return made


def _masks(found: Decoded, place: Place) -> list[dict[str, Any]]:
    for name in _MASKS:
        strings = found.strings(name)[:MOST_BOXES]
        values = [bytes_value(data, place.of(name), number, 0) for number, data in enumerate(strings)]
        shown = [
            {"thumb": value["thumb"], "media": value["media"], "box": number}
            for number, value in enumerate(values)
            if value["media"]
        ]
        if shown:
            return shown
    return []


def _labels(found: Decoded) -> list[dict[str, Any]]:
    """The classes of the whole picture."""
    texts, labels = _texts(found, _CLASS_TEXTS), _first(found, _CLASS_LABELS)
    if not texts:
        texts = _texts(found, ("label", "class"))
    count = min(max(len(texts), len(labels)), 20)
    return [
        {
            "text": texts[number] if number < len(texts) else None,
            "label": numbers(labels[number : number + 1])[0] if number < len(labels) else None,
        }
        for number in range(count)
    ]


def _array(found: Decoded, name: str) -> Any:
    kind, values = found.features.get(name, (0, None))
    return values if kind in (FLOAT, INT64) else np.zeros(0)


def _first(found: Decoded, names: tuple[str, ...]) -> Any:
    """The numbers of the first of these features that has any."""
    return next((array for name in names if len(array := _array(found, name))), np.zeros(0))


def _texts(found: Decoded, names: tuple[str, ...]) -> list[str]:
    """The texts of the first of these features that has any."""
    for name in names:
        strings = found.strings(name)[: MOST_BOXES + 1]
        if strings:
            return [string[:200].decode("utf-8", "replace") for string in strings]
    return []
