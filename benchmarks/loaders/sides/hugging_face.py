"""Hugging Face datasets: mapped Arrow files, read in order as an iterable dataset, the faster way.

Shuffled, a BatchSampler asks for whole batches, as its guide advises.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import torch
from torch.utils import data

from benchmarks.loaders.content import Content, picture
from benchmarks.loaders.sides import ALL_JOBS, TORCH_WORKERS, Task, data_loader

FORMAT, VERSION, JOBS, WORKERS = "datasets", datasets.__version__, ALL_JOBS, TORCH_WORKERS
datasets.disable_progress_bars()


def write(content: Content, folder: Path) -> None:
    """The columns, with their types."""
    types = {"bytes": "large_binary"}
    features = {name: datasets.Value(types.get(kind, kind)) for name, kind in content.kinds().items()}
    table = datasets.Dataset.from_dict(dict(content.columns()), features=datasets.Features(features))
    table.save_to_disk(str(folder), num_shards=4)


def _pictures(batch: dict[str, Any]) -> dict[str, Any]:
    images = np.stack([picture(data) for data in batch["image"]])
    numbers = {name: torch.as_tensor(batch[name]) for name in ("id", "label")}
    return {**numbers, "image": torch.from_numpy(images)}


def loader(task: Task) -> Any:
    """A DataLoader that gets whole batches."""
    job = task.job
    table = datasets.load_from_disk(str(task.folder))
    if not job.shuffled:
        stream = table.to_iterable_dataset(num_shards=4)
        stream = stream.batch(job.batch) if job.decoded else stream.with_format("torch").batch(job.batch)
        collate = _pictures if job.decoded else None
        return data_loader(task)(stream, batch_size=None, num_workers=task.workers, collate_fn=collate)
    samplers: Any = data
    if task.stateful:  # torch's own samplers have no state
        samplers = import_module("torchdata.stateful_dataloader.sampler")
    batches = samplers.BatchSampler(samplers.RandomSampler(table), job.batch, drop_last=False)
    return data_loader(task)(
        table.with_format("torch"), batch_size=None, sampler=batches, num_workers=task.workers
    )
