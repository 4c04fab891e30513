"""ArrayRecord files in grain: records by number, pickled, uncompressed as all files of the race."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import grain
import numpy as np
from array_record.python.array_record_module import ArrayRecordWriter

from benchmarks.loaders.content import Content, picture, rows_of
from benchmarks.loaders.sides import ALL_JOBS, GRAIN_WORKERS, Converted, Task
from benchmarks.loaders.sides.grain_loops import Loop

FORMAT, JOBS, WORKERS = "array_record", ALL_JOBS, GRAIN_WORKERS
VERSION = grain.__version__
SHARDS = 4


def write(content: Content, folder: Path) -> None:
    """One pickle a record, each in a group of its own, as random access wants it."""
    rows = rows_of(content.columns())
    cuts = np.linspace(0, len(rows), SHARDS + 1).astype(int).tolist()
    for shard, path in enumerate(_paths(folder)):
        writer = ArrayRecordWriter(path, "group_size:1,uncompressed")
        for row in rows[cuts[shard] : cuts[shard + 1]]:
            writer.write(pickle.dumps(row, pickle.HIGHEST_PROTOCOL))
        writer.close()


def _paths(folder: Path) -> list[str]:
    return [str(folder / f"train-{shard:05}-of-{SHARDS:05}.array_record") for shard in range(SHARDS)]


def _decode(record: bytes) -> Any:
    row = pickle.loads(record)
    return {**row, "image": picture(row["image"])}


def _lists(rows: list[dict[str, Any]]) -> dict[str, Any]:
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {name: column if name == "image" else np.array(column) for name, column in columns.items()}


def loader(task: Task) -> Any:
    """grain's loop."""
    job = task.job
    dataset = grain.MapDataset.source(grain.sources.ArrayRecordDataSource(_paths(task.folder)))
    if job.shuffled:
        dataset = dataset.shuffle(seed=1)
    dataset = dataset.map(_decode if job.decoded else pickle.loads)
    collate = {"batch_fn": _lists} if job.name == "images" else {}  # bytes of different lengths
    return Converted(Loop(task, dataset.batch(job.batch, **collate)), dict)
