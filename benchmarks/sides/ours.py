"""purerecord's side, through the public API only; a missing function is reported, not an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import purerecord as pr
from benchmarks.digest import Plain, Rows, Written, dense, padded
from benchmarks.handmade import Column, Jagged, payloads
from benchmarks.sides import Task, Variant
from benchmarks.workloads import Field, NotThereYetError, Workload
from purerecord.container.index import Index
from purerecord.records import Records

VERSION = pr.__version__
_DTYPES: dict[str, Any] = {"int64": np.int64, "float32": np.float32, "bytes": bytes}


def api(name: str) -> Any:
    """The object with a public name of purerecord."""
    try:
        return getattr(pr, name)
    except (AttributeError, ImportError) as error:
        raise NotThereYetError(f"purerecord.{name}: {error}") from None


# --- reading -----------------------------------------------------------------------------------------


def read(task: Task) -> list[Variant]:
    """Records as bytes."""
    read_records = api("read_records")
    return [lambda: task.limited(read_records(task.path))]


def read_batches(task: Task) -> list[Variant]:
    """Batches of records."""
    batches = api("read_batches")
    return [lambda: batches(task.path, batch_size=task.batch)]


# --- parsing -----------------------------------------------------------------------------------------


def _fixed(spec: dict[str, Field]) -> dict[str, Any]:
    fixed, variable = api("FixedLenFeature"), api("VarLenFeature")
    return {
        name: variable(_DTYPES[kind]) if shape is None else fixed(shape, _DTYPES[kind])
        for name, (kind, shape) in spec.items()
    }


def parser(work: Workload) -> Any:
    """The function that parses records to columns, with the spec of the workload."""
    context = _fixed(work.spec)
    if not work.steps:
        return partial(api("parse_example"), features=context)
    fixed = api("FixedLenSequenceFeature")
    steps = {name: fixed(shape, _DTYPES[kind]) for name, (kind, shape) in work.steps.items()}
    parse_sequences = api("parse_sequence_example")
    return partial(parse_sequences, context_features=context, sequence_features=steps)


def parse(task: Task) -> list[Variant]:
    """``parse_example`` on batches that are in memory as ``Records``."""
    parse_one = parser(task.work)
    batches = list(api("read_batches")(task.path, batch_size=task.batch))
    return [lambda: map(parse_one, batches)]


def columns(task: Task) -> list[Variant]:
    """Files to numpy columns, with the spec of the workload."""
    return _from_files(task.shards, parser(task.work), task.work.batches)


def columns_in_place(task: Task) -> list[Variant]:
    """Files to columns whose strings are ``BytesColumn``s instead of objects."""
    in_place = partial(api("parse_example"), features=_fixed(task.work.spec), bytes_columns=True)
    return _from_files(task.shards, in_place, task.work.batches)


def decode(task: Task) -> list[Variant]:
    """Every feature to a column, without a spec."""
    return _from_files([task.path], api("decode_examples"), task.work.batches)


def _from_files(paths: list[str], decode: Any, sizes: Sequence[int]) -> list[Variant]:
    """Variants for several batch sizes, including the default: on one core, with a prefetch thread, and with
    a second process that is started beforehand."""
    read_from, dataset = api("read_batches"), api("TFRecordDataset")

    def run(size: int | None) -> Iterator[Any]:
        return map(decode, read_from(paths, batch_size=size))

    def run_ahead(size: int) -> Iterator[Any]:
        return map(decode, dataset(paths).batch(size).prefetch(1))

    variants: list[Variant] = [partial(run, size) for size in (None, *sizes)]
    variants += [partial(run_ahead, size) for size in sizes]
    if len(paths) > 1:
        variants += [dataset(paths).batch(size).map(decode).parallel(2).__iter__ for size in sizes]
    return variants


# --- writing -----------------------------------------------------------------------------------------


def write(task: Task) -> list[Variant]:
    """Encoded records through ``write_many``."""
    records = list(payloads(task.store.file(task.work)))

    def run() -> Iterator[Written]:
        with api("TFRecordWriter")(str(task.output)) as writer:
            writer.write_many(records)
        yield Written(task.output, exact=True)

    return [run]


def encode(task: Task) -> list[Variant]:
    """Columns to a file of Examples, with several batch sizes."""
    encoder = api("encode_examples")
    made = task.columns
    count = task.store.records(task.work)

    def run(size: int) -> Iterator[Written]:
        with api("TFRecordWriter")(str(task.output)) as writer:
            for begin in range(0, count, size):
                rows = slice(begin, min(begin + size, count))
                writer.write_many(encoder({name: _slice(column, rows) for name, column in made.items()}))
        yield Written(task.output, exact=False)

    return [partial(run, size) for size in task.work.batches]


def _slice(column: Column, rows: slice) -> Any:
    if not isinstance(column, Jagged):
        return column[rows]
    splits = column.splits[rows.start : rows.stop + 1]
    return api("Ragged")(column.values[splits[0] : splits[-1]], splits - splits[0])


# --- counting and checking ---------------------------------------------------------------------------


def index(task: Task) -> list[Variant]:
    """The offsets and sizes of all records."""
    build = api("build_index")
    return [lambda: iter([build(task.path)])]


def count(task: Task) -> list[Variant]:
    """The number of records."""
    record_file = api("RecordFile")
    return [lambda: iter([len(record_file(task.path))])]


def validate(task: Task) -> list[Variant]:
    """Validate the file in one process; return its number of records, or 0 if it is damaged."""
    check = api("validate")

    def run() -> Iterator[int]:
        report = check(task.path)
        yield report.records if report.ok else 0

    return [run]


def _validate_pair(task: Task, workers: int) -> list[Variant]:
    check = api("validate")
    paths = [str(path) for path in task.store.pair(task.work)]

    def run() -> Iterator[int]:
        report = check(paths, workers=workers)
        yield report.records if report.ok else 0

    return [run]


def validate_pair(task: Task) -> list[Variant]:
    """Validate two files in one process."""
    return _validate_pair(task, 1)


def validate_pair_with_two(task: Task) -> list[Variant]:
    """Validate two files, each in its own worker."""
    return _validate_pair(task, 2)


# --- products ----------------------------------------------------------------------------------------


def plain(made: Any) -> Plain:
    """A product of an action in the types of ``benchmarks.digest``."""
    if isinstance(made, (bytes, int, Written)):
        return made
    if isinstance(made, Records):
        return list(made)
    if isinstance(made, Index):
        return {"offset": dense(made.offsets), "size": dense(made.sizes)}
    if isinstance(made, tuple):  # of a SequenceExample
        context, steps, lengths = made
        stepped = {name: padded(values, lengths[name]) for name, values in steps.items()}
        return {name: dense(values) for name, values in context.items()} | stepped
    if isinstance(made, dict):
        return {name: _rows(column) for name, column in made.items()}
    raise TypeError(f"no neutral form of {type(made).__name__}")


def _rows(column: Any) -> Rows:
    if hasattr(column, "dense_shape"):
        return Rows(column.values, np.bincount(column.indices[:, 0], minlength=column.dense_shape[0]))
    if hasattr(column, "row_splits"):
        return Rows(column.values, np.diff(column.row_splits))
    return dense(np.asarray(column))  # of a BytesColumn, too


ACTIONS = {
    action.__name__: action
    for action in (
        read,
        read_batches,
        parse,
        columns,
        columns_in_place,
        decode,
        write,
        encode,
        index,
        count,
        validate,
        validate_pair,
        validate_pair_with_two,
    )
}
