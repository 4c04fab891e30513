"""webdataset: tar shards; an image and its label are two members, forty numbers are one member of JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
import webdataset as wds

from benchmarks.loaders.content import Content, picture, rows_of
from benchmarks.loaders.sides import ALL_JOBS, TORCH_WORKERS, Task

FORMAT, VERSION, JOBS, WORKERS = "webdataset", wds.__version__, ALL_JOBS, TORCH_WORKERS
SHARDS = 4
WINDOW = 10_000


def write(content: Content, folder: Path) -> None:
    """One sample a record."""
    rows = rows_of(content.columns())
    cuts = np.linspace(0, len(rows), SHARDS + 1).astype(int).tolist()
    for shard in range(SHARDS):
        with wds.TarWriter(str(folder / f"train-{shard:06}.tar")) as writer:
            for row in rows[cuts[shard] : cuts[shard + 1]]:
                sample: dict[str, Any] = {"__key__": f"{row['id']:08}"}
                if "image" in row:
                    sample |= {"jpg": row["image"], "cls": row["label"]}
                else:
                    sample["json"] = {name: float(x) if name[0] == "I" else x for name, x in row.items()}
                writer.write(sample)


def _images(samples: list[tuple[Any, ...]]) -> dict[str, Any]:
    keys, images, labels = zip(*samples, strict=True)
    numbers, classes = torch.tensor(keys), torch.tensor(labels)
    if isinstance(images[0], np.ndarray):
        return {"id": numbers, "label": classes, "image": torch.from_numpy(np.stack(images))}
    return {"id": numbers, "label": classes, "image": list(images)}


def _columns(samples: list[tuple[dict[str, Any]]]) -> dict[str, Any]:
    return {name: torch.tensor([row[name] for (row,) in samples]) for name in samples[0][0]}


def _bytes(data: bytes) -> bytes:
    return data


def loader(task: Task) -> Any:
    """A WebLoader over whole batches."""
    job = task.job
    dataset = wds.WebDataset(str(task.folder / f"train-{{{0:06}..{SHARDS - 1:06}}}.tar"), shardshuffle=False)
    if job.shuffled:
        dataset = dataset.shuffle(WINDOW)
    if task.content.kind == "ctr":
        dataset = dataset.decode().to_tuple("json").batched(job.batch, collation_fn=_columns)
    else:
        dataset = dataset.to_tuple("__key__", "jpg", "cls").map_tuple(
            int, picture if job.decoded else _bytes, int
        )
        dataset = dataset.batched(job.batch, collation_fn=_images)
    if task.stateful:
        from torchdata.stateful_dataloader import StatefulDataLoader  # noqa: PLC0415

        return StatefulDataLoader(dataset, batch_size=None, num_workers=task.workers)
    return wds.WebLoader(dataset, batch_size=None, num_workers=task.workers)
