"""The sides: one module each, imported only in the process of its side.

A module says its ``FORMAT`` (sides of one format share the files), ``VERSION``, the ``JOBS`` it has and the
numbers of worker processes it can be given (``WORKERS``), and has two functions. ``write(content, folder)``
writes the files; ``loader(task)`` returns an iterable over the batches of one epoch, each a dict of columns.
Every side delivers what its library hands to a training loop: tensors where that is torch, else numpy arrays;
image bytes as whatever bytes-like objects the library has.

``task.stateful`` asks for a loader with ``state_dict`` and ``load_state_dict``; a side that resumes in
another way has a ``resumed(task, state)``. ``task.checked`` asks for the integrity check that ``CHECKS``
names, if the library does not do it by itself. ``WINDOW`` says how many records a side shuffles that does so
in a window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.loaders.content import Content
from benchmarks.loaders.jobs import MAIN, Job

# The name of a side: its module here, and what it is, for the report.
SIDES = {
    "purerecord": ("ours_torch", "`IterableDataset` in a `DataLoader`"),
    "purerecord MapDataset": ("ours_map", "`MapDataset` in a `DataLoader`"),
    "purerecord images": ("ours_images", "the same, `bytes_columns=`; pictures: `parse(decode=)`"),
    "purerecord parallel": ("ours_parallel", "`parallel(2)`: this process and one more"),
    "purerecord grain": ("ours_grain", "`purerecord.grain`; shuffled: `RecordFile` as a source"),
    "purerecord grain Source": ("ours_source", "`purerecord.grain.Source` and `batch`"),
    "purerecord tf": ("ours_tf", "TensorFlow's pipeline, with `purerecord.tf`"),
    "tfrecord": ("tfrecord_package", "`TFRecordDataset` with an index, in a `DataLoader`"),
    "tf.data": ("tensorflow_data", "parallel reads, batch, parse, prefetch; C++ threads"),
    "webdataset": ("webdataset_tar", "tar shards, `WebLoader`"),
    "mosaicml-streaming": ("mosaicml_mds", "MDS shards, `StreamingDataLoader`"),
    "litdata": ("litdata_chunks", "chunks, `StreamingDataLoader`"),
    "ArrayRecord + grain": ("array_record_grain", "pickled records, `MapDataset`, 4 read threads"),
    "Hugging Face datasets": (
        "hugging_face",
        "Arrow files; in order: `to_iterable_dataset().batch`; shuffled: a `BatchSampler`",
    ),
    "folder of files": ("image_files", "one file an image, read by a `Dataset` of ten lines"),
}
OURS = "purerecord"

ALL_JOBS = frozenset(MAIN)
TORCH_WORKERS = (0, 1, 2)
GRAIN_WORKERS = (0, 2)  # grain starts new processes for each epoch, which takes seconds


class Task(NamedTuple):
    """Load one content, whose files in the side's format are in ``folder``."""

    job: Job
    content: Content
    folder: Path
    workers: int
    stateful: bool = False
    checked: bool = False


class Converted:
    """A loader whose batches go through a function; its state is the loader's."""

    def __init__(self, loader: Any, convert: Callable[[Any], dict[str, Any]]) -> None:
        self._loader = loader
        self._convert = convert

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self._convert, iter(self._loader))

    def state_dict(self) -> Any:
        """The state of the loader."""
        return self._loader.state_dict()

    def load_state_dict(self, state: Any) -> None:
        """Continue where the state was taken."""
        self._loader.load_state_dict(state)


def data_loader(task: Task) -> Any:
    """torch's ``DataLoader``, or torchdata's with a state."""
    if task.stateful:
        from torchdata.stateful_dataloader import StatefulDataLoader  # noqa: PLC0415

        return StatefulDataLoader
    from torch.utils.data import DataLoader  # noqa: PLC0415

    return DataLoader
