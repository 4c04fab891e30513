"""purerecord in grain, by number: a ``Source`` that reads and parses a batch together."""

from __future__ import annotations

from typing import Any

import grain

from benchmarks.loaders.sides import GRAIN_WORKERS, Task, ours, tfrecord_files
from benchmarks.loaders.sides.grain_loops import Loop
from purerecord.grain import Source, batch

FORMAT, VERSION, JOBS, WORKERS = "tfrecord", ours.VERSION, frozenset({"columns", "shuffled"}), GRAIN_WORKERS
write = tfrecord_files.write


def loader(task: Task) -> Any:
    """grain's loop."""
    source = grain.MapDataset.source(Source(tfrecord_files.paths(task.folder), ours.features(task)))
    if task.job.shuffled:
        source = source.shuffle(seed=1)
    return Loop(task, batch(source, task.job.batch))
