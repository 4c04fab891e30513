"""``tf.data.experimental``: the dataset writer, and functions that became methods of ``Dataset`` later.

Most functions return a function for ``Dataset.apply``. This module does not know files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np

from .. import io
from .._missing import missing
from .._values.nest import apply
from .._values.shapes import TensorSpec
from .._values.tensor import of_array
from ..dtypes import string
from ..errors import FailedPreconditionError, OutOfRangeError, invalid
from ..io.record_files import compression_of
from .csv_files import CsvDataset, make_csv_dataset
from .dataset import Dataset
from .elements import AUTOTUNE, INFINITE, UNKNOWN
from .features import make_batched_features_dataset, parse_example_dataset
from .functions import UserFunction, guessed, spec_of_first
from .iterators import Failure, events, resumable
from .optional import Optional
from .options import (
    AutoShardPolicy,
    AutotuneAlgorithm,
    AutotuneOptions,
    DistributeOptions,
    ExternalStatePolicy,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from .run import Run
from .structure import as_element, as_leaf, common_spec, int64_scalar, placeholder, spec_of
from .windows import key_number

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "SHARD_HINT",
    "UNKNOWN_CARDINALITY",
    "AutoShardPolicy",
    "AutotuneAlgorithm",
    "AutotuneOptions",
    "Counter",
    "CsvDataset",
    "DistributeOptions",
    "ExternalStatePolicy",
    "OptimizationOptions",
    "Optional",
    "RandomDataset",
    "Reducer",
    "ServiceOptions",
    "TFRecordWriter",
    "ThreadingOptions",
    "assert_cardinality",
    "at",
    "bucket_by_sequence_length",
    "cardinality",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "enable_debug_mode",
    "enumerate_dataset",
    "from_list",
    "get_next_as_optional",
    "get_single_element",
    "get_structure",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "load",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "map_and_batch",
    "pad_to_cardinality",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "rejection_resample",
    "sample_from_datasets",
    "save",
    "scan",
    "shuffle_and_repeat",
    "snapshot",
    "take_while",
    "unbatch",
    "unique",
]

SHARD_HINT = -1
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

    def make(dataset: Dataset) -> Dataset:
        cycle, block = int(cycle_length), int(block_length)
        for what, number in (("cycle_length", cycle), ("block_length", block)):
            if number < 1:
                raise invalid(f"`{what}` must be > 0")
        made = dataset._interleave("ParallelInterleave", map_func, cycle, block, parallel=True)
        made._cardinality = UNKNOWN
        return made

    return make


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


class RandomDataset(Dataset):
    """Random integers from 0 to 2**32 - 1, without end."""

    def __init__(self, seed: Any = None) -> None:
        made = Dataset.random(seed)
        super().__init__(made._iterate, made._spec, made._cardinality, made._kind)


def choose_from_datasets(
    datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """``Dataset.choose_from_datasets``, which by default leaves out datasets that have ended."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """``Dataset.sample_from_datasets``."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def from_list(elements: Any, name: str | None = None) -> Dataset:
    """The elements of a list."""
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
            "`tf.data.Dataset.range(0)`."
        )
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    made = [apply(as_leaf, element) for element in elements]
    spec = reduce(common_spec, [apply(spec_of, element) for element in made])
    return Dataset(lambda _: iter(made), spec, len(made), "List")


def at(dataset: Dataset, index: Any) -> Any:
    """The element of this number."""
    number = int(index)
    for element in islice(dataset, number, number + 1) if number >= 0 else ():
        return element
    if dataset._cardinality >= 0 or number < 0:
        raise OutOfRangeError(None, None, f"Index out of range [0, {dataset._cardinality}):{number}")
    raise OutOfRangeError(None, None, f"Index out of range: {number}")


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Callable[[Dataset], Dataset]:
    """Elements of zeros at the end, up to ``cardinality``; ``mask_key`` is true for the others."""
    wanted = int(cardinality)

    def make(dataset: Dataset) -> Dataset:
        number = dataset._cardinality
        if number < 0:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has "
                f"cardinality {number}"
            )
        if number > wanted:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinalty less than the target "
                f"cardinality ({wanted}), but has cardinality {number}"
            )
        if not isinstance(dataset.element_spec, Mapping):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        filler = {**placeholder(dataset.element_spec, 0), mask_key: of_array(np.bool_(False))}
        valid = dataset.map(lambda element: {**element, mask_key: True})
        return valid.concatenate(Dataset.from_tensors(filler).repeat(wanted - number))

    return make


class Reducer:
    """What ``group_by_reducer`` does with the elements of a key: three functions."""

    def __init__(
        self,
        init_func: Callable[[Any], Any],
        reduce_func: Callable[[Any, Any], Any],
        finalize_func: Callable[[Any], Any],
    ) -> None:
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Callable[[Dataset], Dataset]:
    """One element for each key, sorted by the keys: the final states of ``reducer``."""
    key_function = UserFunction(key_func, 0)
    functions: list[Callable[..., Any]] = [reducer.init_func, reducer.reduce_func, reducer.finalize_func]
    init, step, finish = (UserFunction(function, number + 1) for number, function in enumerate(functions))

    def make(dataset: Dataset) -> Dataset:
        def reduced(run: Run, elements: Iterator[Any]) -> Iterator[Any]:
            key_of, update = key_function.of_element(run), step.of_arguments(run)
            states: dict[int, Any] = {}
            for element in elements:
                key = key_number(key_of(element), "key_func")
                if key not in states:
                    states[key] = as_element(init.of_arguments(run)(int64_scalar(key)))
                states[key] = as_element(update(states[key], element))
            finalize = finish.of_element(run)
            for key in sorted(states):
                yield as_element(finalize(states[key]))

        def spec() -> Any:
            run = Run(probe=True)
            return spec_of_first(
                (apply(spec_of, one) for one in reduced(run, islice(dataset._iterate(run), 100))),
                lambda: guessed(
                    dataset.element_spec,
                    lambda element: apply(spec_of, next(reduced(run, iter([element])))),
                ),
            )

        return dataset._derive(
            "GroupByReducer", lambda run: reduced(run, dataset._iterate(run)), spec, UNKNOWN
        )

    return make


def snapshot(
    path: Any,
    compression: Any = "AUTO",
    reader_func: Callable[[Dataset], Dataset] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Callable[[Dataset], Dataset]:
    """as the method of ``Dataset``"""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Callable[[Dataset], Dataset]:
    """Does nothing: the CPU is the only device."""
    return lambda dataset: dataset


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Callable[[Dataset], Dataset]:
    """``prefetch``: the CPU is the only device."""
    return lambda dataset: dataset.prefetch(buffer_size)


def enable_debug_mode() -> None:
    """Does nothing: functions always run eagerly."""


def get_next_as_optional(iterator: Any) -> Optional:
    """``iterator.get_next_as_optional()``."""
    return iterator.get_next_as_optional()  # type: ignore[no-any-return]


def get_single_element(dataset: Dataset) -> Any:
    """``dataset.get_single_element()``."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"Invalid `dataset`. Expected a `tf.data.Dataset` object but got {type(dataset)}.")
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """``element_spec`` of a dataset or an iterator."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "  # noqa: E501
            f"object, but got {type(dataset_or_iterator)}."
        ) from None


def save(
    dataset: Dataset,
    path: Any,
    compression: Any = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """``dataset.save``."""
    dataset.save(path, compression, shard_func, checkpoint_args)


Counter = Dataset.counter
load = Dataset.load
bucket_by_sequence_length = _transformation("bucket_by_sequence_length")
dense_to_ragged_batch = _transformation("ragged_batch")
dense_to_sparse_batch = _transformation("sparse_batch")
enumerate_dataset = _transformation("enumerate")
group_by_window = _transformation("group_by_window")
ignore_errors = _transformation("ignore_errors")
rejection_resample = _transformation("rejection_resample")
scan = _transformation("scan")
take_while = _transformation("take_while")
unbatch = _transformation("unbatch")
unique = _transformation("unique")

__getattr__ = missing("data.experimental")
