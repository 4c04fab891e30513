"""``tf.data``: datasets, and what belongs to them.

Here is what files make of a ``Dataset``, and the namespace; the rest is in ``dataset`` and below.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .. import io
from .._missing import missing
from .._values.operators import invalid
from .._values.shapes import TensorSpec
from ..dtypes import string
from ..errors import FailedPreconditionError
from ..io.record_files import compression_of
from . import sources
from .dataset import Dataset
from .elements import AUTOTUNE, INFINITE, UNKNOWN, Options, OwnedIterator
from .iterators import Failure, Steps, events
from .structure import apply

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "FixedLengthRecordDataset",
    "Iterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "experimental",
    "get_output_shapes",
    "get_output_types",
    "make_one_shot_iterator",
]

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN
Iterator = OwnedIterator


class TFRecordDataset(Dataset):
    """The records of TFRecord files, as scalar strings.

    With ``num_parallel_reads`` the files take turns, one record of each, in TensorFlow's order. A damaged
    file is a ``DataLossError``; whoever goes on gets the next file.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        compression = compression_of(compression_type)
        _check_buffer(buffer_size)
        source = sources.file_elements(
            filenames, lambda path: sources.records(path, compression), num_parallel_reads, "TFRecord"
        )
        super().__init__(*source)

    def __repr__(self) -> str:
        return f"<TFRecordDatasetV2 element_spec={self.element_spec!r}>"


class TextLineDataset(Dataset):
    """The lines of text files, as scalar strings without the ends of lines."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        compression = compression_of(compression_type)
        source = sources.file_elements(
            filenames, lambda path: sources.lines(path, compression), num_parallel_reads, "TextLine"
        )
        super().__init__(*source)

    def __repr__(self) -> str:
        return f"<TextLineDatasetV2 element_spec={self.element_spec!r}>"


class FixedLengthRecordDataset(Dataset):
    """Pieces of ``record_bytes`` of files, between a header and a footer, as scalar strings."""

    def __init__(  # noqa: PLR0917 - TensorFlow's signature
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        compression = compression_of(compression_type)
        sizes = [int(size or 0) for size in (record_bytes, header_bytes, footer_bytes)]
        if sizes[0] < 1:
            raise invalid("`record_bytes` must be > 0")
        source = sources.file_elements(
            filenames,
            lambda path: sources.pieces(path, compression, *sizes),
            num_parallel_reads,
            "FixedLengthRecord",
        )
        super().__init__(*source)

    def __repr__(self) -> str:
        return f"<FixedLengthRecordDatasetV2 element_spec={self.element_spec!r}>"


def _check_buffer(buffer_size: Any) -> None:
    if buffer_size is not None and int(buffer_size) < -1:
        raise invalid("`buffer_size` must be >= 0 (0 == no buffering)")


class _DatasetWriter:
    """``tf.data.experimental.TFRecordWriter``: a whole dataset of scalar strings to one file."""

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


def _cardinality(dataset: Dataset) -> Any:
    return dataset.cardinality()


def make_one_shot_iterator(dataset: Dataset) -> OwnedIterator:
    """``iter(dataset)``, as it was called once."""
    return iter(dataset)


def _transformation(name: str) -> Callable[..., Callable[[Dataset], Dataset]]:
    """An old function that gives a function for ``Dataset.apply``."""

    def make(*args: Any, **kwargs: Any) -> Callable[[Dataset], Dataset]:
        return lambda dataset: getattr(dataset, name)(*args, **kwargs)

    return make


def _named(kind: str, dataset: Dataset) -> Dataset:
    dataset._kind = kind
    return dataset


def _shuffle_and_repeat(
    buffer_size: Any, count: Any = None, seed: Any = None
) -> Callable[[Dataset], Dataset]:
    """``shuffle`` and ``repeat``."""
    return lambda dataset: _named("ShuffleAndRepeat", dataset.shuffle(buffer_size, seed).repeat(count))


def _map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Callable[[Dataset], Dataset]:
    """``map`` and ``batch``."""
    return lambda dataset: _named(
        "MapAndBatch", dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)
    )


def _parallel_interleave(  # noqa: PLR0917 - TensorFlow's signature
    map_func: Callable[..., Dataset],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Callable[[Dataset], Dataset]:
    """``interleave``, always in order."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


def _assert_cardinality(expected_cardinality: Any) -> Callable[[Dataset], Dataset]:
    """An error if there turn out to be more or fewer elements than this."""
    expected = int(expected_cardinality)
    return lambda dataset: dataset._then(
        "AssertCardinality", lambda real: Steps(_counted(dataset._begin(real), expected)), size=expected
    )


def _counted(elements: abc.Iterator[Any], expected: int) -> abc.Iterator[Any]:
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


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements; ``element_spec`` says it all."""
    return apply(lambda leaf: leaf.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements; ``element_spec`` says it all."""
    return apply(lambda leaf: leaf.shape, dataset_or_iterator.element_spec)


class _Experimental(SimpleNamespace):
    """``tf.data.experimental``."""

    def __getattr__(self, name: str) -> Any:
        return missing("data.experimental")(name)


experimental = _Experimental(
    AUTOTUNE=AUTOTUNE,
    INFINITE_CARDINALITY=INFINITE,
    UNKNOWN_CARDINALITY=UNKNOWN,
    TFRecordWriter=_DatasetWriter,
    assert_cardinality=_assert_cardinality,
    bucket_by_sequence_length=_transformation("bucket_by_sequence_length"),
    cardinality=_cardinality,
    choose_from_datasets=Dataset.choose_from_datasets,
    enumerate_dataset=_transformation("enumerate"),
    group_by_window=_transformation("group_by_window"),
    ignore_errors=_transformation("ignore_errors"),
    map_and_batch=_map_and_batch,
    parallel_interleave=_parallel_interleave,
    sample_from_datasets=Dataset.sample_from_datasets,
    scan=_transformation("scan"),
    shuffle_and_repeat=_shuffle_and_repeat,
    take_while=_transformation("take_while"),
    unbatch=_transformation("unbatch"),
    unique=_transformation("unique"),
)

__getattr__ = missing("data")
