"""Datasets: shards, shuffling, batches, workers and ranks, exact resume.

    dataset        ``Dataset`` and ``TFRecordDataset``: the methods that users chain
    transforms/    one file per transform: what it is (a node) and how it runs (a cursor)
    engine/        what all transforms share: nodes, cursors, look-ahead, shares of workers and ranks

A chain of nodes describes a dataset; opening it gives a chain of cursors, from which elements are pulled.
docs/internals/datasets.md explains both. Frameworks plug in above: ``purerecord.torch``, ``.jax``
and ``.grain``.
"""

from typing import TYPE_CHECKING, Any

from .dataset import Dataset, DatasetIterator, TFRecordDataset
from .engine.node import PICKLED

__all__ = ["Dataset", "DatasetIterator", "TFRecordDataset"]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The classes that a pickled chain names; they are not public."""
        if name in PICKLED:
            return PICKLED[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
