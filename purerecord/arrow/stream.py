"""``open_reader``: files as a stream of Arrow record batches, of which few are in memory at a time.

The type of a column must be known before the first batch is handed out. Specs tell it, or else the first
batch of records does; a later record that does not fit is an error. This module must not know how a column
is converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from .. import public
from ..container.byte_range import RangeReader
from ..container.reader import RecordReader
from ..errors import SchemaError
from ..payload.columns.gather import Column
from ..payload.parse.checked_columns import CheckedColumns, Origin
from ..payload.parse.chosen_columns import ChosenColumns
from ..payload.parse.sequences import natural_batch
from ..records import Records
from ..storage.url import stored
from .growing_column import GrowingColumn, GrowingFeatureList
from .tables import (
    Specs,
    as_names,
    as_specs,
    check_text,
    chunks_of,
    opened,
    parsed_batch,
)
from .types import is_feature_list, is_text, pa


@public
def open_reader(
    paths: Any,
    features: Any = None,
    *,
    columns: Iterable[str] | None = None,
    text: bool | Iterable[str] = False,
    schema: Any = None,
    compression: Any = "auto",
    verify: bool = True,
    on_error: str = "raise",
    byte_range: tuple[int, int | None] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Any:
    """The Examples or SequenceExamples of files as a ``pyarrow.RecordBatchReader``.

    The arguments are those of ``read_table``, and so are the columns, but a stream has its types from the
    beginning: without ``features``, those of the first batch of records (8 MiB). A later record with another
    number of values where all had the same, or with a feature that none of these had, is a ``SchemaError``;
    name the ``columns`` that you want, or give ``features``. Files that are read apart get the same types
    with the ``schema`` of the first reader.

    >>> for batch in open_reader("train-*.tfrecord"):
    ...     print(batch.num_rows)
    """
    wanted = Wanted.of(features, columns, text, schema)
    source = stored(paths, storage_options, filesystem)
    reader = opened(source, byte_range, compression=compression, verify=verify, on_error=on_error)
    found, tables = wanted.stream(reader)
    batches = (batch for table in tables for batch in table.combine_chunks().to_batches())
    return pa.RecordBatchReader.from_batches(found, batches)


class Wanted(NamedTuple):
    """The columns that a stream is to have: those of specs, or the named ones, or all; or those of a
    schema."""

    specs: Specs | None
    names: list[str] | None
    text: ChosenColumns
    schema: Any

    @classmethod
    def of(cls, features: Any, columns: Any, text: Any, schema: Any = None) -> Wanted:
        """The arguments of ``open_reader``, checked."""
        wanted = cls(as_specs(features), as_names(columns), ChosenColumns("text", text), schema)
        if wanted.specs is not None and wanted.names is not None:
            raise ValueError("the columns are those of features; columns= chooses among all features")
        if schema is not None and (features is not None or text is not False):
            raise ValueError(
                "the schema of a reader says all about its columns: give no features and no text"
            )
        return wanted

    def only(self, names: list[str], schema: Any) -> Wanted:
        """The same of the columns ``names`` alone; ``schema`` is that of a stream of all."""
        if self.specs is not None and names:
            context, sequence = (
                None if specs is None else {name: specs[name] for name in names if name in specs}
                for specs in self.specs
            )
            text = ChosenColumns("text", [name for name in names if is_text(schema.field(name).type)])
            return self._replace(specs=Specs(context or {}, sequence), text=text)
        chosen = None if self.specs is None and self.names is None and names == schema.names else names
        fields = pa.schema([schema.field(name) for name in names])
        return Wanted(None, chosen, ChosenColumns("text", False), fields)

    def stream(self, reader: RecordReader | RangeReader) -> tuple[Any, Iterator[Any]]:
        """The schema, and the tables of all batches of ``reader``, which is closed at the end."""
        if self.specs is not None:
            return self.schema_of(Records.of([])), _parsed(reader, self.specs, self.text)
        if self.schema is not None:
            return self.schema, _Form.of(self.schema, self.names).tables(reader)
        first = next(chunks_of(reader), Records.of([]))
        form, table = _Form.like(first, self.names, self.text)
        check_text(table, self.text)
        return table.schema, chain((table,), form.tables(reader))

    def schema_of(self, records: Records) -> Any:
        """The schema of a stream that begins with ``records``."""
        if self.specs is not None:
            table = parsed_batch(Records.of([]), self.specs, self.text)
        else:
            table = _Form.like(records, self.names, self.text)[1]
        check_text(table, self.text)
        return table.schema


def _parsed(reader: RecordReader | RangeReader, specs: Specs, text: ChosenColumns) -> Iterator[Any]:
    with reader:
        for records in chunks_of(reader):
            yield parsed_batch(records, specs, text)


class _Form:
    """The columns of the first batch of records, whose form all the others must have.

    Records must have no other features, unless ``names`` says which are wanted.
    """

    def __init__(
        self, grown: Mapping[str, GrowingColumn | GrowingFeatureList], names: list[str] | None
    ) -> None:
        self._grown, self._names = grown, names

    @classmethod
    def like(cls, records: Records, names: list[str] | None, text: ChosenColumns) -> tuple[_Form, Any]:
        """The form of the first batch of records, and the table of that."""
        columns, lists = natural_batch(records, names)
        made: dict[str, GrowingColumn | GrowingFeatureList] = {}
        for name in sorted(columns.keys() | lists.keys()) if names is None else names:
            if name in columns and name in lists:
                raise _both(name)
            if name in columns:
                column = made[name] = GrowingColumn(name, 0, text=name in text)
                column.add(columns[name], records)
            elif name in lists:
                found = made[name] = GrowingFeatureList(name, 0, text=name in text)
                found.add(lists[name], records)
            else:
                reason = "none of the first records has it, so the stream cannot know its type; give features"
                raise SchemaError(reason, feature=name, problem="missing")
        return cls(made, names), _table(len(records), {name: grown.finish() for name, grown in made.items()})

    @classmethod
    def of(cls, schema: Any, names: list[str] | None) -> _Form:
        """The form that a stream of this schema has."""
        made: dict[str, GrowingColumn | GrowingFeatureList] = {}
        for field in schema:
            of = GrowingFeatureList.of if is_feature_list(field.type) else GrowingColumn.of
            made[field.name] = of(field.name, field.type)
        if names is not None and names != list(made):
            raise ValueError(f"the schema has the columns {list(made)}, and not {names}")
        return cls(made, names)

    def tables(self, reader: RecordReader | RangeReader) -> Iterator[Any]:
        """The tables of all batches that ``reader`` still has."""
        with reader:
            for records in chunks_of(reader):
                columns, lists = natural_batch(records, self._names)
                for name in columns.keys() | lists.keys():
                    if name not in self._grown:
                        raise _came_later(name, columns.get(name), records)
                    if name in (lists if isinstance(self._grown[name], GrowingColumn) else columns):
                        raise _both(name)
                made = {}
                for name, grown in self._grown.items():
                    found: Any = columns.get(name) if isinstance(grown, GrowingColumn) else lists.get(name)
                    made[name] = grown.like(records, found)
                yield _table(len(records), made)


def _table(rows: int, arrays: Mapping[str, Any]) -> Any:
    """A table, which has its rows also without columns."""
    return pa.table(arrays) if arrays else pa.table({"": pa.nulls(rows)}).select([])


def _both(name: str) -> SchemaError:
    reason = "is a context feature and a feature list, but a table has one column of that name"
    return SchemaError(f"{reason}; name the features that you want by specs", feature=name)


def _came_later(name: str, column: Column | None, records: Records) -> SchemaError:
    row = 0 if column is None or column.kinds is None else int((column.kinds > 0).argmax())
    batch = CheckedColumns({}, len(records), Origin(records))
    reason = (
        "none of the first records has it, so the stream has no such column; name the columns that you want, "
        "or give features to have this one too"
    )
    return batch.mismatch(name, row, "unknown", reason, expected=None, found=name)
