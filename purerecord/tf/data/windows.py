"""Transformations that look at several elements at a time: windows, groups, buckets of like lengths, scans.

They are methods of ``tf.data.Dataset``. Like the rest of it, this module knows neither files nor what tensors
hold.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .._values.operators import invalid
from .._values.shapes import TensorShape
from .._values.tensor import EagerTensor, convert_to_tensor
from ..dtypes import int32, int64, string
from .elements import UNKNOWN
from .functions import check_callable, no_elements
from .iterators import Failure, Steps, events
from .selecting import Ordered
from .structure import Element, Spec, apply, as_element, call, common_spec, flatten, pack, spec_of

if TYPE_CHECKING:
    from .dataset import Dataset


_SAMPLES = 4  # elements that are looked at to see what a function gives


class DatasetSpec:
    """What a window is: a dataset of such elements."""

    shape = TensorShape([])

    def __init__(self, element_spec: Spec) -> None:
        self.element_spec = element_spec

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


class Windowed(Ordered):
    """Elements, several of them at a time."""

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of ``size`` elements each, every one beginning ``shift`` elements later."""
        length, step = int(size), int(stride)
        ahead = length if shift is None else int(shift)
        for what, number in (("size", length), ("shift", ahead), ("stride", step)):
            if number < 1:
                raise invalid(f"Window {what} must be greater than zero.")
        reach = (length - 1) * step + 1
        number = self._size
        if number >= 0:
            number = max(0, (number - reach) // ahead + 1) if drop_remainder else -(-number // ahead)

        def begin(real: bool) -> Iterator[Element]:
            found = Steps(_windows(self._begin(real), reach, ahead, bool(drop_remainder)))
            return (self._column_datasets([*rows[::step]]) for rows in found)

        return self._then("Window", begin, lambda: apply(DatasetSpec, self.element_spec), number)

    def _column_datasets(self, rows: list[Element]) -> Any:
        """The structure of the elements, of datasets instead of tensors."""

        def column(place: int) -> Dataset:
            values = [flatten(row)[place] for row in rows]
            return self._plain(
                lambda _: iter(values), lambda: flatten(self.element_spec)[place], len(values), "Variant"
            )

        return pack(rows[0], map(column, range(len(flatten(rows[0])))))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Dataset], Dataset],
        window_size: Any = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The elements of ``reduce_func(key, dataset)`` for every so many elements that have the same key."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be specified."
            )
        check_callable(key_func)
        check_callable(reduce_func)
        size_of = window_size_func or (lambda _: window_size)

        def key_of(element: Element) -> int:
            return int(convert_to_tensor(call(key_func, element), "int64"))

        def size(key: int) -> int:
            number = int(size_of(_number(key)))
            if number < 1:
                raise invalid(f"Window size must be greater than zero, but got {number}.")
            return number

        def reduced(key: int, group: list[Element]) -> Dataset:
            made = reduce_func(_number(key), self._of(group))
            if not isinstance(made, Windowed):
                raise TypeError(
                    "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but "
                    f"its return type is {apply(spec_of, as_element(made))!r}."
                )
            return made

        def groups(real: bool) -> Iterator[Any]:
            return _groups(self._begin(real), key_of, size)

        def begin(real: bool) -> Iterator[Element]:
            return Steps(_flattened(groups(real), lambda key, group: reduced(key, group)._begin(real)))

        def spec() -> Spec:
            found = [reduced(*group).element_spec for group in islice(Steps(groups(False)), _SAMPLES)]
            if not found:
                raise no_elements()
            return reduce(common_spec, found)

        return self._then("GroupByWindow", begin, spec, UNKNOWN)

    def _of(self, elements: list[Element]) -> Dataset:
        """A dataset of elements of this one."""
        known = self._known_spec

        def spec() -> Spec:
            return reduce(common_spec, [apply(spec_of, element) for element in elements], self.element_spec)

        return self._plain(lambda _: iter(elements), spec if known is None else known, UNKNOWN, "Variant")

    def bucket_by_sequence_length(  # noqa: PLR0917 - TensorFlow's signature
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Padded batches of elements of about the same length."""
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
                f"`len(bucket_boundaries)={len(bucket_boundaries)}`."
            )
        bounds = [int(bound) for bound in bucket_boundaries]
        sizes = [int(size) for size in bucket_batch_sizes]

        def bucket(*element: Any) -> int:
            return bisect_right(bounds, int(element_length_func(*element)))

        def shapes(number: int) -> Any:
            if not pad_to_bucket_boundary:
                return padded_shapes
            if number == len(bounds):
                raise invalid(
                    "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                )
            wanted = padded_shapes
            if wanted is None:
                if self._known_spec is None:
                    raise ValueError(
                        "pad_to_bucket_boundary needs padded_shapes here, with None for what is to be padded"
                    )
                wanted = apply(lambda leaf: leaf.shape, self._known_spec)
            return apply(lambda shape: _bounded(shape, bounds[number] - 1), wanted)

        def batch(key: Any, group: Dataset) -> Dataset:
            number = int(key)
            if no_padding:
                return group.batch(sizes[number], drop_remainder)
            return group.padded_batch(sizes[number], shapes(number), padding_values, drop_remainder)

        return self.group_by_window(bucket, batch, window_size_func=lambda key: sizes[int(key)])

    def scan(
        self, initial_state: Any, scan_func: Callable[[Any, Any], Any], name: str | None = None
    ) -> Dataset:
        """The second part of what ``scan_func(state, element)`` gives; the first part is the next state."""
        check_callable(scan_func)

        def begin(real: bool) -> Iterator[Element]:
            return Steps(_scanned(self._begin(real), as_element(initial_state), scan_func))

        def spec() -> Spec:
            found = [apply(spec_of, element) for element in islice(begin(False), _SAMPLES)]
            if not found:
                raise no_elements()
            return reduce(common_spec, found)

        return self._then("Scan", begin, spec)

    def unique(self, name: str | None = None) -> Dataset:
        """Every element once, when it first comes."""

        def begin(real: bool) -> Iterator[Element]:
            return Steps(_distinct(self._begin(real)))

        return self._then("Unique", begin, size=UNKNOWN)


def _number(value: int) -> EagerTensor:
    return EagerTensor(np.array(value, np.int64))


def _bounded(shape: Any, bound: int) -> TensorShape:
    return TensorShape([bound if length in (None, -1) else length for length in TensorShape(shape).as_list()])


def _windows(elements: Iterator[Any], reach: int, shift: int, drop: bool) -> Iterator[Any]:
    """Runs of ``reach`` elements, or failures; the last runs may be shorter."""
    run: list[Any] = []
    passed = 0  # elements still to be left out, between two runs
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
        elif passed:
            passed -= 1
        else:
            run.append(event)
            if len(run) == reach:
                yield run
                passed = max(0, shift - reach)
                run = run[shift:]
    while run and not drop:
        yield run
        run = run[shift:]


def _groups(
    elements: Iterator[Any], key_of: Callable[[Any], int], size_of: Callable[[int], int]
) -> Iterator[Any]:
    """Pairs of a key and the elements that have it, or failures; those that are left over by their keys."""
    groups: dict[int, list[Any]] = {}
    sizes: dict[int, int] = {}
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
            continue
        try:
            key = key_of(event)
            if key not in sizes:
                sizes[key] = size_of(key)
        except Exception as error:  # raised again by ``Steps``
            yield Failure(error)
            continue
        group = groups.setdefault(key, [])
        group.append(event)
        if len(group) == sizes[key]:
            yield key, groups.pop(key)
    yield from sorted(groups.items())


def _flattened(groups: Iterator[Any], begin: Callable[[int, list[Any]], Iterator[Any]]) -> Iterator[Any]:
    for group in groups:
        if isinstance(group, Failure):
            yield group
        else:
            try:
                inner = begin(*group)
            except Exception as error:  # raised again by ``Steps``
                yield Failure(error)
            else:
                yield from events(inner)


def _scanned(elements: Iterator[Any], state: Any, function: Callable[[Any, Any], Any]) -> Iterator[Any]:
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
            continue
        try:
            result = function(state, event)
            if not isinstance(result, (list, tuple)) or len(result) != 2:
                raise TypeError(
                    "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the "
                    f"output value but its return type is {apply(spec_of, as_element(result))!r}."
                )
            next_state, output = as_element(result[0]), as_element(result[1], "Dataset.scan()")
            types, found = (apply(lambda leaf: leaf.dtype, part) for part in (state, next_state))
            if types != found:
                raise TypeError(
                    "Invalid `scan_func`. The element types for the new state must match the initial state. "
                    f"Expected {types}, got {found}."
                )
            state = next_state
        except Exception as error:  # raised again by ``Steps``
            yield Failure(error)
        else:
            yield output


def _distinct(elements: Iterator[Any]) -> Iterator[Any]:
    seen = set()
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
        else:
            for kind in {leaf.dtype for leaf in flatten(event)} - {int32, int64, string}:
                yield Failure(
                    TypeError(
                        f"`tf.data.Dataset.unique` does not support type {kind} -- only `tf.int32`, "
                        "`tf.int64`, and `tf.string` are supported."
                    )
                )
                return
            key = tuple((leaf.shape, *leaf._array.ravel().tolist()) for leaf in flatten(event))
            if key not in seen:
                seen.add(key)
                yield event
