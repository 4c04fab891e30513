"""``DefaultSource``: what Spark knows of the source ``tfrecord``. Only this module imports pyspark.

Spark makes an object of it for each read and write on the driver, pickles what reads and writes, and calls
that in tasks. Everything else is imported when it is needed: Spark imports this module whenever a program
uses any source written in Python.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import public

try:
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceArrowWriter,
        DataSourceReader,
        InputPartition,
        WriterCommitMessage,
    )
except ImportError as error:
    advice = 'purerecord.spark needs Spark 4: pip install "purerecord[spark]"'
    raise ImportError(f"{advice} ({error})") from error

if TYPE_CHECKING:
    from .input_parts import FilePart
    from .options import ReadOptions
    from .part_files import FileWriter, PartFile


@public
class DefaultSource(DataSource):  # type: ignore[misc, unused-ignore]
    """TFRecord files as a source and sink of Spark 4, by the name ``tfrecord``.

    Spark finds it by itself where purerecord is installed; else register it.

    >>> spark.dataSource.register(DefaultSource)
    >>> spark.read.format("tfrecord").load("train").show()
    """

    _inferred = False  # whether the schema is that of ``schema``

    @classmethod
    def name(cls) -> str:
        """What ``format`` takes."""
        return "tfrecord"

    def schema(self) -> Any:
        """The schema of the files; Spark asks for it unless the program has given one."""
        from pyspark.sql.types import StructType  # noqa: PLC0415

        from .inference import infer_schema  # noqa: PLC0415
        from .input_parts import input_files  # noqa: PLC0415
        from .options import read_options  # noqa: PLC0415

        options = read_options(self.options)
        self._inferred = True  # Spark pickles this object afterwards
        return StructType.fromJson(infer_schema(input_files(options), options))

    def reader(self, schema: Any) -> DataSourceReader:
        """What reads rows of ``schema``."""
        from .options import read_options  # noqa: PLC0415

        return _Reader(read_options(self.options), schema, self._inferred)

    def writer(self, schema: Any, overwrite: bool) -> DataSourceArrowWriter:
        """What writes rows of ``schema``."""
        from .options import write_options  # noqa: PLC0415
        from .part_files import FileWriter  # noqa: PLC0415

        job = FileWriter(_arrow_schema(schema), write_options(self.options), overwrite)
        job.begin()
        return _Writer(job)


def _arrow_schema(schema: Any) -> Any:
    from pyspark.sql.pandas.types import to_arrow_schema, to_arrow_type  # noqa: PLC0415

    from ..errors import SchemaError  # noqa: PLC0415

    for field in schema.fields:
        try:
            to_arrow_type(field.dataType)
        except Exception:
            reason = f"is of {field.dataType.simpleString()}, and a record holds numbers, strings and binary"
            raise SchemaError(reason, feature=field.name) from None
    return to_arrow_schema(schema)


@dataclass
class _Part(InputPartition):  # type: ignore[misc, unused-ignore]
    files: list[FilePart]


class _Reader(DataSourceReader):  # type: ignore[misc, unused-ignore]
    def __init__(self, options: ReadOptions, schema: Any, inferred: bool) -> None:
        from .row_batches import RowBatches  # noqa: PLC0415

        if options.columns is not None and list(schema.names) != options.columns:
            raise ValueError("columns chooses among all features, but the schema has its own; leave one out")
        self._options = options
        # Of an inferred schema, a feature that it lacks is an error, unless columns were chosen.
        inferred = inferred and options.columns is None
        self._rows = RowBatches(_arrow_schema(schema), options.record_type, inferred=inferred)

    def partitions(self) -> Sequence[InputPartition]:
        from .input_parts import input_files, input_parts  # noqa: PLC0415

        return [_Part(files) for files in input_parts(input_files(self._options), self._options)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        from ..arrow.tables import chunks_of, opened  # noqa: PLC0415

        if not isinstance(partition, _Part):
            return  # Spark's own, for a read without files
        options = self._options
        for part in partition.files:
            settings = {"compression": options.compression, "on_error": options.on_error}
            with opened(part.path, part.range, **settings) as reader:
                for records in chunks_of(reader):
                    yield from self._rows.batches(records)
                if reader.skipped:
                    message = "%s: skipped %d damaged places; the last one: %s"
                    logging.getLogger(__name__).warning(message, part.path, reader.skipped, reader.last_error)


@dataclass
class _Written(WriterCommitMessage):  # type: ignore[misc, unused-ignore]
    files: list[PartFile]


class _Writer(DataSourceArrowWriter):  # type: ignore[misc, unused-ignore]
    def __init__(self, job: FileWriter) -> None:
        self._job = job

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        from pyspark import TaskContext  # noqa: PLC0415

        task = TaskContext.get()
        return _Written(self._job.write(0 if task is None else task.partitionId(), iterator))

    def commit(self, messages: Sequence[Any]) -> None:
        self._job.commit([file for message in messages if message is not None for file in message.files])

    def abort(self, messages: Sequence[Any]) -> None:
        self._job.abort()
