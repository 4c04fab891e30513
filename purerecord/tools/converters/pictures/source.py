"""``Source``: what a reader of pictures has found, and the conversion that all such formats share from there.

The label map, the order of the pictures and the convention are settled here, before anything is written.
This module must not know where pictures and annotations come from.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ....records import Records
from ....storage.url import Url, is_url, local_path
from ..inputs import open_plain
from ..job import Job
from ..outputs import name_of, new_file
from .label_map import LabelMap
from .loading import records_of
from .picture import Contents, Picture
from .picture_files import SUFFIX_DIFFERS, PictureFiles, inner_name
from .styles import STYLES
from .tfds_folder import TFDSOutput

LABEL_MAP = "label_map.pbtxt"
NAMED_AGAIN = "pictures that are named several times, so there are as many records of each"


@dataclass
class Source:
    """Pictures in their order, what they have, and their classes as the source numbers them."""

    pictures: list[Picture]
    contents: Contents
    labels: LabelMap

    def classes(self) -> Iterator[tuple[str, str]]:
        """Each class that a picture or a box has, and where that stands."""
        for picture in self.pictures:
            if picture.class_name is not None:
                yield picture.class_name, picture.place or picture.path
            for box in picture.boxes:
                yield box.name, picture.place or picture.path


def records_of_source(job: Job, source: Source) -> Iterable[Records]:
    """The Examples of what a reader has found, in the convention that the job names."""
    contents = source.contents
    job.style = job.style or ("detection" if contents.boxes or contents.captions else "plain")
    style = STYLES[job.style].of(contents)
    labels = source.labels
    folder = TFDSOutput(job) if job.style == "tfds" else None
    if folder is not None:
        labels = folder.labels(labels)
    if job.schema is not None:
        raise ValueError("pictures have no schema; the style says which features there are")
    if (given := job.options.get("label_map")) is not None:
        labels = LabelMap.read(given)
    if labels is not source.labels:
        for name, place in source.classes():
            labels.number(name, place)
    elif style.label_map and len(labels):
        _plan_label_map(job, labels)
    if folder is not None:
        folder.plan(style, labels)
    if (seed := job.options.get("shuffle")) is not None:
        random.Random(seed).shuffle(source.pictures)
    job.report.types = style.types()
    job.report.records = len(source.pictures)
    return records_of(job, source.pictures, style, labels)


def locate(job: Job, pictures: list[Picture], files: PictureFiles) -> None:
    """Set the paths of pictures, of which the names are known; ValueError if none of them is there."""
    located = 0
    counts: Counter[str] = Counter()
    for picture in pictures:
        found = files.find(picture.name)
        picture.name = inner_name(picture.name)
        if found is None:
            # Nothing outside of the folders is opened, wherever a name leads.
            inside = picture.name if ".." not in picture.name.split("/") else os.path.basename(picture.name)
            picture.path = os.path.join(files.folders[0], inside)
            continue
        located += 1
        picture.path = found
        counts[found] += 1
        if os.path.basename(found) != picture.name.rpartition("/")[2]:
            picture.name = "/".join([*picture.name.split("/")[:-1], os.path.basename(found)])
    if pictures and not located:
        first = pictures[0]
        raise ValueError(
            f"{first.place}: {first.name!r} is not in {', '.join(files.folders)}, nor is any other picture "
            "that is named there; say which folder has them, with --images DIR"
        )
    if several := [path for path, count in counts.items() if count > 1]:
        job.report.note(f"{NAMED_AGAIN}: {len(several):,}, first {several[0]}")
    if files.differs:
        job.report.note(f"{SUFFIX_DIFFERS}: {len(files.differs):,}, first {files.differs[0]}")


def broken_annotation(job: Job, error: ValueError) -> None:
    """Count an annotation that cannot be read, or raise the error if the job asks for that."""
    if job.options.get("on_broken") == "raise":
        raise error
    job.report.skip("broken annotations", str(error))


def first_left_out(job: Job) -> str:
    """What was left out first, for the error that there is nothing else."""
    lost = next(iter(job.report.skipped.values()), None)
    return "" if lost is None else f"; the first that cannot be used is {lost.first}"


def local_path_of(source: Any) -> str:
    """The path of a source, which must be on a local disk."""
    if not isinstance(source, (str, bytes, os.PathLike)) or is_url(local_path(source)):
        raise ValueError(f"{name_of(source)}: pictures are read from a local disk; copy them there first")
    return local_path(source)


def _plan_label_map(job: Job, labels: LabelMap) -> None:
    """Write the label map beside the TFRecords at the end; ValueError if another one is there."""
    labels.check_text()
    if hasattr(job.out, "write"):
        job.report.note("a stream has no file beside it, so no label_map.pbtxt was written")
        return
    path = _beside(local_path(job.out))
    with suppress(FileNotFoundError):
        with open_plain(path) as file:
            there = file.read()
        if there == labels.text().encode():
            return
        raise ValueError(
            f"{path}: this label map is there already, and has other classes; give it with --label-map if "
            "its numbers hold here too, or else write to another folder"
        )

    def write(paths: list[str]) -> None:
        with new_file(path) as file:
            file.write(labels.text().encode())
        job.report.note(f"the classes and their numbers are in {path}")

    job.at_end.append(write)


def _beside(path: str) -> str:
    if isinstance(path, Url):
        address = path.address.removesuffix(path.query)
        return path.like(f"{address.rpartition('/')[0]}/{LABEL_MAP}")
    return os.path.join(os.path.dirname(path), LABEL_MAP)
