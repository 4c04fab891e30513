"""Where a conversion writes: files and folders that appear whole or not at all, and TFRecords.

This module must not know the formats.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BufferedWriter
from typing import Any, BinaryIO

from ...container.sharded_writer import ShardedWriter
from ...container.writer import TFRecordWriter
from ...records import Records
from ...storage.file_handles import file_size
from ...storage.paths import replace, temporary_name, writing
from ...storage.stores import Upload
from ...storage.url import Url, is_url, local_path
from .formats import is_sharded

_BUFFERED = 1 << 20
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
_COMPRESSORS: dict[str, Callable[[Any], Any]] = {
    # Neither a name nor a time is stored: the same content makes the same file.
    ".gz": lambda file: gzip.GzipFile("", "wb", 6, file, mtime=0),
    ".tgz": lambda file: gzip.GzipFile("", "wb", 6, file, mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 - closed by the caller
}


@contextmanager
def new_file(path: Any) -> Iterator[BinaryIO]:
    """A file to write, which appears under its name when the block ends without an error.

    ``path`` is a path, a URL, or an open file, which is written as it is.
    """
    if hasattr(path, "write"):
        yield path
        path.flush()
        return
    name = local_path(path)
    if isinstance(name, Url):
        upload = Upload(name)
        try:
            buffered: Any = BufferedWriter(upload, _BUFFERED)
            yield buffered
            buffered.flush()
            upload.commit()
        except BaseException:
            upload.discard()
            raise
        return
    temporary = temporary_name(name)
    try:
        with writing(name):
            file = open(temporary, "wb", _BUFFERED)  # noqa: SIM115 - closed below
        with file:
            yield file
            with writing(name):
                file.flush()
                os.fsync(file.fileno())
        with writing(name):
            replace(temporary, name)
    except BaseException as error:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        _name_full_disk(error, name)
        raise


@contextmanager
def new_plain_file(path: Any) -> Iterator[BinaryIO]:
    """``new_file`` for a format that is compressed as a whole: one that is named ``.gz``, ``.bz2`` or ``.xz``
    is compressed."""
    suffix = "" if hasattr(path, "write") else os.path.splitext(name_of(path))[1].lower()
    if suffix == ".zst":
        raise ValueError(f"{name_of(path)}: ZSTD is only read; name it .gz, .bz2 or .xz")
    with new_file(path) as file:
        if suffix not in _COMPRESSORS:
            yield file
            return
        with _COMPRESSORS[suffix](file) as compressed:
            yield compressed


@contextmanager
def new_folder(path: Any) -> Iterator[str]:
    """An empty folder to fill, which appears under its name when the block ends without an error.

    ``path`` must not exist, or be an empty folder.
    """
    name = local_path(path).rstrip(os.sep)
    if is_url(name):
        raise ValueError(f"{name}: a folder is written to a local disk; copy it to the store afterwards")
    if os.path.lexists(name) and (not os.path.isdir(name) or os.listdir(name)):
        raise FileExistsError(17, "the folder exists and is not empty; name a new one", name)
    head, tail = os.path.split(name)
    temporary = os.path.join(head, f".{tail}.partial-{os.urandom(4).hex()}")
    with writing(name):
        os.mkdir(temporary)
    try:
        yield temporary
        with writing(name):
            if os.path.isdir(name):
                os.rmdir(name)
            os.rename(temporary, name)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        _name_full_disk(error, name)
        raise


def _name_full_disk(error: BaseException, name: str) -> None:
    """Name the file in ``error`` if that says that no more can be written: the system names none."""
    if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
        error.filename = name


def write_records(path: Any, batches: Iterable[Records], options: Any, limits: dict[str, Any]) -> list[str]:
    """Write batches of records to one file or to shards, which appear when all are written; their paths."""
    writer: TFRecordWriter | ShardedWriter
    if is_sharded(path) or any(limit is not None for limit in limits.values()):
        writer = ShardedWriter(path, options=options, **limits)
    else:
        plain = not hasattr(path, "write") and not is_url(local_path(path))
        writer = TFRecordWriter(path, options, atomic=plain)
    with writer:
        for records in batches:
            writer.write_many(records)
    return list(writer.paths) if isinstance(writer, ShardedWriter) else [name_of(path)]


def name_of(file: Any) -> str:
    """The name of a path, or of an open file."""
    if isinstance(file, (str, bytes, os.PathLike)):
        return local_path(file)
    return str(getattr(file, "name", "") or "<stream>")


def size_of(path: Any) -> int:
    """The size of a local or remote file; 0 for anything else, and where it is not known."""
    if not isinstance(path, str):
        return 0
    try:
        return file_size(path)
    except (OSError, ImportError, ValueError):
        return 0
