"""``tf.data.experimental``: the dataset writer, and functions that became methods of ``Dataset`` later.

Most functions return a function for ``Dataset.apply``. This module does not know files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .. import io
from .._missing import missing
from .._values.nest import apply
from .._values.shapes import TensorSpec
from ..dtypes import string
from ..errors import FailedPreconditionError
from ..io.record_files import compression_of
from .dataset import Dataset
from .elements import AUTOTUNE, INFINITE, UNKNOWN
from .iterators import Failure, events, resumable

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "TFRecordWriter",
    "assert_cardinality",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "enumerate_dataset",
    "group_by_window",
    "ignore_errors",
    "map_and_batch",
    "parallel_interleave",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "take_while",
    "unbatch",
    "unique",
]

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN


class TFRecordWriter:
    """Writes a whole dataset of scalar strings to one TFRecord file."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = filename
        self._compression = compression_of(compression_type)

    def write(self, dataset: Dataset) -> None:
        """Write all elements of ``dataset``."""
        if not isinstance(dataset, Dataset):
            raise TypeError(
                f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}."
            )
        spec = dataset._known_spec
        if spec is not None and spec != TensorSpec((), string):
            raise TypeError(
                "Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, but got a "
                f"dataset which produces elements with shapes {apply(lambda leaf: leaf.shape, spec)} and "
                f"types {apply(lambda leaf: leaf.dtype, spec)}."
            )
        with io.TFRecordWriter(self._filename, self._compression) as writer:
            for element in dataset:
                writer.write(element.numpy())


def cardinality(dataset: Dataset) -> Any:
    """``dataset.cardinality()``."""
    return dataset.cardinality()


def _transformation(name: str) -> Callable[..., Callable[[Dataset], Dataset]]:
    """A function whose result, called with a dataset, calls the dataset's method ``name``."""

    def make(*args: Any, **kwargs: Any) -> Callable[[Dataset], Dataset]:
        return lambda dataset: getattr(dataset, name)(*args, **kwargs)

    return make


def _with_kind(kind: str, dataset: Dataset) -> Dataset:
    """Returns ``dataset`` after setting its ``_kind``, the name in its repr."""
    dataset._kind = kind
    return dataset


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Callable[[Dataset], Dataset]:
    """``shuffle``, then ``repeat``."""
    return lambda dataset: _with_kind("ShuffleAndRepeat", dataset.shuffle(buffer_size, seed).repeat(count))


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Callable[[Dataset], Dataset]:
    """``map``, then ``batch``."""
    return lambda dataset: _with_kind(
        "MapAndBatch", dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)
    )


def parallel_interleave(  # noqa: PLR0917 - TensorFlow's signature
    map_func: Callable[..., Dataset],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Callable[[Dataset], Dataset]:
    """``interleave``, always in its deterministic order."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def assert_cardinality(expected_cardinality: Any) -> Callable[[Dataset], Dataset]:
    """Raises an error if the dataset has more or fewer elements than this."""
    expected = int(expected_cardinality)
    return lambda dataset: dataset._derive(
        "AssertCardinality",
        lambda run: _counted(dataset._iterate(run), expected),
        cardinality=expected,
    )


@resumable
def _counted(elements: Iterator[Any], expected: int) -> Iterator[Any]:
    """The elements, and a failure if their number is not ``expected``."""
    wanted = "an infinite number of" if expected == INFINITE else str(expected)
    text = f"Input dataset was expected to contain {wanted} elements but contained"
    number = 0
    for event in events(elements):
        number += not isinstance(event, Failure)
        if 0 <= expected < number:
            yield Failure(FailedPreconditionError(None, None, f"{text} at least {number} elements."))
            return
        yield event
    if expected not in (number, UNKNOWN):
        yield Failure(FailedPreconditionError(None, None, f"{text} only {number} elements."))


bucket_by_sequence_length = _transformation("bucket_by_sequence_length")
choose_from_datasets = Dataset.choose_from_datasets
enumerate_dataset = _transformation("enumerate")
group_by_window = _transformation("group_by_window")
ignore_errors = _transformation("ignore_errors")
sample_from_datasets = Dataset.sample_from_datasets
scan = _transformation("scan")
take_while = _transformation("take_while")
unbatch = _transformation("unbatch")
unique = _transformation("unique")

__getattr__ = missing("data.experimental")
