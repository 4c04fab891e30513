"""Columns, and files of Examples, to and from ``pyarrow`` tables, and so to pandas, polars, DuckDB, ...

Columns are converted without a Python object for each value, and numbers without a copy. This folder alone
imports pyarrow. This module must not know how a column is converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .. import public
from ..container.byte_range import RangeReader
from ..container.reader import RecordReader, read_batches
from ..container.sharded_writer import ShardedWriter
from ..container.writer import TFRecordWriter
from ..errors import EncodeError, SchemaError
from ..payload.columns.gather import check_cells
from ..payload.encode.examples import encode_examples
from ..payload.encode.sequences import encode_sequences
from ..payload.exact_floats import is_exact
from ..payload.parse.checked_columns import CheckedColumns, Origin
from ..payload.parse.chosen_columns import ChosenColumns, text_and_bytes_columns
from ..payload.parse.examples import parse_example
from ..payload.parse.sequences import natural_batch, parse_sequence_example
from ..payload.parse.text import no_strings, text_column, text_error
from ..payload.ragged import Ragged
from ..payload.specs import FeatureSpec, FixedLenSequenceFeature, RaggedFeature, VarLenFeature, as_features
from ..records import Records
from ..storage.paths import split_pattern
from ..storage.url import is_url, local_path, stored
from .from_arrow import ColumnValues, as_column, check_storable, encoder_column
from .growing_column import GrowingColumn, GrowingFeatureList
from .to_arrow import NotTextError, as_field
from .types import is_feature_list, is_list, is_text, pa

__all__ = ["from_arrow", "read_table", "to_arrow", "write_table"]

# Records and bytes that are read and decoded at once, and become one chunk of a table.
_CHUNK_RECORDS, _CHUNK_BYTES = 1 << 16, 1 << 23
_ENCODED_ROWS = 1 << 13  # rows that are encoded at once


@public
def to_arrow(columns: Mapping[str, Any]) -> Any:
    """Columns as a ``pyarrow.Table``, which shares their memory where Arrow has the same layout.

    Vectors become values, further dimensions fixed-size lists, a ``Ragged`` lists, bytes large_binary.
    Missing rows of a ``Ragged`` and values under a ``np.ma`` mask become null. A ``Sparse`` becomes lists of
    ``{index, value}``; the index is a list if a row has several dimensions.

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
def from_arrow(
    table: Any, *, text: bool | Iterable[str] = False, bytes_columns: bool | Iterable[str] = False
) -> dict[str, ColumnValues]:
    """The columns of a table, in the form of ``decode_examples`` and ``encode_examples``.

    ``table`` is a ``pyarrow.Table`` or ``RecordBatch``, or anything with ``__arrow_c_stream__``, such as a
    DataFrame of polars. Lists become a ``Ragged``, fixed-size lists dimensions, strings objects of bytes; a
    column with nulls becomes a ``Ragged`` with ``missing`` rows there. Arrays that share the table's memory
    are read-only. A type that an Example cannot hold raises an ``EncodeError``. ``text`` and
    ``bytes_columns`` are those of ``decode_examples``; the strings of a ``BytesColumn`` share its memory too.
    """
    strings, in_place = text_and_bytes_columns(text, bytes_columns)
    whole = table if isinstance(table, (pa.Table, pa.RecordBatch)) else _reader(table).read_all()
    _check_names(whole.schema)
    columns = {
        field.name: as_column(field, whole.column(i), in_place=field.name in in_place)
        for i, field in enumerate(whole.schema)
    }
    rows = CheckedColumns({}, whole.num_rows)
    for name in filter(strings.__contains__, columns):
        columns[name] = text_column(name, columns[name], rows, required=name in strings.names)
    return columns


@public
def read_table(
    paths: Any,
    features: Any = None,
    *,
    columns: Iterable[str] | None = None,
    text: bool | Iterable[str] = False,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
    byte_range: tuple[int, int | None] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Any:
    """The Examples or SequenceExamples of files as one ``pyarrow.Table``.

    Without ``features``, every feature becomes a column: of values if no record has more than one, of
    fixed-size lists if all have equally many, else of lists. A feature list becomes lists of lists. A record
    that lacks the feature is null. ``columns`` names those that you want; only these are decoded.

    With ``features``, a mapping of specs, or a pair of mappings for SequenceExamples, the columns are those
    of ``parse_example`` or ``parse_sequence_example``, but features of varying length become lists, and
    nothing is padded.

    Strings are binary; with ``text=True``, or in the columns that ``text`` names, they are text, and one that
    is not UTF-8 is a ``SchemaError``. The files are read one after the other, and each batch becomes a chunk
    of the table. ``byte_range`` is that of ``read_batches``; the other arguments are those of
    ``read_records``.

    >>> read_table("train-*.tfrecord").to_pandas()
    """
    specs, names, strings = as_specs(features), as_names(columns), ChosenColumns("text", text)
    if specs is not None and names is not None:
        raise ValueError("the columns are those of features; columns= chooses among all features")
    source = stored(paths, storage_options, filesystem)
    with opened(source, byte_range, compression=compression, verify=verify, on_error=on_error) as reader:
        if specs is not None:
            table = _parsed_table(reader, specs, strings)
        else:
            table = _natural_table(chunks_of(reader), names, strings)
    check_text(table, strings)
    return table


class Specs(NamedTuple):
    """The specs of Examples, or of SequenceExamples if ``sequence`` is not None."""

    context: dict[str, FeatureSpec]
    sequence: dict[str, FeatureSpec] | None


def as_specs(features: Any) -> Specs | None:
    """The argument ``features`` of ``read_table``, checked."""
    if features is None:
        return None
    if isinstance(features, Mapping):
        return Specs(_with_lists(features), None)
    if isinstance(features, tuple) and len(features) == 2 and all(isinstance(f, Mapping) for f in features):
        context, sequence = map(as_features, features)
        for name in context.keys() & sequence.keys():
            raise ValueError(f"{name!r} is in both parts, but a table has one column of that name")
        return Specs(_with_lists(context), {name: _as_step_lists(spec) for name, spec in sequence.items()})
    raise TypeError("features must be a mapping of specs, or a pair of them; for names there is columns=")


def as_names(columns: Any) -> list[str] | None:
    """The argument ``columns`` of ``read_table``, checked."""
    if columns is None:
        return None
    if isinstance(columns, (str, bytes)) or not all(isinstance(name, str) for name in columns):
        raise TypeError(f"columns must be a list of names, not {columns!r}")
    return list(dict.fromkeys(columns))


def check_text(table: Any, text: ChosenColumns) -> None:
    """Raise a SchemaError if a column that ``text`` names is not there, or holds no strings."""
    for name in text.names:
        if name not in table.column_names:
            raise unknown_column(name)
        dtype = table.schema.field(name).type
        while is_list(dtype):
            dtype = dtype.value_type
        if not is_text(dtype) and not pa.types.is_null(dtype):
            raise no_strings(name, dtype)


def unknown_column(name: str) -> SchemaError:
    return SchemaError("no record has it", feature=name, problem="missing")


def opened(source: Any, byte_range: tuple[int, int | None] | None, **options: Any) -> Any:
    """What reads ``source``, or a part of it: a RecordReader or a RangeReader."""
    if byte_range is None:
        return RecordReader(source, **options)
    return read_batches(source, byte_range=byte_range, **options)


def chunks_of(reader: RecordReader | RangeReader) -> Iterator[Records]:
    if isinstance(reader, RangeReader):
        yield from reader
        return
    while (records := reader.next_item(_CHUNK_RECORDS, _CHUNK_BYTES)) is not None:
        yield records


def batches_of(records: Records, features: Any = None, columns: Iterable[str] | None = None) -> Iterator[Any]:
    """The batch ``records`` as ``pyarrow.RecordBatch``, with the columns of ``read_table``."""
    specs, names, text = as_specs(features), as_names(columns), ChosenColumns("text", False)
    if specs is not None:
        table = parsed_batch(records, specs, text)
    else:
        table = _natural_table([records], names, text)
    yield from table.combine_chunks().to_batches()


def _natural_table(chunks: Iterable[Records], names: list[str] | None, text: ChosenColumns) -> Any:
    features: dict[str, GrowingColumn] = {}
    lists: dict[str, GrowingFeatureList] = {}
    rows = size = 0
    for records in chunks:
        columns, found = natural_batch(records, names)
        for name in (features.keys() - columns.keys()) | (lists.keys() - found.keys()):
            (features.get(name) or lists[name]).add_nulls(len(records))
        for name, column in columns.items():
            if name not in features:
                features[name] = GrowingColumn(name, rows, text=name in text)
            features[name].add(column, records)
        for name, one in found.items():
            if name not in lists:
                lists[name] = GrowingFeatureList(name, rows, text=name in text)
            lists[name].add(one, records)
        for name in features.keys() & lists.keys():
            reason = "is a context feature and a feature list, but a table has one column of that name"
            raise SchemaError(f"{reason}; name the features that you want by specs", feature=name)
        rows += len(records)
        size += records.nbytes
        if names is None:
            check_cells(len(features) + len(lists), rows, size)
    grown: dict[str, GrowingColumn | GrowingFeatureList] = {**features, **lists}
    for name in names or ():
        if name not in grown:
            raise unknown_column(name)
    order = sorted(grown) if names is None else names
    if not order:  # a table without columns that still has its number of rows
        return pa.table({"": pa.nulls(rows)}).select([])
    return pa.table({name: grown[name].finish() for name in order})


def _parsed_table(reader: RecordReader | RangeReader, specs: Specs, text: ChosenColumns) -> Any:
    # An empty batch has the same types as any other.
    empty = parsed_batch(Records.of([]), specs, text)
    tables = [parsed_batch(records, specs, text) for records in chunks_of(reader)]
    return pa.concat_tables([empty, *tables]) if tables else empty


def parsed_batch(records: Records, specs: Specs, text: ChosenColumns) -> Any:
    columns = _parsed(records, specs)
    made = []
    for name, column in columns.items():
        try:
            made.append(as_field(name, column, text=name in text))
        except NotTextError:
            batch = CheckedColumns({}, len(records), Origin(records))
            raise text_error(name, column, batch) from None
    return pa.table([array for _, array in made], schema=pa.schema([field for field, _ in made]))


def _parsed(records: Records, specs: Specs) -> dict[str, Any]:
    if specs.sequence is None:
        return parse_example(records, specs.context, bytes_columns=True)
    context, sequence, lengths = parse_sequence_example(records, specs.context, specs.sequence)
    for name, counts in lengths.items():  # padded to the most steps of the batch
        steps = sequence[name][np.arange(sequence[name].shape[1]) < counts[:, None]]
        sequence[name] = Ragged(steps, np.append(0, np.cumsum(counts)))
    return {**context, **sequence}


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


def _as_step_lists(spec: FeatureSpec) -> FeatureSpec:
    """The same for a feature list. ``_parsed`` takes the padding of a FixedLenSequenceFeature away."""
    return _as_lists(spec) if isinstance(spec, VarLenFeature) else spec


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
    floats: str = "round",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> None:
    """Write the rows of a table as Examples, or as SequenceExamples, to a file or to shards.

    ``table`` is a ``pyarrow.Table``, ``RecordBatch`` or ``RecordBatchReader``, or anything with
    ``__arrow_c_stream__``, such as a DataFrame of polars or pandas. It is encoded some thousand rows at a
    time. A column of lists of lists is a feature list; if there is one, the records are SequenceExamples. A
    record lacks the features that are null in its row. Values that cannot be stored without loss raise an
    ``EncodeError`` that names the column and the row. Doubles are rounded to float32, as everywhere; with
    ``floats="exact"`` one that would change is such a value.

    The file appears when it is complete, except with ``atomic=False``, when appending, and for a target that
    is no local path. ``mode``, ``index`` and ``options`` are those of ``TFRecordWriter``; ``shards``,
    ``max_bytes``, ``max_records`` and a path like ``train@10.tfrecord`` those of ``ShardedWriter``.
    """
    is_exact(floats)  # a ValueError before there is a file
    path = stored(path, storage_options, filesystem)
    limits: dict[str, Any] = {"shards": shards, "max_bytes": max_bytes, "max_records": max_records}
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
        for records in encoded_batches(reader.schema, reader, floats):
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


def encoded(table: Any, floats: str = "round") -> Iterator[Records]:
    """The rows of a table as ``write_table`` writes them."""
    reader = _reader(table)
    _check_names(reader.schema)
    check_storable(reader.schema)
    return encoded_batches(reader.schema, reader, floats)


def encoded_batches(schema: Any, batches: Iterable[Any], floats: str) -> Iterator[Records]:
    """The rows of record batches, whose schema was checked."""
    sequence = {field.name for field in schema if is_feature_list(field.type)}
    done = 0
    for batch in batches:
        for begin in range(0, batch.num_rows, _ENCODED_ROWS):
            part = batch.slice(begin, _ENCODED_ROWS)
            try:
                columns: dict[str, Any] = {
                    field.name: encoder_column(field.name, part.column(i))
                    for i, field in enumerate(part.schema)
                }
                context = {name: column for name, column in columns.items() if name not in sequence}
                if sequence:
                    yield encode_sequences(context, {name: columns[name] for name in sequence}, floats)
                else:
                    yield encode_examples(context, floats=floats)
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
