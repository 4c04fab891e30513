"""Hugging Face datasets: Arrow files in memory maps. A BatchSampler asks for whole batches, as its guide advises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import numpy as np
import torch
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler

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
    return {
        "id": torch.tensor(batch["id"]),
        "label": torch.tensor(batch["label"]),
        "image": torch.from_numpy(images),
    }


def loader(task: Task) -> Any:
    """A DataLoader that gets whole batches."""
    job = task.job
    table = datasets.load_from_disk(str(task.folder))
    table = table.with_transform(_pictures) if job.decoded else table.with_format("torch")
    sampler = RandomSampler(table) if job.shuffled else SequentialSampler(table)
    batches = BatchSampler(sampler, job.batch, drop_last=False)
    return data_loader(task)(table, batch_size=None, sampler=batches, num_workers=task.workers)
