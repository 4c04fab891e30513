"""Pascal VOC: an XML file for each picture, as LabelImg writes it.

Edges of boxes are taken as they stand and divided by the size of the picture, as the scripts of the TF Object
Detection API do. This module must not know conventions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from ....records import Records
from ..job import Job
from .annotation_text import read_lines
from .label_map import LabelMap
from .new_files import NewFiles
from .picture import Box, Contents, Loaded, Picture
from .picture_files import PictureFiles, files_below, usual_folders
from .source import Source, broken_annotation, first_left_out, local_path_of, locate, records_of_source
from .stored import Stored
from .written import parts_of, pixels, write_folder

_SUFFIX = ".xml"
_EDGES = ("xmin", "ymin", "xmax", "ymax")
_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
_FIELDS = frozenset({"difficult", "truncated", "view"})


def recognizes(path: str) -> bool:
    """Whether a folder has annotations, in itself or in a folder Annotations."""
    return os.path.isdir(path) and any(name.endswith(_SUFFIX) for name in files_below(_annotations(path)))


def read(job: Job) -> Iterable[Records]:
    """The pictures of annotations, in the order of these."""
    pictures: list[Picture] = []
    by_folder: dict[str, list[str]] = {}
    for source in job.sources:
        path = local_path_of(source)
        folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
        by_folder.setdefault(folder, []).extend(_files(job, path) if os.path.isdir(path) else [path])
    for folder, files in by_folder.items():
        found = list(_pictures(job, files))
        given = job.options["images"]
        there = PictureFiles(*([given] if given else usual_folders(folder)))
        for picture in found:
            # Files are renamed together, and the name inside the XML stays as it was.
            stem = os.path.splitext(os.path.basename(picture.place))[0]
            if not picture.name or there.find(picture.name) is None:
                picture.name = stem if there.find(stem) else picture.name or stem
        there.differs.clear()
        locate(job, found, there)
        pictures += found
    if not pictures:
        where = ", ".join(by_folder)
        raise ValueError(f"{where}: there is no annotation in XML that can be used{first_left_out(job)}")
    labels = LabelMap.of(sorted({box.name for picture in pictures for box in picture.boxes}))
    return records_of_source(job, Source(pictures, Contents(boxes=True, fields=_FIELDS), labels))


def _annotations(path: str) -> str:
    inner = os.path.join(path, "Annotations")
    return inner if os.path.isdir(inner) else path


def _files(job: Job, folder: str) -> Iterator[str]:
    """The annotations in a folder, or those of a part of it that is listed in ImageSets/Main."""
    folder_of_files = _annotations(folder)
    if (split := job.options["split"]) is None:
        for name in files_below(folder_of_files):
            if name.endswith(_SUFFIX):
                yield os.path.join(folder_of_files, name)
        return
    for line in read_lines(os.path.join(folder, "ImageSets", "Main", f"{split}.txt")):
        if words := line.split():
            yield os.path.join(folder_of_files, words[0] + _SUFFIX)


def _pictures(job: Job, files: Iterable[str]) -> Iterator[Picture]:
    for path in files:
        try:
            with open(path, "rb") as file:
                data = file.read()
            yield _parsed(path, data)
        except FileNotFoundError:
            broken_annotation(job, ValueError(f"{path}: no such file"))
        except ValueError as error:
            broken_annotation(job, error)


def _parsed(path: str, data: bytes) -> Picture:
    """The picture that an annotation is about; ValueError if it is broken."""
    if not data.strip():
        raise ValueError(f"{path}: the file is empty; annotate its picture again, or delete both")
    try:
        root = ElementTree.fromstring(data, ElementTree.XMLParser(target=_WithoutEntities()))
    except _EntitiesError:
        raise ValueError(f"{path}: it declares entities, which annotations do not have") from None
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise ValueError(
            f"{path}: it is no XML: {error}; annotate its picture again, or delete both"
        ) from None
    if root.tag != "annotation":
        raise ValueError(f"{path}: it begins with <{root.tag}>, where Pascal VOC has <annotation>")
    size = tuple(_number(root.find(f"size/{side}"), path, side, 0.0) for side in ("height", "width"))
    picture = Picture("", _text(root, "filename"), path, frame=(size[0], size[1]) if min(size) > 0 else None)
    for number, element in enumerate(root.iter("object")):
        picture.boxes.append(_box(element, f"{path}: object {number}"))
    return picture


class _EntitiesError(Exception):
    """An XML that has a document type."""


class _WithoutEntities(ElementTree.TreeBuilder):
    """Builds no tree of what declares entities: these could make gigabytes of a few bytes."""

    def doctype(self, *_: object) -> None:
        raise _EntitiesError


def _box(element: ElementTree.Element, place: str) -> Box:
    name = _text(element, "name")
    if not name:
        raise ValueError(f"{place}: it has no name")
    xmin, ymin, xmax, ymax = (
        _number(element.find(f"bndbox/{edge}"), f"{place}, {name!r}", edge) for edge in _EDGES
    )
    return Box(
        name,
        xmin,
        ymin,
        xmax,
        ymax,
        difficult=int(_number(element.find("difficult"), place, "difficult", 0)),
        truncated=int(_number(element.find("truncated"), place, "truncated", 0)),
        view=_text(element, "pose") or "Unspecified",
    )


def _text(element: ElementTree.Element, name: str) -> str:
    return (element.findtext(name) or "").strip()


def _number(
    element: ElementTree.Element | None, place: str, name: str, otherwise: float | None = None
) -> float:
    text = "" if element is None else (element.text or "").strip()
    if not text and otherwise is not None:
        return otherwise
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not abs(number) < 1e9:
        raise ValueError(
            f"{place}: {name} is {text!r}, not a number" if text else f"{place}: it has no {name}"
        )
    return number


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """``JPEGImages`` and ``Annotations``, in which the files have the same names but for their suffixes."""
    stored = Stored(job)
    stored.use(boxes=True, fields=sorted(_FIELDS))

    def fill(files: NewFiles) -> None:
        for loaded in stored.pictures():
            *folders, name = parts_of(files, loaded)
            stem, suffix = os.path.splitext(name)
            annotation = files.add(["Annotations", *folders, stem + _SUFFIX])
            path = annotation.removeprefix("Annotations/").removesuffix(_SUFFIX) + suffix
            files.add(["JPEGImages", *path.split("/")], loaded.data)
            files.replace(annotation, _xml(path, loaded).encode())

    return write_folder(job, fill)


def _xml(path: str, loaded: Loaded) -> str:
    header = loaded.header
    size = f"<width>{header.width}</width><height>{header.height}</height><depth>{header.channels}</depth>"
    lines = [
        "<annotation>",
        "\t<folder>JPEGImages</folder>",
        f"\t<filename>{_escaped(path)}</filename>",
        f"\t<size>{size}</size>",
        *(_object(box, header.height, header.width) for box in loaded.boxes),
        "</annotation>",
    ]
    return "\n".join(lines) + "\n"


def _object(box: Box, height: int, width: int) -> str:
    sides = {"xmin": width, "ymin": height, "xmax": width, "ymax": height}
    edges = "".join(f"<{name}>{pixels(getattr(box, name), side)}</{name}>" for name, side in sides.items())
    return (
        f"\t<object>\n\t\t<name>{_escaped(box.name)}</name>\n\t\t<pose>{_escaped(box.view)}</pose>\n"
        f"\t\t<truncated>{box.truncated}</truncated>\n\t\t<difficult>{box.difficult}</difficult>\n"
        f"\t\t<bndbox>{edges}</bndbox>\n\t</object>"
    )


def _escaped(text: str) -> str:
    """Text in XML, without the characters that XML cannot hold."""
    return escape(_NOT_XML.sub("\ufffd", text))
