"""``parse_example_dataset`` and ``make_batched_features_dataset``: batches of the features of Examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import io
from .._values.shapes import TensorSpec
from ..dtypes import string
from .dataset import Dataset
from .elements import AUTOTUNE
from .file_datasets import TFRecordDataset
from .structure import dtype_of


def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: bool | None = None
) -> Callable[[Dataset], Dataset]:
    """Batches of serialized Examples to dictionaries of features, by the specs ``features``."""
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def make(dataset: Dataset) -> Dataset:
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype != string or spec.shape.rank not in (None, 1):
            raise TypeError(
                f"Input dataset should be a dataset of vectors of strings. Instead it is `{spec}`."
            )
        parsed = dataset.map(lambda batch: io.parse_example(batch, features), num_parallel_calls)
        parsed._kind = "ParseExample"
        return parsed

    return make


def shuffled_and_repeated(
    dataset: Dataset, num_epochs: Any, shuffle: bool, buffer_size: Any, seed: Any
) -> Dataset:
    """The elements, shuffled or not, for so many epochs."""
    if shuffle:
        dataset = dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def make_batched_features_dataset(  # noqa: PLR0917 - TensorFlow's signature
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Callable[..., Dataset] | None = None,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the features of Examples in files; with ``label_key`` pairs of features and label."""
    if label_key and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key}) must be one of the `features` keys: {features.keys()}."
        )
    open_file = TFRecordDataset if reader is None else reader
    threads = 1 if reader_num_threads is None else int(reader_num_threads)
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    arguments = reader_args or []
    records = names.interleave(
        lambda name: open_file(name, *arguments),
        cycle_length=None if threads == AUTOTUNE else threads,
        num_parallel_calls=threads,
    )
    if records.element_spec and dtype_of(records.element_spec) == (string, string):
        records = records.map(lambda _, record: record)
    records = shuffled_and_repeated(records, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    batches = records.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    parsed = batches.apply(
        parse_example_dataset(features, 2 if parser_num_threads is None else parser_num_threads)
    )
    if label_key:
        parsed = parsed.map(lambda found: (_without(found, label_key), found[label_key]))
    return parsed.prefetch(prefetch_buffer_size)


def _without(features: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in features.items() if name != key}
