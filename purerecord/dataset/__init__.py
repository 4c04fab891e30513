"""Datasets: shards, shuffling, batches, workers and ranks, exact resume.

    dataset        ``Dataset`` and ``TFRecordDataset``: the methods that users chain
    transforms/    one file per transform: what it is (a node) and how it runs (a cursor)
    engine/        what all transforms share: nodes, cursors, look-ahead, shares of workers and ranks

A chain of nodes describes a dataset; opening it gives a chain of cursors, from which elements are pulled.
docs/internals/datasets.md explains both. Frameworks plug in above: ``purerecord.torch``, ``.jax``
and ``.grain``.
"""

from .dataset import Dataset, DatasetIterator, TFRecordDataset

__all__ = ["Dataset", "DatasetIterator", "TFRecordDataset"]
