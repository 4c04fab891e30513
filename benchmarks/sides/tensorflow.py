"""TensorFlow's side: the fastest of its variants for each job."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

from benchmarks.digest import Plain, Rows, Single, Written, dense, padded, single
from benchmarks.handmade import Column, payloads, rows_of
from benchmarks.sides import Task, Variant
from benchmarks.workloads import Field, Workload

VERSION = tf.__version__
_DTYPES = {"int64": tf.int64, "float32": tf.float32, "bytes": tf.string}


def _compression(task: Task) -> str:
    return "" if task.form == "file" else "GZIP"


# --- reading -----------------------------------------------------------------------------------------


def read(task: Task) -> list[Variant]:
    """The C++ iterator, which yields bytes and checks both CRCs."""
    options = tf.io.TFRecordOptions(compression_type=_compression(task))
    path = task.path
    return [lambda: task.limited(tf.compat.v1.io.tf_record_iterator(path, options))]


def read_as_numpy(task: Task) -> list[Variant]:
    """``as_numpy_iterator``, as in most tutorials."""
    return [lambda: task.limited(tf.data.TFRecordDataset(task.path, _compression(task)).as_numpy_iterator())]


def read_batches(task: Task) -> list[Variant]:
    """Batches as string tensors, which stay in TensorFlow's memory, not Python's."""
    return [lambda: iter(tf.data.TFRecordDataset(task.path, _compression(task)).batch(task.batch))]


# --- parsing -----------------------------------------------------------------------------------------


def _fixed(spec: dict[str, Field]) -> dict[str, Any]:
    fixed, variable = tf.io.FixedLenFeature, tf.io.VarLenFeature
    return {
        name: variable(_DTYPES[kind]) if shape is None else fixed(shape, _DTYPES[kind])
        for name, (kind, shape) in spec.items()
    }


def _parser(work: Workload) -> Any:
    context = _fixed(work.spec)
    if not work.steps:
        return lambda batch: tf.io.parse_example(batch, context)
    fixed = tf.io.FixedLenSequenceFeature
    steps = {name: fixed(shape, _DTYPES[kind]) for name, (kind, shape) in work.steps.items()}
    return lambda batch: tf.io.parse_sequence_example(batch, context, steps)


def _numpy(parsed: Any) -> Any:
    """Tensors to arrays: numbers share their memory, strings become objects."""
    if isinstance(parsed, tuple):
        return tuple(map(_numpy, parsed))
    if isinstance(parsed, dict):
        return {name: _numpy(tensor) for name, tensor in parsed.items()}
    if isinstance(parsed, tf.SparseTensor):
        parts = (parsed.indices.numpy(), parsed.values.numpy(), parsed.dense_shape.numpy())
        return tf.compat.v1.SparseTensorValue(*parts)
    return parsed.numpy()


def parse(task: Task) -> list[Variant]:
    """``parse_example`` on batches that are in memory as string tensors, to numpy."""
    return _parse(task, _numpy)


def parse_to_tensors(task: Task) -> list[Variant]:
    """The same, without the conversion to numpy."""
    return _parse(task, lambda parsed: parsed)


def _parse(task: Task, finish: Any) -> list[Variant]:
    eager = _parser(task.work)
    graph = tf.function(eager, input_signature=[tf.TensorSpec([None], tf.string)])
    batches = list(tf.data.TFRecordDataset(task.path).batch(task.batch))

    def run(parser: Any) -> Iterator[Any]:
        return (finish(parser(batch)) for batch in batches)

    return [lambda: run(graph), lambda: run(eager)]


def columns(task: Task) -> list[Variant]:
    """Files to numpy columns through tf.data, with several batch sizes and pipelines."""
    return [partial(map, _numpy, made) for made in _pipelines(task)]


def columns_to_tensors(task: Task) -> list[Variant]:
    """The same, without the conversion to numpy."""
    return [partial(iter, made) for made in _pipelines(task)]


def _pipelines(task: Task) -> list[Any]:
    makers = [maker for maker in _PIPELINES if maker is not _fused or not task.work.steps]
    return [maker(task, size) for maker in makers for size in task.work.batches]


def columns_of_the_guide(task: Task) -> list[Variant]:
    """Only the pipeline of TensorFlow's guide, batch, map(parse_example), prefetch, with several sizes."""
    return [partial(map, _numpy, _plain_pipeline(task, size)) for size in task.work.batches]


def _plain_pipeline(task: Task, size: int) -> Any:
    """One reader, parallel parsing. It keeps the order of rows, so its digest is the one that is compared."""
    files = tf.data.TFRecordDataset(task.shards, _compression(task))
    return files.batch(size).map(_parser(task.work), tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


def _buffered(task: Task, size: int) -> Any:
    """A larger buffer, and parallel batching."""
    files = tf.data.TFRecordDataset(task.shards, _compression(task), buffer_size=8 << 20)
    return files.batch(size, num_parallel_calls=2).map(_parser(task.work), 2).prefetch(2)


def _fused(task: Task, size: int) -> Any:
    """The fused op that parses inside the dataset."""
    parse = tf.data.experimental.parse_example_dataset(_fixed(task.work.spec), num_parallel_calls=2)
    return tf.data.TFRecordDataset(task.shards, _compression(task)).batch(size).apply(parse).prefetch(2)


def _parallel_reads(task: Task, size: int) -> Any:
    """Two files at a time, record by record."""
    files = tf.data.TFRecordDataset(task.shards, _compression(task), num_parallel_reads=2)
    return files.batch(size).map(_parser(task.work), 2).prefetch(tf.data.AUTOTUNE)


def _interleaved(task: Task, size: int) -> Any:
    """Two files at a time, batch by batch."""

    def batches(path: Any) -> Any:
        return tf.data.TFRecordDataset(path, _compression(task)).batch(size)

    paths = tf.data.Dataset.from_tensor_slices(task.shards)
    both = paths.interleave(batches, cycle_length=2, num_parallel_calls=2, deterministic=False)
    return both.map(_parser(task.work), 2, deterministic=False).prefetch(tf.data.AUTOTUNE)


_PIPELINES = (_plain_pipeline, _buffered, _fused, _parallel_reads, _interleaved)


# --- record by record --------------------------------------------------------------------------------


def _records(task: Task) -> Any:
    return tf.data.TFRecordDataset(task.path).take(task.take)


def _single(task: Task) -> Any:
    spec = _fixed(task.work.spec)
    return lambda record: tf.io.parse_single_example(record, spec)


def _pair(task: Task) -> Any:
    parse_one, names = _single(task), list(task.work.spec)

    def parse_pair(record: Any) -> Any:
        parsed = parse_one(record)
        return parsed[names[0]], parsed[names[-1]]

    return parse_pair


def tutorial(task: Task) -> list[Variant]:
    """The pipeline of the tutorials: each record is parsed by itself, then batched."""
    return [_records(task).map(_single(task)).batch(64).__iter__]


def tutorial_pair(task: Task) -> list[Variant]:
    """The same, with a tuple of two features, as for training."""
    return [_records(task).map(_pair(task)).batch(64).__iter__]


def tutorial_tuned(task: Task) -> list[Variant]:
    """The same, with ``AUTOTUNE``."""
    mapped = _records(task).map(_single(task), num_parallel_calls=tf.data.AUTOTUNE)
    return [mapped.batch(64).prefetch(tf.data.AUTOTUNE).__iter__]


def tutorial_shuffled(task: Task) -> list[Variant]:
    """Records in the order of a shuffle with a window of one, which costs what any window costs."""
    return [_records(task).shuffle(1).map(_single(task)).batch(64).__iter__]


def _one_by_one(task: Task, finish: Any) -> list[Variant]:
    eager = _single(task)
    graph = tf.function(eager, input_signature=[tf.TensorSpec([], tf.string)])
    records = [record.numpy() for record in _records(task)]

    def run(parse_one: Any) -> Iterator[Single]:
        return (Single(finish(parse_one(record))) for record in records)

    return [lambda: run(graph), lambda: run(eager)]


def one(task: Task) -> list[Variant]:
    """``parse_single_example`` of records that are in memory as ``bytes``, to numpy."""
    return _one_by_one(task, _numpy)


def one_to_tensors(task: Task) -> list[Variant]:
    """The same, without the conversion to numpy."""
    return _one_by_one(task, lambda parsed: parsed)


def one_decoded(task: Task) -> list[Variant]:
    """Messages, and every feature of them as an array."""
    records = [record.numpy() for record in _records(task)]
    dtypes = {"bytes_list": object, "float_list": np.float32, "int64_list": np.int64}

    def decoded(record: bytes) -> Single:
        arrays = {}
        for name, feature in tf.train.Example.FromString(record).features.feature.items():
            kind = feature.WhichOneof("kind")
            arrays[name] = np.array(getattr(feature, kind).value, dtypes[kind])
        return Single(arrays)

    return [lambda: map(decoded, records)]


# --- writing -----------------------------------------------------------------------------------------


def write(task: Task) -> list[Variant]:
    """Encoded records, one call each, because TensorFlow has no call for many."""
    records = list(payloads(task.store.file(task.work)))

    def run() -> Iterator[Written]:
        with tf.io.TFRecordWriter(str(task.output)) as writer:
            for record in records:
                writer.write(record)
        yield Written(task.output, exact=True)

    return [run]


def encode(task: Task) -> list[Variant]:
    """Columns to a file of Examples, built as in TensorFlow's documentation."""
    return [_write_examples(task, _constructed)]


def encode_filled(task: Task) -> list[Variant]:
    """The same by filling the map of an empty Example, which is faster but rarely seen."""
    return [_write_examples(task, _filled)]


def _write_examples(task: Task, make_builder: Any) -> Variant:
    made = task.columns
    names = sorted(made)
    build = make_builder(names, [task.work.spec[name].kind for name in names])
    rows = list(zip(*(_lists(made[name]) for name in names), strict=True))

    def run() -> Iterator[Written]:
        with tf.io.TFRecordWriter(str(task.output)) as writer:
            for row in rows:
                writer.write(build(row).SerializeToString())
        yield Written(task.output, exact=False)

    return run


def _lists(column: Column) -> list[Any]:
    """One Python list per row, so that TensorFlow's time contains no conversion of numpy scalars."""
    return [[row] if isinstance(row, bytes) else np.atleast_1d(row).tolist() for row in rows_of(column)]


def _constructed(names: list[str], kinds: list[str]) -> Any:
    train = tf.train
    makers = {
        "int64": lambda value: train.Feature(int64_list=train.Int64List(value=value)),
        "float32": lambda value: train.Feature(float_list=train.FloatList(value=value)),
        "bytes": lambda value: train.Feature(bytes_list=train.BytesList(value=value)),
    }
    made = [(name, makers[kind]) for name, kind in zip(names, kinds, strict=True)]

    def build(row: Any) -> Any:
        features = {name: make(value) for (name, make), value in zip(made, row, strict=True)}
        return train.Example(features=train.Features(feature=features))

    return build


def _filled(names: list[str], kinds: list[str]) -> Any:
    lists = [{"int64": "int64_list", "float32": "float_list", "bytes": "bytes_list"}[kind] for kind in kinds]

    def build(row: Any) -> Any:
        example = tf.train.Example()
        feature = example.features.feature
        for name, kind, value in zip(names, lists, row, strict=True):
            getattr(feature[name], kind).value.extend(value)
        return example

    return build


# --- products ----------------------------------------------------------------------------------------


def plain(made: Any) -> Plain:
    """A product of an action in the types of ``benchmarks.digest``."""
    if isinstance(made, (bytes, Written)):
        return made
    if isinstance(made, tf.Tensor):
        return list(made.numpy())
    if isinstance(made, Single):
        return {name: single(_array_or_sparse(value)) for name, value in made.features.items()}
    if isinstance(made, tuple) and len(made) == 2:
        return {str(number): _rows(column) for number, column in enumerate(made)}
    if isinstance(made, tuple):  # of a SequenceExample
        context, steps, lengths = made
        stepped = {name: padded(_array(values), _array(lengths[name])) for name, values in steps.items()}
        return {name: dense(_array(values)) for name, values in context.items()} | stepped
    return {name: _rows(column) for name, column in made.items()}


def _rows(column: Any) -> Rows:
    if not hasattr(column, "dense_shape"):
        return dense(_array(column))
    rows = np.bincount(_array(column.indices)[:, 0], minlength=int(_array(column.dense_shape)[0]))
    return Rows(_array(column.values), rows)


def _array_or_sparse(value: Any) -> Any:
    return _array(value.values if hasattr(value, "dense_shape") else value)


def _array(tensor: Any) -> Any:
    return tensor.numpy() if hasattr(tensor, "numpy") else tensor


_READING = (
    *(read, read_as_numpy, read_batches, parse, parse_to_tensors),
    *(columns, columns_to_tensors, columns_of_the_guide),
)
_ROWS = (
    tutorial,
    tutorial_pair,
    tutorial_tuned,
    tutorial_shuffled,
    one,
    one_to_tensors,
    one_decoded,
)
_WRITING = (write, encode, encode_filled)
ACTIONS = {action.__name__: action for action in (*_READING, *_ROWS, *_WRITING)}
