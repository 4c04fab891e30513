"""COCO: one JSON of pictures, categories, and annotations with boxes ``[x, y, width, height]``.

The JSON is held in memory; pictures are not. Categories keep their numbers, unless one is below 1: then all
are numbered from 1 on. This module must not know conventions.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

from ....payload.images import ImageError
from ....records import Records
from ..job import Job
from .coco_masks import check_mask, png_mask, runs_of
from .label_map import LabelMap
from .new_files import NewFiles
from .picture import Box, Contents, Loaded, Picture
from .picture_files import PictureFiles, usual_folders
from .source import Source, local_path_of, locate, records_of_source
from .stored import Stored
from .written import IMAGES, parts_of, pixels, write_folder

_SUFFIX = ".json"
_MOST, _MOST_AREA = 1e9, 1e18  # pixels
_MOST_CLASSES = 1 << 31  # which a label map can number
_SHOWN = 60
_INSTANCES = "instances_"  # instances_train2017.json is about the pictures in train2017


def recognizes(path: str) -> bool:
    """Whether a folder has annotations of COCO."""
    return os.path.isdir(path) and bool(_jsons(path))


def read(job: Job) -> Iterable[Records]:
    """The pictures of one JSON or of several, in the order of these."""
    pictures: list[Picture] = []
    names: dict[int, str] = {}
    fields = {"is_crowd", "area"} | ({"mask"} if job.options["masks"] else set())
    seen: Counter[str] = Counter()
    for source in job.sources:
        path = _json_of(local_path_of(source))
        document = _document(path)
        for number, name in _categories(path, document).items():
            if names.setdefault(number, name) != name:
                raise ValueError(
                    f"{path}: category {number} is {name!r}, and {names[number]!r} in a file before"
                )
        found = _pictures(job, path, document, names, seen)
        del document
        locate(job, found, PictureFiles(*_folders(job, path)))
        pictures += found
    if not pictures:
        raise ValueError(f"{', '.join(map(local_path_of, job.sources))}: the JSON lists no pictures")
    if seen["segmentation"] and not job.options["masks"]:
        job.report.note(f"masks that were not taken, as --masks was not given: {seen['segmentation']:,}")
    if seen["keypoints"]:
        job.report.note(f"keypoints, for which the conventions have no feature: {seen['keypoints']:,}")
    boxes = bool(seen["bbox"]) or not seen["caption"]
    contents = Contents(False, boxes, frozenset(fields) if boxes else frozenset(), bool(seen["caption"]))
    if min(names, default=1) < 1:
        job.report.note("a category has a number below 1, so they were numbered from 1 on")
        names = dict(enumerate(names.values(), 1))
    return records_of_source(job, Source(pictures, contents, LabelMap.numbered(names)))


def _jsons(folder: str) -> list[str]:
    """The annotations in a folder: those in its folder annotations, or in itself."""
    inner = os.path.join(folder, "annotations")
    where = inner if os.path.isdir(inner) else folder
    return [os.path.join(where, name) for name in sorted(os.listdir(where)) if name.endswith(_SUFFIX)]


def _json_of(path: str) -> str:
    if not os.path.isdir(path):
        return path
    found = _jsons(path)
    if len(found) != 1:
        shown = ", ".join(found[:6]) + (", ..." if len(found) > 6 else "")
        raise ValueError(f"{path}: name the JSON of annotations" + (f", one of {shown}" if found else ""))
    return found[0]


def _document(path: str) -> dict[str, Any]:
    with open(path, "rb") as file:
        data = file.read()
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: it is no JSON: {error}") from None
    lists = ("images", "annotations")
    if not isinstance(document, dict) or not all(_are_objects(document.get(name)) for name in lists):
        raise ValueError(
            f"{path}: COCO has an object with the lists images, annotations and categories; a table of "
            "JSON has an object on each line (--from jsonl)"
        )
    if not _are_objects(document.setdefault("categories", [])):
        raise ValueError(f"{path}: categories must be a list of objects")
    return document


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _categories(path: str, document: dict[str, Any]) -> dict[int, str]:
    names: dict[int, str] = {}
    for item in document["categories"]:
        number, name = item.get("id"), item.get("name")
        if not isinstance(number, int) or abs(number) >= _MOST_CLASSES or not _is_text(name):
            raise ValueError(
                f"{path}: a category needs a number and a name, not {_short(number)} and {_short(name)} "
                f"(a number is below {_MOST_CLASSES})"
            )
        if number in names or name in names.values():
            raise ValueError(f"{path}: two categories have the number {number} or the name {name!r}")
        names[number] = name
    return dict(sorted(names.items()))


def _pictures(
    job: Job, path: str, document: dict[str, Any], names: dict[int, str], seen: Counter[str]
) -> list[Picture]:
    """The pictures of a document; ``seen`` counts what the annotations have."""
    pictures: dict[Any, Picture] = {}
    for item in document["images"]:
        number, name = item.get("id"), item.get("file_name")
        if not (isinstance(number, int) or _is_text(number)) or not _is_text(name):
            raise ValueError(
                f"{path}: a picture needs id and file_name, not {_short(number)} and {_short(name)}"
            )
        if number in pictures:
            raise ValueError(f"{path}: two pictures have the id {number!r}")
        sides = [item.get(side) for side in ("height", "width")]
        known = all(_is_number(side) and side > 0 for side in sides)
        frame = (float(sides[0] or 0), float(sides[1] or 0)) if known else None
        pictures[number] = Picture("", name, path, source_id=str(number), frame=frame)
    for place, item in enumerate(document["annotations"]):
        seen.update(key for key in ("segmentation", "keypoints", "caption", "bbox") if item.get(key))
        name = f"{path}: annotation {item.get('id', place)!r}"
        number = item.get("image_id")
        picture = pictures.get(number) if isinstance(number, (int, float, str)) else None
        if picture is None:
            job.report.skip("annotations of pictures that the file does not list", name)
        elif isinstance(caption := item.get("caption"), str):
            if caption and not _is_text(caption):
                raise ValueError(f"{name}: its caption has half of a character, which UTF-8 cannot hold")
            picture.captions += (caption,)
        elif (box := _box(item, name, names)) is not None:
            if job.options["masks"]:
                _check_mask(box.mask, name)
            picture.boxes.append(box)
        else:
            job.report.skip("annotations without a box of four numbers", name)
    return list(pictures.values())


def _box(item: dict[str, Any], place: str, names: dict[int, str]) -> Box | None:
    edges = item.get("bbox")
    if not isinstance(edges, list) or len(edges) != 4 or not all(map(_is_number, edges)):
        return None
    kind = item.get("category_id")
    if not isinstance(kind, (int, float)) or kind not in names:
        raise ValueError(f"{place}: category_id {_short(kind)} is not among the categories")
    x, y, width, height = edges
    area = item.get("area")
    return Box(
        names[int(kind)],
        x,
        y,
        x + width,
        y + height,
        is_crowd=int(item.get("iscrowd") in (1, "1")),
        area=area if _is_number(area, _MOST_AREA) else None,
        mask=item.get("segmentation"),
    )


def _check_mask(segmentation: Any, place: str) -> None:
    try:
        check_mask(segmentation)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{place}: {error}") from None


def _is_number(value: Any, most: float = _MOST) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < most


def _is_text(value: Any) -> bool:
    """Whether a value is a name: a string that UTF-8 can hold, also as the name of a file in other bytes."""
    if not isinstance(value, str) or not value:
        return False
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _short(value: Any) -> str:
    """A value as an error shows it."""
    try:
        text = repr(value)
    except ValueError:  # an integer of too many digits
        return "a huge number"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _folders(job: Job, path: str) -> list[str]:
    """Where the pictures of a JSON may be."""
    if job.options["images"]:
        return [job.options["images"]]
    folder, name = os.path.split(path)
    part = os.path.splitext(name)[0].removeprefix(_INSTANCES).removeprefix("captions_")
    around = (folder or ".", os.path.dirname(os.path.abspath(folder)))
    own = [os.path.join(where, inner, part) for where in around for inner in ("", "images")]
    return [found for found in own if os.path.isdir(found)][:1] or usual_folders(folder or ".")


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """``images`` and ``annotations/instances.json``, which is written as the pictures come."""
    stored = Stored(job)
    stored.use(boxes=True, fields=("is_crowd", "area", "mask"))
    labels, ids = stored.number_classes()

    def fill(files: NewFiles) -> None:
        path = os.path.join(files.folder, files.add(["annotations", "instances.json"]))
        rest = path + ".rest"  # the annotations, until all pictures are written
        with open(path, "w+b") as images, open(rest, "w+b") as annotations:
            images.write(b'{"images": [')
            boxes = 0
            for number, loaded in enumerate(stored.pictures(), 1):
                name = files.add([IMAGES, *parts_of(files, loaded)], loaded.data).removeprefix(f"{IMAGES}/")
                key = int(loaded.picture.source_id) if ids else number
                _append(images, _image(key, name, loaded), number)
                for box in loaded.boxes:
                    boxes += 1
                    _append(annotations, _annotation(boxes, key, box, loaded, labels), boxes)
            images.write(b'],\n"annotations": [')
            annotations.seek(0)
            shutil.copyfileobj(annotations, images)
            categories = [{"id": number, "name": name} for number, name in labels.names.items()]
            images.write(f'],\n"categories": {json.dumps(categories)}}}\n'.encode())
        os.unlink(rest)

    return write_folder(job, fill)


def _append(file: BinaryIO, item: dict[str, Any], number: int) -> None:
    file.write((",\n" if number > 1 else "\n").encode() + json.dumps(item).encode())


def _image(key: int, name: str, loaded: Loaded) -> dict[str, Any]:
    return {"id": key, "file_name": name, "width": loaded.header.width, "height": loaded.header.height}


def _annotation(number: int, picture: int, box: Box, loaded: Loaded, labels: LabelMap) -> dict[str, Any]:
    width, height = loaded.header.width, loaded.header.height
    x, y = pixels(box.xmin, width), pixels(box.ymin, height)
    sides = [round(pixels(box.xmax, width) - x, 3), round(pixels(box.ymax, height) - y, 3)]
    return {
        "id": number,
        "image_id": picture,
        "category_id": labels.number(box.name, loaded.picture.name),
        "bbox": [x, y, *sides],
        "area": float(sides[0] * sides[1]) if not _is_number(box.area, _MOST_AREA) else box.area,
        "iscrowd": box.is_crowd,
        "segmentation": [] if box.mask is None else _runs(box.mask, loaded.picture.name),
    }


def _runs(mask: bytes, place: str) -> dict[str, Any]:
    try:
        return runs_of(png_mask(mask))
    except ImageError as error:
        raise ValueError(f"{place}: a mask is broken: {error.reason}") from None
