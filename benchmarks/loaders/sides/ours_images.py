"""purerecord, images the fast way: bytes that stay where they were read to, pictures decoded by ``parse``."""

from __future__ import annotations

from typing import Any

import purerecord as pr
from benchmarks.loaders.jobs import SIZE
from benchmarks.loaders.sides import TORCH_WORKERS, Task, data_loader, ours, tfrecord_files
from purerecord.torch import IterableDataset

FORMAT, VERSION, JOBS, WORKERS = "tfrecord", ours.VERSION, frozenset({"images", "pictures"}), TORCH_WORKERS
write = tfrecord_files.write


def loader(task: Task) -> Any:
    """A DataLoader over whole batches."""
    dataset: Any = pr.TFRecordDataset(tfrecord_files.paths(task.folder))
    if task.job.shuffled:
        dataset = dataset.global_shuffle(seed=1)
    how = {"decode": {"image": ("rgb", (SIZE, SIZE))}} if task.job.decoded else {"bytes_columns": ["image"]}
    chain = dataset.batch(task.job.batch).parse(ours.features(task), **how)
    return data_loader(task)(IterableDataset(chain), batch_size=None, num_workers=task.workers)
