"""The files of a write: what each task writes, and the commit that gives all of them their names.

Each attempt of a task writes files of its own in a hidden folder. The commit gets the files of one attempt of
each task, so a task that ran twice leaves one copy. Old files are removed when all new ones have their names,
and ``_SUCCESS`` is written last. This module must not know Spark.
"""

from __future__ import annotations

import errno
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ..arrow.from_arrow import check_storable, encoder_column
from ..arrow.tables import encoded_batches
from ..arrow.types import is_feature_list, is_list, pa
from ..bytes_column import BytesColumn
from ..container.writer import TFRecordWriter
from ..errors import EncodeError
from ..records import Records
from .options import WriteOptions
from .output_folder import output_folder

SUCCESS = "_SUCCESS"


@dataclass(frozen=True)
class PartFile:
    """A complete file: its name in the hidden folder, and the name that it gets."""

    temporary: str
    name: str


@dataclass
class FileWriter:
    """A write of rows of ``schema``, from its beginning on the driver to its end there; tasks get a copy."""

    schema: Any
    options: WriteOptions
    overwrite: bool
    job: str = field(default_factory=lambda: str(uuid.uuid4()))
    _ignored: bool = False

    def begin(self) -> None:
        """Check what can be checked before any task runs."""
        _check_schema(self.schema, self.options.record_type)
        exists = output_folder(self.options.path).exists()
        if exists and not self.overwrite and self.options.if_exists == "error":
            reason = "it exists already; set saveMode to append or ignore, or the mode to overwrite"
            raise FileExistsError(errno.EEXIST, reason, str(self.options.path))
        self._ignored = exists and not self.overwrite and self.options.if_exists == "ignore"
        if not self._ignored:
            # Not made by the tasks: one that still runs when the job has failed must not make it again.
            output_folder(self.options.path).make(self.hidden)

    def write(self, partition: int, batches: Iterable[Any]) -> list[PartFile]:
        """Write the rows of one task into files in the hidden folder, which the commit gets."""
        if self._ignored:
            for _ in batches:  # a task reads its input to the end
                pass
            return []
        files = _TaskFiles(self, partition)
        try:
            for records in self._records(batches):
                files.write(records)
            return files.finish()
        except BaseException:
            files.discard()
            raise

    def _records(self, batches: Iterable[Any]) -> Iterator[Records]:
        plain = (_without_decimals(batch) for batch in batches)
        if self.options.record_type == "ByteArray":
            yield from _payloads(plain)
        else:
            yield from encoded_batches(_plain_schema(self.schema), plain, self.options.floats)

    @property
    def hidden(self) -> str:
        """The name of the folder of files that have no name yet."""
        return f"_temporary-{self.job}"

    def commit(self, files: list[PartFile]) -> None:
        """Give all files their names, and remove what an overwrite replaces."""
        if self._ignored:
            return
        folder = output_folder(self.options.path)
        before = folder.names()
        old = [name for name in before if not name.startswith(("_", "."))] if self.overwrite else []
        folder.remove(SUCCESS)
        moved: list[str] = []
        try:
            for file in files:
                moved.append(file.name)
                folder.move(f"{self.hidden}/{file.temporary}", file.name)
        except BaseException:
            for name in moved:
                with suppress(OSError):
                    folder.remove(name)
            if SUCCESS in before:
                folder.touch(SUCCESS)
            raise
        for name in old:
            folder.remove(name)
        with suppress(OSError):  # the write is complete, and a repeated one would write all rows again
            folder.remove(self.hidden)
        folder.touch(SUCCESS)

    def abort(self) -> None:
        """Remove what the tasks have written, and the folder if nothing else is in it."""
        folder = output_folder(self.options.path)
        folder.remove(self.hidden)
        folder.remove_empty()


class _TaskFiles:
    """The files of one attempt of a task. One without rows makes none."""

    def __init__(self, job: FileWriter, partition: int) -> None:
        self._job = job
        self._folder = output_folder(job.options.path)
        self._partition = partition
        self._numbers = count()
        self._attempt = uuid.uuid4().hex
        self._files: list[PartFile] = []
        self._writer: TFRecordWriter | None = None
        self._room = 0  # records that the open file still takes

    def write(self, records: Records) -> None:
        """Add ``records``, to several files if there is a limit."""
        most = self._job.options.most_records
        while len(records):
            if self._writer is None or (most and not self._room):
                self._writer, self._room = self._next_file(), most or 0
            taken = records[: self._room] if most else records
            self._writer.write_many(taken)
            self._room -= len(taken) if most else 0
            records = records[len(taken) :]

    def _next_file(self) -> TFRecordWriter:
        if self._writer is not None:
            self._writer.close()
        suffix = self._job.options.suffix
        name = f"part-{self._partition:05d}-{self._job.job}-c{next(self._numbers):03d}{suffix}"
        file = PartFile(f"{self._attempt}-{name}", name)
        path = self._folder.path(f"{self._job.hidden}/{file.temporary}")
        writer = TFRecordWriter(path, self._job.options.options)
        self._files.append(file)
        return writer

    def finish(self) -> list[PartFile]:
        """Close the files and list them."""
        if self._writer is not None:
            self._writer.close()
        return self._files

    def discard(self) -> None:
        """Remove the files; Spark removes the whole hidden folder if the job fails."""
        with suppress(Exception):
            if self._writer is not None:
                self._writer.close()
        for file in self._files:
            with suppress(Exception):
                self._folder.remove(f"{self._job.hidden}/{file.temporary}")


# --- Rows -------------------------------------------------------------------------------------------


def _check_schema(schema: Any, record_type: str) -> None:
    """Raise an EncodeError if records of this type cannot have these columns."""
    if record_type == "ByteArray":
        strings = ("binary", "string", "large_binary", "large_string")
        if len(schema) != 1 or not any(getattr(pa.types, f"is_{kind}")(schema.types[0]) for kind in strings):
            raise EncodeError("a write of ByteArrays takes one column, of binary or string; select it")
        return
    if not len(schema):
        raise EncodeError("there are no columns to write")
    check_storable(_plain_schema(schema))
    for column in schema:
        if len(set(schema.names)) != len(schema.names) and schema.names.count(column.name) > 1:
            raise EncodeError("is the name of several columns", feature=column.name)
        if not is_feature_list(column.type):
            continue
        if record_type == "Example":
            reason = "is an array of arrays, which only a SequenceExample holds; set recordType to it"
            raise EncodeError(reason, feature=column.name)
        if is_list(column.type.value_type.value_type):
            raise EncodeError("has more than two levels of arrays, and a record has two", feature=column.name)


def _plain_type(dtype: Any) -> Any:
    """``dtype`` with doubles in place of decimals."""
    if is_list(dtype):
        return pa.list_(_plain_type(dtype.value_type))
    return pa.float64() if pa.types.is_decimal(dtype) else dtype


def _plain_schema(schema: Any) -> Any:
    return pa.schema([(column.name, _plain_type(column.type)) for column in schema])


def _without_decimals(batch: Any) -> Any:
    schema = _plain_schema(batch.schema)
    arrays = [
        array if array.type == column.type else array.cast(column.type)
        for array, column in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=batch.schema.names)


def _payloads(batches: Iterable[Any]) -> Iterator[Records]:
    done = 0
    for batch in batches:
        name, array = batch.schema.names[0], batch.column(0)
        if array.null_count:
            first = array.is_null().index(True).as_py()
            raise EncodeError("a null is no record; filter it out", feature=name, record=done + first)
        strings = encoder_column(name, array)
        if not isinstance(strings, BytesColumn):  # without a value it has no type
            strings = BytesColumn.of([])
        yield Records(strings.buffer, strings.begins, strings.ends)
        done += batch.num_rows
