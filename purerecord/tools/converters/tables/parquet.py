"""Parquet files, read and written some rows at a time.

This module must not know what an Example can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from ....arrow.types import pa
from ....records import Records
from ..inputs import open_seekable
from ..job import Job
from ..outputs import new_file
from .arrow_batches import Form, Table, read_tables

# Imported after ``pa``, whose module says how to install pyarrow.
pq: Any = import_module("pyarrow.parquet")

_READ_BYTES, _READ_ROWS = 1 << 24, 1 << 16  # at once
_GROUP_BYTES, _GROUP_ROWS = 1 << 25, 1 << 20  # in a row group that is written
_BUFFERED = 1 << 20


def read(job: Job) -> Iterable[Records]:
    """The records of the rows of Parquet files."""
    return read_tables(job, _opened)


@contextmanager
def _opened(source: Any) -> Iterator[Table]:
    with (
        open_seekable(source) as file,
        pq.ParquetFile(file, buffer_size=_BUFFERED, pre_buffer=False) as parquet,
    ):
        groups = [parquet.metadata.row_group(number) for number in range(parquet.metadata.num_row_groups)]
        widest = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
        rows = max(1, min(_READ_ROWS, _READ_BYTES // max(1, widest)))
        yield Table(
            parquet.schema_arrow,
            parquet.metadata.num_rows,
            lambda names: parquet.iter_batches(rows, columns=names),
        )


def write(job: Job) -> Callable[[], None]:
    """Row groups of columns."""
    form = Form(job, fixed=False)

    def work() -> None:
        with new_file(job.out) as file, pq.ParquetWriter(file, form.schema) as writer:
            for group in _groups(form.batches()):
                writer.write_table(pa.Table.from_batches(group), row_group_size=_GROUP_ROWS)

    return work


def _groups(batches: Iterator[Any]) -> Iterator[list[Any]]:
    """Batches, as many as make a row group."""
    group: list[Any] = []
    size = rows = 0
    for batch in batches:
        group.append(batch)
        size += batch.nbytes
        rows += batch.num_rows
        if size >= _GROUP_BYTES or rows >= _GROUP_ROWS:
            yield group
            group, size, rows = [], 0, 0
    if group:
        yield group
