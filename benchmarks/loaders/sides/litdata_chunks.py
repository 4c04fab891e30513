"""litdata: chunks in a local folder, written with ``optimize``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import litdata

from benchmarks.loaders.content import Content, picture, rows_of
from benchmarks.loaders.sides import ALL_JOBS, TORCH_WORKERS, Task

FORMAT, VERSION, JOBS, WORKERS = "litdata", litdata.__version__, ALL_JOBS, TORCH_WORKERS


def _row(rows: list[dict[str, Any]], number: int) -> dict[str, Any]:
    return rows[number]


def write(content: Content, folder: Path) -> None:
    """One item a record."""
    rows = rows_of(content.columns())
    litdata.optimize(
        fn=partial(_row, rows),
        inputs=list(range(len(rows))),
        output_dir=str(folder),
        chunk_bytes="64MB",
        num_workers=1,
        start_method="fork",
        verbose=False,
    )


def _decode(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "image": picture(row["image"])}


def loader(task: Task) -> Any:
    """The StreamingDataLoader."""
    job = task.job
    dataset = litdata.StreamingDataset(
        str(task.folder), shuffle=job.shuffled, transform=_decode if job.decoded else None
    )
    return litdata.StreamingDataLoader(dataset, batch_size=job.batch, num_workers=task.workers)
