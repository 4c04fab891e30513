"""purerecord in grain: a chain where records come in order, ``RecordFile`` as a source where they are shuffled."""

from __future__ import annotations

from functools import partial
from typing import Any

import grain

import purerecord as pr
from benchmarks.loaders.sides import ALL_JOBS, TORCH_WORKERS, Task, ours
from benchmarks.loaders.sides.grain_loops import Loop
from benchmarks.loaders.sides.tfrecord_files import paths
from benchmarks.loaders.sides.tfrecord_files import write as write
from purerecord.grain import IterDataset

FORMAT, VERSION, JOBS, WORKERS = "tfrecord", ours.VERSION, ALL_JOBS, TORCH_WORKERS


def loader(task: Task) -> Any:
    """grain's loop."""
    if task.job.shuffled:
        parse = partial(pr.parse_single_example, features=ours.features(task))
        source = grain.MapDataset.source(pr.RecordFile(paths(task.folder))).shuffle(seed=1)
        return Loop(task, source.map(parse).batch(task.job.batch).to_iter_dataset())
    chain = ours.chain(task)
    return Loop(task, IterDataset(chain.map(ours.decoded) if task.job.decoded else chain))
