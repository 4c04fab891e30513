"""purerecord's side, through the public API only; a missing function is reported, not an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import purerecord as pr
from benchmarks.digest import Plain, Rows, Single, Written, dense, padded, single
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


# --- record by record --------------------------------------------------------------------------------


def _facade(task: Task) -> tuple[Any, Any, Any]:
    """``purerecord.tf``, its dataset of the records, and the function that parses one."""
    from purerecord import tf  # noqa: PLC0415 - not all actions need it

    dtypes = {"int64": tf.int64, "float32": tf.float32, "bytes": tf.string}
    spec = {
        name: tf.io.VarLenFeature(dtypes[kind])
        if shape is None
        else tf.io.FixedLenFeature(shape, dtypes[kind])
        for name, (kind, shape) in task.work.spec.items()
    }
    records = tf.data.TFRecordDataset(task.path).take(task.take)
    return tf, records, lambda record: tf.io.parse_single_example(record, spec)


def tutorial(task: Task) -> list[Variant]:
    """``purerecord.tf`` in the pipeline of the tutorials: each record is parsed by itself, then batched."""
    _, records, parse_one = _facade(task)
    return [records.map(parse_one).batch(64).__iter__]


def tutorial_pair(task: Task) -> list[Variant]:
    """The same, with a tuple of two features, as for training."""
    _, records, parse_one = _facade(task)
    names = list(task.work.spec)

    def parse_pair(record: Any) -> Any:
        parsed = parse_one(record)
        return parsed[names[0]], parsed[names[-1]]

    return [records.map(parse_pair).batch(64).__iter__]


def tutorial_tuned(task: Task) -> list[Variant]:
    """The same, with ``AUTOTUNE``."""
    tf, records, parse_one = _facade(task)
    mapped = records.map(parse_one, num_parallel_calls=tf.data.AUTOTUNE)
    return [mapped.batch(64).prefetch(tf.data.AUTOTUNE).__iter__]


def tutorial_shuffled(task: Task) -> list[Variant]:
    """Records in the order of a shuffle with a window of one, which costs what any window costs."""
    _, records, parse_one = _facade(task)
    return [records.shuffle(1).map(parse_one).batch(64).__iter__]


def parse_rows(task: Task) -> list[Variant]:
    """The core's dataset: ``parse`` before ``batch``."""
    records = api("TFRecordDataset")(task.path).take(task.take)
    return [records.parse(_fixed(task.work.spec)).batch(64).__iter__]


def map_rows(task: Task) -> list[Variant]:
    """The core's dataset: ``map`` with ``parse_single_example`` before ``batch``."""
    records = api("TFRecordDataset")(task.path).take(task.take)
    parse_one = partial(api("parse_single_example"), features=_fixed(task.work.spec))
    return [records.map(parse_one).batch(64).__iter__]


def _payloads(task: Task) -> list[bytes]:
    return list(task.limited(api("read_records")(task.path)))


def one(task: Task) -> list[Variant]:
    """``parse_single_example`` of records that are in memory as ``bytes``."""
    records, spec, parse_one = _payloads(task), _fixed(task.work.spec), api("parse_single_example")
    return [lambda: (Single(parse_one(record, spec)) for record in records)]


def one_to_tensors(task: Task) -> list[Variant]:
    """The same with ``purerecord.tf``."""
    records, (_, _, parse_one) = _payloads(task), _facade(task)
    return [lambda: (Single(parse_one(record)) for record in records)]


def one_decoded(task: Task) -> list[Variant]:
    """Every feature of a record as an array."""
    records, decode_one = _payloads(task), api("decode_example")
    return [lambda: (Single(decode_one(record)) for record in records)]


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


def plain(made: Any) -> Plain:  # noqa: PLR0911 - one for each kind of product
    """A product of an action in the types of ``benchmarks.digest``."""
    if isinstance(made, (bytes, int, Written)):
        return made
    if isinstance(made, Records):
        return list(made)
    if isinstance(made, Index):
        return {"offset": dense(made.offsets), "size": dense(made.sizes)}
    if isinstance(made, Single):
        return {
            name: single(_array(getattr(value, "values", value))) for name, value in made.features.items()
        }
    if isinstance(made, tuple) and len(made) == 2:
        return {str(number): _rows(column) for number, column in enumerate(made)}
    if isinstance(made, tuple):  # of a SequenceExample
        context, steps, lengths = made
        stepped = {name: padded(values, lengths[name]) for name, values in steps.items()}
        return {name: dense(values) for name, values in context.items()} | stepped
    if isinstance(made, dict):
        return {name: _rows(column) for name, column in made.items()}
    raise TypeError(f"no neutral form of {type(made).__name__}")


def _rows(column: Any) -> Rows:
    if hasattr(column, "dense_shape"):
        indices, size = _array(column.indices), int(_array(column.dense_shape)[0])
        return Rows(_array(column.values), np.bincount(indices[:, 0], minlength=size))
    if hasattr(column, "row_splits"):
        return Rows(column.values, np.diff(column.row_splits))
    return dense(np.asarray(_array(column)))  # of a BytesColumn, too


def _array(value: Any) -> Any:
    """A tensor of ``purerecord.tf`` as an array; anything else as it is."""
    return value.numpy() if hasattr(value, "numpy") else value


ACTIONS = {
    action.__name__: action
    for action in (
        read,
        read_batches,
        parse,
        columns,
        columns_in_place,
        decode,
        tutorial,
        tutorial_pair,
        tutorial_tuned,
        tutorial_shuffled,
        parse_rows,
        map_rows,
        one,
        one_to_tensors,
        one_decoded,
        write,
        encode,
        index,
        count,
        validate,
        validate_pair,
        validate_pair_with_two,
    )
}
