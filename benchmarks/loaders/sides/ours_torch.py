"""purerecord: a chain as an ``IterableDataset``, as its documentation recommends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import purerecord as pr
from benchmarks.loaders.sides import ALL_JOBS, TORCH_WORKERS, Task, data_loader, ours, tfrecord_files
from benchmarks.loaders.sides.tfrecord_files import paths
from purerecord.torch import IterableDataset, merge_states

FORMAT, VERSION, JOBS, WORKERS = "tfrecord", ours.VERSION, ALL_JOBS, TORCH_WORKERS
write = tfrecord_files.write


def loader(task: Task) -> Any:
    """A DataLoader over whole batches."""
    dataset = IterableDataset(ours.chain(task), decode=ours.decode(task))
    return data_loader(task)(dataset, batch_size=None, num_workers=task.workers)


def resumed(task: Task, state: Any) -> Any:
    """The loader for any number of workers, from the state of any other."""
    dataset = IterableDataset(ours.chain(task), decode=ours.decode(task))
    dataset.resume(merge_states(state))
    return data_loader(task)(dataset, batch_size=None, num_workers=task.workers)


def singles(task: Task) -> dict[str, Callable[[], Any]]:
    """Ways to parse one record."""
    record = next(iter(pr.read_records(paths(task.folder)[0])))
    return {"parse_single_example": partial(pr.parse_single_example, record, ours.features(task))}
