"""What elements of ``tf.data`` may hold beside tensors, and what a dataset knows of itself, as TensorFlow.

None, datasets, optionals and records in elements; element specs without elements; cardinalities; options;
padding; errors in functions. The programs are functions of ``tf``, as in ``test_facade_vs_tensorflow_data``.
"""

from __future__ import annotations

import collections
import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import purerecord.tf as prtf
from tests.support.facade_vs_tensorflow import error_of, fits, run, specs, steps
from tests.support.interop import interop

tf = interop("tensorflow")

Program = Callable[[Any], Any]


def numbers(tf: Any, *args: Any) -> Any:
    return tf.data.Dataset.range(*args)


def slices(tf: Any, *args: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(*args)


def one(tf: Any, value: Any) -> Any:
    return tf.data.Dataset.from_tensors(value)


def with_none(tf: Any, count: int = 4) -> Any:
    return numbers(tf, count).map(lambda x: (x, None))


def of_datasets(tf: Any, count: int = 4) -> Any:
    return numbers(tf, count).map(lambda x: tf.data.Dataset.range(x))  # noqa: PLW0108


def optionals(tf: Any) -> Any:
    return numbers(tf, 3).map(lambda x: tf.experimental.Optional.from_value({"x": x}))


@dataclasses.dataclass
class Masked:
    """A record as TensorFlow's guide describes them."""

    mask: bool
    value: Any

    def __tf_flatten__(self) -> Any:
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: Any) -> Masked:
        return cls(mask=metadata[0], value=components[0])


Point = collections.namedtuple("Point", ["x", "y"])


ELEMENTS: dict[str, Program] = {
    # None
    "None": with_none,
    "None in a batch": lambda tf: with_none(tf).batch(3),
    "None in rows": lambda tf: one(tf, ([1, 2], None)).unbatch(),
    "None in one element": lambda tf: one(tf, (42, None)),
    "None in slices": lambda tf: slices(tf, ([1, 2], None)),
    "None in a dictionary": lambda tf: numbers(tf, 2).map(lambda x: {"a": None, "b": x}),
    "None as an argument": lambda tf: with_none(tf).map(lambda x, y: (repr(y), x)),
    "None in a filter": lambda tf: with_none(tf).filter(lambda x, y: y is None),
    "None in a cache": lambda tf: one(tf, (1, None)).cache().repeat(2),
    "None, concatenated": lambda tf: one(tf, (1, None)).concatenate(one(tf, (2, None))),
    "None in a zip": lambda tf: tf.data.Dataset.zip((with_none(tf), numbers(tf, 2))),
    "None, shuffled": lambda tf: with_none(tf).shuffle(1).prefetch(1).take(2),
    "None for one": lambda tf: with_none(tf).interleave(lambda x, y: one(tf, (x, y)), cycle_length=2),
    # Datasets
    "datasets": of_datasets,
    "a dataset as an element": lambda tf: one(tf, (7, numbers(tf, 3))),
    "a list of datasets": lambda tf: slices(tf, [numbers(tf, 2), numbers(tf, 3)]),
    "datasets in batches": lambda tf: (
        # The filter hides the number of elements, which TensorFlow knows here and we do not.
        numbers(tf, 9).window(2).batch(2, drop_remainder=True).unbatch().filter(lambda part: True)
    ),
    "datasets, flat": lambda tf: of_datasets(tf).flat_map(lambda part: part),
    "datasets, interleaved": lambda tf: of_datasets(tf).interleave(
        lambda part: part.repeat(2), cycle_length=2
    ),
    "datasets, mapped": lambda tf: of_datasets(tf).map(lambda part: part.map(lambda x: x + 1)),
    "datasets, filtered": lambda tf: numbers(tf, 7).window(3).filter(lambda part: part.cardinality() > 1),
    "datasets in a cache": lambda tf: of_datasets(tf).cache().repeat(2),
    "datasets in a zip": lambda tf: tf.data.Dataset.zip((numbers(tf, 7).window(2), numbers(tf, 3))),
    "windows": lambda tf: numbers(tf, 7).window(3),
    "windows of windows": lambda tf: numbers(tf, 7).window(3).window(2),
    "windows of windows, flat": lambda tf: (
        numbers(tf, 7).window(3).window(2).flat_map(lambda x: x).flat_map(lambda x: x.batch(3))
    ),
    "windows of dictionaries": lambda tf: slices(tf, {"a": [1, 2, 3], "b": ["x", "y", "z"]}).window(2),
    "windows of dictionaries, flat": lambda tf: (
        slices(tf, {"a": [1, 2, 3], "b": ["x", "y", "z"]})
        .window(2)
        .flat_map(lambda part: tf.data.Dataset.zip((part["a"], part["b"].batch(2))))
    ),
    "windows, mapped": lambda tf: (
        numbers(tf, 7).window(2).map(lambda part: part.map(lambda x: x * 2)).flat_map(lambda x: x.batch(2))
    ),
    "windows, summed": lambda tf: (
        numbers(tf, 7).window(2).map(lambda part: part.reduce(np.int64(0), lambda x, y: x + y))
    ),
    "groups of datasets": lambda tf: numbers(tf, 8).group_by_window(
        lambda x: x % 2, lambda key, group: one(tf, group), window_size=3
    ),
    # Optionals
    "optionals": optionals,
    "optionals as arguments": lambda tf: optionals(tf).map(lambda x: x.get_value()["x"] + 1),
    "empty optionals": lambda tf: numbers(tf, 2).map(
        lambda x: tf.experimental.Optional.empty(tf.TensorSpec([2], tf.float32))
    ),
    "one optional": lambda tf: one(tf, tf.experimental.Optional.from_value((1, "a"))),
    # Records
    "records": lambda tf: one(tf, Masked(True, [1, 2])),
    "records in slices": lambda tf: slices(tf, Masked(True, [1, 2, 3])),
    "records, mapped": lambda tf: slices(tf, Masked(True, [1, 2])).map(lambda m: Masked(False, m.value + 1)),
    "records to tensors": lambda tf: slices(tf, Masked(True, [1, 2])).map(lambda m: m.value),
    "tensors to records": lambda tf: numbers(tf, 3).map(lambda x: Masked(True, (x, {"a": x}))),
    "records in batches": lambda tf: slices(tf, Masked(True, [1, 2, 3])).batch(2),
    "records, unbatched": lambda tf: slices(tf, Masked(True, [[1, 2], [3, 4]])).unbatch(),
    "records, filtered": lambda tf: slices(tf, Masked(True, [1, 2, 3])).filter(lambda m: m.value > 1),
    "records, flat": lambda tf: slices(tf, Masked(True, [1, 2])).flat_map(
        lambda m: slices(tf, [m.value] * 2)
    ),
    "records in a zip": lambda tf: tf.data.Dataset.zip(
        Masked(True, numbers(tf, 3)), {"a": slices(tf, Masked(True, [4, 5]))}
    ),
    "records, concatenated": lambda tf: slices(tf, Masked(True, [1])).concatenate(
        slices(tf, Masked(True, [2]))
    ),
    "records in a tuple": lambda tf: slices(tf, (Masked(True, [1, 2]), [3, 4])).map(lambda m, x: m.value + x),
    "records in a cache": lambda tf: slices(tf, Masked(True, [1, 2])).cache().prefetch(1).repeat(2),
    "records, enumerated": lambda tf: slices(tf, Masked(True, [1, 2])).enumerate(),
    "records in windows": lambda tf: slices(tf, Masked(True, [1, 2, 3])).window(2).map(lambda m: m.value),
    "named tuples": lambda tf: slices(tf, Point([1, 2], [3, 4])).map(lambda p: Point(p.y, p.x)).batch(2),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_are_tensorflows(name: str) -> None:
    program = ELEMENTS[name]
    assert run(prtf, program) == run(tf, program)
    assert fits(specs(prtf, program), specs(tf, program))


# Specs of datasets without elements, which TensorFlow knows from the functions.
EMPTY: dict[str, Program] = {
    "map": lambda tf: numbers(tf, 0).map(lambda x: (x * 2, tf.fill([x], 1.5))),
    "map of batches": lambda tf: numbers(tf, 0).batch(2).map(lambda x: (x * 2, tf.reduce_sum(x), {"s": "s"})),
    "map of ragged": lambda tf: (
        slices(tf, tf.ragged.constant([[1], [2, 3]])).batch(2).take(0).map(lambda x: x)
    ),
    "map of sparse": lambda tf: (
        slices(tf, tf.sparse.from_dense([[1, 0], [0, 2]])).take(0).map(tf.sparse.to_dense)
    ),
    "map of strings": lambda tf: slices(tf, ["a"]).take(0).map(lambda x: tf.strings.join([x, "b"])),
    "map to None": lambda tf: numbers(tf, 0).map(lambda x: (None, x)),
    "map to datasets": lambda tf: of_datasets(tf, 0),
    "map of datasets": lambda tf: of_datasets(tf, 0).map(lambda part: part.batch(2)),
    "map of optionals": lambda tf: optionals(tf).take(0).map(lambda x: x.get_value()),
    "flat_map": lambda tf: numbers(tf, 0).flat_map(lambda x: slices(tf, [x])),
    "interleave": lambda tf: numbers(tf, 0).interleave(lambda x: one(tf, (x, "a"))),
    "groups": lambda tf: numbers(tf, 0).group_by_window(lambda x: x, lambda key, group: group.batch(2), 2),
    "scan": lambda tf: numbers(tf, 0).scan(0.5, lambda state, x: (state, (x, state))),
    "filter": lambda tf: numbers(tf, 3).map(lambda x: x * 2).filter(lambda x: x > 9),
    "padded_batch": lambda tf: numbers(tf, 0).map(lambda x: tf.fill([x], x)).padded_batch(2),
    "window": lambda tf: numbers(tf, 0).map(lambda x: (x, "a")).window(2),
    "scan of batches": lambda tf: numbers(tf, 0).batch(2).scan(np.int64(0), lambda n, x: (n, x + n)),
}


@pytest.mark.parametrize("name", EMPTY)
def test_spec_of_a_dataset_without_elements_fits_tensorflows(name: str) -> None:
    assert fits(specs(prtf, EMPTY[name]), specs(tf, EMPTY[name]))


def failing(tf: Any, count: int = 6, *bad: int, error: Any = ValueError) -> Any:
    """Numbers, of which some are errors."""

    def function(x: Any) -> Any:
        if x in (bad or (2,)):
            raise error("bad")
        return x

    return numbers(tf, count).map(lambda x: tf.ensure_shape(tf.numpy_function(function, [x], tf.int64), []))


def failing_function(tf: Any, x: Any) -> Any:
    def function(x: Any) -> Any:
        if x == 1:
            raise ValueError("bad")
        return x

    return one(tf, tf.numpy_function(function, [x], tf.int64)).repeat(3)


def values_and_errors(tf: Any, program: Program) -> Any:
    return steps(program(tf))


AFTER_ERRORS: dict[str, Program] = {
    **{
        f"window {sizes}, element {bad}": lambda tf, sizes=sizes, bad=bad: failing(tf, 8, bad).window(*sizes)
        for sizes in [(2, 3), (2, 2), (3, 1), (2, 4), (2, 1, 2), (2, 3, 2), (1, 2), (3, 2, 1, True)]
        for bad in range(6)
    },
    "window, the last one": lambda tf: failing(tf, 3, 2).window(2),
    "window of nothing else": lambda tf: failing(tf, 3, 0, 1, 2).window(2),
    **{
        f"parallel_interleave, element {bad}": lambda tf, bad=bad: failing(tf, 7, bad).apply(
            tf.data.experimental.parallel_interleave(lambda x: one(tf, x).repeat(2), cycle_length=2)
        )
        for bad in range(5)
    },
    **{
        f"interleave, element {bad}, {calls}": lambda tf, bad=bad, calls=calls: failing(
            tf, 7, bad, 4
        ).interleave(lambda x: one(tf, x).repeat(3), cycle_length=2, block_length=2, num_parallel_calls=calls)
        for bad in range(4)
        for calls in (None, 2)
    },
    **{
        f"interleave, function, {calls}": lambda tf, calls=calls: numbers(tf, 7).interleave(
            lambda x: failing_function(tf, x), cycle_length=2, block_length=2, num_parallel_calls=calls
        )
        for calls in (None, 1, 2)
    },
    **{
        f"interleave of failures, {calls}": lambda tf, calls=calls: numbers(tf, 4).interleave(
            lambda x: failing(tf, 3, 1), cycle_length=2, block_length=2, num_parallel_calls=calls
        )
        for calls in (None, 2)
    },
    "flat_map": lambda tf: failing(tf).flat_map(lambda x: one(tf, x).repeat(2)),
    "flat_map of failures": lambda tf: numbers(tf, 3).flat_map(lambda x: failing(tf, 4, 1)),
    "repeat": lambda tf: failing(tf, 4, 1, 3).repeat(2),
    "shuffle_and_repeat": lambda tf: failing(tf, 3, 1).apply(tf.data.experimental.shuffle_and_repeat(1, 2)),
    "prefetch": lambda tf: failing(tf).prefetch(2),
    "unbatch": lambda tf: failing(tf).map(lambda x: tf.stack([x, x])).unbatch(),
    "groups": lambda tf: failing(tf, 9).group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(3), 3
    ),
    "concatenate": lambda tf: failing(tf, 3, 1).concatenate(failing(tf, 2, 0)),
    "scan": lambda tf: failing(tf, 4, 1).scan(np.int64(0), lambda state, x: (state + x, state + x)),
    "take_while": lambda tf: failing(tf, 4, 1).take_while(lambda x: x < 3),
    "unique": lambda tf: failing(tf, 4, 1).unique(),
    "skip": lambda tf: failing(tf, 4, 1).skip(2),
    "take": lambda tf: failing(tf, 4, 1).take(2),
    "padded_batch": lambda tf: failing(tf, 4, 1).padded_batch(2),
    "shard": lambda tf: failing(tf, 4, 1).shard(2, 1),
}


def test_iteration_goes_on_after_errors_as_in_tensorflow() -> None:
    for name, program in AFTER_ERRORS.items():
        assert values_and_errors(prtf, program) == values_and_errors(tf, program), name


def test_errors_come_at_tensorflows_places_in_a_shuffle() -> None:
    for bad in range(6):
        for size in (1, 2, 4, 10):

            def places(tf: Any, bad: int = bad, size: int = size) -> list[bool]:
                found = steps(failing(tf, 6, bad).shuffle(size, seed=1))
                assert len(found) == 6
                return [isinstance(step, str) for step in found]

            assert places(prtf) == places(tf)


# Errors in functions, with their texts.
IN_FUNCTIONS: dict[str, Program] = {
    "map": lambda tf: failing(tf),  # noqa: PLW0108
    "map in threads": lambda tf: numbers(tf, 4).map(lambda x: bad(tf, x), num_parallel_calls=2),
    "map, autotuned": lambda tf: numbers(tf, 4).map(lambda x: bad(tf, x), tf.data.AUTOTUNE),
    "map, then others": lambda tf: failing(tf).shuffle(1).take(9).prefetch(1).padded_batch(2),
    "filter": lambda tf: numbers(tf, 4).filter(lambda x: bad(tf, x) > 0),
    "flat_map": lambda tf: numbers(tf, 4).flat_map(lambda x: slices(tf, [bad(tf, x)])),
    "map in flat_map": lambda tf: numbers(tf, 4).flat_map(lambda x: one(tf, x).map(lambda x: bad(tf, x))),
    "interleave": lambda tf: numbers(tf, 4).interleave(lambda x: slices(tf, [bad(tf, x)]), cycle_length=2),
    "interleave in threads": lambda tf: numbers(tf, 4).interleave(
        lambda x: slices(tf, [bad(tf, x)]), cycle_length=2, num_parallel_calls=2
    ),
    "scan": lambda tf: numbers(tf, 4).scan(0, lambda state, x: (state, bad(tf, x))),
    "take_while": lambda tf: numbers(tf, 4).take_while(lambda x: bad(tf, x) >= 0),
    "a key": lambda tf: numbers(tf, 4).group_by_window(
        lambda x: bad(tf, x), lambda key, group: group.batch(2), window_size=2
    ),
    "zip": lambda tf: tf.data.Dataset.zip((numbers(tf, 4), failing(tf))),
    "a key of rank 1": lambda tf: numbers(tf, 4).group_by_window(
        lambda x: [x], lambda key, group: group.batch(2), window_size=2
    ),
    "a window size of rank 1": lambda tf: numbers(tf, 4).group_by_window(
        lambda x: x, lambda key, group: group.batch(2), window_size_func=lambda key: [key]
    ),
}


def bad(tf: Any, x: Any) -> Any:
    """``x``, but 2 is an error."""

    def function(x: Any) -> Any:
        if x == 2:
            raise ValueError("bad")
        return x

    return tf.ensure_shape(tf.numpy_function(function, [x], tf.int64), [])


@pytest.mark.parametrize("name", IN_FUNCTIONS)
def test_error_in_a_function_says_what_tensorflows_says(name: str) -> None:
    def first_error(tf: Any) -> Any:
        try:
            list(IN_FUNCTIONS[name](tf))
        except Exception as error:  # the test compares them
            kind, text = error_of(error)
            return kind, text.split("\n")[0]
        raise AssertionError("no error")

    assert first_error(prtf) == first_error(tf)


def cardinalities(tf: Any, dataset: Any, other: Any) -> dict[str, int]:
    data, experimental = tf.data.Dataset, tf.data.experimental
    endless, few = numbers(tf, 3).repeat(), numbers(tf, 3)
    made = {
        "flat_map": dataset.flat_map(lambda x: numbers(tf, 2)),
        "interleave": dataset.interleave(lambda x: numbers(tf, 2), 2),
        "interleave in threads": dataset.interleave(lambda x: numbers(tf, 2), 2, num_parallel_calls=1),
        "parallel_interleave": dataset.apply(experimental.parallel_interleave(lambda x: numbers(tf, 2), 2)),
        "group_by_window": dataset.group_by_window(lambda x: x, lambda key, group: group.batch(2), 2),
        "buckets": dataset.bucket_by_sequence_length(lambda x: 1, [3], [2, 2]),
        "sample": data.sample_from_datasets([dataset, other]),
        "sample, stopping": data.sample_from_datasets([dataset, other], stop_on_empty_dataset=True),
        "choose": data.choose_from_datasets([dataset, other], numbers(tf, 2)),
        "choose, endless choice": data.choose_from_datasets([few, few], endless),
        "choose, stopping": data.choose_from_datasets([dataset, other], endless, stop_on_empty_dataset=True),
        "scan": dataset.scan(0, lambda state, x: (state, x)),
        "filter": dataset.filter(lambda x: True),
        "take_while": dataset.take_while(lambda x: True),
        "unique": dataset.unique(),
        "ignore_errors": dataset.ignore_errors(),
        "unbatch": dataset.batch(2).unbatch(),
        "unbatch of whole batches": dataset.batch(2, drop_remainder=True).unbatch(),
        "window": dataset.window(2),
        "concatenate": dataset.concatenate(other),
        "zip": data.zip((dataset, other)),
        "enumerate": dataset.enumerate(),
        "repeat 0": dataset.repeat(0),
        "repeat 2": dataset.repeat(2),
        "take 0": dataset.take(0),
        "take 2": dataset.take(2),
        "skip": dataset.skip(2),
        "skip all": dataset.skip(-1),
        "ragged_batch": dataset.ragged_batch(2),
        "rebatch": dataset.batch(2).rebatch(3),
        "rebatch, whole": dataset.batch(2, drop_remainder=True).rebatch(3, True),
        "sparse_batch": dataset.map(lambda x: tf.fill([1], x)).sparse_batch(2, [1]),
        "rejection_resample": dataset.rejection_resample(lambda x: 0, [1.0]),
        "padded_batch": dataset.padded_batch(2),
        "cache": dataset.cache(),
        "shuffle": dataset.shuffle(2),
        "map_and_batch": dataset.apply(experimental.map_and_batch(lambda x: x, 2)),
        "shuffle_and_repeat": dataset.apply(experimental.shuffle_and_repeat(2, 2)),
        "shard": dataset.shard(2, 0),
        "reducer": dataset.apply(
            experimental.group_by_reducer(
                lambda x: x, experimental.Reducer(lambda key: 0, lambda state, x: state, lambda state: state)
            )
        ),
        "random": data.random(),
        "counter": data.counter(),
    }
    return {name: int(dataset.cardinality()) for name, dataset in made.items()}


KINDS: dict[str, Program] = {
    "endless": lambda tf: numbers(tf, 3).repeat(),
    "finite": lambda tf: numbers(tf, 3),
    "unknown": lambda tf: numbers(tf, 3).filter(lambda x: True),
    "empty": lambda tf: numbers(tf, 0),
}


@pytest.mark.parametrize("name", KINDS)
def test_cardinalities_are_tensorflows(name: str) -> None:
    for other in KINDS.values():
        ours, theirs = (
            cardinalities(library, KINDS[name](library), other(library)) for library in (prtf, tf)
        )
        assert ours == theirs


PADDING: dict[str, Program] = {
    "None for a dictionary": lambda tf: one(tf, ([1], {"a": [2], "b": 3})).padded_batch(
        2, ([3], {"a": [2], "b": []}), (-1, None)
    ),
    "a number for a dictionary": lambda tf: one(tf, ([1], {"a": [2], "b": 3})).padded_batch(
        2, ([3], {"a": [2], "b": []}), (-1, -2)
    ),
    "another rank": lambda tf: numbers(tf, 10).padded_batch(5, padded_shapes=[1]),
    "too small": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes=[1]),
    "a matrix": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes=[[1]]),
    "a matrix tensor": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes=tf.constant([[1]])),
    "fractions": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes=tf.constant([1.5, 2.0, 3.0])),
    "a fraction": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes=1.5),
    "text": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes="x"),
    "int32": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes=tf.constant([3], tf.int32)),
    "-1": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes=tf.constant([-1], tf.int64)),
    "-2": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padded_shapes=[-2]),
    "unknown rank": lambda tf: tf.data.Dataset.from_generator(lambda: iter([1]), tf.int32).padded_batch(2),
    "a vector of values": lambda tf: one(tf, [1, 2, 3]).padded_batch(5, padding_values=[1]),
    "two shapes for one": lambda tf: one(tf, [1, 2, 3]).padded_batch(2, padded_shapes=[None, None]),
    "one shape for two": lambda tf: one(tf, ([1, 2, 3], 2)).padded_batch(2, padded_shapes=([None],)),
    "another key": lambda tf: one(tf, {"a": 1}).padded_batch(2, padded_shapes={"b": []}),
    "None": lambda tf: one(tf, (42, None)).padded_batch(2),
    "datasets": lambda tf: one(tf, numbers(tf, 3)).padded_batch(2),
    "optionals": lambda tf: one(tf, [1]).padded_batch(0),
}


def test_padded_batch_checks_what_tensorflow_checks_when_it_is_built() -> None:
    for name, program in PADDING.items():
        assert run(prtf, program) == run(tf, program), name


REFUSED: dict[str, Program] = {
    "slices of a dataset": lambda tf: slices(tf, numbers(tf, 2)),
    "None and not None": lambda tf: one(tf, (1, None)).concatenate(one(tf, (2, 3))),
    "empty optional": lambda tf: tf.experimental.Optional.empty(tf.TensorSpec([])).get_value(),
    "typo": lambda tf: setattr(tf.data.Options(), "determinstic", True),
    "typo in a part": lambda tf: setattr(tf.data.Options().threading, "pool", 1),
    "change of a dataset's options": lambda tf: setattr(numbers(tf, 1).options(), "deterministic", True),
    "change of a part of a dataset's options": lambda tf: setattr(
        numbers(tf, 1).with_options(changed(tf)).options().threading, "private_threadpool_size", 1
    ),
}


def changed(tf: Any) -> Any:
    options = tf.data.Options()
    options.threading.private_threadpool_size = 3
    options.deterministic = False
    return options


def test_refused_is_what_tensorflow_refuses() -> None:
    for name, program in REFUSED.items():
        ours, theirs = run(prtf, program), run(tf, program)
        assert isinstance(theirs, tuple), name
        assert ours == theirs, name


def test_datasets_have_no_numpy_form() -> None:
    for library in (prtf, tf):
        with pytest.raises(TypeError, match="not supported for datasets that produce values of type"):
            list(one(library, numbers(library, 3)).as_numpy_iterator())


VALUES: dict[str, Program] = {
    "optionals of an iterator": lambda tf: [
        (bool(found.has_value()), repr(found.element_spec))
        for iterator in [iter(slices(tf, {"a": [1, 2]}))]
        for found in [iterator.get_next_as_optional() for _ in range(4)]
    ],
    "optional of an iterator, by the function": lambda tf: tf.data.experimental.get_next_as_optional(
        iter(numbers(tf, 2))
    ).get_value(),
    "optional": lambda tf: (
        tf.experimental.Optional.from_value((3, {"a": "b"})).get_value(),
        repr(tf.experimental.Optional.from_value((3, {"a": "b"})).element_spec),
    ),
    "numpy": lambda tf: [
        (type(value).__name__, getattr(value, "flags", {"WRITEABLE": None})["WRITEABLE"])
        for element in slices(tf, ([[1, 2]], [3], ["a"], [["b"]])).as_numpy_iterator()
        for value in element
    ],
    "numpy of None": lambda tf: list(one(tf, (42, None)).as_numpy_iterator()),
    "types": lambda tf: repr(
        [
            tf.compat.v1.data.get_output_types(one(tf, (1, None, numbers(tf, 2)))),
            tf.compat.v1.data.get_output_shapes(one(tf, (1, None, numbers(tf, 2)))),
        ]
    ),
    "spec of datasets": lambda tf: repr(
        [
            one(tf, numbers(tf, 2)).element_spec,
            one(tf, numbers(tf, 2)).batch(2).element_spec,
            tf.data.DatasetSpec.from_value(numbers(tf, 2)),
            tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)) == one(tf, numbers(tf, 2)).element_spec,
            tf.OptionalSpec(tf.TensorSpec([], tf.int64)),
            tf.NoneTensorSpec(),
        ]
    ),
    "single element": lambda tf: one(tf, numbers(tf, 2)).get_single_element(),
    "reduce of datasets": lambda tf: (
        numbers(tf, 5)
        .window(2)
        .reduce(np.int64(0), lambda total, part: total + part.reduce(np.int64(0), lambda x, y: x + y))
    ),
    "prefetch(None)": lambda tf: numbers(tf, 3).prefetch(None),
    "choices of the experimental function": lambda tf: tf.data.experimental.choose_from_datasets(
        [numbers(tf, 1), numbers(tf, 5)], numbers(tf, 2).repeat(3)
    ),
    "unset options": lambda tf: repr(
        [
            (tf.data.Options().deterministic, tf.data.Options().experimental_slack),
            tf.data.Options().threading.max_intra_op_parallelism,
            int(tf.data.Options().experimental_distribute.auto_shard_policy),
            tf.data.Options().experimental_optimization.map_fusion,
            numbers(tf, 2).options() == tf.data.Options(),
        ]
    ),
    "equal options": lambda tf: (
        tf.data.Options() == tf.data.Options(),
        changed(tf) == changed(tf),
        changed(tf) != tf.data.Options(),
        tf.data.Options() == 3,
    ),
    "options of a chain": lambda tf: described(
        numbers(tf, 3).with_options(changed(tf)).map(lambda x: x).batch(2)
    ),
    "options twice": lambda tf: described(
        numbers(tf, 3).with_options(changed(tf)).with_options(other_options(tf))
    ),
    "options of a zip": lambda tf: described(
        tf.data.Dataset.zip(
            (numbers(tf, 3).with_options(changed(tf)), numbers(tf, 3).with_options(other_options(tf)))
        )
    ),
    "options of concatenated": lambda tf: described(
        numbers(tf, 3).with_options(other_options(tf)).concatenate(numbers(tf, 3).with_options(changed(tf)))
    ),
    "options, merged": lambda tf: described_options(changed(tf).merge(other_options(tf))),
    "options by their old names": lambda tf: old_options(tf),  # noqa: PLW0108
    "bool of options": lambda tf: bool(tf.data.Options()),
    "options of another type": lambda tf: setattr(tf.data.Options(), "threading", True),
}


def other_options(tf: Any) -> Any:
    options = tf.data.Options()
    options.threading.max_intra_op_parallelism = 2
    options.experimental_slack = True
    options.framework_type = ["a"]
    return options


def old_options(tf: Any) -> Any:
    options = tf.data.Options()
    options.experimental_deterministic = False
    options.experimental_threading.private_threadpool_size = 4
    options.autotune.enabled = True
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    return described_options(options)


def described_options(options: Any) -> Any:
    return repr(
        (
            options.deterministic,
            options.threading.private_threadpool_size,
            options.threading.max_intra_op_parallelism,
            options.experimental_slack,
            options.framework_type,
            options.autotune.enabled,
            int(options.experimental_distribute.auto_shard_policy),
            str(options.experimental_external_state_policy),
        )
    )


def described(dataset: Any) -> Any:
    return described_options(dataset.options())


def test_values_are_tensorflows() -> None:
    for name, program in VALUES.items():
        assert str(run(prtf, program)).replace("purerecord.tf.data.", "") == str(run(tf, program)).replace(
            "tensorflow.python.data.ops.options.", ""
        ), name


def test_prefetch_reads_as_far_ahead_as_tensorflow() -> None:
    """And no further: each element that is read ahead takes memory."""
    for size in (1, 2, 5):
        for library in (prtf, tf):
            read: list[int] = []
            dataset = numbers(library, 20).map(
                lambda x, tf=library, read=read: tf.numpy_function(
                    lambda x: (read.append(int(x)), x)[1], [x], tf.int64
                )
            )
            options = library.data.Options()
            options.experimental_optimization.inject_prefetch = False
            iterator = iter(dataset.prefetch(size).with_options(options))
            assert not read
            for taken in range(1, 4):
                next(iterator)
                deadline = 500
                while len(read) < taken + size and deadline:
                    deadline -= 1
                    threading.Event().wait(0.01)
                threading.Event().wait(0.02)
                assert len(read) == taken + size


def test_one_file_cache_is_written_by_one_iterator(tmp_path: Any) -> None:
    for library in (prtf, tf):
        path = str(tmp_path / library.__name__)
        first, second = (iter(numbers(library, 5).cache(path)) for _ in range(2))
        next(first)
        with pytest.raises(library.errors.AlreadyExistsError, match="concurrent caching iterator"):
            next(second)
        assert len(list(first)) == 4
        assert len(list(numbers(library, 5).cache(path))) == 5


def test_file_cache_can_be_written_again_after_an_iterator_is_given_up(tmp_path: Any) -> None:
    for library in (prtf, tf):
        dataset = numbers(library, 5).cache(str(tmp_path / library.__name__)).prefetch(1)
        for _ in range(3):
            assert len(list(dataset.take(2))) == 2
        assert len(list(dataset)) == 5


def weights_of(tf: Any, *weights: list[float]) -> Any:
    return slices(tf, np.array(weights)).repeat()


def test_samples_have_tensorflows_weights() -> None:
    """The orders are random, but these are certain."""
    programs: list[Program] = [
        lambda tf: sampled(tf, [0.0, 1.0]),
        lambda tf: sampled(tf, [0.0, 0.0]),
        lambda tf: sampled(tf, np.array([0.0, 1.0])),
        lambda tf: sampled(tf, tf.constant([0.0, 1.0]), stop_on_empty_dataset=True),
        lambda tf: sampled(tf, weights_of(tf, [0.0, 1.0]), stop_on_empty_dataset=True),
        lambda tf: sampled(tf, weights_of(tf, [0.0, 0.0])),
        lambda tf: sampled(tf, weights_of(tf, [0.0, 1.0], [1.0, 0.0])),
        lambda tf: sampled(tf, weights_of(tf, [0.0, 1.0], [1.0, 0.0]), stop_on_empty_dataset=True),
        lambda tf: sampled(tf, slices(tf, [[1.0, 0.0], [0.0, 1.0]])),
        lambda tf: sampled(tf, [1.0]),
        lambda tf: sampled(tf, tf.constant([1.0])),
        lambda tf: sampled(tf, [1, 2]),
        lambda tf: tf.data.Dataset.sample_from_datasets([]),
        lambda tf: sampled(tf, [0.0, 0.0], stop_on_empty_dataset=True),
    ]
    for number, program in enumerate(programs):
        assert run(prtf, program) == run(tf, program), number


def sampled(tf: Any, weights: Any, **options: Any) -> Any:
    return tf.data.Dataset.sample_from_datasets(
        [numbers(tf, 3), numbers(tf, 10, 14)], weights, seed=1, **options
    )


@pytest.mark.parametrize("again", [None, True, False])
@pytest.mark.parametrize("kind", ["weights", "random"])
def test_random_datasets_are_drawn_again_where_they_are_in_tensorflow(again: bool | None, kind: str) -> None:
    seen = []
    for library in (prtf, tf):
        if kind == "random":
            dataset = library.data.Dataset.random(seed=5, rerandomize_each_iteration=again).take(20)
        else:
            weights = slices(library, np.full([60, 2], 0.5))
            parts = [numbers(library, 30), numbers(library, 100, 130)]
            dataset = library.data.Dataset.sample_from_datasets(
                parts, weights, seed=5, rerandomize_each_iteration=again
            ).take(20)
        first, second = ([int(x) for x in dataset] for _ in range(2))
        twice = [int(x) for x in dataset.repeat(2)]
        seen.append((first == second, twice[:20] == twice[20:]))
    assert seen[0] == seen[1]
