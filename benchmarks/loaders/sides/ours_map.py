"""purerecord: records by number, for torch's samplers."""

from __future__ import annotations

from typing import Any

from benchmarks.loaders.sides import ALL_JOBS, TORCH_WORKERS, Task, data_loader, ours, tfrecord_files
from benchmarks.loaders.sides.tfrecord_files import paths
from purerecord.torch import MapDataset

FORMAT, VERSION, JOBS, WORKERS = "tfrecord", ours.VERSION, ALL_JOBS, TORCH_WORKERS
write = tfrecord_files.write


def loader(task: Task) -> Any:
    """A DataLoader that draws the numbers."""
    dataset = MapDataset(paths(task.folder), ours.features(task), decode=ours.decode(task))
    job = task.job
    return data_loader(task)(dataset, batch_size=job.batch, shuffle=job.shuffled, num_workers=task.workers)
