"""What the two sides that run in grain share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grain
from absl import flags

from benchmarks.loaders.sides import Task

flags.FLAGS.mark_as_parsed()  # grain's workers ask for that


# By default grain reads 500 batches ahead, which is more than an epoch of the race: the rate would be that of
# taking ready batches from a buffer. Four threads keep two cores busy.
READ_OPTIONS = grain.ReadOptions(num_threads=4, prefetch_buffer_size=4)


class Loop:
    """grain's iterator, in worker processes if there are any, and its state."""

    def __init__(self, task: Task, dataset: Any) -> None:
        if isinstance(dataset, grain.MapDataset):
            dataset = dataset.to_iter_dataset(READ_OPTIONS)
        if task.workers:
            dataset = dataset.mp_prefetch(grain.MultiprocessingOptions(num_workers=task.workers))
        self._iterator = iter(dataset)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterator)

    def state_dict(self) -> Any:
        """The position before the next batch."""
        return self._iterator.get_state()

    def load_state_dict(self, state: Any) -> None:
        """Continue there."""
        self._iterator.set_state(state)
