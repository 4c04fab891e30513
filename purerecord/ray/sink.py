"""``write_tfrecords``: a Dataset of Ray as shards that appear when all are complete.

A task writes files under temporary names and tells what it wrote. Only the attempt that Ray counts gives its
files to the set, so a task that is run twice leaves no record twice. This module must not know how columns
are encoded, nor how files get their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from .. import public
from ..arrow.tables import encoded, from_arrow
from ..arrow.types import is_feature_list
from ..bytes_column import BytesColumn
from ..container.frame_stream import FrameStream
from ..container.frames import crcs_of
from ..container.looks_like import open_source
from ..container.record_digest import RecordDigest
from ..container.sharded_writer import ShardedWriter
from ..errors import EncodeError
from ..payload.exact_floats import is_exact
from ..records import Records
from ..storage.compression import as_options
from ..storage.file_handles import file_size
from .library import ray
from .ray_arguments import check_columns, compression_of
from .shard_set import ShardSet

_RAW = "bytes"  # as ``read_tfrecords`` calls it


@public
def write_tfrecords(
    dataset: Any,
    path: Any,
    options: Any = None,
    *,
    concurrency: int | None = None,
    ray_remote_args: dict[str, Any] | None = None,
    **how: Any,
) -> list[str]:
    """Write the rows of a ``ray.data.Dataset`` as Examples or SequenceExamples; the paths of the shards.

    ``path`` is a folder, which gets ``part-00000-of-00042.tfrecord`` and so on, or names the shards itself,
    as ``train@*.tfrecord``; with ``train@10.tfrecord`` the rows are divided among ten. All shards appear at
    the end, in the order of the blocks, or none. The other keywords are those of ``TFRecordDatasink``;
    ``concurrency`` and ``ray_remote_args`` are Ray's.

    >>> write_tfrecords(dataset, "s3://bucket/train@*.tfrecord", "GZIP", min_rows_per_file=100_000)
    """
    sink = TFRecordDatasink(path, options, **how)
    if not sink.shards.check():
        return []
    if sink.shards.count is not None:
        dataset = dataset.repartition(sink.shards.count)
    try:
        dataset.write_datasink(sink, concurrency=concurrency, ray_remote_args=ray_remote_args)
        if not sink.paths and sink.shards.check():  # a dataset without blocks
            sink.publish([])
    except BaseException:
        sink.shards.clean()
        raise
    return sink.paths


class _Written(NamedTuple):
    """What one task has written: its files, the kinds of the records, and the facts for a manifest."""

    task: int
    files: list[str]
    kinds: set[str]
    facts: list[tuple[int, int, str]]


@public
class TFRecordDatasink(ray.data.Datasink):  # type: ignore[misc]
    """What ``write_tfrecords`` writes to.

    ``options`` are those of ``TFRecordWriter``. A task writes the rows that Ray gives it, at least
    ``min_rows_per_file``, to one file, or to several of at most ``max_records`` and ``max_bytes``. With
    ``manifest``, every file is read back, and a manifest is written beside the shards. ``floats`` is that of
    ``write_table``. With ``raw``, the column ``bytes`` holds the records. ``mode`` says what to do if there
    are shards of this name: "error", "overwrite", "ignore" or "append", which writes another set beside them.

    Ray's own are ``mode``, ``min_rows_per_file`` (or ``num_rows_per_file``), ``filesystem``, ``tf_schema``,
    which the columns are checked against, ``try_create_dir``, and of ``arrow_open_stream_args`` the
    compression.
    """

    def __init__(
        self,
        path: Any,
        options: Any = None,
        *,
        min_rows_per_file: int | None = None,
        max_records: int | None = None,
        max_bytes: int | None = None,
        manifest: bool = False,
        floats: str = "round",
        raw: bool = False,
        mode: Any = "error",
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
        tf_schema: Any = None,
        try_create_dir: bool = True,
        arrow_open_stream_args: Mapping[str, Any] | None = None,
        num_rows_per_file: int | None = None,
    ) -> None:
        is_exact(floats)
        if arrow_open_stream_args:
            if options is not None:
                raise ValueError("the compression is given twice")
            options = compression_of(arrow_open_stream_args)
        if num_rows_per_file is not None:  # Ray's older name
            if min_rows_per_file is not None:
                raise ValueError("num_rows_per_file is the older name of min_rows_per_file: give one of them")
            min_rows_per_file = num_rows_per_file
        if raw and tf_schema is not None:
            raise ValueError("raw writes whole records: there are no features to check")
        for name, value in (("max_records", max_records), ("max_bytes", max_bytes)):
            if value is not None and value < 1:
                raise ValueError(f"{name} must be positive, not {value}")
        self.shards = ShardSet(path, mode, storage_options, filesystem)
        if not try_create_dir:
            self.shards.check_folder()
        if self.shards.count is not None and (max_records or max_bytes or min_rows_per_file):
            raise ValueError("the name says how many shards there are: give no limits")
        self._limits = {"max_records": max_records, "max_bytes": max_bytes}
        if max_records is None and max_bytes is None:
            self._limits["max_records"] = 1 << 62  # one file
        self._local = str(path).startswith("local://")
        self._options = as_options(options)
        self._min_rows = min_rows_per_file
        self._manifest, self._floats, self._raw = manifest, floats, raw
        self._tf_schema = tf_schema
        self.paths: list[str] = []

    def get_name(self) -> str:
        """What Ray calls the operator."""
        return "TFRecord"

    @property
    def min_rows_per_write(self) -> int | None:
        """How many rows a task gets at least."""
        return self._min_rows

    @property
    def supports_distributed_writes(self) -> bool:
        """Whether other nodes can write the files; not with ``local://``."""
        return not self._local

    def write(self, blocks: Iterable[Any], ctx: Any) -> _Written:
        """Write the blocks of a task, on any node."""
        kinds: set[str] = set()
        batches = self._records(blocks, kinds)
        first = next(batches, None)
        if first is None:
            return _Written(ctx.task_idx, [], kinds, [])
        with self._writer(ctx.task_idx) as writer:
            writer.write_many(first)
            for records in batches:
                writer.write_many(records)
        facts = [_facts(path) for path in writer.paths] if self._manifest else []
        return _Written(ctx.task_idx, writer.paths, kinds, facts)

    def _writer(self, task: int, **limits: Any) -> ShardedWriter:
        return ShardedWriter(self.shards.temporary(task), options=self._options, **(limits or self._limits))

    def _records(self, blocks: Iterable[Any], kinds: set[str]) -> Iterator[Records]:
        """The rows of the blocks, encoded; the kinds of the records are added to ``kinds``."""
        for block in blocks:
            table = ray.data.block.BlockAccessor.for_block(block).to_arrow()
            if not table.num_rows:
                continue
            if self._raw:
                yield _raw(table)
                continue
            if self._tf_schema is not None:
                check_columns(table.schema, self._tf_schema)
            sequence = any(is_feature_list(field.type) for field in table.schema)
            kinds.add("SequenceExamples" if sequence else "Examples")
            yield from encoded(table, self._floats)

    def on_write_start(self, schema: Any = None) -> None:
        """Raise an error if there are shards already, and ``mode`` says so."""
        self.shards.check()

    def on_write_complete(self, write_result: Any) -> None:
        """Give the shards their names."""
        if not self.shards.check():
            self.shards.clean()
            return
        self.publish([written for written in write_result.write_returns if written is not None])

    def publish(self, tasks: list[_Written]) -> None:
        """Give what the tasks have written the final names."""
        tasks = sorted(tasks, key=lambda written: written.task)
        if len(set().union(*(written.kinds for written in tasks))) > 1:
            raise EncodeError(
                "some blocks have lists of lists, which make SequenceExamples, and others have none; "
                "cast the columns of all blocks to one schema"
            )
        files = [path for written in tasks for path in written.files]
        facts = [fact for written in tasks for fact in written.facts]
        count = self.shards.count
        if count is not None and len(files) > count:
            raise ValueError(
                f"there are {len(files)} files, where the name says {count}; repartition the rows"
            )
        if lacking := (count or max(len(files), 1)) - len(files):  # shards without records
            with self._writer(len(tasks), shards=lacking) as writer:
                pass
            files += writer.paths
            facts += [_facts(path) for path in writer.paths] if self._manifest else []
        self.paths = self.shards.publish(files)
        if self._manifest:
            self.shards.save_manifest(facts)

    def on_write_failed(self, error: Exception) -> None:
        """Remove what the tasks have written."""
        self.shards.clean()


def _raw(table: Any) -> Records:
    """The records in the column ``bytes``."""
    if _RAW not in table.column_names:
        raise EncodeError(
            f"there is no such column; raw writes the records in it, not {table.column_names}", feature=_RAW
        )
    column = from_arrow(table.select([_RAW]), bytes_columns=True)[_RAW]
    if not isinstance(column, BytesColumn):
        raise EncodeError("must have a string in every row, which is a record", feature=_RAW)
    return Records(column.buffer, column.begins, column.ends)


def _facts(path: str) -> tuple[int, int, str]:
    """The records, the size and the checksum of a file, from reading it."""
    digest = RecordDigest()
    with closing(FrameStream(open_source(path))) as stream:
        while (batch := stream.next()) is not None:
            digest.add(crcs_of(batch))
    return digest.records, file_size(path), str(digest)
