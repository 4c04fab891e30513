"""``tf.data.Dataset``: its sources, and the transformations that make new elements.

The other transformations come from ``selecting`` and ``windows``. Nothing is traced: a function gets eager
tensors and runs when an element is requested. So the element spec after a function is inferred from the
first elements. This module knows neither files nor the values of tensors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import count, cycle, islice, repeat
from typing import Any

import numpy as np

from ... import public
from .._values.nest import apply, flatten, pack
from .._values.seeds import shuffle_seed
from .._values.shapes import TensorShape, TensorSpec
from .._values.tensor import EagerTensor, convert_to_tensor, of_array
from ..dtypes import as_dtype, float32, float64, int64
from ..errors import InvalidArgumentError, OutOfRangeError, invalid
from . import batches, iterators, saved, sources
from .elements import AUTOTUNE, INFINITE, UNKNOWN, Elements
from .fingerprints import fingerprint_of
from .functions import UserFunction, guessed, spec_of_first, spec_of_results
from .resampling import resampled
from .run import Run
from .structure import (
    Element,
    NoneTensorSpec,
    Spec,
    as_element,
    as_mapped,
    batched_spec,
    common_spec,
    compatible,
    dtype_of,
    int64_scalar,
    is_tensor_spec,
    spec_of,
    unbatched_spec,
    with_shape,
)
from .windows import WindowMethods

_INT64_SCALAR = TensorSpec((), int64)


@public
class Dataset(WindowMethods):
    """Elements and the transformations of them. Static methods and ``TFRecordDataset`` make datasets."""

    # --- Sources --------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of a tensor, or of a structure of tensors."""
        return Dataset(*sources.slices(tensors))

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element."""
        return Dataset(*sources.single(tensors))

    @staticmethod
    def range(*args: Any, output_type: Any = int64, name: str | None = None) -> Dataset:
        """Integers, as Python's ``range``."""
        return Dataset(*sources.numbers(args, output_type))

    @staticmethod
    def from_generator(  # noqa: PLR0917 - TensorFlow's signature
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements that ``generator(*args)`` yields; they must match the signature."""
        signature = sources.signature_of(output_types, output_shapes, output_signature)
        return Dataset(*sources.generated(generator, signature, args))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """The names of the files that match a pattern or several, shuffled unless ``shuffle`` is False."""
        files = Dataset(*sources.files(file_pattern))
        return files if shuffle is False else files.shuffle(max(1, len(files)), seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Structures of one element of each dataset, up to the end of the shortest."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        parts = datasets if not args else args[0] if len(args) == 1 else args
        leaves = flatten(parts)
        if any(isinstance(leaf, list) for leaf in leaves):
            raise TypeError(
                "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` "
                "objects. Python `list` is not supported and you should use `tuple` instead."
            )
        for leaf in leaves:
            if not isinstance(leaf, Dataset):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}."
                )

        def make(run: Run) -> Iterator[Element]:
            rows = iterators.Zip([leaf._iterate(run, number) for number, leaf in enumerate(leaves)])
            return map(partial(pack, parts), rows)

        numbers = [leaf._cardinality for leaf in leaves]
        finite = [number for number in numbers if number != INFINITE]
        cardinality = UNKNOWN if UNKNOWN in numbers else min(finite, default=INFINITE)
        return Dataset._of_inputs(
            "Zip", leaves, make, lambda: apply(lambda leaf: leaf.element_spec, parts), cardinality
        )

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """For each number in ``choice_dataset``, an element of the dataset that has this number."""
        spec = choice_dataset.element_spec
        if spec != _INT64_SCALAR:
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors "
                f"but are {spec!r}."
            )
        return _directed_interleave(
            datasets,
            lambda run: map(int, choice_dataset._iterate(run, len(datasets))),
            bool(stop_on_empty_dataset),
        )

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Elements of random ones of ``datasets``, which are drawn by ``weights``."""
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if isinstance(weights, Dataset):
            rows_in = partial(_rows_of_weights, weights, len(datasets))
        else:
            datasets, row = _positive_weights(datasets, weights)
            if len(datasets) == 1:
                only: Dataset = datasets[0]
                return only
            rows_in = partial(_endlessly, row)
        randomness = iterators.Randomness(shuffle_seed(seed), bool(rerandomize_each_iteration))
        return _directed_interleave(
            datasets,
            lambda run: iterators.weighted_choices(rows_in(run), randomness(run)),
            bool(stop_on_empty_dataset),
        )

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> Dataset:
        """Random integers from 0 to 2**32 - 1, without end."""
        randomness = iterators.Randomness(shuffle_seed(seed), bool(rerandomize_each_iteration))

        def make(run: Run) -> Iterator[Element]:
            generator = randomness(run)
            return (int64_scalar(generator.getrandbits(32)) for _ in count())

        return Dataset(make, _INT64_SCALAR, INFINITE, "Random")

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None) -> Dataset:
        """``start``, ``start + step``, ``start + 2 * step``, ... without end."""
        first, more = (convert_to_tensor(number, as_dtype(dtype)) for number in (start, step))
        counted: Dataset = Dataset.from_tensors(0).repeat().scan(first, lambda now, _: (now + more, now))
        counted._spec = TensorSpec((), dtype)
        return counted

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: Any = None,
        reader_func: Callable[[Dataset], Dataset] | None = None,
        wait: bool = False,
    ) -> Dataset:
        """The elements that ``save`` stored in a folder, here or in TensorFlow."""
        loaded: Dataset = saved.load(Dataset, path, element_spec, compression, reader_func, wait)
        return loaded

    def save(
        self,
        path: Any,
        compression: Any = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Store all elements in a folder, as TensorFlow does. Its ``load`` reads them, too."""
        if checkpoint_args is not None:
            raise NotImplementedError("Dataset.save with checkpoint_args is not in purerecord.tf")
        run = Run()
        shard_of = UserFunction(shard_func).of_element(run) if shard_func is not None else None
        saved.save(path, self._iterate(run), self.element_spec, compression, shard_of)

    def snapshot(
        self,
        path: Any,
        compression: Any = "AUTO",
        reader_func: Callable[[Dataset], Dataset] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of the first complete iteration, kept in a folder for all later ones."""
        shard_of = UserFunction(shard_func).of_element if shard_func is not None else None
        return self._derive("Snapshot", saved.Snapshot(self, path, compression, reader_func, shard_of))

    def fingerprint(self) -> EagerTensor:
        """A number that tells datasets apart: it differs if a function or a value in the chain does."""
        return of_array(np.uint64(fingerprint_of(self)))

    # --- Functions ------------------------------------------------------------------------------

    def map(  # noqa: PLR0917 - TensorFlow's signature
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """``map_func`` of every element, in order; with ``num_parallel_calls`` in threads."""
        passed_to = "MapDataset" if num_parallel_calls is None else "ParallelMapDatasetV2"
        mapped = UserFunction(map_func, at_end=InvalidArgumentError, passed_to=passed_to)
        threads = 0 if num_parallel_calls is None else int(num_parallel_calls)
        if num_parallel_calls is not None and threads != AUTOTUNE and threads < 1:
            raise invalid("num_parallel_calls must be greater than zero.")

        def function_in(run: Run) -> Callable[[Element], Element]:
            function = mapped.of_element(run)
            return lambda element: as_mapped(function(element), "Dataset.map()")

        def make(run: Run) -> Iterator[Element]:
            elements, function = self._iterate_to_parse(run), function_in(run)
            if threads > 0:
                return iterators.ParallelMap(function, elements, threads)
            if threads == AUTOTUNE:
                return iterators.AutotunedMap(function, elements)
            return map(function, elements)

        def spec() -> Spec:
            run = Run(probe=True)
            return spec_of_results(self.element_spec, self._iterate(run), function_in(run))

        return self._derive("ParallelMap" if threads else "Map", make, spec)

    def flat_map(self, map_func: Callable[..., Dataset], name: str | None = None) -> Dataset:
        """The elements of the datasets that ``map_func`` returns, one dataset after the other."""
        return self._interleave("FlatMap", map_func, 1, 1)

    def interleave(  # noqa: PLR0917 - TensorFlow's signature
        self,
        map_func: Callable[..., Dataset],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Blocks of ``block_length`` elements, in turn from ``cycle_length`` datasets of ``map_func``."""
        cycle = AUTOTUNE if cycle_length is None else int(cycle_length)
        block = 1 if block_length is None else int(block_length)
        if num_parallel_calls is not None:
            cycle = _parallel_cycle(cycle, block, int(num_parallel_calls))
            return self._interleave("ParallelInterleave", map_func, cycle, block, parallel=True)
        if cycle == AUTOTUNE:
            cycle = os.cpu_count() or 1  # TensorFlow's default, which depends on the machine
        for what, number in (("cycle_length", cycle), ("block_length", block)):
            if number < 1:
                raise invalid(f"{what} must be greater than zero.")
        return self._interleave("Interleave", map_func, cycle, block)

    def _interleave(
        self, kind: str, map_func: Callable[..., Dataset], cycle: int, block: int, parallel: bool = False
    ) -> Dataset:
        function = UserFunction(map_func, passed_to=f"{kind}Dataset{'V4' if parallel else ''}")

        def inner(element: Element, run: Run) -> Dataset:
            made = function.of_element(run)(element)
            if not isinstance(made, Dataset):
                raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {made!r}.")
            return made

        def make(run: Run) -> Iterator[Element]:
            return iterators.Interleave(
                self._iterate(run),
                lambda element: inner(element, run)._iterate(run, 1),
                cycle,
                block,
                parallel,
            )

        def spec() -> Spec:
            run = Run(probe=True)
            return spec_of_first(
                (inner(element, run).element_spec for element in islice(self._iterate(run), 1)),
                lambda: guessed(self.element_spec, lambda element: inner(element, run).element_spec),
            )

        return self._derive(kind, make, spec, self._infinite_or_unknown() if parallel else UNKNOWN)

    def reduce(
        self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None
    ) -> Element:
        """The final state after ``state = reduce_func(state, element)`` for every element."""
        state = as_element(initial_state)
        types = [dtype_of(spec_of(leaf)) for leaf in flatten(state)]
        run = Run()
        function = UserFunction(reduce_func, at_end=OutOfRangeError).of_arguments(run)
        for element in self._iterate(run):
            state = as_element(function(state, element), "Dataset.reduce()")
            found = [dtype_of(spec_of(leaf)) for leaf in flatten(state)]
            if found != types:
                raise TypeError(
                    "The element types for the new state must match the initial state. Expected "
                    f"{types}; got {found}."
                )
        return state

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number, counted from ``start``, and an element."""
        first = int(start)
        return self._derive(
            "Zip",
            lambda run: iterators.Zip([map(int64_scalar, count(first)), self._iterate(run)]),
            lambda: (_INT64_SCALAR, self.element_spec),
        )

    # --- Batches --------------------------------------------------------------------------------

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Batches: ``batch_size`` elements stacked into one."""
        kind = "Batch" if num_parallel_calls is None else "ParallelBatch"
        size, drop = _batch_size(batch_size), bool(drop_remainder)

        def make(run: Run) -> Iterator[Element]:
            groups = iterators.grouped(self._iterate(run), repeat(size), drop)
            return map(partial(batches.stacked, row_spec=lambda: self._known_spec), groups)

        return self._batched(kind, make, size, drop, lambda: self.element_spec)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches of tensors that are padded to ``padded_shapes``, or to the largest of the batch."""
        size = _batch_size(batch_size)
        padding = batches.Padding(padded_shapes, padding_values)
        if self._known_spec is not None:
            padding.checked(self._known_spec)

        def make(run: Run) -> Iterator[Element]:
            groups = iterators.grouped(self._iterate(run), repeat(size), bool(drop_remainder))
            return map(padding.batch, groups)

        def spec() -> Spec:
            unpadded = self.element_spec
            pairs = zip(flatten(unpadded), padding.checked(unpadded)[0], strict=True)
            return pack(unpadded, [with_shape(leaf, shape) for leaf, shape in pairs])

        return self._batched("PaddedBatch", make, size, bool(drop_remainder), spec)

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = int64,
        name: str | None = None,
    ) -> Dataset:
        """Batches in which tensors of different lengths become ragged tensors."""
        dtype = as_dtype(row_splits_dtype)

        size, drop = _batch_size(batch_size), bool(drop_remainder)

        def row_spec() -> Spec:
            return apply(lambda leaf: batches.ragged_spec(leaf, dtype), self.element_spec)

        def make(run: Run) -> Iterator[Element]:
            groups = iterators.grouped(self._iterate(run), repeat(size), drop)
            return map(partial(batches.stacked, row_spec=row_spec), groups)

        return self._batched("Batch", make, size, drop, row_spec)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
        """Batches of tensors of different lengths, as sparse tensors whose rows have ``row_shape``."""
        size = _batch_size(batch_size)
        shape = TensorShape(row_shape)

        def make(run: Run) -> Iterator[Element]:
            groups = iterators.grouped(self._iterate(run), repeat(size), False)
            return map(partial(batches.sparse, shape=shape), groups)

        def spec() -> Spec:
            return batches.sparse_spec(self.element_spec, shape)

        if self._known_spec is not None:
            spec()  # raises an error at once
        return self._derive("DenseToSparseBatch", make, spec, _batch_count(self._cardinality, size, False))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Dataset:
        """The rows of all batches, in new batches of ``batch_size``, or of these sizes in turn."""
        sizes = batches.as_sizes(batch_size)
        drop = bool(drop_remainder)

        def make(run: Run) -> Iterator[Element]:
            row_spec: Spec = None

            def rows_of(batch: Element) -> Iterator[Element]:
                nonlocal row_spec
                row_spec = row_spec or apply(lambda leaf: unbatched_spec(spec_of(leaf)), batch)
                return batches.rows_of(batch)

            groups = iterators.grouped(iterators.flattened(self._iterate(run), rows_of), cycle(sizes), drop)
            return map(partial(batches.stacked, row_spec=lambda: row_spec), groups)

        def spec() -> Spec:
            length = batches.rebatched_length(self.element_spec, sizes, drop)
            return apply(lambda leaf: batched_spec(unbatched_spec(leaf), length), self.element_spec)

        made = self._derive("Rebatch", make, spec, UNKNOWN)
        if self._known_spec is not None:
            made.element_spec  # noqa: B018 - raises an error at once
        return made

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Pairs of a class and an element, of which some are left out: classes come as in ``target_dist``."""
        return resampled(self, class_func, target_dist, initial_dist, seed)

    def _batched(
        self, kind: str, make: iterators.MakeIterator, size: int, drop: bool, row_spec: Callable[[], Spec]
    ) -> Dataset:
        length = size if drop else None
        number = _batch_count(self._cardinality, size, drop)

        def spec() -> Spec:
            return apply(lambda leaf: batched_spec(leaf, length), row_spec())

        made = self._derive(kind, make, spec, number)
        if self._known_spec is not None:
            made._spec = spec()
        return made

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of every element."""
        known = self._known_spec
        cardinality = self._infinite_or_unknown()
        if known is not None:
            apply(unbatched_spec, known)  # raises an error if the datasets in the elements are no batches
            leaves = [leaf for leaf in flatten(known) if not isinstance(leaf, NoneTensorSpec)]
            shapes = [leaf.shape if is_tensor_spec(leaf) else leaf.dataset_shape for leaf in leaves]
            if any(shape.rank == 0 for shape in shapes):
                raise ValueError("Cannot unbatch an input with scalar components.")
            lengths = {shape[0] if shape.rank else None for shape in shapes}
            length = lengths.pop() if len(lengths) == 1 else None
            if length is not None and self._cardinality >= 0:
                cardinality = self._cardinality * length

        def make(run: Run) -> Iterator[Element]:
            return iterators.flattened(self._iterate(run), batches.rows_of)

        return self._derive(
            "Unbatch",
            make,
            lambda: apply(unbatched_spec, self.element_spec),
            cardinality,
        )


Elements._dataset_class = Dataset


def _directed_interleave(datasets: Any, choices: Callable[[Run], Iterator[int]], stop: bool) -> Dataset:
    """Elements of several datasets, in the order of the choices."""
    parts = list(datasets)
    if not parts:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    known = [part._known_spec for part in parts]
    if None not in known and not all(compatible(known[0], other) for other in known):
        shown = ".\n".join(f"Dataset {number} element_spec={spec!r}" for number, spec in enumerate(known))
        raise TypeError(f"Invalid `datasets`. `datasets` must have compatible element specs.\n {shown}.")
    cardinality = INFINITE if any(part._cardinality == INFINITE for part in parts) else UNKNOWN
    return Dataset._of_inputs(
        "DirectedInterleave",
        parts,
        lambda run: iterators.directed_interleave(
            [part._iterate(run, number) for number, part in enumerate(parts)], choices(run), stop
        ),
        lambda: reduce(common_spec, [part.element_spec for part in parts]),
        cardinality,
    )


def _parallel_cycle(cycle: int, block: int, calls: int) -> int:
    """The cycle length of an ``interleave`` with ``num_parallel_calls``, after TensorFlow's checks."""
    if calls != AUTOTUNE and calls < 1:
        raise invalid("num_parallel_calls must be greater than zero.")
    if cycle != AUTOTUNE and cycle < 1:
        raise invalid(f"`cycle_length` must be `tf.data.AUTOTUNE` or greater than 0 but is {cycle}")
    if block < 1:
        raise invalid("`block_length` must be > 0")
    if cycle == AUTOTUNE:
        return 1 if calls == AUTOTUNE else calls
    if calls > cycle:
        raise invalid(
            "If `cycle_length` is set to a fixed value, `num_parallel_calls` must be either "
            "`tf.data.AUTOTUNE` or a value less than or equal to `cycle_length`. However, "
            f"`num_parallel_calls` is {calls} and `cycle_length` is {cycle}"
        )
    return cycle


def _positive_weights(datasets: Any, weights: Any) -> tuple[list[Dataset], list[float]]:
    """The datasets that are drawn at all, and how often."""
    if weights is None:
        return list(datasets), [1.0] * len(datasets)
    if isinstance(weights, EagerTensor):
        if weights.shape.as_list() != [len(datasets)]:
            raise ValueError(
                "Invalid `weights`. The shape of `weights` should be compatible with `[len(datasets)]` but is "  # noqa: E501
                f"{weights.shape}."
            )
    elif len(weights) != len(datasets):
        raise ValueError(
            "Invalid `weights`. `weights` should have the same length as `datasets` but got "
            f"`len(weights)={len(weights)}` vs. `len(datasets)={len(datasets)}`."
        )
    else:
        pairs = [pair for pair in zip(datasets, weights, strict=True) if pair[1] > 0]
        datasets = [dataset for dataset, _ in pairs] or [datasets[0].take(0)]
        weights = [weight for _, weight in pairs] or [1.0]
    tensor = convert_to_tensor(weights)
    if tensor.dtype not in (float32, float64):
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
            f"{tensor.dtype}."
        )
    return list(datasets), tensor.numpy().tolist()


def _rows_of_weights(weights: Dataset, number: int, run: Run) -> Iterator[list[float]]:
    """The weights that each element of a dataset gives, which is the input of this number."""
    for element in weights._iterate(run, number):
        yield [float(weight) for leaf in flatten(element) for weight in leaf.numpy().reshape(-1)]


def _endlessly(row: list[float], _: Run) -> Iterator[list[float]]:
    return repeat(row)


def _batch_count(rows: int, size: int, drop: bool) -> int:
    """The number of batches of so many rows."""
    return rows if rows < 0 else rows // size if drop else -(-rows // size)


def _batch_size(batch_size: Any) -> int:
    size = int(batch_size)
    if size < 1:
        raise invalid("Batch size must be greater than zero.")
    return size
