"""Image folders: a folder for each class, numbered as torchvision does it, or a CSV that names the classes.

This module must not know conventions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count

from ....records import Records
from ..job import Job
from ..outputs import name_of
from .annotation_text import csv_rows
from .label_map import LabelMap
from .new_files import NewFiles, safe_name
from .picture import Contents, Picture
from .picture_files import OTHER_SUFFIXES, PictureFiles, files_below, is_folder, is_picture
from .source import Source, local_path_of, locate, records_of_source
from .stored import Stored
from .written import parts_of, write_folder

_NO_CLASS = "unlabelled"
_SMALL_NUMBER = re.compile("0|[1-9][0-9]{0,8}")
_NOTED = 10  # classes that notes name


def recognizes(path: str) -> bool:
    """Whether a folder has pictures, in itself or in the folders inside it."""
    inner = [path, *(entry.path for entry in os.scandir(path) if is_folder(entry))]
    return any(is_picture(name) for folder in inner for name in os.listdir(folder))


def read(job: Job) -> Iterable[Records]:
    """The pictures of folders, class after class."""
    folders = [local_path_of(source) for source in job.sources]
    for folder in folders:
        if not os.path.isdir(folder):
            raise NotADirectoryError(
                20, "a folder with a folder of pictures for each class is needed", folder
            )
    found = _by_class if job.options["labels"] is None else _labelled
    source = found(job, folders)
    if not source.pictures:
        raise ValueError(f"{', '.join(folders)}: there are no pictures in this folder")
    return records_of_source(job, source)


def _by_class(job: Job, folders: list[str]) -> Source:
    """The pictures in the folders of classes; those in no such folder, if there are only those."""
    pictures, loose = [], []
    classes: set[str] = set()
    for folder in folders:
        inner = sorted(e.name for e in os.scandir(folder) if is_folder(e) and not e.name.startswith("."))
        classes |= set(inner)
        for name in inner:
            for path in _pictures(job, os.path.join(folder, name), folder):
                stored = f"{name}/{path}".replace(os.sep, "/")
                pictures.append(Picture(os.path.join(folder, name, path), stored, class_name=name))
        for name in sorted(os.listdir(folder)):
            if is_picture(name) and not name.startswith("."):
                loose.append(Picture(os.path.join(folder, name), name))
    if not pictures:
        where = ", ".join(folders)
        job.report.note(f"{where} has no folders of classes, so the pictures have no classes")
        return Source(loose, Contents(), LabelMap.of(()))
    for picture in loose:
        job.report.skip("pictures beside the folders of classes", picture.path)
    if empty := sorted(classes - {str(picture.class_name) for picture in pictures}):
        job.report.note(f"classes without pictures: {len(empty):,}, first {empty[0]!r}")
    if len(folders) > 1:
        pictures.sort(key=lambda picture: str(picture.class_name))
    return Source(pictures, Contents(classes=True), LabelMap.of(sorted(classes)))


def _pictures(job: Job, folder: str, root: str) -> Iterator[str]:
    """The names of pictures below a folder."""
    # A folder before those inside it, and all of these by their paths: so torchvision sorts them.
    for name in sorted(files_below(folder, root), key=os.path.split):
        if is_picture(name):
            yield name
        elif name.lower().endswith(OTHER_SUFFIXES):
            job.report.skip("pictures in formats that TensorFlow does not read", os.path.join(folder, name))


def _labelled(job: Job, folders: list[str]) -> Source:
    """The pictures that a CSV names, with their classes."""
    files = PictureFiles(*folders)
    path = job.options["labels"]
    rows = list(_rows(path))
    if not rows:
        raise ValueError(f"{name_of(path)}: it names no pictures")
    pictures = [Picture("", name, place, class_name=label) for place, name, label in rows]
    locate(job, pictures, files)
    return Source(pictures, Contents(classes=True), _numbered({row[2] for row in rows}))


def _numbered(names: set[str]) -> LabelMap:
    """Classes in order; ones that are whole numbers from 0 on keep these, which are one less than labels."""
    if names and all(map(_SMALL_NUMBER.fullmatch, names)):
        return LabelMap.numbered({int(name) + 1: name for name in names})
    return LabelMap.of(sorted(names))


def _rows(path: str) -> Iterator[tuple[str, str, str]]:
    """Where each row of a CSV of labels stands, its file name, and its class."""
    seen: dict[str, str] = {}
    rows = csv_rows(path)
    place, header = next(rows, (f"{path}: line 1", []))
    if len(header) < 2 or is_picture(header[0]):
        raise ValueError(f"{place}: a header with two columns is needed, the file name and the class")
    for place, cells in rows:
        row = [cell.strip() for cell in cells]
        if not any(row):
            continue
        if len(row) < 2 or not row[0] or not row[1]:
            raise ValueError(f"{place}: a file name and a class are needed")
        if seen.setdefault(row[0], row[1]) != row[1]:
            raise ValueError(f"{place}: {row[0]!r} has two classes, {seen[row[0]]!r} and {row[1]!r}")
        yield place, row[0], row[1]


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """A folder for each class; where records have no classes, the pictures alone."""
    stored = Stored(job)
    stored.use(classes=True)
    has_classes = bool(stored.roles.class_name or stored.roles.class_number)

    def fill(files: NewFiles) -> None:
        folders: dict[str | None, str] = {}  # by class
        for loaded in stored.pictures():
            parts = parts_of(files, loaded)
            if has_classes:
                name = loaded.picture.class_name
                folder = folders.get(name) or folders.setdefault(name, _folder(name, set(folders.values())))
                parts = parts if parts[0] == folder and len(parts) > 1 else [folder, *parts]
            files.add(parts, loaded.data)
        changed = [(name, folder) for name, folder in folders.items() if name != folder]
        for name, folder in changed[:_NOTED]:
            what = "pictures without a class" if name is None else f"class {name!r}"
            job.report.note(f"{what}: in the folder {folder}")
        if len(changed) > _NOTED:
            job.report.note(f"classes whose folders have other names: {len(changed):,}")

    return write_folder(job, fill)


def _folder(name: str | None, taken: set[str]) -> str:
    """The folder of a class; one of its own on systems that know no capitals, too."""
    safe = safe_name(_NO_CLASS if name is None else name)
    known = {folder.lower() for folder in taken}
    numbered = (f"{safe}-{number}" for number in count(1))
    return next(folder for folder in chain([safe], numbered) if folder.lower() not in known)
