"""A pipeline of ``tf.data`` as its guides write it; ``tf`` is TensorFlow, or ``purerecord.tf``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.loaders.jobs import JOBS as ALL
from benchmarks.loaders.jobs import SIZE
from benchmarks.loaders.sides import Task
from benchmarks.loaders.sides.tfrecord_files import SHAPES, paths

JOBS = frozenset(ALL)
WINDOW = 10_000


def features(tf: Any, task: Task) -> dict[str, Any]:
    """The spec of the content's columns."""
    types = {"int64": tf.int64, "float32": tf.float32, "bytes": tf.string}
    kinds = task.content.kinds().items()
    return {name: tf.io.FixedLenFeature(SHAPES.get(name, ()), types[kind]) for name, kind in kinds}


def eager(tf: Any, task: Task) -> Callable[[], Any]:
    """Parses one record, outside of any pipeline."""
    record = next(iter(tf.data.TFRecordDataset(paths(task.folder)[0]).take(1)))
    return partial(tf.io.parse_single_example, record, features(tf, task))


def pipeline(tf: Any, task: Task) -> Any:
    """The dataset of the task's batches."""
    spec, job = features(tf, task), task.job

    def parse(record: Any) -> Any:
        return tf.io.parse_single_example(record, spec)

    def decode(record: Any) -> Any:
        row = parse(record)
        picture = tf.image.resize(tf.io.decode_jpeg(row["image"], channels=3), [SIZE, SIZE])
        return {**row, "image": tf.cast(picture, tf.uint8)}

    if job.single:
        return tf.data.TFRecordDataset(paths(task.folder)).map(parse).batch(job.batch)
    dataset = tf.data.TFRecordDataset(paths(task.folder), num_parallel_reads=tf.data.AUTOTUNE)
    if job.shuffled:
        dataset = dataset.shuffle(WINDOW, seed=1)
    if job.decoded:
        dataset = dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(job.batch)
    else:
        dataset = dataset.batch(job.batch)
        dataset = dataset.map(
            lambda batch: tf.io.parse_example(batch, spec), num_parallel_calls=tf.data.AUTOTUNE
        )
    return dataset.prefetch(tf.data.AUTOTUNE)
