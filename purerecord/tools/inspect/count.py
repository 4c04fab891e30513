"""``count``: how many records files hold, without reading the records where that can be avoided.

An index beside the file knows it, and so do the headers of blocked GZIP. In an uncompressed file each header
leads to the next one; only headers are checked. Any other file is inflated. This module does not know what a
payload means.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from ... import public
from ...container.frame_stream import FrameStream
from ...container.index import build_index, count_frames, has_index, index_path, load_index
from ...container.looks_like import open_source
from ...printable import printable
from ...processes.pool import Progress, no_progress
from ...recovery.report import aligned, counted
from ...storage.file_handles import file_size
from ...storage.paths import Named, is_stream, resolve
from ...storage.url import stored


@public
@dataclass(frozen=True)
class FileCount:
    """How many records a file has, and what told it: "index", "headers", "blocks" or "records"."""

    path: str
    records: int
    source: str


@public
@dataclass(frozen=True)
class Counts:
    """How many records files have.

    >>> count("train-*.tfrecord").records
    """

    files: tuple[FileCount, ...]

    @property
    def records(self) -> int:
        """How many records all files have together."""
        return sum(file.records for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """The numbers in types that JSON has."""
        return {
            "records": self.records,
            "files": [
                {"path": file.path, "records": file.records, "source": file.source} for file in self.files
            ],
        }

    def __str__(self) -> str:
        rows = [(printable(file.path), f"{file.records:,}", "") for file in self.files]
        if len(rows) != 1:
            rows.append((counted(len(rows), "file"), f"{self.records:,}", ""))
        return "\n".join(line.rstrip() for line in aligned([("file", "records", ""), *rows]))

    def _repr_html_(self) -> str:
        from ...notebook import show_facts  # noqa: PLC0415 - only a notebook asks for it

        return show_facts(
            self, {"records": self.records, "files": {file.path: file.records for file in self.files}}
        )


@public
def count(
    paths: Any,
    *,
    compression: Any = "auto",
    progress: Progress | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Counts:
    """How many records each of the files has.

    A file that is cut, or whose frames do not follow one another, is an error. Damage inside a record is not
    seen; ``validate`` sees it. ``progress`` is called with the bytes and records counted since its last call.
    """
    files = resolve(stored(paths, storage_options, filesystem))
    return Counts(tuple(count_file(file, compression, progress) for file in files))


def count_file(file: Named, compression: Any = "auto", progress: Progress | None = None) -> FileCount:
    """How many records one file has."""
    progress = progress or no_progress
    if not isinstance(file, str) or is_stream(file):
        return _counted(file, compression, progress)
    with closing(open_source(file, compression)) as opened:
        opened.detect_compression()
        seekable = opened.rewinds or opened.blocked or opened.compression is None
        blocked = opened.blocked
    if not seekable:
        return _counted(file, compression, progress)
    if has_index(file):
        index = load_index(index_path(file))
        index.check(file)
        progress(file_size(file), len(index))
        return FileCount(file, len(index), "index")
    if blocked:
        with suppress(io.UnsupportedOperation):  # ordinary GZIP follows the blocks
            records = len(build_index(file))
            progress(file_size(file), records)
            return FileCount(file, records, "blocks")
        return _counted(file, compression, progress)
    records = 0
    for some, size in count_frames(file):
        progress(size, some)
        records += some
    return FileCount(file, records, "headers")


def _counted(file: Named, compression: Any, progress: Progress) -> FileCount:
    """The number of records of a file that is read to its end."""
    records = done = 0
    with closing(open_source(file, compression)) as opened:
        stream = FrameStream(opened, verify=False)
        while (batch := stream.next()) is not None:
            records += len(batch)
            progress(opened.position - done, len(batch))
            done = opened.position
        return FileCount(opened.name, records, "records")
