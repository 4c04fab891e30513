"""YOLO: a text file beside each picture, with lines of a class and a box in fractions, and data.yaml.

The labels of ``images/train/a.jpg`` are in ``labels/train/a.txt``, or in ``a.txt`` beside it. A picture
without them shows nothing, as in YOLO. This module must not know conventions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ....records import Records
from ..job import Job
from .annotation_text import read_lines
from .class_names import names_near
from .label_map import LabelMap
from .new_files import NewFiles
from .picture import Box, Contents, Loaded, Picture
from .picture_files import files_below, is_picture
from .source import Source, broken_annotation, first_left_out, local_path_of, records_of_source
from .stored import Stored
from .written import IMAGES, parts_of, write_folder

_PARTS = ("train", "val", "valid", "test")
_LABELS = "labels"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MOST = 1.5  # a fraction beyond is no rounding, but something else, such as pixels
_NOT_CLASSES = ("classes.txt", "train.txt", "val.txt", "test.txt", "readme.txt", "requirements.txt")


@dataclass
class _Noticed:
    """What is to be noted: the labels that are missing, and the lines that have polygons."""

    without: list[str] = field(default_factory=list)
    polygons: list[str] = field(default_factory=list)


def recognizes(path: str) -> bool:
    """Whether a folder has a folder of labels, or a file of YOLO's that names the classes."""
    if not os.path.isdir(path):
        return path.endswith((".yaml", ".yml"))
    labels = os.path.dirname(_label_file(os.path.join(path, "0.jpg")))
    if not os.path.samefile(path, labels if os.path.isdir(labels) else path):
        return any(_texts(labels))  # it is the folder images, or one in it
    names = os.listdir(path)
    return _LABELS in names or any(name in names for name in ("data.yaml", "classes.txt"))


def read(job: Job) -> Iterable[Records]:
    """The pictures of folders, in the order of their names."""
    pictures: list[Picture] = []
    noticed = _Noticed()
    labels = None if job.options["label_map"] is None else LabelMap.read(job.options["label_map"])
    names: dict[int, str] = {}
    for source in job.sources:
        path = local_path_of(source)
        folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
        before = names
        names = dict(enumerate(labels.names.values())) if labels is not None else names_near(path)
        if before not in ({}, names):
            raise ValueError(f"{path}: it has other classes than the folder before; convert them one by one")
        files = sorted(filter(is_picture, files_below(folder)), key=os.path.split)
        _check_one_part(folder, files)
        found = [_picture(job, os.path.join(folder, name), name, names, noticed) for name in files]
        pictures += [picture for picture in found if picture is not None]
        _count_orphans(job, folder, {_label_file(os.path.join(folder, name)) for name in files})
    if not pictures:
        where = ", ".join(map(str, job.sources))
        if "broken annotations" in job.report.skipped:
            raise ValueError(f"{where}: there are no labels that can be used{first_left_out(job)}")
        raise ValueError(f"{where}: there are no pictures in this folder")
    if len(noticed.without) == len(pictures):
        raise ValueError(
            f"{noticed.without[0]}: no such file, nor one for any other picture; is this the folder?"
        )
    _note(job, "pictures without a file of labels, which show nothing", noticed.without)
    _note(job, "polygons, of which the boxes around them were taken", noticed.polygons)
    labels = labels or LabelMap.numbered({number + 1: name for number, name in names.items()})
    return records_of_source(job, Source(pictures, Contents(boxes=True), labels))


def _note(job: Job, what: str, names: list[str]) -> None:
    if names:
        job.report.note(f"{what}: {len(names):,}, first {names[0]}")


def _check_one_part(folder: str, files: list[str]) -> None:
    """ValueError if the pictures of training and those of testing would be mixed."""
    parts = {part: name for name in files for part in name.split(os.sep)[:-1] if part in _PARTS}
    if len(parts) > 1:
        shown = " or ".join(os.path.join(folder, os.path.dirname(name)) for name in parts.values())
        raise ValueError(f"{folder}: it has {' and '.join(parts)}; convert each by itself: name {shown}")


def _label_file(picture: str) -> str:
    """Where the labels of a picture are: beside it, or where the last folder images is called labels."""
    path = os.path.splitext(picture)[0] + ".txt"
    folders, name = os.path.split(os.path.abspath(path))
    parts = folders.split(os.sep)
    if IMAGES not in parts or os.path.exists(path):
        return path
    parts[len(parts) - 1 - parts[::-1].index(IMAGES)] = _LABELS
    other = os.path.join(os.sep.join(parts), name)
    return other if os.path.isabs(picture) else os.path.relpath(other)


def _picture(job: Job, path: str, name: str, names: dict[int, str], noticed: _Noticed) -> Picture | None:
    """A picture and its boxes, or None if its labels are broken."""
    labels = _label_file(path)
    picture = Picture(path, name.removeprefix(IMAGES + os.sep).replace(os.sep, "/"), labels, frame=(1, 1))
    try:
        for number, line in enumerate(read_lines(labels), 1):
            if words := line.split():
                picture.boxes.append(_box(words, names, f"{labels}: line {number}", noticed))
    except FileNotFoundError:
        noticed.without.append(labels)
        picture.place = ""
    except ValueError as error:
        broken_annotation(job, error)
        return None
    return picture


def _box(words: list[str], names: dict[int, str], place: str, noticed: _Noticed) -> Box:
    try:
        kind, values = int(words[0]), [float(word) for word in words[1:]]
    except ValueError:
        raise ValueError(
            f"{place}: a class number and fractions are needed, not {' '.join(words)[:60]!r}"
        ) from None
    if kind not in names:
        raise ValueError(f"{place}: class {kind} has no name; there are names for {_known(names)}")
    if len(values) < 4 or len(values) % 2:
        raise ValueError(f"{place}: 4 fractions are needed after the class, not {len(values)}")
    if not all(-_MOST < value < _MOST for value in values):
        raise ValueError(f"{place}: YOLO has fractions of the picture, from 0 to 1, and no pixels")
    if len(values) > 4:
        noticed.polygons.append(place)
        return Box(names[kind], min(values[::2]), min(values[1::2]), max(values[::2]), max(values[1::2]))
    x, y, width, height = values
    return Box(names[kind], x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def _known(names: dict[int, str]) -> str:
    return f"{min(names)} to {max(names)}" if names else "none"


def _count_orphans(job: Job, folder: str, used: set[str]) -> None:
    """Count the labels whose pictures are missing."""
    for inside in {os.path.dirname(path) for path in used}:
        if os.path.isdir(inside):
            for name in _texts(inside):
                if os.path.join(inside, name) not in used:
                    job.report.skip("labels of pictures that are not there", os.path.join(inside, name))


def _texts(folder: str) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        if name.endswith(".txt") and name.lower() not in _NOT_CLASSES:
            yield name


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """``images`` and ``labels``, in which the files have the same names but for their suffixes, and
    ``data.yaml``. Fractions have six decimals, as is usual."""
    stored = Stored(job)
    stored.use(boxes=True)
    labels, _ = stored.number_classes()
    classes = {name: place for place, name in enumerate(labels.names.values())}

    def fill(files: NewFiles) -> None:
        for loaded in stored.pictures():
            *folders, name = parts_of(files, loaded)
            stem, suffix = os.path.splitext(name)
            labelled = files.add([_LABELS, *folders, stem + ".txt"])
            path = labelled.removeprefix(f"{_LABELS}/").removesuffix(".txt") + suffix
            files.add([IMAGES, *path.split("/")], loaded.data)
            files.replace(labelled, _lines(loaded, classes, labels).encode())
        names = "".join(f"  {place}: {_quoted(name)}\n" for name, place in classes.items())
        files.add(["data.yaml"], f"path: .\ntrain: {IMAGES}\nnames:\n{names}".encode())

    return write_folder(job, fill)


def _lines(loaded: Loaded, classes: dict[str, int], labels: LabelMap) -> str:
    lines = []
    for box in loaded.boxes:
        number = classes.get(box.name)
        if number is None:
            number = classes[labels.names[labels.number(box.name, loaded.picture.name)]]
        values = (
            (box.xmin + box.xmax) / 2,
            (box.ymin + box.ymax) / 2,
            box.xmax - box.xmin,
            box.ymax - box.ymin,
        )
        lines.append(f"{number} {' '.join(f'{value:.6f}' for value in values)}\n")
    return "".join(lines)


def _quoted(name: str) -> str:
    return "'" + _CONTROL.sub(" ", name).replace("'", "''") + "'"
