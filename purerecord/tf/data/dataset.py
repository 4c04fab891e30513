"""``tf.data.Dataset``: its sources, and the transformations that make new elements.

The other transformations come from ``selecting`` and ``windows``. Nothing is traced: a function gets eager
tensors and runs when an element is requested. So the element spec after a function is inferred from the
first elements. This module knows neither files nor the values of tensors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import count
from typing import Any

from ... import public
from .._values.nest import apply, flatten, pack
from .._values.seeds import shuffle_seed
from .._values.shapes import TensorSpec
from .._values.tensor import convert_to_tensor
from ..dtypes import float32, float64, int64
from ..errors import InvalidArgumentError, OutOfRangeError, invalid
from . import batches, iterators, sources
from .elements import AUTOTUNE, INFINITE, UNKNOWN, Elements
from .functions import UserFunction, no_elements, spec_of_results
from .run import Run
from .structure import Element, Spec, as_element, as_mapped, common_spec, compatible, int64_scalar, with_shape
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
        return Dataset(make, lambda: apply(lambda leaf: leaf.element_spec, parts), cardinality, "Zip")

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
        numbers = [1.0] * len(datasets)
        if weights is not None:
            tensor = convert_to_tensor(weights)
            if len(tensor) != len(datasets):
                raise ValueError(
                    "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                    f"`len(weights)={len(tensor)}` vs. `len(datasets)={len(datasets)}`."
                )
            if tensor.dtype not in (float32, float64):
                raise TypeError(
                    "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
                    f"{tensor.dtype}."
                )
            numbers = tensor.numpy().tolist()
        pairs = [pair for pair in zip(datasets, numbers, strict=True) if pair[1] > 0]
        if datasets and not pairs:
            empty: Dataset = datasets[0].take(0)
            return empty
        if len(pairs) == 1:
            only: Dataset = pairs[0][0]
            return only
        text_seed = shuffle_seed(seed)
        positive = [weight for _, weight in pairs]
        return _directed_interleave(
            [dataset for dataset, _ in pairs],
            iterators.WeightedChoices(positive, text_seed, bool(rerandomize_each_iteration)),
            bool(stop_on_empty_dataset),
        )

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
        mapped = UserFunction(map_func, at_end=InvalidArgumentError)
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
            return self._interleave("ParallelInterleave", map_func, cycle, block)
        if cycle == AUTOTUNE:
            cycle = os.cpu_count() or 1  # TensorFlow's default, which depends on the machine
        for what, number in (("cycle_length", cycle), ("block_length", block)):
            if number < 1:
                raise invalid(f"{what} must be greater than zero.")
        return self._interleave("Interleave", map_func, cycle, block)

    def _interleave(self, kind: str, map_func: Callable[..., Dataset], cycle: int, block: int) -> Dataset:
        function = UserFunction(map_func)

        def inner(element: Element, run: Run) -> Dataset:
            made = function.of_element(run)(element)
            if not isinstance(made, Dataset):
                raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {made!r}.")
            return made

        def make(run: Run) -> Iterator[Element]:
            return iterators.Interleave(
                self._iterate(run), lambda element: inner(element, run)._iterate(run, 1), cycle, block
            )

        def spec() -> Spec:
            run = Run(probe=True)
            for element in self._iterate(run):
                return inner(element, run).element_spec
            raise no_elements()

        return self._derive(kind, make, spec, UNKNOWN)

    def reduce(
        self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None
    ) -> Element:
        """The final state after ``state = reduce_func(state, element)`` for every element."""
        state = as_element(initial_state)
        types = [leaf.dtype for leaf in flatten(state)]
        run = Run()
        function = UserFunction(reduce_func, at_end=OutOfRangeError).of_arguments(run)
        for element in self._iterate(run):
            state = as_element(function(state, element), "Dataset.reduce()")
            if [leaf.dtype for leaf in flatten(state)] != types:
                raise TypeError(
                    "The element types for the new state must match the initial state. Expected "
                    f"{types}; got {[leaf.dtype for leaf in flatten(state)]}."
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
        size = _batch_size(batch_size)

        def make(run: Run) -> Iterator[Element]:
            groups = iterators.grouped(self._iterate(run), size, bool(drop_remainder))
            return map(partial(batches.stacked, spec=self._known_spec), groups)

        kind = "Batch" if num_parallel_calls is None else "ParallelBatch"
        return self._batched(kind, make, size, bool(drop_remainder), lambda: self.element_spec)

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
            groups = iterators.grouped(self._iterate(run), size, bool(drop_remainder))
            return map(padding.batch, groups)

        def spec() -> Spec:
            shapes = iter(padding.checked(self.element_spec)[0])
            unpadded = self.element_spec
            return pack(unpadded, [with_shape(leaf, next(shapes)) for leaf in flatten(unpadded)])

        return self._batched("PaddedBatch", make, size, bool(drop_remainder), spec)

    def _batched(
        self, kind: str, make: iterators.MakeIterator, size: int, drop: bool, row_spec: Callable[[], Spec]
    ) -> Dataset:
        length = size if drop else None
        number = self._cardinality
        if number >= 0:
            number = number // size if drop else -(-number // size)

        def spec() -> Spec:
            return apply(lambda leaf: with_shape(leaf, [length, *leaf.shape]), row_spec())

        made = self._derive(kind, make, spec, number)
        if self._known_spec is not None:
            made._spec = spec()
        return made

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of every element."""
        known = self._known_spec
        cardinality = UNKNOWN
        if known is not None:
            lengths = {leaf.shape[0] if leaf.shape.rank else 0 for leaf in flatten(known)}
            if any(leaf.shape.rank == 0 for leaf in flatten(known)):
                raise ValueError("Cannot unbatch an input with scalar components.")
            length = lengths.pop() if len(lengths) == 1 else None
            if length is not None and self._cardinality >= 0:
                cardinality = self._cardinality * length

        def make(run: Run) -> Iterator[Element]:
            return iterators.flattened(self._iterate(run), batches.rows_of)

        return self._derive(
            "Unbatch",
            make,
            lambda: apply(lambda leaf: with_shape(leaf, leaf.shape[1:]), self.element_spec),
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
    return Dataset(
        lambda run: iterators.directed_interleave(
            [part._iterate(run, number) for number, part in enumerate(parts)], choices(run), stop
        ),
        lambda: reduce(common_spec, [part.element_spec for part in parts]),
        UNKNOWN,
        "DirectedInterleave",
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


def _batch_size(batch_size: Any) -> int:
    size = int(batch_size)
    if size < 1:
        raise invalid("Batch size must be greater than zero.")
    return size
