"""A folder for each label, a file for each image, as torchvision's ImageFolder has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, default_collate

from benchmarks.loaders.content import Content, picture, rows_of
from benchmarks.loaders.sides import TORCH_WORKERS, Task, data_loader

FORMAT, VERSION, WORKERS = "files", torch.__version__, TORCH_WORKERS
JOBS = frozenset({"images", "pictures"})


def write(content: Content, folder: Path) -> None:
    """One file an image."""
    for row in rows_of(content.columns()):
        place = folder / str(row["label"])
        place.mkdir(exist_ok=True)
        (place / f"{row['id']:08}.jpg").write_bytes(row["image"])


class _Folder(Dataset):  # type: ignore[type-arg, misc, unused-ignore]
    def __init__(self, folder: Path, decoded: bool) -> None:
        self._paths = sorted((str(path) for path in folder.glob("*/*.jpg")), key=lambda path: path[-12:])
        self._labels = [int(Path(path).parent.name) for path in self._paths]
        self._decoded = decoded

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, number: int) -> dict[str, Any]:
        path = self._paths[number]
        with open(path, "rb") as file:
            data: Any = file.read()
        return {
            "id": int(path[-12:-4]),
            "label": self._labels[number],
            "image": np.array(picture(data)) if self._decoded else data,
        }


def loader(task: Task) -> Any:
    """A DataLoader over the files."""
    job = task.job
    return data_loader(task)(
        _Folder(task.folder, job.decoded),
        batch_size=job.batch,
        shuffle=job.shuffled,
        num_workers=task.workers,
        collate_fn=default_collate,
    )
