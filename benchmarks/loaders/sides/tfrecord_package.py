"""The ``tfrecord`` package. Without an index each worker would deliver all records, so it has one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tfrecord.torch
from tfrecord.tools.tfrecord2idx import create_index
from torch.utils.data import default_collate

from benchmarks.loaders.content import Content, picture
from benchmarks.loaders.sides import ALL_JOBS, TORCH_WORKERS, Converted, Task, data_loader, tfrecord_files

FORMAT, JOBS, WORKERS = "tfrecord-one-file", ALL_JOBS, TORCH_WORKERS
VERSION = "1.14.6"
WINDOW = 10_000
_TYPES = {"int64": "int", "float32": "float", "bytes": "byte"}


def write(content: Content, folder: Path) -> None:
    """The shards as one file, and its index."""
    tfrecord_files.write(content, folder)
    with open(folder / "train.tfrecord", "wb") as file:
        for path in map(Path, tfrecord_files.paths(folder)):
            file.write(path.read_bytes())
            path.unlink()
    create_index(str(folder / "train.tfrecord"), str(folder / "train.index"))


def _decode(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "image": picture(bytes(row["image"]))}


def _collate(rows: list[dict[str, Any]]) -> dict[str, Any]:
    images = [row.pop("image") for row in rows]  # of different lengths
    return {**default_collate(rows), "image": images}


def _flat(batch: dict[str, Any]) -> dict[str, Any]:
    return {name: column if name == "image" else column.flatten() for name, column in batch.items()}


def loader(task: Task) -> Any:
    """A DataLoader over the file."""
    job = task.job
    dataset = tfrecord.torch.TFRecordDataset(
        str(task.folder / "train.tfrecord"),
        str(task.folder / "train.index"),
        {name: _TYPES[kind] for name, kind in task.content.kinds().items()},
        shuffle_queue_size=WINDOW if job.shuffled else None,
        transform=_decode if job.decoded else None,
    )
    collate = _collate if job.name == "images" else None
    batches = data_loader(task)(dataset, job.batch, num_workers=task.workers, collate_fn=collate)
    return Converted(batches, _flat)
