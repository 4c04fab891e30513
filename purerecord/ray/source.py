"""``read_tfrecords``: TFRecord files as a Dataset of Ray, whose blocks are Arrow tables made from columns.

Every block has one schema: that of ``features``, or of the first records of all. A record that does not fit
is an error, so blocks never clash. A task that is run again reads the same pieces of the same files again.
This module must not know how a file is divided, nor how a column is converted.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import public
from ..arrow.stream import Wanted
from ..arrow.tables import chunks_of, opened, to_arrow
from ..container.reader import check_on_error
from ..records import Records
from ..recovery.report import counted
from ..storage.sizes import size_in_bytes
from .library import pa, ray
from .ray_arguments import compression_of, specs_of
from .shards import Piece, Shard, cut, find_files, look_at, share
from .skipped import Skipped

_LOG = logging.getLogger("purerecord.ray")
_PATH = "path"  # the column that Ray calls so
_RAW = "bytes"  # as in ray.data.read_binary_files
# The column of nulls that Ray gives to tables that would have no column, and would lose their rows with it.
_ROWS_ONLY = "__bsp_stub"


@public
def read_tfrecords(
    paths: Any, features: Any = None, *, skipped: Skipped | None = None, **options: Any
) -> Any:
    """The Examples or SequenceExamples of files as a ``ray.data.Dataset``.

    ``paths`` are files, patterns, shard patterns, URLs or folders. Without ``features``, or with ``columns``,
    the columns are those of ``purerecord.arrow.open_reader``, and their types those of the first records; a
    later record that has another form is an error. With ``features`` they are those of ``read_table``.

    The other keywords are those of ``TFRecordDatasource`` and of ``ray.data.read_datasource``, such as
    ``override_num_blocks``, ``concurrency`` and ``num_cpus``.

    >>> read_tfrecords("s3://bucket/train-*.tfrecord", {"image": "bytes", "label": "int64"})
    """
    own = {name: options.pop(name) for name in _OPTIONS & options.keys()}
    datasource = TFRecordDatasource(paths, features, skipped=skipped, **own)
    return ray.data.read_datasource(datasource, **options)


@public
class TFRecordDatasource(ray.data.Datasource):  # type: ignore[misc]
    """What ``read_tfrecords`` reads.

    ``columns``, ``text``, ``compression``, ``verify``, ``storage_options`` and ``filesystem`` are those of
    ``purerecord.arrow.open_reader``. With ``raw`` there is one column, ``bytes``, of whole records. A task
    reads a file, several small ones, or ``split_size`` of a large one that is uncompressed or GZIP in blocks.
    With ``on_error="skip"``, damage is left out, logged, and counted in ``skipped``. Where an index stands
    beside each file, Ray knows the number of rows before it reads.

    Ray's own are ``include_paths``, ``partition_filter``, ``file_extensions``, ``ignore_missing_paths``,
    ``shuffle``, ``tf_schema`` and of ``arrow_open_stream_args`` the compression.
    """

    def __init__(
        self,
        paths: Any,
        features: Any = None,
        *,
        columns: Iterable[str] | None = None,
        text: bool | Iterable[str] = False,
        raw: bool = False,
        tf_schema: Any = None,
        include_paths: bool = False,
        on_error: str = "raise",
        skipped: Skipped | None = None,
        compression: Any = "auto",
        verify: bool = True,
        split_size: int | str = "128MB",
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
        partition_filter: Any = None,
        file_extensions: Iterable[str] | None = None,
        ignore_missing_paths: bool = False,
        shuffle: Any = None,
        arrow_open_stream_args: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        check_on_error(on_error)
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error must be "raise" or "skip", not {on_error!r}')
        if raw and (features is not None or columns is not None or tf_schema is not None):
            raise ValueError("raw gives whole records: there are no features or columns to name")
        if tf_schema is not None:
            if features is not None:
                raise ValueError("tf_schema says what the features are: give one of the two")
            features = specs_of(tf_schema)
        if arrow_open_stream_args:
            if compression != "auto":
                raise ValueError("compression is given twice")
            compression = compression_of(arrow_open_stream_args)
        paths, self._local = _without_local_scheme(paths)
        found = find_files(
            paths,
            storage_options=storage_options,
            filesystem=filesystem,
            ignore_missing=ignore_missing_paths,
            extensions=file_extensions,
            choose=partition_filter,
        )
        self._shards = look_at(found)
        self._shuffle = shuffle
        self._split_size = size_in_bytes(split_size)
        how = {"compression": compression, "verify": verify, "on_error": on_error}
        wanted = None if raw else Wanted.of(features, columns, text)
        schema = _schema(self._shards, wanted, how)
        if wanted is not None and wanted.specs is None:
            wanted = wanted.only(schema.names, schema)
        if include_paths:
            if _PATH in schema.names:
                raise ValueError(
                    "include_paths adds a column named path, but the records have a feature path"
                )
            schema = schema.append(pa.field(_PATH, pa.string()))
        self._reading = _Reading(wanted, schema, include_paths, how, skipped)
        self._projection_map: dict[str, str] | None = None
        self._cut: dict[int, list[Piece]] = {}  # by the number of tasks

    def get_name(self) -> str:
        """What Ray calls the operator."""
        return "TFRecord"

    @property
    def supports_distributed_reads(self) -> bool:
        """Whether the files can be read on other nodes; not with ``local://``."""
        return not self._local

    def estimate_inmemory_data_size(self) -> int | None:
        """About how many bytes the blocks will have."""
        return sum(shard.size for shard in self._shards)

    def supports_projection_pushdown(self) -> bool:
        """Whether only the columns that are needed are decoded."""
        return True

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[Any]:
        """The tasks: ``parallelism`` of them if the files can be divided so."""
        if parallelism not in self._cut:
            compression = self._reading.how["compression"]
            self._cut[parallelism] = cut(self._shards, self._split_size, parallelism, compression)
        pieces = self._in_order(self._cut[parallelism], getattr(data_context, "_execution_idx", 0))
        chosen = self._get_data_columns()
        reading = self._reading if chosen is None else self._reading.of(chosen)
        return [_task(reading, some, per_task_row_limit) for some in share(pieces, parallelism)]

    def _in_order(self, pieces: list[Piece], execution: int) -> list[Piece]:
        """The pieces with the files in the order that ``shuffle`` wants."""
        if self._shuffle is None:
            return pieces
        seed = None if self._shuffle == "files" else self._shuffle.get_seed(execution)
        order = np.random.default_rng(seed).permutation(len(self._shards))
        place = {self._shards[number].path: at for at, number in enumerate(order.tolist())}
        return sorted(pieces, key=lambda piece: place[piece.path])


_OPTIONS = inspect.signature(TFRecordDatasource).parameters.keys()


class _Reading(NamedTuple):
    """How pieces become tables of ``schema``; it can be pickled.

    ``wanted`` is None for whole records, of which there is one column or none. ``path`` says whether the
    column of paths is wanted too.
    """

    wanted: Wanted | None
    schema: Any
    path: bool
    how: dict[str, Any]
    skipped: Skipped | None

    def of(self, chosen: list[str]) -> _Reading:
        """The same with only the ``chosen`` columns."""
        path = self.path and _PATH in chosen
        names = [name for name in chosen if name in self.schema.names]
        data = [name for name in names if not (path and name == _PATH)]
        return self._replace(
            wanted=None if self.wanted is None else self.wanted.only(data, self.schema),
            schema=pa.schema([self.schema.field(name) for name in names]),
            path=path,
        )

    def tables(self, pieces: list[Piece]) -> Iterator[Any]:
        """The tables of all pieces, at least one."""
        rows = 0
        for piece in pieces:
            for table in self._of_piece(piece):
                rows += table.num_rows
                yield table
        if not rows:
            yield self.schema.empty_table()

    def _of_piece(self, piece: Piece) -> Iterator[Any]:
        reader = opened(piece.path, piece.byte_range, **self.how)
        try:
            for table in self._stream(reader):
                if not self.schema.names:
                    yield pa.table({_ROWS_ONLY: pa.nulls(table.num_rows)})
                    continue
                if self.path:
                    paths = pa.repeat(pa.scalar(str(piece.path)), table.num_rows)
                    table = table.append_column(_PATH, paths)  # noqa: PLW2901
                yield table.select(self.schema.names)
        finally:
            reader.close()
            if reader.skipped:
                begin = 0 if piece.byte_range is None else piece.byte_range[0]
                self._note(str(piece.path), begin, reader.skipped, str(reader.last_error))

    def _stream(self, reader: Any) -> Iterator[Any]:
        if self.wanted is not None:
            yield from self.wanted.stream(reader)[1]
            return
        for records in chunks_of(reader):
            yield to_arrow({_RAW: records})

    def _note(self, path: str, begin: int, places: int, error: str) -> None:
        _LOG.warning("skipped %s, the last: %s", counted(places, "damaged place"), error)
        if self.skipped is not None:
            self.skipped.add(path, begin, places, error)


def _task(reading: _Reading, pieces: list[Piece], limit: int | None) -> Any:
    known = [piece.records for piece in pieces]
    rows = None if None in known or reading.how["on_error"] == "skip" else sum(map(int, known))  # type: ignore[arg-type]
    metadata = ray.data.block.BlockMetadata(
        num_rows=rows,
        size_bytes=sum(piece.size for piece in pieces),
        input_files=list(dict.fromkeys(str(piece.path) for piece in pieces)),
        exec_stats=None,
    )

    def read_tfrecords() -> Iterator[Any]:
        return reading.tables(pieces)

    return ray.data.ReadTask(read_tfrecords, metadata, schema=reading.schema, per_task_row_limit=limit)


def _schema(shards: list[Shard], wanted: Wanted | None, how: dict[str, Any]) -> Any:
    """The schema that all tables have: that of the first file that has records."""
    if wanted is None:
        return to_arrow({_RAW: Records.of([])}).schema
    if wanted.specs is not None:
        return wanted.schema_of(Records.of([]))
    for shard in shards:
        with opened(shard.path, None, **how) as reader:
            if (records := next(chunks_of(reader), None)) is not None:
                return wanted.schema_of(records)
    return pa.schema([])


def _without_local_scheme(paths: Any) -> tuple[Any, bool]:
    """``paths`` without Ray's scheme for files of this node, and whether it was there."""
    given: list[Any] = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    here = [isinstance(path, str) and path.startswith("local://") for path in given]
    if any(here) and not all(here):
        raise ValueError("either all paths are local:// or none is")
    return [path.removeprefix("local://") if any(here) else path for path in given], any(here)
