"""``Stored``: the pictures in TFRecords, whatever convention their features follow.

The records are read once to see which features there are, again for formats that number the classes before
they write the first one, and then for the pictures. This module must not know formats.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ....payload.columns.gather import Column
from ....payload.image_header import image_header
from ....payload.images import ImageError
from ....payload.parse.sequences import natural_batch
from ....payload.wire import BYTES
from ....records import Records
from ....storage.url import is_url
from ....tfds import TFDSFolder
from ..column_types import NAMES
from ..job import Job
from ..row_lists import RowLists, row_lists
from .label_map import LabelMap
from .loading import BROKEN
from .picture import Box, Loaded, Picture
from .roles import PICTURES, BoxFeatures, Roles, first_number, without_place
from .source import LABEL_MAP

_ODD = "boxes that are empty, or reach beyond their picture, written as they are"
_TOLERANCE = 1e-6  # of a side, by which float32 rounds


class _Class(NamedTuple):
    """A class as a record has it: its number counted from 1 on, its name, its number as it stands there."""

    number: int | None
    name: str | None
    stored: str


class Stored:
    """The pictures in the records of a job; ``roles`` are their features."""

    def __init__(self, job: Job) -> None:
        if not job.read_again:
            raise ValueError(
                "pictures are not made of a stream, as records are read twice; save it as a file"
            )
        self._job = job
        self._given = _label_map(job)
        self._kinds: dict[str, int] = {}
        self._with_boxes = False
        for records, columns in self._batches(counted=False):
            self._see(columns)
            job.report.records += len(records)
        self.roles = self._roles()

    def _see(self, columns: dict[str, Column]) -> None:
        for name, column in columns.items():
            kind = self._kinds.setdefault(name, column.kind)
            if column.kind and kind != column.kind:
                if kind:
                    raise ValueError(
                        f"feature {name!r} is {NAMES[kind]} in some records, {NAMES[column.kind]} in others"
                    )
                self._kinds[name] = column.kind

    def number_classes(self) -> tuple[LabelMap, bool]:
        """The classes of all records, and whether each picture has an id of its own that is a number."""
        classes: dict[_Class, None] = {}
        ids: set[int] | None = set()
        for records, columns in self._batches(counted=False):
            rows = _Rows(columns)
            for row in range(len(records)):
                ids = _with_id(ids, rows.text(self.roles.source_id, row))
                with suppress(ValueError):  # it is reported when the picture is read
                    classes |= dict.fromkeys(self._classes(rows, row))
        return self._given or self._found_labels(list(classes)), ids is not None

    def use(self, *, boxes: bool = False, classes: bool = False, fields: Sequence[str] = ()) -> None:
        """Tell the report which features a format takes, and note those for which it has no place."""
        self._with_boxes = boxes
        used = self.roles.used(boxes=boxes, classes=classes, fields=fields)
        report = self._job.report
        report.types = {name: NAMES[kind] for name, kind in sorted(self._kinds.items()) if name in used}
        if left := without_place(self._kinds, used):
            report.note(f"features that {report.to_format} has no place for: {', '.join(left)}")

    def pictures(self) -> Iterator[Loaded]:
        """The pictures, in the order of the records; what is none is counted, or an error, and so is a job
        without any other."""
        skip = self._job.options.get("on_broken") != "raise"
        number = odd = 0
        first_odd = ""
        for records, columns in self._batches(counted=True):
            rows = _Rows(columns)
            for row in range(len(records)):
                try:
                    loaded = self._loaded(rows, row, number + row)
                except ValueError as error:
                    path, place, _ = records.origin(row)
                    reason = error.reason if isinstance(error, ImageError) else str(error)
                    name = f"{path}: record {place}: {reason}"
                    if not skip:
                        raise ValueError(f"{name}; on_broken='skip' leaves such pictures out") from None
                    self._job.report.skip(BROKEN, name)
                    self._job.report.records -= 1
                    continue
                if self._with_boxes and (count := sum(map(_is_odd, loaded.boxes))):
                    path, place, _ = records.origin(row)
                    odd, first_odd = odd + count, first_odd or f"{path}: record {place}"
                yield loaded
            number += len(records)
        if odd:
            self._job.report.note(f"{_ODD}: {odd:,}, first {first_odd}")
        if not self._job.report.records and (lost := self._job.report.skipped.get(BROKEN)) is not None:
            raise ValueError(f"none of the pictures can be used; the first is {lost.first}")

    def _batches(self, *, counted: bool) -> Iterator[tuple[Records, dict[str, Column]]]:
        for records in self._job.batches(counted=counted):
            columns, steps = natural_batch(records, None)
            if steps:
                name = next(iter(steps))
                raise ValueError(
                    f"{name!r} is a feature list, of a SequenceExample; pictures are in Examples"
                )
            yield records, columns

    def _roles(self) -> Roles:
        options, source = self._job.options, self._job.report.sources[0]
        picture, label = options.get("picture_feature"), options.get("label_feature")
        roles = Roles.of(self._kinds, picture, label)
        if not roles.picture and picture is None and (found := self._by_content()) is not None:
            roles = Roles.of(self._kinds, found, label)
        if not roles.picture:
            there = ", ".join(name for name, kind in sorted(self._kinds.items()) if kind == BYTES)
            raise ValueError(
                f"{source}: no feature of bytes is {picture or ' or '.join(PICTURES)}; there is "
                f"{there or 'none'}; say which one holds pictures with --picture-feature"
            )
        if label is not None and not (roles.class_name or roles.class_number):
            raise ValueError(f"{source}: no record has a class in a feature {label!r}")
        return roles

    def _by_content(self) -> str | None:
        """The feature whose first value is a picture."""
        _, columns = next(self._batches(counted=False), (None, {}))
        for name, column in sorted(columns.items()):
            if column.kind == BYTES and len(column.values):
                with suppress(ImageError):
                    image_header(column.values[0])
                    return name
        return None

    # --- Classes ---

    def _classes(self, rows: _Rows, row: int) -> Iterator[_Class]:
        """The class of a record, and those of its boxes."""
        yield from _paired(rows, row, self.roles.class_name, self.roles.class_number)
        if (boxes := self.roles.boxes) is not None:
            yield from _paired(rows, row, boxes.names, boxes.numbers)

    def _found_labels(self, classes: list[_Class]) -> LabelMap:
        """The classes in records, with their numbers if each has one, else in the order of their names."""
        pairs = {(found.number, self._name(found)) for found in classes}
        numbered = {number: name for number, name in pairs if number is not None}
        names = {name for _, name in pairs}
        if len(numbered) == len(names) == len(pairs) and min(numbered, default=1) > 0:
            return LabelMap.numbered(numbered)
        return LabelMap.of(sorted(names))

    def _name(self, found: _Class) -> str:
        """The name of a class: that in the record, that in the label map, or its number there."""
        if found.name is not None:
            return found.name
        known = {} if self._given is None else self._given.names
        return known.get(found.number or 0, found.stored)

    # --- Pictures ---

    def _loaded(self, rows: _Rows, row: int, number: int) -> Loaded:
        data = rows.of(self.roles.picture, row)
        if len(data) != 1:
            raise ValueError(f"feature {self.roles.picture!r} has {len(data)} values, where a picture is one")
        header = image_header(data[0])
        found = next(iter(_paired(rows, row, self.roles.class_name, self.roles.class_number)), None)
        picture = Picture(
            "",
            rows.text(self.roles.file_name, row) or f"{number:08d}",
            source_id=rows.text(self.roles.source_id, row),
            class_name=None if found is None else self._name(found),
        )
        size = (header.width, header.height)
        boxes = [] if self.roles.boxes is None else self._boxes(rows, row, self.roles.boxes, size)
        return Loaded(picture, data[0], header, boxes)

    def _boxes(self, rows: _Rows, row: int, found: BoxFeatures, size: tuple[int, int]) -> list[Box]:
        edges = [rows.of(name, row) for name in found.edges]
        if len(edges) == 1:
            edges = [edges[0][place::4] for place in (1, 0, 3, 2)]
        classes = _paired(rows, row, found.names, found.numbers)
        if len({*map(len, edges), len(classes)}) > 1:
            counts = ", ".join(map(str, (*map(len, edges), len(classes))))
            raise ValueError(f"its boxes have different numbers of edges and classes: {counts}")
        if not all(math.isfinite(edge) for values in edges for edge in values):
            raise ValueError("one of its boxes has an edge that is no number")
        width, height = size if found.pixels else (1, 1)
        boxes = [
            Box(self._name(one), xmin / width, ymin / height, xmax / width, ymax / height)
            for one, xmin, ymin, xmax, ymax in zip(classes, *edges, strict=True)
        ]
        for field, name in self.roles.fields.items():
            for box, value in zip(boxes, rows.of(name, row), strict=False):
                setattr(box, field, value.decode("utf-8", "replace") if field == "view" else value)
        return boxes


def _is_odd(box: Box) -> bool:
    """Whether a box is empty, or not inside its picture."""
    if box.xmin >= box.xmax or box.ymin >= box.ymax:
        return True
    return min(box.xmin, box.ymin) < -_TOLERANCE or max(box.xmax, box.ymax) > 1 + _TOLERANCE


def _paired(rows: _Rows, row: int, names: str, numbers: str) -> list[_Class]:
    """The classes in a record: numbers and names, as far as there are any."""
    # Bytes that are not UTF-8 stay different from each other.
    texts: list[Any] = [text.decode("utf-8", "backslashreplace") for text in rows.of(names, row)]
    first = first_number(numbers)
    labels = rows.of(numbers, row)
    if texts and labels and len(texts) != len(labels):
        raise ValueError(f"{names!r} has {len(texts)} values, and {numbers!r} has {len(labels)}")
    if not labels:
        return [_Class(None, text, "") for text in texts]
    names_or_none = texts or [None] * len(labels)
    return [
        _Class(label + 1 - first, text, str(label)) for label, text in zip(labels, names_or_none, strict=True)
    ]


class _Rows:
    """The values of features in a batch of records, as lists for each record."""

    def __init__(self, columns: dict[str, Column]) -> None:
        self._columns = columns
        self._lists: dict[str, RowLists] = {}

    def of(self, name: str, row: int) -> list[Any]:
        """The values of a feature in a record; none if it is not there."""
        if name not in self._columns:
            return []
        if name not in self._lists:
            self._lists[name] = row_lists(self._columns[name])
        return self._lists[name][row] or []

    def text(self, name: str, row: int) -> str:
        """The first value of a feature as text."""
        value = next(iter(self.of(name, row)), "")
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _with_id(ids: set[int] | None, text: str) -> set[int] | None:
    """The ids of pictures so far; None if there is one that is no number, or that of two."""
    if ids is None or not (text.isascii() and text.isdecimal()) or len(text) > 15 or int(text) in ids:
        return None
    ids.add(int(text))
    return ids


def _label_map(job: Job) -> LabelMap | None:
    """The classes that are given, or lie beside the records."""
    if (given := job.options.get("label_map")) is not None:
        return LabelMap.read(given)
    folder = os.path.dirname(job.sources[0])
    if is_url(job.sources[0]):
        return None
    if os.path.exists(beside := os.path.join(folder, LABEL_MAP)):
        return LabelMap.read(beside)
    if os.path.exists(os.path.join(folder, "features.json")):
        info = TFDSFolder(folder or ".").info
        named = (info[name].names for name in ("label", "objects/label") if name in info)
        return next((LabelMap.of(names) for names in named if names), None)
    return None
