"""The CSV of ``generate_tfrecord.py``: a row for each box, with the columns ``filename, width, height, class,
xmin, ymin, xmax, ymax``.

This module must not know conventions.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable, Iterable, Iterator

from ....records import Records
from ..job import Job
from .annotation_text import csv_rows
from .label_map import LabelMap
from .new_files import NewFiles
from .picture import Box, Contents, Picture
from .picture_files import PictureFiles, usual_folders
from .source import (
    Source,
    broken_annotation,
    first_left_out,
    local_path_of,
    locate,
    records_of_source,
)
from .stored import Stored
from .written import IMAGES, parts_of, pixels, write_folder

COLUMNS = ("filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax")
_SIZES = ("width", "height")
_EDGES = COLUMNS[4:]
_ENDING = "_labels"  # train_labels.csv is about the pictures in train


def recognizes(path: str) -> bool:
    """Whether a file begins with a line of these columns."""
    if os.path.isdir(path):
        return False
    try:
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            return _missing(next(csv.reader([file.readline(1 << 12)]), [])) == []
    except (OSError, csv.Error):
        return False


def read(job: Job) -> Iterable[Records]:
    """The pictures of one CSV or of several; those of a CSV in the order in which it names them first."""
    pictures: list[Picture] = []
    for source in job.sources:
        path = local_path_of(source)
        found: dict[str, Picture] = {}
        for place, header, cells in _rows(path):
            row = dict(zip(header, cells, strict=False))
            try:
                if any(cells[len(header) :]):
                    raise ValueError(
                        f"{place}: it has {len(cells)} cells, where there are {len(header)} columns"
                    )
                box, frame = _box(row, place)
            except ValueError as error:
                broken_annotation(job, error)
                continue
            name = row["filename"]
            picture = found.setdefault(name, Picture("", name, place, frame=frame))
            if picture.frame != frame:
                raise ValueError(f"{place}: {name!r} has another size than in {picture.place}")
            picture.boxes.append(box)
        locate(job, list(found.values()), PictureFiles(*_folders(job, path)))
        pictures += found.values()
    if not pictures:
        paths = ", ".join(map(local_path_of, job.sources))
        raise ValueError(f"{paths}: there is no row with a box{first_left_out(job)}")
    labels = LabelMap.of(sorted({box.name for picture in pictures for box in picture.boxes}))
    return records_of_source(job, Source(pictures, Contents(boxes=True), labels))


def _folders(job: Job, path: str) -> list[str]:
    """Where the pictures of a CSV may be."""
    if job.options["images"]:
        return [job.options["images"]]
    folder, name = os.path.split(path)
    stem = os.path.splitext(name)[0]
    if stem.endswith(_ENDING) and os.path.isdir(own := os.path.join(folder, stem.removesuffix(_ENDING))):
        return [own]
    return usual_folders(folder or ".")


def _rows(path: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Where each row stands, the names of the columns, and its cells."""
    rows = csv_rows(path)
    place, first = next(rows, (f"{path}: line 1", []))
    header = [name.strip() for name in first]
    if missing := _missing(header):
        raise ValueError(
            f"{place}: the columns {', '.join(COLUMNS)} are needed; {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not there"
        )
    for place, values in rows:
        if any(values):
            yield place, header, [value.strip() for value in values]


def _missing(header: list[str]) -> list[str]:
    there = {name.strip() for name in header}
    return [name for name in COLUMNS if name not in there and name not in _SIZES]


def _box(row: dict[str, str], place: str) -> tuple[Box, tuple[float, float] | None]:
    if not row.get("filename") or not row.get("class"):
        raise ValueError(f"{place}: a file name and a class are needed")
    numbers = {}
    for name in (*_EDGES, *_SIZES):
        text = row.get(name, "")
        try:
            numbers[name] = float(text) if text or name in _EDGES else 0.0
        except ValueError:
            numbers[name] = math.nan
        if not math.isfinite(numbers[name]):
            raise ValueError(f"{place}: {name} is {text!r}, not a number")
    width, height = (numbers[name] for name in _SIZES)
    xmin, ymin, xmax, ymax = (numbers[name] for name in _EDGES)
    box = Box(row["class"], xmin, ymin, xmax, ymax)
    return box, (height, width) if min(width, height) > 0 else None


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """``images``, and ``boxes.csv``. It has a row for each box, so it does not name pictures without any."""
    stored = Stored(job)
    stored.use(boxes=True)

    def fill(files: NewFiles) -> None:
        without = 0
        name = files.add(["boxes.csv"])
        with open(os.path.join(files.folder, name), "w", encoding="utf-8", newline="") as table:
            lines = csv.writer(table, lineterminator="\n")
            lines.writerow(COLUMNS)
            for loaded in stored.pictures():
                path = files.add([IMAGES, *parts_of(files, loaded)], loaded.data).removeprefix(f"{IMAGES}/")
                width, height = loaded.header.width, loaded.header.height
                for box in loaded.boxes:
                    upper = (pixels(box.xmin, width), pixels(box.ymin, height))
                    lower = (pixels(box.xmax, width), pixels(box.ymax, height))
                    lines.writerow([path, width, height, box.name, *upper, *lower])
                without += not loaded.boxes
        if without:
            job.report.note(f"pictures without boxes, which the CSV does not name: {without:,}")

    return write_folder(job, fill)
