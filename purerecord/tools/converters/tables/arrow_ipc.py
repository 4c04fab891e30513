"""Arrow's own files, which Feather writes too, and its streams.

This module must not know what an Example can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ....arrow.types import pa
from ....errors import EncodeError
from ....records import Records
from ..inputs import open_plain, open_seekable
from ..job import Job
from ..outputs import name_of, new_file
from .arrow_batches import Form, Table, read_tables

_FILE, _FEATHER_1 = b"ARROW1", b"FEA1"
_STREAM_SUFFIX = ".arrows"


def read(job: Job) -> Iterable[Records]:
    """The records of the rows of Arrow files."""
    return read_tables(job, _opened)


@contextmanager
def _opened(source: Any) -> Iterator[Table]:
    if hasattr(source, "read") and not source.seekable():
        with open_plain(source) as file:
            yield _stream(file)
        return
    with open_seekable(source) as file:
        head = file.read(len(_FILE))
        file.seek(0)
        if head.startswith(_FEATHER_1):
            raise EncodeError("is Feather V1, which is no Arrow file; write it anew with a newer pandas")
        if not head:
            raise EncodeError("is empty")
        yield _file(file) if head == _FILE else _stream(file)


def _file(file: Any) -> Table:
    reader = pa.ipc.open_file(file)
    batches = range(reader.num_record_batches)
    return Table(reader.schema, None, lambda names: (reader.get_batch(i).select(names) for i in batches))


def _stream(file: Any) -> Table:
    reader = pa.ipc.open_stream(file)
    return Table(reader.schema, None, lambda names: (batch.select(names) for batch in reader))


def write(job: Job) -> Callable[[], None]:
    """A file of record batches, or a stream of them."""
    form = Form(job, fixed=True)
    stream = hasattr(job.out, "write") or name_of(job.out).endswith(_STREAM_SUFFIX)

    def work() -> None:
        open_writer = pa.ipc.new_stream if stream else pa.ipc.new_file
        with new_file(job.out) as file, open_writer(file, form.schema) as writer:
            for batch in form.batches():
                writer.write_batch(batch)

    return work
