"""``tf.data``: datasets over plain Python iterators.

A dataset is a function that makes iterators, with an element spec and a cardinality. Elements and iterators:

    structure        elements and element specs: structures of tensors, and of type specs
    run              one iteration of a dataset and of its inputs
    iterators        iterators over any elements: shuffle, cache, interleave, map in threads, ...
    record_blocks    records, taken some at a time before a function parses them one by one
    functions        the functions that users pass to a dataset; the spec of their results
    batches          elements to a batch, and a batch to its rows

``Dataset``, in layers of methods:

    elements         iteration, element spec, cardinality, options
    selecting        ``filter``, ``shuffle``, ``repeat``, ``take``, ``cache``, ...
    windows          ``window``, ``group_by_window``, ``bucket_by_sequence_length``, ``scan``, ...
    sources          tensors, ranges, generators and files as the arguments of a dataset
    dataset          ``Dataset``: ``from_tensor_slices``, ``zip``, ``map``, ``interleave``, ``batch``, ...
    file_datasets    ``TFRecordDataset``, ``TextLineDataset``, ``FixedLengthRecordDataset``
    options          ``Options`` and its parts
    optional         ``tf.experimental.Optional``
    saved            ``save``, ``load``, ``snapshot``; with ``spec_messages`` and ``fingerprints``
    resampling       ``rejection_resample``
    csv_files        ``CsvDataset``, ``make_csv_dataset``
    features         ``parse_example_dataset``, ``make_batched_features_dataset``
    experimental     ``tf.data.experimental``
    contrib          ``tf.contrib.data``

This folder does not know what a record holds; ``tf.io`` does.
"""

from __future__ import annotations

from typing import Any

from .._missing import missing
from .._values.nest import apply
from . import experimental
from .dataset import Dataset
from .elements import AUTOTUNE, INFINITE, UNKNOWN, DatasetSpec, NumpyIterator, OwnedIterator
from .file_datasets import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from .options import Options, ThreadingOptions
from .structure import dtype_of, shape_of

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "NumpyIterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
    "get_output_shapes",
    "get_output_types",
    "make_one_shot_iterator",
]

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN
Iterator = OwnedIterator


def make_one_shot_iterator(dataset: Dataset) -> OwnedIterator:
    """``iter(dataset)``, in TensorFlow 1."""
    return iter(dataset)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements; newer programs use ``element_spec``."""
    return apply(dtype_of, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements; newer programs use ``element_spec``."""
    return apply(shape_of, dataset_or_iterator.element_spec)


__getattr__ = missing("data")


def __dir__() -> list[str]:
    return sorted(__all__)
