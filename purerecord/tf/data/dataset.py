"""``tf.data.Dataset``: TensorFlow's transformations over plain iterators.

Here are those that make new elements; ``ordering`` has those that choose among them, ``windows`` those that
look at several. Nothing is traced: functions get eager tensors and run when elements are asked for, so what
a function gives is known from the first elements. This module knows neither files nor what tensors hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import count
from typing import Any

import numpy as np

from .._values.operators import invalid
from .._values.shapes import TensorSpec
from .._values.tensor import EagerTensor
from ..dtypes import int64
from ..io.record_files import Interleaved
from ..random import order_seed
from . import batches, iterators, sources
from .elements import AUTOTUNE, INFINITE, UNKNOWN, Elements
from .functions import check_callable, no_elements, spec_of_results
from .structure import (
    Element,
    Spec,
    apply,
    as_element,
    call,
    common_spec,
    compatible,
    flatten,
    pack,
    with_shape,
)
from .windows import Windowed

_NUMBER = TensorSpec((), int64)


class Dataset(Windowed):
    """Elements, and what is done to them on the way. Made by its static methods and ``TFRecordDataset``."""

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
        """Whole numbers, as Python's ``range``."""
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
        """What ``generator(*args)`` yields, which must be as the types and shapes, or the signature, say."""
        signature = sources.signature_of(output_types, output_shapes, output_signature)
        return Dataset(*sources.generated(generator, signature, args))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Dataset:
        """The names of the files that match a pattern, or several; shuffled unless told not to."""
        files = Dataset(*sources.files(file_pattern))
        return files if shuffle is False else files.shuffle(max(1, len(files)), seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Structures of one element of each dataset, as long as all have one."""
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

        def begin(real: bool) -> Iterator[Element]:
            together = zip(*(leaf._begin(real) for leaf in leaves), strict=False)
            return (pack(parts, elements) for elements in together)

        sizes = [leaf._size for leaf in leaves]
        finite = [size for size in sizes if size != INFINITE]
        size = UNKNOWN if UNKNOWN in sizes else min(finite, default=INFINITE)
        return Dataset(begin, lambda: apply(lambda leaf: leaf.element_spec, parts), size, "Zip")

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """From the dataset whose number ``choice_dataset`` gives, again and again."""
        spec = choice_dataset.element_spec
        if spec != _NUMBER:
            raise TypeError(
                "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors "
                f"but are {spec!r}."
            )
        return _directed(
            datasets, lambda real: map(int, choice_dataset._begin(real)), bool(stop_on_empty_dataset)
        )

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Every element from one of ``datasets``, drawn by ``weights``."""
        shares = [1.0] * len(datasets) if weights is None else [float(weight) for weight in weights]
        if len(shares) != len(datasets):
            raise ValueError(
                "Invalid `weights`. `weights` should have the same length as `datasets` but got "
                f"`len(weights)={len(shares)}` vs. `len(datasets)={len(datasets)}`."
            )
        pairs = [pair for pair in zip(datasets, shares, strict=True) if pair[1] > 0]
        if len(pairs) == 1:
            only: Dataset = pairs[0][0]
            return only
        chance = order_seed(seed)
        shares = [share for _, share in pairs]
        return _directed(
            [dataset for dataset, _ in pairs],
            lambda _: iterators.drawn(shares, chance),
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
        """``map_func`` of every element; with ``num_parallel_calls`` in threads, but in order."""
        check_callable(map_func)
        threads = 0 if num_parallel_calls is None else int(num_parallel_calls)
        if num_parallel_calls is not None and threads != AUTOTUNE and threads < 1:
            raise invalid("num_parallel_calls must be greater than zero.")

        def function(element: Element) -> Element:
            return as_element(call(map_func, element), "Dataset.map()")

        def begin(real: bool) -> Iterator[Element]:
            below = self._begin(real)
            if threads > 0:
                return iterators.Parallel(function, below, threads)
            return iterators.Tuned(function, below) if threads == AUTOTUNE else map(function, below)

        return self._then(
            "ParallelMap" if threads else "Map",
            begin,
            lambda: spec_of_results(self.element_spec, self._begin(False), function),
        )

    def flat_map(self, map_func: Callable[..., Dataset], name: str | None = None) -> Dataset:
        """The elements of the datasets that ``map_func`` makes, one after the other."""
        return self._nested("FlatMap", map_func, 1, 1)

    def interleave(  # noqa: PLR0917 - TensorFlow's signature
        self,
        map_func: Callable[..., Dataset],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """``block_length`` elements in turn of each of ``cycle_length`` datasets that ``map_func`` makes."""
        cycle = AUTOTUNE if cycle_length is None else int(cycle_length)
        if cycle == AUTOTUNE:
            # TensorFlow's own choice, which depends on the machine.
            cycle = 1 if num_parallel_calls == AUTOTUNE else os.cpu_count() or 1
        block = 1 if block_length is None else int(block_length)
        for what, number in (("cycle_length", cycle), ("block_length", block)):
            if number < 1:
                raise invalid(f"{what} must be greater than zero.")
        kind = "Interleave" if num_parallel_calls is None else "ParallelInterleave"
        return self._nested(kind, map_func, cycle, block)

    def _nested(self, kind: str, map_func: Callable[..., Dataset], cycle: int, block: int) -> Dataset:
        check_callable(map_func)

        def inner(element: Element) -> Dataset:
            made = call(map_func, element)
            if not isinstance(made, Dataset):
                raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {made!r}.")
            return made

        def begin(real: bool) -> Iterator[Element]:
            return Interleaved(self._begin(real), lambda element: inner(element)._begin(real), cycle, block)

        def spec() -> Spec:
            for element in self._begin(False):
                return inner(element).element_spec
            raise no_elements()

        return self._then(kind, begin, spec, UNKNOWN)

    def reduce(
        self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None
    ) -> Element:
        """``reduce_func(state, element)`` of one element after the other; the last state."""
        state = as_element(initial_state)
        types = [leaf.dtype for leaf in flatten(state)]
        for element in self._begin(True):
            state = as_element(reduce_func(state, element), "Dataset.reduce()")
            if [leaf.dtype for leaf in flatten(state)] != types:
                raise TypeError(
                    "The element types for the new state must match the initial state. Expected "
                    f"{types}; got {[leaf.dtype for leaf in flatten(state)]}."
                )
        return state

    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number, counted from ``start``, and an element."""
        first = int(start)
        return self._then(
            "Zip",
            lambda real: zip(map(_number, count(first)), self._begin(real), strict=False),
            lambda: (_NUMBER, self.element_spec),
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
        """``batch_size`` elements at a time, as one."""
        size = _batch_size(batch_size)

        def begin(real: bool) -> Iterator[Element]:
            groups = iterators.Steps(iterators.grouped(self._begin(real), size, bool(drop_remainder)))
            return map(partial(batches.stacked, spec=self._known_spec), groups)

        kind = "Batch" if num_parallel_calls is None else "ParallelBatch"
        return self._batched(kind, begin, size, bool(drop_remainder), lambda: self.element_spec)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Like ``batch``; tensors are filled up to ``padded_shapes``, or to the largest of the batch."""
        size = _batch_size(batch_size)
        padding = batches.Padding(padded_shapes, padding_values)
        if self._known_spec is not None:
            padding.checked(self._known_spec)

        def begin(real: bool) -> Iterator[Element]:
            groups = iterators.Steps(iterators.grouped(self._begin(real), size, bool(drop_remainder)))
            return map(padding.batch, groups)

        def spec() -> Spec:
            shapes = iter(padding.checked(self.element_spec)[0])
            below = self.element_spec
            return pack(below, [with_shape(leaf, next(shapes)) for leaf in flatten(below)])

        return self._batched("PaddedBatch", begin, size, bool(drop_remainder), spec)

    def _batched(
        self, kind: str, begin: iterators.Begin, size: int, drop: bool, below: Callable[[], Spec]
    ) -> Dataset:
        length = size if drop else None
        number = self._size if self._size < 0 else self._size // size if drop else -(-self._size // size)

        def spec() -> Spec:
            return apply(lambda leaf: with_shape(leaf, [length, *leaf.shape]), below())

        made = self._then(kind, begin, spec, number)
        if self._known_spec is not None:
            made._spec = spec()
        return made

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of every element."""
        known = self._known_spec
        size = UNKNOWN
        if known is not None:
            lengths = {leaf.shape[0] if leaf.shape.rank else 0 for leaf in flatten(known)}
            if any(leaf.shape.rank == 0 for leaf in flatten(known)):
                raise ValueError("Cannot unbatch an input with scalar components.")
            length = lengths.pop() if len(lengths) == 1 else None
            size = UNKNOWN if length is None or self._size < 0 else self._size * length

        def begin(real: bool) -> Iterator[Element]:
            return iterators.Steps(iterators.flattened(self._begin(real), batches.rows_of))

        return self._then(
            "Unbatch",
            begin,
            lambda: apply(lambda leaf: with_shape(leaf, leaf.shape[1:]), self.element_spec),
            size,
        )


Elements._plain = Dataset


def _directed(datasets: Any, choices: Callable[[bool], Iterator[int]], stop: bool) -> Dataset:
    """Elements of several datasets, in the order that the choices say."""
    parts = list(datasets)
    if not parts:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    known = [part._known_spec for part in parts]
    if None not in known and not all(compatible(known[0], other) for other in known):
        shown = ".\n".join(f"Dataset {number} element_spec={spec!r}" for number, spec in enumerate(known))
        raise TypeError(f"Invalid `datasets`. `datasets` must have compatible element specs.\n {shown}.")
    return Dataset(
        lambda real: iterators.Steps(
            iterators.directed([part._begin(real) for part in parts], choices(real), stop)
        ),
        lambda: reduce(common_spec, [part.element_spec for part in parts]),
        UNKNOWN,
        "DirectedInterleave",
    )


def _number(value: int) -> EagerTensor:
    return EagerTensor(np.array(value, np.int64))


def _batch_size(batch_size: Any) -> int:
    size = int(batch_size)
    if size < 1:
        raise invalid("Batch size must be greater than zero.")
    return size
