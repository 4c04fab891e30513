"""mosaicml-streaming: MDS shards in a local folder, with hashes, which are checked only if asked for."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks.loaders.content import Content, picture, rows_of
from benchmarks.loaders.sides import ALL_JOBS, TORCH_WORKERS, Task

if torch.version.cuda is None and "+" not in version("torchvision"):
    # PyPI's torchvision is built for CUDA: beside a CPU build of torch its operators do not load, and then
    # its import fails. streaming imports it, but needs none of its operators, so they are only declared.
    _OPERATORS = torch.library.Library("torchvision", "DEF")
    for _name in ("nms", "qnms"):
        _OPERATORS.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import streaming
from streaming import MDSWriter, StreamingDataLoader, StreamingDataset
from streaming.base.util import clean_stale_shared_memory

FORMAT, VERSION, JOBS, WORKERS = "mds", streaming.__version__, ALL_JOBS, TORCH_WORKERS
HASH = "sha1"
CHECKS = "`validate_hash` of shards that it downloads"


def write(content: Content, folder: Path) -> None:
    """One sample a record."""
    with MDSWriter(out=str(folder), columns=content.kinds(), hashes=[HASH], size_limit=1 << 26) as writer:
        for row in rows_of(content.columns()):
            writer.write(row)


class _Pictures(StreamingDataset):  # type: ignore[misc, unused-ignore]
    def __getitem__(self, index: int) -> dict[str, Any]:
        row: dict[str, Any] = super().__getitem__(index)
        return {**row, "image": picture(row["image"])}


def loader(task: Task) -> Any:
    """The StreamingDataLoader."""
    clean_stale_shared_memory()
    job = task.job
    place: dict[str, Any] = {"local": str(task.folder)}
    if task.checked:  # it looks at hashes when it downloads shards, not when it reads them
        place = {"remote": str(task.folder), "local": tempfile.mkdtemp(), "validate_hash": HASH}
        atexit.register(shutil.rmtree, place["local"], ignore_errors=True)
    dataset = (_Pictures if job.decoded else StreamingDataset)(
        **place, shuffle=job.shuffled, batch_size=job.batch
    )
    return StreamingDataLoader(dataset, batch_size=job.batch, num_workers=task.workers)
