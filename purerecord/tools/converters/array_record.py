"""ArrayRecord, the format of grain: records byte for byte, both ways.

Its library reads and writes local files only, and is there for Linux. This module must not know what records
hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from ...errors import EncodeError
from ...printable import printable
from ...records import Records
from .job import Job
from .outputs import name_of, new_file, size_of

_READ_BYTES, _READ_RECORDS = 1 << 23, 1 << 13  # at once
_FIRST_RECORDS = 16  # from which the size of records is guessed

try:
    _library: Any = import_module("array_record.python.array_record_module")
except ImportError as error:
    raise ImportError(
        f"ArrayRecord needs array_record, for Linux: pip install array_record ({error})"
    ) from error


def read(job: Job) -> Iterable[Records]:
    """The records of ArrayRecord files."""
    for source in job.sources:
        with _opened(source) as reader:
            job.report.records += reader.num_records()
    return _records(job)


def _records(job: Job) -> Iterator[Records]:
    for source in job.sources:
        with _opened(source) as reader:
            count, done, told, size = reader.num_records(), 0, 0, size_of(source)
            at_once = _FIRST_RECORDS
            while done < count:
                end = min(done + at_once, count)
                try:
                    records = Records.of(reader.read(done, end))
                except RuntimeError as error:
                    raise EncodeError(
                        f"{printable(source)}: records {done:,} to {end - 1:,}: {error}"
                    ) from None
                yield records
                done = end
                at_once = max(1, min(_READ_RECORDS, _READ_BYTES * len(records) // max(1, records.nbytes)))
                job.progress(size * done // count - told, 0)
                told = size * done // count


@contextmanager
def _opened(source: Any) -> Iterator[Any]:
    path = _local(source)
    with open(path, "rb"):  # an OSError that says what is wrong, which the library does not
        pass
    reader = _library.ArrayRecordReader(path, "readahead_buffer_size:0,max_parallelism:0")
    if not reader.ok():
        reason = "its end is missing"
        try:
            reader.close()
        except RuntimeError as error:  # which only closing tells
            reason = str(error)
        raise EncodeError(f"{printable(path)}: is no whole ArrayRecord file: {reason}")
    try:
        yield reader
    finally:
        with suppress(RuntimeError):  # again the error of a read, which was told
            reader.close()


def _local(path: Any) -> str:
    if not isinstance(path, str) or "://" in path:
        raise ValueError(f"{printable(name_of(path))}: ArrayRecord files are local files")
    return path


def write(job: Job) -> Callable[[], None]:
    """One file of the same records."""
    out = _local(os.fspath(job.out) if isinstance(job.out, os.PathLike) else job.out)
    group = job.options["group_size"] or 1

    def work() -> None:
        with new_file(out) as file:
            temporary = str(file.name)
            writer = _library.ArrayRecordWriter(temporary, f"group_size:{group}")
            for records in job.batches():
                for record in records:
                    writer.write(record)
            try:
                writer.close()
            except RuntimeError as error:
                raise OSError(f"{printable(out)}: {error}") from None
            with _opened(temporary) as reader:  # it does not tell about a full disk
                if reader.num_records() != job.report.records:
                    raise EncodeError(f"{printable(out)}: array_record has not written all records")

    return work
