"""Arrow's record batches to records, and back, for the file formats that hold such batches.

Numbers and strings go from Arrow's buffers to the records, without a Python object for each. What an Example
has no type for is changed by rules that the types in the report tell: booleans and times become integers,
decimals their text, structs a feature for each field. This module must not know files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import chain
from typing import Any, NamedTuple

from ....arrow.from_arrow import check_storable, encoder_column
from ....arrow.growing_column import GrowingColumn, GrowingFeatureList
from ....arrow.tables import encoded_batches
from ....arrow.types import is_feature_list, is_list, is_wrapped, pa
from ....errors import EncodeError, SchemaError
from ....payload.encode.examples import encode_examples
from ....payload.parse.sequences import natural_batch
from ....payload.wire import BYTES, FLOAT, INT64, UNSET
from ....printable import printable
from ....records import Records
from ..column_types import FeatureType, misfit, types_of
from ..job import Job
from ..outputs import name_of, size_of
from ..survey import VARYING, Seen, Survey, survey, survey_of
from .fitting import fitted

_ENCODED_ROWS = 1 << 13
_TYPES = {UNSET: pa.null(), BYTES: pa.large_binary(), FLOAT: pa.float32(), INT64: pa.int64()}


# --- Reading ----------------------------------------------------------------------------------------


def flat_schema(schema: Any) -> Any:
    """The columns of batches of a schema after ``flat_batch``."""
    return flat_batch(
        pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
    ).schema


def flat_batch(batch: Any) -> Any:
    """A batch whose columns an Example can hold, where there is a rule."""
    arrays: list[Any] = []
    fields: list[Any] = []
    for field, array in zip(batch.schema, batch.columns, strict=True):
        for name, flat in _flat(field.name, array):
            fields.append(pa.field(name, flat.type, metadata=field.metadata if flat is array else None))
            arrays.append(flat)
    if not arrays:
        return batch
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _flat(name: str, array: Any) -> Iterator[tuple[str, Any]]:
    """One column as one or more."""
    dtype = array.type
    if pa.types.is_struct(dtype):
        for field, part in zip(dtype, array.flatten(), strict=True):
            yield from _flat(f"{name}/{field.name}", part)
    elif _is_time(dtype):
        yield name, array.cast(pa.int32() if dtype.bit_width == 32 else pa.int64())
    elif pa.types.is_decimal(dtype):
        yield name, array.cast(pa.string())
    else:
        yield name, array


def _is_time(dtype: Any) -> bool:
    return bool(pa.types.is_temporal(dtype)) and not pa.types.is_interval(dtype)


def words_of(schema: Any) -> dict[str, str]:
    """What the features of a schema hold, and the rule that makes them, in words."""
    return {name: words for field in schema for name, words in _words(field.name, field.type)}


def _words(name: str, dtype: Any) -> Iterator[tuple[str, str]]:
    if pa.types.is_struct(dtype):
        for field in dtype:
            yield from _words(f"{name}/{field.name}", field.type)
        return
    shape = " steps" if is_feature_list(dtype) else ""
    leaf = dtype
    while is_list(leaf) or is_wrapped(leaf) or isinstance(leaf, pa.BaseExtensionType):
        if pa.types.is_fixed_size_list(leaf) and not shape.startswith(" "):
            shape += f"[{leaf.list_size}]"
        elif is_list(leaf):
            shape = shape if shape == " steps" else " list"
        leaf = leaf.storage_type if isinstance(leaf, pa.BaseExtensionType) else leaf.value_type
    kind, rule = _leaf_words(leaf)
    yield name, f"{kind}{shape}{f' ({rule})' if rule else ''}"


def _leaf_words(leaf: Any) -> tuple[str, str]:
    """The kind of values, and the rule for them if there is one."""
    if _is_time(leaf) or pa.types.is_boolean(leaf):
        return "int64", f"from {leaf}"
    if pa.types.is_decimal(leaf):
        return "bytes", f"text of {leaf}"
    if pa.types.is_floating(leaf):
        return "float", "rounded from double" if pa.types.is_float64(leaf) else ""
    if pa.types.is_integer(leaf):
        return "int64", ""
    return ("nothing" if pa.types.is_null(leaf) else "bytes"), ""


class Table(NamedTuple):
    """An open file: its schema, its rows if they are known, and its batches of the columns of given names."""

    schema: Any
    rows: int | None
    batches: Callable[[list[str]], Iterator[Any]]


# Opens a source.
Opener = Callable[[Any], AbstractContextManager[Table]]


def read_tables(job: Job, opener: Opener) -> Iterable[Records]:
    """The records of the rows of all sources."""
    reading = _Reading(job, opener)
    for source in job.sources:
        with reading.named(source):
            reading.check(source)
    return reading.records()


class _Reading:
    """The reading of some files, which have the same columns."""

    def __init__(self, job: Job, opener: Opener) -> None:
        self._job, self._opener = job, opener
        self._types = None if job.schema is None else types_of(job.schema)
        self._schema: Any = None  # of all files, flat, the columns that are taken
        self._streams: dict[int, Table] = {}
        self._stack = ExitStack()

    @contextmanager
    def named(self, source: Any) -> Iterator[None]:
        """Errors get the name of the file, and the row."""
        name = printable(name_of(source))
        try:
            yield
        except EncodeError as error:
            place = name if error.record is None else f"{name}: row {error.record}"
            if error.feature is None:
                raise EncodeError(f"{place}: {error.reason}") from None
            raise misfit(place, error.feature, error.reason) from None
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise EncodeError(f"{name}: pyarrow cannot read it: {str(error).splitlines()[0]}") from None

    @contextmanager
    def _opened(self, source: Any) -> Iterator[Table]:
        """An open file; one that cannot be opened twice stays open."""
        if isinstance(source, str):
            with self._opener(source) as table:
                yield table
            return
        if id(source) not in self._streams:
            self._streams[id(source)] = self._stack.enter_context(self._opener(source))
        yield self._streams[id(source)]

    def check(self, source: Any) -> None:
        """Check the columns of a file."""
        with self._opened(source) as table:
            flat = flat_schema(table.schema)
            words = words_of(table.schema)
            self._job.report.records += table.rows or 0
        names = self._taken(flat)
        taken = pa.schema([flat.field(name) for name in names])
        if self._schema is None:
            check_storable(taken)
            self._schema = taken
            self._job.report.types = {name: words[name] for name in names}
            if self._types is not None:
                self._job.report.types = {name: str(self._types[name]) for name in names}
        elif sorted(taken.names) != sorted(self._schema.names):
            names = sorted(set(taken.names) ^ set(self._schema.names))
            raise EncodeError(f"the columns differ from those of the first file: {', '.join(names)}")
        for field in taken:
            first = self._schema.field(field.name).type
            if field.type != first:
                raise EncodeError(f"is {field.type}, and {first} in the first file", feature=field.name)

    def _taken(self, flat: Any) -> list[str]:
        asked = self._job.options["columns"]
        required = [name for name, kept in (self._types or {}).items() if kept.required]
        for name in (*(asked or ()), *required):
            if name not in flat.names:
                known = ", ".join(map(repr, flat.names[:10])) + (", ..." if len(flat.names) > 10 else "")
                raise EncodeError(f"there is no column {name!r}; there is {known}")
        names = flat.names if asked is None else asked
        if self._types is not None:
            names = [name for name in names if name in self._types]
        for name in names:
            if flat.names.count(name) > 1:
                raise EncodeError("is the name of several columns", feature=name)
        return list(names)

    def records(self) -> Iterator[Records]:
        """The records of all files."""
        with self._stack:
            for source in self._job.sources:
                with self.named(source), self._opened(source) as table:
                    yield from self._encoded(self._batches(source, table))

    def _batches(self, source: Any, table: Table) -> Iterator[Any]:
        wanted = set(self._schema.names)
        top = [field.name for field in table.schema if wanted & set(flat_schema(pa.schema([field])).names)]
        size, told, rows = size_of(source), 0, 0
        for batch in table.batches(top):
            yield flat_batch(batch).select(self._schema.names)
            rows += batch.num_rows
            done = size if table.rows is None else size * rows // max(1, table.rows)
            self._job.progress(done - told, 0)
            told = done

    def _encoded(self, batches: Iterator[Any]) -> Iterator[Records]:
        if not self._schema.names:
            yield from (Records.of([b""] * batch.num_rows) for batch in batches)
        elif self._types is None:
            yield from encoded_batches(self._schema, batches, self._job.floats)
        else:
            yield from self._fitted(batches, self._types)

    def _fitted(self, batches: Iterator[Any], types: dict[str, FeatureType]) -> Iterator[Records]:
        done = 0
        for batch in batches:
            for begin in range(0, batch.num_rows, _ENCODED_ROWS):
                part = batch.slice(begin, _ENCODED_ROWS)
                try:
                    columns = {name: encoder_column(name, part.column(name)) for name in part.schema.names}
                    yield encode_examples(fitted(columns, types, self._job.floats))
                except EncodeError as error:
                    error.record = None if error.record is None else error.record + done
                    raise
                done += part.num_rows


# --- Writing ----------------------------------------------------------------------------------------


class Form:
    """The columns of all records: what Arrow has of each feature.

    Features that have one value in every record that has them become values, all others lists; of the same
    length only if ``fixed``. Strings that all are UTF-8 become text.
    """

    def __init__(self, job: Job, *, fixed: bool) -> None:
        self._job = job
        self._batches: Iterator[Records] = job.batches()
        self._names = job.options["columns"]
        found = self._survey()
        binary = set(job.options["binary"] or ())
        if job.read_again:
            job.report.records = found.rows
        job.report.types = found.types()
        self._columns: dict[str, GrowingColumn | GrowingFeatureList] = {}
        for name, seen in found.features.items():
            value = self._value_type(name, seen, binary)
            if seen.kind == UNSET:
                pass  # nothing but missing values
            elif seen.width == VARYING or (not fixed and seen.width not in (None, 1)):
                value = pa.large_list(value)
            elif seen.width not in (None, 1):
                value = pa.list_(value, seen.width)
            self._columns[name] = GrowingColumn.of(name, value)
        for name, seen in found.lists.items():
            value = pa.large_list(pa.large_list(self._value_type(name, seen, binary)))
            self._columns[name] = GrowingFeatureList.of(name, value)
        for name in binary - self._columns.keys():
            raise SchemaError("no record has it", feature=name, problem="missing")
        if self._names is not None:
            self._columns = {name: self._columns[name] for name in self._names}
        if not self._columns:
            raise SchemaError("no record has a feature, so there are no columns to write")
        self.schema = self._batch(Records.of([])).schema

    def _survey(self) -> Survey:
        if self._job.read_again:
            return survey(self._job, self._names, lists=True)
        first = next(self._batches, Records.of([]))
        self._batches = chain([first], self._batches)
        self._job.report.note(f"a stream: the columns are those of its first {len(first):,} records")
        return survey_of([first], self._names, lists=True)

    def _value_type(self, name: str, seen: Seen, binary: set[str]) -> Any:
        if seen.kind == BYTES and seen.text and name not in binary:
            self._job.report.types[name] = self._job.report.types[name].replace("bytes", "text", 1)
            return pa.large_string()
        return _TYPES[seen.kind]

    def batches(self) -> Iterator[Any]:
        """The records as record batches of ``schema``."""
        for records in self._batches:
            yield self._batch(records)

    def _batch(self, records: Records) -> Any:
        columns, lists = natural_batch(records, self._names)
        if later := (columns.keys() | lists.keys()) - self._columns.keys():
            reason = "comes after the first records of a stream; name the columns (--columns)"
            raise SchemaError(reason, feature=min(later))
        arrays = {}
        for name, known in self._columns.items():
            found: Any = columns.get(name) if isinstance(known, GrowingColumn) else lists.get(name)
            arrays[name] = known.like(records, found)
        return pa.RecordBatch.from_pydict(arrays)
