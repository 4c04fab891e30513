"""The formats that ``convert`` knows: a table. Their modules are imported when they are used.

To add a format, write a module beside this one and an entry in ``FORMATS``. The module has one function for
each direction that the entry names::

    def read(job: Job) -> Iterable[Records]      # other files to TFRecords, if ``reads`` is not None
    def write(job: Job) -> Callable[[], None]    # TFRecords to other files, if ``writes`` is not None

Both are called before anything is written. They check the sources, and fill ``job.report.types`` with a few
words for each feature. ``read`` gives the records, as many at a time as memory allows. ``write`` gives a
function that does the work. With ``--dry-run`` neither is used. ``job.options`` has the format's options by
name, None for those that were not given. What cannot be stored is an error, or goes to ``report.skip``. A
``read`` that writes other files too (a label map) appends a function to ``job.at_end``, which gets the paths
of the TFRecords; it may also change ``job.out``.

An entry with ``recognizes`` has a function ``recognizes(path: str) -> bool`` too. It is asked about folders,
and about files whose suffix several formats share; an entry without it takes what no other one recognizes.
Options that several formats share are one object. This module must not know how a format is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...storage.paths import split_pattern
from ...storage.url import Url, local_path

TFRECORD = "tfrecord"
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# The names of TFRecord files: a suffix, also before the number of a shard, or that number alone.
_TFRECORD = re.compile(
    r"\.(tfrecords?|tfrec)(?=$|[.@-])|-(\d{5,}|\?+|\*)-of-(\d{5,}|\?+|\*)|@(\d+|\*)(?=$|\.)"
)


@dataclass(frozen=True)
class Option:
    """An option of a format: ``columns`` is an argument of ``convert``, and ``--columns`` in the shell.

    ``kind`` is "text", "names" (A,B), "pairs" (A=B,C=D), "number" or "flag".
    """

    name: str
    help: str
    kind: str = "text"
    metavar: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """One format. ``reads`` and ``writes`` are its options in each direction; None if it has no such one."""

    name: str
    text: str
    module: str
    suffixes: tuple[str, ...] = ()
    reads: tuple[Option, ...] | None = ()
    writes: tuple[Option, ...] | None = ()
    styles: tuple[str, ...] = ()  # the conventions for names of features that --style can name
    recognizes: bool = False
    streams: bool = False  # whether - stands for stdin and stdout

    def load(self) -> Any:
        """The module."""
        return import_module(f"{__package__}.{self.module}")


_COLUMNS = Option(
    "columns", "take only these columns or features, in this order", kind="names", metavar="A,B"
)
_LISTS = Option("lists", "write every feature as a list, as purerecord cat does", kind="flag")
_DELIMITER = Option(
    "delimiter", "what separates the cells (default: a comma; tab if FILE is .tsv)", metavar="C"
)
_NAMES = Option("names", "the names of the columns, of a file without them", kind="names", metavar="A,B")
_MISSING = Option("missing", "cells without a value, beside empty ones, like NA", kind="names", metavar="A,B")
_ENCODING = Option("encoding", "the encoding of the text, like latin-1 (default: utf-8)", metavar="NAME")
_BASE64 = Option("base64", "columns of bytes that are base64", kind="names", metavar="A,B")
_BINARY = Option("binary", "features that stay binary though all of it is text", kind="names", metavar="A,B")
_MEMBERS = Option(
    "members",
    "features that are members of other names, like jpg=image,cls=label",
    kind="pairs",
    metavar="A=B,...",
)
_KEY = Option(
    "key", "feature that is the key, like a file name (default: __key__, or numbers)", metavar="NAME"
)
_GROUP_SIZE = Option(
    "group_size",
    "records that are compressed together (default: 1, the fastest to read here and there)",
    kind="number",
    metavar="N",
)
# Of pictures.
_CHECK_PICTURES = Option(
    "check_pictures",
    "look only at the headers of pictures (the default), or decode them",
    choices=("header", "decode"),
)
_ON_BROKEN = Option(
    "on_broken",
    "leave out and count pictures that are broken or missing (the default), or stop",
    choices=("skip", "raise"),
)
_SHUFFLE = Option(
    "shuffle", "shuffle the pictures, the same way for the same seed", kind="number", metavar="SEED"
)
_LABEL_MAP = Option("label_map", "label_map.pbtxt with the classes and their numbers", metavar="FILE")
_LABELS = Option("labels", "CSV of file names and classes, if folders do not tell these", metavar="FILE")
_IMAGES = Option("images", "folder of the pictures, if it is not where it usually is", metavar="DIR")
_SPLIT = Option("split", "take only the pictures that ImageSets/Main/NAME.txt lists", metavar="NAME")
_MASKS = Option("masks", "take masks too, as PNG; polygons need pycocotools", kind="flag")
_READING = (_CHECK_PICTURES, _ON_BROKEN, _SHUFFLE, _LABEL_MAP)
_PICTURE_FEATURE = Option(
    "picture_feature", "feature that holds pictures, if its name is not a usual one", metavar="NAME"
)
_LABEL_FEATURE = Option("label_feature", "feature that holds their classes, likewise", metavar="NAME")
_WRITING = (_PICTURE_FEATURE, _LABEL_FEATURE, _LABEL_MAP, _ON_BROKEN)
_BOX_STYLES = ("detection", "plain", "tfds")

FORMATS: tuple[Format, ...] = (
    Format(
        "csv",
        "CSV, or TSV",
        "tables.csv_tables",
        (".csv", ".tsv", ".tab"),
        reads=(_COLUMNS, _DELIMITER, _NAMES, _MISSING, _ENCODING, _BASE64),
        writes=(_COLUMNS, _DELIMITER, _BASE64),
        streams=True,
    ),
    Format(
        "parquet",
        "Parquet",
        "tables.parquet",
        (".parquet", ".pq"),
        reads=(_COLUMNS,),
        writes=(_COLUMNS, _BINARY),
    ),
    Format(
        "arrow",
        "Arrow files and streams, Feather",
        "tables.arrow_ipc",
        (".arrow", ".feather", ".ipc", ".arrows"),
        reads=(_COLUMNS,),
        writes=(_COLUMNS, _BINARY),
        streams=True,
    ),
    Format(
        "npz",
        "NPZ and NPY, arrays of numpy",
        "tables.numpy_arrays",
        (".npz", ".npy"),
        reads=(_COLUMNS,),
        writes=(_COLUMNS,),
    ),
    Format(
        "webdataset",
        "tar archives as webdataset has them",
        "webdataset",
        (".tar", ".tgz"),
        reads=(_COLUMNS, _MEMBERS),
        writes=(_COLUMNS, _MEMBERS, _KEY),
        streams=True,
    ),
    Format(
        "array_record",
        "ArrayRecord, the format of grain",
        "array_record",
        (".array_record", ".arrayrecord"),
        writes=(_GROUP_SIZE,),
    ),
    Format(
        "jsonl",
        "JSON lines, as purerecord cat prints them",
        "json_lines",
        (".jsonl", ".ndjson"),
        reads=(_COLUMNS,),
        writes=(_COLUMNS, _LISTS),
        streams=True,
    ),
    Format(
        "coco",
        "pictures and boxes of COCO: one JSON",
        "pictures.coco",
        (".json",),
        reads=(_IMAGES, _MASKS, *_READING),
        writes=_WRITING,
        styles=_BOX_STYLES,
        recognizes=True,
    ),
    Format(
        "voc",
        "pictures and boxes of Pascal VOC and LabelImg: an XML for each picture",
        "pictures.voc",
        (".xml",),
        reads=(_IMAGES, _SPLIT, *_READING),
        writes=_WRITING,
        styles=_BOX_STYLES,
        recognizes=True,
    ),
    Format(
        "yolo",
        "pictures and boxes of YOLO: a text file for each picture, and data.yaml",
        "pictures.yolo",
        (".yaml", ".yml"),
        reads=_READING,
        writes=_WRITING,
        styles=_BOX_STYLES,
        recognizes=True,
    ),
    Format(
        "boxes-csv",
        "pictures, and the CSV of boxes that generate_tfrecord.py takes",
        "pictures.boxes_csv",
        (".csv",),
        reads=(_IMAGES, *_READING),
        writes=_WRITING,
        styles=_BOX_STYLES,
        recognizes=True,
    ),
    Format(
        "images",
        "pictures in a folder for each class",
        "pictures.image_folder",
        reads=(_LABELS, *_READING),
        writes=_WRITING,
        styles=("plain", "imagenet", "detection", "tfds"),
        recognizes=True,
    ),
)
BY_NAME = {known.name: known for known in FORMATS}


def options() -> dict[Option, list[str]]:
    """Every option, and the names of the formats that take it."""
    found: dict[Option, list[str]] = {}
    for known in FORMATS:
        for option in dict.fromkeys((*(known.reads or ()), *(known.writes or ()))):
            found.setdefault(option, []).append(known.name)
    return found


def styles() -> list[str]:
    """Every convention that ``--style`` can name."""
    return list(dict.fromkeys(style for known in FORMATS for style in known.styles))


def names_tfrecord(path: Any) -> bool:
    """Whether ``path`` has the name of a TFRecord file, or of shards."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    name = os.path.basename(local_path(path))
    return _TFRECORD.search(name) is not None


def by_name(name: str) -> Format:
    """The format of this name; ValueError if there is none."""
    if name not in BY_NAME:
        raise ValueError(f"format {name!r} is not known; there is {', '.join(sorted(BY_NAME))}, {TFRECORD}")
    return BY_NAME[name]


def of_output(path: Any) -> Format | None:
    """The format that the name of a new file tells; None if it tells none."""
    found = [known for known in _with_suffix(path) if known.writes is not None]
    return found[0] if found else None


def of_suffix(path: Any) -> str | None:
    """The name of the first format whose suffix a file has; None if it has none of these."""
    return next((known.name for known in _with_suffix(path)), None)


def of_source(path: Any) -> Format | None:
    """The format of a file or folder, by its name and perhaps its content; None if it is not known."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return None
    name = local_path(path)
    if os.path.isdir(name):
        found = [known for known in FORMATS if known.reads is not None and known.recognizes]
        return next((known for known in found if known.load().recognizes(name)), None)
    found = [known for known in _with_suffix(name) if known.reads is not None]
    for known in found:
        if known.recognizes and len(found) > 1 and known.load().recognizes(name):
            return known
    return next((known for known in found if not (known.recognizes and len(found) > 1)), None)


def _with_suffix(path: Any) -> Iterator[Format]:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return
    path = local_path(path)
    name = (path.address.removesuffix(path.query) if isinstance(path, Url) else path).lower()
    names = [name, *(name.removesuffix(suffix) for suffix in _COMPRESSED if name.endswith(suffix))]
    for known in FORMATS:
        if any(one.endswith(known.suffixes) for one in names if known.suffixes):
            yield known


def is_sharded(path: Any) -> bool:
    """Whether ``path`` is a pattern of shards like ``name@10``."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False
    return split_pattern(local_path(path))[2] is not None or "@*" in local_path(path)
