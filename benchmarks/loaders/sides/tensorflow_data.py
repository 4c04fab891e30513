"""tf.data: it has threads, no worker processes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

from benchmarks.loaders.sides import Task, tensorflow_code, tfrecord_files
from benchmarks.loaders.sides.tensorflow_code import eager, pipeline

JOBS = tensorflow_code.JOBS
FORMAT, VERSION, WORKERS = "tfrecord", tf.__version__, (0,)
WINDOW = tensorflow_code.WINDOW
write = tfrecord_files.write


class _Checkpointed:
    """The iterator of a dataset; its state is a checkpoint of TensorFlow, as bytes."""

    def __init__(self, dataset: Any) -> None:
        self._iterator = iter(dataset)

    def __iter__(self) -> Iterator[Any]:
        for batch in self._iterator:
            yield {name: column.numpy() for name, column in batch.items()}

    def state_dict(self) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            tf.train.Checkpoint(iterator=self._iterator).write(f"{folder}/state")
            return {path.name: path.read_bytes() for path in Path(folder).iterdir()}

    def load_state_dict(self, state: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name, data in state.items():
                Path(folder, name).write_bytes(data)
            tf.train.Checkpoint(iterator=self._iterator).read(f"{folder}/state").assert_consumed()


def loader(task: Task) -> Any:
    """The pipeline, as numpy arrays."""
    dataset = pipeline(tf, task)
    return _Checkpointed(dataset) if task.stateful else dataset.as_numpy_iterator()


def singles(task: Task) -> dict[str, Callable[[], Any]]:
    """Ways to parse one record."""
    parse = eager(tf, task)
    return {"tf.io.parse_single_example, eager": parse, "the same in a tf.function": tf.function(parse)}
