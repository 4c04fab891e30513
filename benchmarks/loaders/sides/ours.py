"""What the sides of purerecord share."""

from __future__ import annotations

from typing import Any

import numpy as np

import purerecord as pr
from benchmarks.loaders.content import picture
from benchmarks.loaders.sides import Task
from benchmarks.loaders.sides.tfrecord_files import SHAPES, paths

VERSION = pr.__version__
_TYPES: dict[str, Any] = {"int64": np.int64, "float32": np.float32, "bytes": bytes}


def features(task: Task) -> dict[str, Any]:
    """The spec of the content's columns."""
    kinds = task.content.kinds().items()
    return {name: pr.FixedLenFeature(SHAPES.get(name, ()), _TYPES[kind]) for name, kind in kinds}


def chain(task: Task) -> Any:
    """Batches of columns."""
    dataset: Any = pr.TFRecordDataset(paths(task.folder))
    if task.job.shuffled:
        dataset = dataset.global_shuffle(seed=1)
    return dataset.batch(task.job.batch).parse(features(task))


def decode(task: Task) -> Any:
    """The argument ``decode`` of the adapters for torch."""
    return {"image": picture} if task.job.decoded else None


def decoded(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns with pictures in place of JPEGs."""
    return {**columns, "image": np.stack([picture(data) for data in columns["image"]])}
