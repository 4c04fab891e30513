"""purerecord in grain: a chain, or, where records are shuffled, ``RecordFile`` as a source."""

from __future__ import annotations

from functools import partial
from typing import Any

import grain

import purerecord as pr
from benchmarks.loaders.sides import ALL_JOBS, GRAIN_WORKERS, Task, ours, tfrecord_files
from benchmarks.loaders.sides.grain_loops import Loop
from benchmarks.loaders.sides.tfrecord_files import paths
from purerecord.grain import IterDataset, merge_states

FORMAT, VERSION, JOBS, WORKERS = "tfrecord", ours.VERSION, ALL_JOBS, GRAIN_WORKERS
write = tfrecord_files.write


def loader(task: Task) -> Any:
    """grain's loop."""
    if task.job.name == "shuffled":
        parse = partial(pr.parse_single_example, features=ours.features(task))
        source = grain.MapDataset.source(pr.RecordFile(paths(task.folder))).shuffle(seed=1)
        return Loop(task, source.map(parse).batch(task.job.batch))
    chain = ours.chain(task)
    return Loop(task, IterDataset(chain.map(ours.decoded) if task.job.decoded else chain))


def resumed(task: Task, state: Any) -> Any:
    """The loop over a chain for any number of workers, from the state of any other."""
    return Loop(task, IterDataset(ours.chain(task), state=merge_states(state)))
