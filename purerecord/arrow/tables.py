"""Columns and files of Examples to and from ``pyarrow`` tables, and so to pandas, polars, DuckDB, ...

Columns are converted without a Python object for each value, and numbers without a copy. This folder alone
imports pyarrow. This module must not know how a column is converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import public
from ..container.reader import RecordReader
from ..container.sharded_writer import ShardedWriter
from ..container.writer import TFRecordWriter
from ..errors import EncodeError
from ..payload.encode.examples import encode_examples
from ..payload.parse.examples import natural_columns, parse_example
from ..payload.specs import FeatureSpec, FixedLenSequenceFeature, RaggedFeature, VarLenFeature, as_features
from ..records import Records
from ..storage.paths import is_url, local_path, split_pattern
from .from_arrow import ColumnValues, as_column, check_storable, encoder_cells
from .growing_column import GrowingColumn
from .to_arrow import as_field
from .types import pa

__all__ = ["from_arrow", "read_table", "to_arrow", "write_table"]

# Records and bytes that are read and decoded at once, and become one chunk of a table.
_CHUNK_RECORDS, _CHUNK_BYTES = 1 << 16, 1 << 23
_ENCODED_ROWS = 1 << 13  # rows that are encoded at once


@public
def to_arrow(columns: Mapping[str, Any]) -> Any:
    """Columns as a ``pyarrow.Table``, which shares their memory where Arrow has the same layout.

    Vectors become values, further dimensions fixed-size lists, a ``Ragged`` lists, bytes large_binary. Values
    under a ``np.ma`` mask become null. A ``Sparse`` becomes lists of ``{index, value}``; the index is a list
    if a row has several dimensions.

    >>> to_arrow({"id": np.arange(3), "tokens": Ragged.from_rows([[5, 6], [], [7]])})
    """
    if not isinstance(columns, Mapping):
        raise TypeError(f"expected a mapping from names to columns, got {type(columns).__name__}")
    made = [as_field(name, column) for name, column in columns.items()]
    for field, array in made:
        if len(array) != len(made[0][1]):
            raise EncodeError(
                f"has {len(array)} rows, where {made[0][0].name!r} has {len(made[0][1])}", feature=field.name
            )
    return pa.table([array for _, array in made], schema=pa.schema([field for field, _ in made]))


@public
def from_arrow(table: Any) -> dict[str, ColumnValues]:
    """The columns of a table, in the form of ``decode_examples`` and ``encode_examples``.

    ``table`` is a ``pyarrow.Table`` or ``RecordBatch``, or anything with ``__arrow_c_stream__``, such as a
    DataFrame of polars. Lists become a ``Ragged``, fixed-size lists dimensions, strings objects of bytes; a
    column with nulls becomes a ``Ragged`` with empty rows there. Arrays that share the table's memory are
    read-only. A type that an Example cannot hold raises an ``EncodeError``.
    """
    whole = table if isinstance(table, (pa.Table, pa.RecordBatch)) else _reader(table).read_all()
    _check_names(whole.schema)
    return {field.name: as_column(field, whole.column(i)) for i, field in enumerate(whole.schema)}


@public
def read_table(
    paths: Any,
    features: Mapping[str, Any] | None = None,
    *,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
) -> Any:
    """The Examples of files as one ``pyarrow.Table``.

    Without ``features``, every feature becomes a column: of values if no record has more than one, of
    fixed-size lists if all have equally many, else of lists. A record that lacks the feature is null. With
    ``features`` the columns are those of ``parse_example``, but features of varying length become lists, and
    nothing is padded. The files are read one after the other, and each batch becomes a chunk of the table.
    The other arguments are those of ``read_records``.

    >>> read_table("train-*.tfrecord").to_pandas()
    """
    specs = None if features is None else _with_lists(features)
    with RecordReader(paths, compression=compression, verify=verify, on_error=on_error) as reader:
        return _natural_table(reader) if specs is None else _parsed_table(reader, specs)


def _batches(reader: RecordReader) -> Iterator[Records]:
    while (records := reader.next_batch(_CHUNK_RECORDS, _CHUNK_BYTES)) is not None:
        yield records


def _natural_table(reader: RecordReader) -> Any:
    columns: dict[str, GrowingColumn] = {}
    rows = 0
    for records in _batches(reader):
        found = natural_columns(records)
        for name in columns.keys() - found.keys():
            columns[name].add_nulls(len(records))
        for name, column in found.items():
            if name not in columns:
                columns[name] = GrowingColumn(name, rows)
            columns[name].add(column, records)
        rows += len(records)
    if not columns:  # a table without columns that still has its number of rows
        return pa.table({"": pa.nulls(rows)}).select([])
    return pa.table({name: columns[name].finish() for name in sorted(columns)})


def _parsed_table(reader: RecordReader, specs: Mapping[str, FeatureSpec]) -> Any:
    # An empty batch has the same types as any other.
    schema = to_arrow(parse_example([], specs)).schema
    tables = [to_arrow(parse_example(records, specs)) for records in _batches(reader)]
    return pa.concat_tables([schema.empty_table(), *tables]) if tables else schema.empty_table()


def _with_lists(features: Mapping[str, Any]) -> dict[str, FeatureSpec]:
    """``features`` in which specs that pad to the longest row of a batch give lists instead."""
    return {name: _as_lists(spec) for name, spec in as_features(features).items()}


def _as_lists(spec: FeatureSpec) -> FeatureSpec:
    if isinstance(spec, VarLenFeature):
        return RaggedFeature(spec.dtype, row_splits_dtype="int64")
    if isinstance(spec, FixedLenSequenceFeature):
        inner = [RaggedFeature.UniformRowLength(length) for length in spec.shape]
        return RaggedFeature(spec.dtype, partitions=inner, row_splits_dtype="int64")
    return spec


@public
def write_table(
    table: Any,
    path: Any,
    options: Any = None,
    *,
    mode: str = "w",
    atomic: bool | None = None,
    index: bool = False,
    shards: int | None = None,
    max_bytes: int | None = None,
    max_records: int | None = None,
    round_floats: bool = False,
) -> None:
    """Write the rows of a table as Examples to a file, or to shards.

    ``table`` is a ``pyarrow.Table``, ``RecordBatch`` or ``RecordBatchReader``, or anything with
    ``__arrow_c_stream__``, such as a DataFrame of polars or pandas. It is encoded some thousand rows at a
    time. A record lacks the features that are null in its row. Values that cannot be stored without loss
    raise an ``EncodeError`` that names the column. Doubles that float32 cannot hold exactly are such values,
    unless ``round_floats`` is set.

    The file appears when it is complete, except with ``atomic=False``, when appending, and for a target that
    is no local path. ``mode``, ``index`` and ``options`` are those of ``TFRecordWriter``; ``shards``,
    ``max_bytes``, ``max_records`` and a path like ``train@10.tfrecord`` those of ``ShardedWriter``.
    """
    limits = {"shards": shards, "max_bytes": max_bytes, "max_records": max_records}
    writer: TFRecordWriter | ShardedWriter
    reader = _reader(table)
    _check_names(reader.schema)
    check_storable(reader.schema)
    if _is_sharded(path, limits):
        if mode != "w" or index or atomic is False:
            raise ValueError('shards are always written anew and atomically: no mode="a", index or atomic')
        writer = ShardedWriter(path, options=options, **limits)
    else:
        if atomic is None:
            atomic = mode == "w" and not hasattr(path, "write") and not is_url(local_path(path))
        writer = TFRecordWriter(path, options, mode=mode, atomic=atomic, index=index)
    with writer:
        for records in _encoded(reader, round_floats):
            writer.write_many(records)


def _is_sharded(path: Any, limits: Mapping[str, int | None]) -> bool:
    if any(limit is not None for limit in limits.values()):
        return True
    return not hasattr(path, "write") and split_pattern(local_path(path))[0] != local_path(path)


def _reader(table: Any) -> Any:
    """Any table as a ``RecordBatchReader``."""
    if isinstance(table, pa.RecordBatchReader):
        return table
    if isinstance(table, pa.Table):
        return table.to_reader(max_chunksize=_ENCODED_ROWS)
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table]).to_reader(max_chunksize=_ENCODED_ROWS)
    if hasattr(table, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(table)
    raise TypeError(f"expected a table, or what offers __arrow_c_stream__, not {type(table).__name__}")


def _encoded(reader: Any, round_floats: bool) -> Iterator[Records]:
    done = 0
    for batch in reader:
        for begin in range(0, batch.num_rows, _ENCODED_ROWS):
            part = batch.slice(begin, _ENCODED_ROWS)
            try:
                yield encode_examples(
                    {
                        field.name: encoder_cells(field, part.column(i), round_floats=round_floats)
                        for i, field in enumerate(part.schema)
                    }
                )
            except EncodeError as error:
                if error.record is not None:
                    error.record += done
                raise
            done += part.num_rows


def _check_names(schema: Any) -> None:
    names = schema.names
    if len(set(names)) != len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise EncodeError("is the name of several columns", feature=name)
