"""The transformations of ``tf.data.Dataset`` that look at several elements: windows, groups, buckets, scans.

This module knows neither files nor how iterations are ordered.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

from .._values.nest import apply, flatten, pack
from .._values.shapes import TensorShape
from .._values.tensor import convert_to_tensor
from ..dtypes import int32, int64, string
from ..errors import InvalidArgumentError, invalid
from .elements import UNKNOWN, DatasetSpec
from .functions import UserFunction, guessed, spec_of_first
from .iterators import Failure, Resumable, events, resumable
from .run import Run
from .selecting import SelectingMethods
from .structure import Element, Spec, as_element, common_spec, dtype_of, int64_scalar, spec_of

if TYPE_CHECKING:
    from .dataset import Dataset


class WindowMethods(SelectingMethods):
    """The part of ``Dataset`` that looks at several elements at a time."""

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Datasets of ``size`` elements each; each begins ``shift`` elements after the one before."""
        length, step = int(size), int(stride)
        distance = length if shift is None else int(shift)
        for what, number in (("size", length), ("shift", distance), ("stride", step)):
            if number < 1:
                raise invalid(f"Window {what} must be greater than zero.")
        span = (length - 1) * step + 1
        number = self._cardinality
        if number >= 0:
            number = max(0, (number - span) // distance + 1) if drop_remainder else -(-number // distance)

        def make(run: Run) -> Iterator[Element]:
            found = _windows(self._iterate(run), span, distance, step, bool(drop_remainder))
            return map(self._column_datasets, found)

        return self._derive("Window", make, lambda: apply(DatasetSpec, self.element_spec), number)

    def _column_datasets(self, rows: list[Element]) -> Any:
        """The rows as one structure, with a dataset in the place of each tensor."""

        def column(place: int) -> Dataset:
            values = [flatten(row)[place] for row in rows]
            return self._dataset_class(
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
        """The elements of ``reduce_func(key, dataset)`` for each ``window_size`` elements with one key."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be specified."
            )
        key_function = UserFunction(key_func, 0)
        reduction = UserFunction(reduce_func, 1)
        size_function = UserFunction(window_size_func or (lambda _: window_size), 2)

        def reduced(run: Run, key: int, group: list[Element]) -> Dataset:
            made: Dataset = reduction.of_arguments(run)(int64_scalar(key), self._dataset_of(group))
            if not isinstance(made, WindowMethods):
                raise TypeError(
                    "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but "
                    f"its return type is {apply(spec_of, as_element(made))!r}."
                )
            return made

        def groups(run: Run) -> Iterator[Any]:
            key_of, size_of = key_function.of_element(run), size_function.of_arguments(run)
            return _groups(
                self._iterate(run),
                lambda element: key_number(key_of(element), "key_func"),
                lambda key: _window_size(key_number(size_of(int64_scalar(key)), "window_size_func")),
            )

        def make(run: Run) -> Iterator[Element]:
            return _flattened(groups(run), lambda *group: reduced(run, *group)._iterate(run, 1))

        def spec() -> Spec:
            run = Run(probe=True)
            return spec_of_first(
                (reduced(run, *group).element_spec for group in Resumable(groups(run))),
                lambda: guessed(self.element_spec, lambda one: reduced(run, 0, [one]).element_spec),
            )

        return self._derive("GroupByWindow", make, spec, self._infinite_or_unknown())

    def _dataset_of(self, elements: list[Element]) -> Dataset:
        """A dataset of some elements of this one."""
        known = self._known_spec

        def spec() -> Spec:
            return reduce(common_spec, [apply(spec_of, element) for element in elements], self.element_spec)

        return self._dataset_class(
            lambda _: iter(elements), spec if known is None else known, UNKNOWN, "Variant"
        )

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
        """The outputs of ``state, output = scan_func(state, element)`` for every element."""
        function = UserFunction(scan_func, at_end=InvalidArgumentError)

        def make(run: Run) -> Iterator[Element]:
            return _scanned(self._iterate(run), as_element(initial_state), function.of_arguments(run))

        def spec() -> Spec:
            return spec_of_first(
                (apply(spec_of, element) for element in make(Run(probe=True))),
                lambda: guessed(self.element_spec, spec_of_output),
            )

        def spec_of_output(element: Element) -> Spec:
            _, output = function.of_arguments(Run(probe=True))(as_element(initial_state), element)
            return apply(spec_of, as_element(output))

        return self._derive("Scan", make, spec)

    def unique(self, name: str | None = None) -> Dataset:
        """The elements without repetitions."""
        return self._derive("Unique", lambda run: _distinct(self._iterate(run)), cardinality=UNKNOWN)


def key_number(key: Any, function: str) -> int:
    """What ``key_func`` or ``window_size_func`` returned, as a number."""
    tensor = convert_to_tensor(key, "int64")
    if tensor.ndim:
        raise ValueError(
            f"Invalid `{function}`. `{function}` must return a single `tf.int64` scalar tensor but its return "  # noqa: E501
            f"type is {spec_of(tensor)!r}."
        )
    return int(tensor)


def _window_size(size: int) -> int:
    if size < 1:
        raise invalid(f"Window size must be greater than zero, but got {size}.")
    return size


def _bounded(shape: Any, bound: int) -> TensorShape:
    return TensorShape([bound if length in (None, -1) else length for length in TensorShape(shape).as_list()])


@resumable
def _windows(elements: Iterator[Any], span: int, shift: int, stride: int, drop: bool) -> Iterator[Any]:
    """Lists of every ``stride``-th of ``span`` consecutive elements. The last are shorter unless ``drop``.

    A failure takes the place of an element. A window that holds one fails.
    """
    window: list[Any] = []
    to_skip = 0  # elements between the end of one window and the beginning of the next
    for event in events(elements):
        if to_skip:
            to_skip -= 1
        else:
            window.append(event)
            if len(window) == span:
                yield _window(window[::stride])
                to_skip = max(0, shift - span)
                window = window[shift:]
    while window and not drop:
        yield _window(window[::stride])
        window = window[shift:]


def _window(rows: list[Any]) -> Any:
    """The rows, or the first failure among them."""
    return next((row for row in rows if isinstance(row, Failure)), rows)


def _groups(
    elements: Iterator[Any], key_of: Callable[[Any], int], size_of: Callable[[int], int]
) -> Iterator[Any]:
    """Events: pairs of a key and a list of its elements. Incomplete lists come last, sorted by key."""
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
        except Exception as error:  # raised again by ``Resumable``
            yield Failure(error)
            continue
        group = groups.setdefault(key, [])
        group.append(event)
        if len(group) == sizes[key]:
            yield key, groups.pop(key)
    yield from sorted(groups.items())


@resumable
def _flattened(groups: Iterator[Any], reduced: Callable[[int, list[Any]], Iterator[Any]]) -> Iterator[Any]:
    """The elements of ``reduced(key, elements)`` for every group."""
    for group in groups:
        if isinstance(group, Failure):
            yield group
        else:
            try:
                inner = reduced(*group)
            except Exception as error:  # raised again by ``Resumable``
                yield Failure(error)
            else:
                yield from events(inner)


@resumable
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
            types, found = (apply(lambda leaf: dtype_of(spec_of(leaf)), part) for part in (state, next_state))
            if types != found:
                raise TypeError(
                    "Invalid `scan_func`. The element types for the new state must match the initial state. "
                    f"Expected {types}, got {found}."
                )
            state = next_state
        except Exception as error:  # raised again by ``Resumable``
            yield Failure(error)
        else:
            yield output


@resumable
def _distinct(elements: Iterator[Any]) -> Iterator[Any]:
    seen = set()
    for event in events(elements):
        if isinstance(event, Failure):
            yield event
        else:
            for kind in {dtype_of(spec_of(leaf)) for leaf in flatten(event)} - {int32, int64, string}:
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
