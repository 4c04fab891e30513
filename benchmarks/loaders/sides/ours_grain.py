"""purerecord in grain: a chain where records come in order, ``RecordFile`` as a source where they are shuffled."""

from __future__ import annotations

from functools import partial
from typing import Any

import grain

import purerecord as pr
from benchmarks.loaders.sides import ALL_JOBS, GRAIN_WORKERS, Task, ours
from benchmarks.loaders.sides.grain_loops import Loop
from benchmarks.loaders.sides.tfrecord_files import paths
from benchmarks.loaders.sides.tfrecord_files import write as write
from purerecord.grain import IterDataset, merge_states

FORMAT, VERSION, JOBS, WORKERS = "tfrecord", ours.VERSION, ALL_JOBS, GRAIN_WORKERS


def loader(task: Task) -> Any:
    """grain's loop."""
    if task.job.name == "shuffled":
        parse = partial(pr.parse_single_example, features=ours.features(task))
        source = grain.MapDataset.source(pr.RecordFile(paths(task.folder))).shuffle(seed=1)
        return Loop(task, source.map(parse).batch(task.job.batch).to_iter_dataset())
    chain = ours.chain(task)
    return Loop(task, IterDataset(chain.map(ours.decoded) if task.job.decoded else chain))


def resumed(task: Task, state: Any) -> Any:
    """The loop over a chain for any number of workers, from the state of any other."""
    return Loop(task, IterDataset(ours.chain(task), state=merge_states(state)))
