"""The options of ``spark.read`` and ``df.write``: text by name, checked and turned into values.

An option that does not exist is an error: Spark would ignore a misspelt one silently. The names are those of
spark-tfrecord and of Spark's own sources. This module must not know Spark.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..container.reader import check_on_error
from ..payload.exact_floats import is_exact
from ..storage.compression import TFRecordOptions
from ..storage.sizes import size_in_bytes
from ..storage.url import Url, local_path, stored

RECORD_TYPES = {"example": "Example", "sequenceexample": "SequenceExample", "bytearray": "ByteArray"}
_CODECS = {
    "": "",
    "none": "",
    "uncompressed": "",
    "gzip": "GZIP",
    "gz": "GZIP",
    "deflate": "ZLIB",
    "zlib": "ZLIB",
    "org.apache.hadoop.io.compress.gzipcodec": "GZIP",
    "org.apache.hadoop.io.compress.defaultcodec": "ZLIB",
    "org.apache.hadoop.io.compress.deflatecodec": "ZLIB",
}
_READ_CODECS = {**_CODECS, "auto": "auto", "bzip2": "BZ2", "bz2": "BZ2", "xz": "XZ", "zstd": "ZSTD"}
_MODES = {"failfast": "raise", "dropmalformed": "skip"}
_FOR_BOTH = {"path", "paths", "recordtype", "codec", "compression", "storageoptions", "storage_options"}
_TO_READ = {"columns", "on_error", "onerror", "mode", "splitsize", "inferall"}
_TO_READ |= {"recursivefilelookup", "pathglobfilter"}
_TO_WRITE = {"maxrecordsperfile", "floats", "savemode", "blocksize"}


@dataclass(frozen=True)
class ReadOptions:
    """The options of a read. ``record_type`` is "" if it is that of the records; ``split_size`` is None for a
    size that depends on the files."""

    paths: list[str]
    record_type: str
    compression: str
    columns: list[str] | None
    on_error: str
    split_size: int | None
    infer_all: bool
    recursive: bool
    name_pattern: str | None


@dataclass(frozen=True)
class WriteOptions:
    """The options of a write. ``if_exists`` is "append", "error" or "ignore"."""

    path: str
    record_type: str
    options: TFRecordOptions
    most_records: int | None
    floats: str
    if_exists: str

    @property
    def suffix(self) -> str:
        """How the name of a file ends, as Hadoop's codecs have it."""
        return ".tfrecord" + {"": "", "GZIP": ".gz", "ZLIB": ".deflate"}[self.options.compression]


def read_options(options: Mapping[str, str]) -> ReadOptions:
    """The options of a read, checked."""
    given = _Given(options, _FOR_BOTH | _TO_READ | _TO_WRITE)
    mode = given.choice("mode", _MODES, "failfast")
    on_error = given.text("on_error") or given.text("onError") or mode
    check_on_error(on_error)
    size = given.text("splitSize")
    return ReadOptions(
        paths=given.paths(),
        record_type=given.choice("recordType", RECORD_TYPES, ""),
        compression=given.codec(_READ_CODECS, "auto"),
        columns=given.names("columns"),
        on_error=on_error,
        split_size=size_in_bytes(size) if size else None,
        infer_all=given.flag("inferAll"),
        recursive=given.flag("recursiveFileLookup"),
        name_pattern=given.text("pathGlobFilter") or None,
    )


def write_options(options: Mapping[str, str]) -> WriteOptions:
    """The options of a write, checked."""
    given = _Given(options, _FOR_BOTH | _TO_WRITE)
    paths = given.paths()
    if len(paths) != 1:
        raise ValueError(f"a write has one path, not {len(paths)}")
    block, most = given.number("blockSize", size_in_bytes), given.number("maxRecordsPerFile", int)
    floats = given.text("floats") or "round"
    is_exact(floats)
    return WriteOptions(
        path=paths[0],
        record_type=given.choice("recordType", RECORD_TYPES, ""),
        options=TFRecordOptions(given.codec(_CODECS, ""), block_size=block),
        most_records=most if most and most > 0 else None,  # as for Spark, 0 is no limit
        floats=floats,
        if_exists=given.choice("saveMode", _SAVE_MODES, "append"),
    )


# Spark gives it for a table of the catalog, when that is made. When it is read there are no options at all.
_OF_A_TABLE = "provider"
_NO_TABLES = (
    "Spark tells a source written in Python nothing about a table of the catalog; "
    "make a temporary view, or use load() and save()"
)
_SAVE_MODES = {"append": "append", "error": "error", "errorifexists": "error", "ignore": "ignore"}


class _Given:
    """The options as Spark gives them."""

    def __init__(self, options: Mapping[str, str], known: set[str]) -> None:
        # Spark has options of its own in views that are made with SQL.
        self._options = {name.lower(): value for name, value in options.items()}
        if _OF_A_TABLE in self._options:
            raise ValueError(_NO_TABLES)
        for name in self._options.keys() - known:
            if not name.startswith(("__", "serialization.")):
                raise ValueError(f"there is no option {name!r}; the options are {', '.join(sorted(known))}")

    def text(self, name: str) -> str:
        return str(self._options.get(name.lower(), "")).strip()

    def choice(self, name: str, choices: Mapping[str, str], default: str) -> str:
        value = self.text(name).lower() or default
        if value not in choices and value:
            allowed = ", ".join(sorted(set(choices)))
            raise ValueError(f"{name} must be one of {allowed}, not {self.text(name)!r}")
        return choices.get(value, "")

    def codec(self, codecs: Mapping[str, str], default: str) -> str:
        name = "codec" if self.text("codec") else "compression"
        if self.text("codec") and self.text("compression"):
            raise ValueError("codec and compression are two names of one option; give one of them")
        return self.choice(name, codecs, "") if self.text(name) else default

    def flag(self, name: str) -> bool:
        return self.choice(name, {"true": "true", "false": "false"}, "false") == "true"

    def number(self, name: str, convert: Any) -> int | None:
        text = self.text(name)
        try:
            return int(convert(text)) if text else None
        except ValueError:
            raise ValueError(f"{name} must be a number, not {text!r}") from None

    def names(self, name: str) -> list[str] | None:
        """A JSON list of names, or names with commas between them."""
        text = self.text(name)
        if not text:
            return None
        names = _json(name, text) if text.startswith("[") else [part.strip() for part in text.split(",")]
        if not isinstance(names, list) or not all(isinstance(one, str) and one for one in names):
            raise ValueError(f"{name} must be names with commas between them, or a JSON list of names")
        return list(dict.fromkeys(names))

    def paths(self) -> list[str]:
        """The paths of ``load`` or ``save``; URLs with the options of their store."""
        several = self.text("paths")
        paths = _json("paths", several) if several else [self._options.get("path", "")]
        paths = [_absolute(path) for path in paths if path]
        if not paths:
            reason = "there is no path: give it to load() or save()" if self._options else _NO_TABLES
            raise ValueError(reason)
        text = self.text("storageOptions") or self.text("storage_options")
        options = _json("storageOptions", text) if text else None
        if options is not None and not isinstance(options, dict):
            raise ValueError("storageOptions must be a JSON object")
        return stored(paths, options)


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise ValueError(f"{name} is no valid JSON") from None  # the text may hold secrets


def _absolute(path: str) -> str:
    """A local path as an absolute one: a task may run in another folder. Hadoop writes file:/folder too."""
    short = path.startswith("file:/") and not path.startswith("file://")
    name = local_path(path.removeprefix("file:") if short else path)
    return name if isinstance(name, Url) else os.path.abspath(name)
