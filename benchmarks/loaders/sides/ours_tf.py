"""purerecord as TensorFlow: the code of the side ``tf.data``, with the other import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.loaders.sides import Task, ours, tensorflow_code, tfrecord_files
from benchmarks.loaders.sides.tensorflow_code import eager, pipeline
from purerecord import tf

JOBS = tensorflow_code.JOBS
FORMAT, VERSION, WORKERS = "tfrecord", ours.VERSION, (0,)
WINDOW = tensorflow_code.WINDOW
write = tfrecord_files.write


def loader(task: Task) -> Any:
    """The pipeline, as numpy arrays."""
    return pipeline(tf, task).as_numpy_iterator()


def singles(task: Task) -> dict[str, Callable[[], Any]]:
    """Ways to parse one record."""
    return {"tf.io.parse_single_example": eager(tf, task)}
