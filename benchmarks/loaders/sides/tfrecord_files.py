"""TFRecord files of Examples, for all sides that read them; written by the benchmark's own plain encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.handmade import examples, frame
from benchmarks.loaders.content import Content

SHARDS = 4
SHAPES = {"embedding": (1024,)}  # all other columns have one value a record


def write(content: Content, folder: Path) -> None:
    """Write the content into SHARDS files."""
    columns: Any = content.columns()
    cuts = np.linspace(0, content.rows, SHARDS + 1).astype(int).tolist()
    stream = examples(columns)
    for shard, path in enumerate(paths(folder)):
        with open(path, "wb") as file:
            for _ in range(cuts[shard], cuts[shard + 1]):
                file.write(frame(next(stream)))


def paths(folder: Path) -> list[str]:
    """The files, in order."""
    return [str(folder / f"train-{shard:05}-of-{SHARDS:05}.tfrecord") for shard in range(SHARDS)]
