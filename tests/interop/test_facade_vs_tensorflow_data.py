"""Every transformation of ``tf.data`` that purerecord.tf has, against live TensorFlow.

A program is a function of ``tf``. It runs with both libraries, and the test compares elements, dtypes,
structures, cardinality, element specs, and errors including their texts. A table lists the errors whose text
differs on purpose.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr
import purerecord.tf as prtf
from tests.support.facade_vs_tensorflow import error_of, fits, pattern, plain, run, specs, steps
from tests.support.interop import interop

tf = interop("tensorflow")

Program = Callable[[Any], Any]


def slices(tf: Any, *args: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(*args)


def numbers(tf: Any, *args: Any) -> Any:
    return tf.data.Dataset.range(*args)


def lists(tf: Any, count: int = 5) -> Any:
    """Vectors of 0 to ``count - 1`` numbers."""
    return numbers(tf, count).map(lambda x: tf.fill([x], x))


def sparse(tf: Any, count: int = 4) -> Any:
    return numbers(tf, count).map(lambda x: tf.sparse.SparseTensor([[0]], [x], [x + 1]))


def ragged(tf: Any) -> Any:
    return tf.ragged.constant([[1], [2, 3], []])


def generator(tf: Any, values: list[Any], *args: Any, **kwargs: Any) -> Any:
    return tf.data.Dataset.from_generator(lambda: iter(values), *args, **kwargs)


# The element spec does not depend on a function here, so it must be exactly equal.
STATIC: dict[str, Program] = {
    "slices of a list": lambda tf: slices(tf, [1, 2, 3]),
    "slices of floats": lambda tf: slices(tf, [1.0, 2]),
    "slices of an array": lambda tf: slices(tf, np.arange(6.0).reshape(3, 2)),
    "slices of strings": lambda tf: slices(tf, ["a", "é", b"\0"]),
    "slices of a structure": lambda tf: slices(tf, {"a": [1, 2], "b": ([3, 4], ["x", "y"])}),
    "slices of a tuple": lambda tf: slices(tf, ([1, 2], np.zeros((2, 2, 1), np.uint8))),
    "slices of nothing": lambda tf: slices(tf, []),
    "slices of a sparse tensor": lambda tf: slices(tf, tf.sparse.from_dense([[1, 0], [0, 2]])),
    "slices of a ragged tensor": lambda tf: slices(tf, ragged(tf)),
    "slices of a deep ragged tensor": lambda tf: slices(tf, tf.ragged.constant([[[1]], [[2], [3, 4]]])),
    "one element": lambda tf: tf.data.Dataset.from_tensors(([1, 2], 3)),
    "one ragged element": lambda tf: tf.data.Dataset.from_tensors(ragged(tf)),
    "range": lambda tf: numbers(tf, 5),
    "range with a step": lambda tf: numbers(tf, 2, 10, 3),
    "range downwards": lambda tf: numbers(tf, 5, 0, -2),
    "range of int32": lambda tf: tf.data.Dataset.range(3, output_type=tf.int32),
    "empty range": lambda tf: numbers(tf, 0),
    "zip": lambda tf: tf.data.Dataset.zip(numbers(tf, 3), numbers(tf, 2)),
    "zip of a tuple": lambda tf: tf.data.Dataset.zip((numbers(tf, 3), {"a": numbers(tf, 2)})),
    "zip of one": lambda tf: tf.data.Dataset.zip(numbers(tf, 3)),
    "zip by name": lambda tf: tf.data.Dataset.zip(datasets=(numbers(tf, 3),)),
    "batch": lambda tf: numbers(tf, 5).batch(2),
    "batch without the rest": lambda tf: numbers(tf, 5).batch(2, drop_remainder=True),
    "batch of batches": lambda tf: numbers(tf, 8).batch(2).batch(2),
    "batch of strings": lambda tf: slices(tf, ["a", "bcd", "\0"]).batch(2),
    "batch of structures": lambda tf: slices(tf, {"b": [1, 2, 3], "a": ["x", "y", "z"]}).batch(2),
    "batch larger than all": lambda tf: numbers(tf, 3).batch(10),
    "batch of ragged rows": lambda tf: slices(tf, ragged(tf)).batch(2),
    "unbatch": lambda tf: numbers(tf, 5).batch(2).unbatch(),
    "unbatch of whole batches": lambda tf: numbers(tf, 5).batch(2, True).unbatch(),
    "unbatch of structures": lambda tf: slices(tf, {"a": [1, 2], "b": [[3], [4]]}).batch(2).unbatch(),
    "take": lambda tf: numbers(tf, 10).take(3),
    "take all": lambda tf: numbers(tf, 10).take(-1),
    "take none": lambda tf: numbers(tf, 10).take(0),
    "take more than there are": lambda tf: numbers(tf, 3).take(2**40),
    "skip": lambda tf: numbers(tf, 10).skip(7),
    "skip all": lambda tf: numbers(tf, 10).skip(-1),
    "skip more than there are": lambda tf: numbers(tf, 3).skip(5),
    "repeat": lambda tf: numbers(tf, 3).repeat(2),
    "repeat without end": lambda tf: numbers(tf, 3).repeat(),
    "repeat -1": lambda tf: numbers(tf, 3).repeat(-1).batch(2),
    "repeat 0": lambda tf: numbers(tf, 3).repeat(0),
    "repeat of nothing": lambda tf: numbers(tf, 0).repeat(),
    "shard": lambda tf: numbers(tf, 10).shard(3, 1),
    "shard of the few": lambda tf: numbers(tf, 2).shard(3, 2),
    "concatenate": lambda tf: numbers(tf, 3).concatenate(numbers(tf, 2)),
    "concatenate with what never ends": lambda tf: numbers(tf, 3).concatenate(numbers(tf, 2).repeat()),
    "concatenate of different lengths": lambda tf: slices(tf, [[1, 2]]).concatenate(slices(tf, [[3]])),
    "enumerate": lambda tf: slices(tf, ["a", "b"]).enumerate(),
    "enumerate from 5": lambda tf: slices(tf, ["a", "b"]).enumerate(start=5),
    "cache": lambda tf: numbers(tf, 3).cache(),
    "prefetch": lambda tf: numbers(tf, 3).prefetch(tf.data.AUTOTUNE),
    "prefetch one": lambda tf: numbers(tf, 3).prefetch(1),
    "prefetch nothing": lambda tf: numbers(tf, 3).prefetch(0),
    "shuffle of one": lambda tf: numbers(tf, 5).shuffle(1),
    "filter": lambda tf: numbers(tf, 5).filter(lambda x: x % 2 == 0),
    "filter of pairs": lambda tf: numbers(tf, 4).enumerate().filter(lambda i, x: i > x - 1),
    "filter with True": lambda tf: numbers(tf, 3).filter(lambda x: True),
    "take_while": lambda tf: numbers(tf, 5).take_while(lambda x: x < 2),
    "ignore_errors": lambda tf: numbers(tf, 3).ignore_errors(),
    "apply": lambda tf: numbers(tf, 5).apply(lambda dataset: dataset.take(2)),
    "options": lambda tf: numbers(tf, 3).with_options(tf.data.Options()),
    "padded_batch of equals": lambda tf: slices(tf, [[1, 2], [3, 4]]).padded_batch(2),
    "padded_batch to a shape": lambda tf: slices(tf, [[1, 2], [3, 4]]).padded_batch(2, [3]),
    "padded_batch of scalars": lambda tf: numbers(tf, 3).padded_batch(2, padded_shapes=[]),
    "generator with a type": lambda tf: generator(tf, [1, 2], tf.int32),
    "generator with a shape": lambda tf: generator(tf, [[1, 2], [3]], tf.int32, [None]),
    "generator with a signature": lambda tf: generator(
        tf, [1, 2], output_signature=tf.TensorSpec((), tf.int64)
    ),
    "generator of tuples": lambda tf: generator(tf, [([1], 2)], (tf.int32, tf.float32), ([None], [])),
    "generator of a tuple for a tensor": lambda tf: generator(tf, [(1, 2)], tf.int32),
    "generator of dictionaries": lambda tf: generator(
        tf, [{"a": 1, "b": "x"}], {"a": tf.int32, "b": tf.string}
    ),
    "generator of text": lambda tf: generator(tf, ["é", b"x\0", np.str_("s")], tf.string),
    "generator of arrays": lambda tf: generator(
        tf, [np.zeros((2, 3)), np.ones((1, 3))], tf.float64, [None, 3]
    ),
    "generator of tensors": lambda tf: generator(tf, [tf.constant(3)], tf.int32),
    "generator of booleans": lambda tf: generator(tf, [True], tf.float32),
    "generator of ragged tensors": lambda tf: generator(
        tf, [ragged(tf)], output_signature=tf.RaggedTensorSpec([3, None], tf.int32)
    ),
    "generator with arguments": lambda tf: tf.data.Dataset.from_generator(
        lambda n: iter(range(n)), tf.int32, args=(3,)
    ),
    "generator that is a list": lambda tf: tf.data.Dataset.from_generator(lambda: [1, 2], tf.int32),
}

# After a function, our element spec is inferred from the first elements and may be more specific.
FUNCTIONS: dict[str, Program] = {
    "map": lambda tf: numbers(tf, 5).map(lambda x: x * 2),
    "map to a list": lambda tf: numbers(tf, 3).map(lambda x: [x, x + 1]),
    "map to a dictionary": lambda tf: numbers(tf, 3).map(lambda x: {"b": x, "a": 2.5}),
    "map to a structure": lambda tf: numbers(tf, 3).map(lambda x: (x, {"q": "s"})),
    "map to a tuple of one": lambda tf: numbers(tf, 3).map(lambda x: (x,)),
    "map of a tuple of one": lambda tf: numbers(tf, 3).map(lambda x: (x,)).map(lambda x: x + 1),
    "map to numpy": lambda tf: numbers(tf, 3).map(lambda x: np.float64(2)),
    "map of pairs": lambda tf: numbers(tf, 3).enumerate().map(lambda i, x: i + x),
    "map of dictionaries": lambda tf: slices(tf, {"a": [1, 2], "b": [3, 4]}).map(lambda d: d["a"] + d["b"]),
    "map of dictionaries in tuples": lambda tf: slices(tf, ({"a": [1, 2]}, [3, 4])).map(
        lambda d, y: d["a"] * y
    ),
    "map in threads": lambda tf: numbers(tf, 30).map(lambda x: x * x, num_parallel_calls=3),
    "map in as many threads as are good": lambda tf: numbers(tf, 30).map(lambda x: -x, tf.data.AUTOTUNE),
    "map with cast": lambda tf: numbers(tf, 3).map(lambda x: tf.cast(x, tf.float32) / 2),
    "map of batches": lambda tf: numbers(tf, 5).batch(2).map(lambda x: x * 2),
    "map to sparse": sparse,
    "map to ragged": lambda tf: numbers(tf, 2).map(lambda x: ragged(tf)),
    "py_function": lambda tf: numbers(tf, 3).map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64)),
    "numpy_function": lambda tf: numbers(tf, 3).map(
        lambda x: tf.numpy_function(lambda v: v + 1, [x], tf.int64)
    ),
    "sparse batch": lambda tf: sparse(tf).batch(2),
    "sparse batch of batches": lambda tf: sparse(tf).batch(2).batch(2),
    "sparse unbatch": lambda tf: sparse(tf).batch(3).unbatch(),
    "ragged batch": lambda tf: numbers(tf, 3).map(lambda x: ragged(tf)).batch(2),
    "ragged unbatch": lambda tf: numbers(tf, 3).map(lambda x: ragged(tf)).batch(2).unbatch(),
    "padded_batch": lambda tf: lists(tf).padded_batch(3),
    "padded_batch with None": lambda tf: lists(tf).padded_batch(3, padded_shapes=[None]),
    "padded_batch with -1": lambda tf: lists(tf).padded_batch(3, padded_shapes=[-1]),
    "padded_batch to a length": lambda tf: lists(tf).padded_batch(3, padded_shapes=[6]),
    "padded_batch with a value": lambda tf: lists(tf).padded_batch(3, [6], tf.constant(7, tf.int64)),
    "padded_batch of pairs": lambda tf: (
        lists(tf).map(lambda x: (x, tf.size(x))).padded_batch(2, ([None], []), (np.int64(-1), None))
    ),
    "padded_batch of dictionaries": lambda tf: (
        numbers(tf, 5)
        .map(lambda x: {"a": tf.fill([x], "s"), "b": x})
        .padded_batch(2, padded_shapes={"a": [None], "b": []}, drop_remainder=True)
    ),
    "padded_batch of matrices": lambda tf: (
        numbers(tf, 5).map(lambda x: tf.fill([x, 2], x)).padded_batch(3, tf.TensorShape([None, None]))
    ),
    "flat_map": lambda tf: numbers(tf, 1, 4).flat_map(lambda x: numbers(tf, x)),
    "flat_map to slices": lambda tf: numbers(tf, 5).batch(2).flat_map(lambda x: slices(tf, x)),
    "interleave": lambda tf: numbers(tf, 4).interleave(lambda x: numbers(tf, x), cycle_length=2),
    "interleave blocks": lambda tf: numbers(tf, 1, 5).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(x), cycle_length=2, block_length=2
    ),
    "interleave in threads": lambda tf: numbers(tf, 1, 6).interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(x), cycle_length=3, num_parallel_calls=3
    ),
    "interleave more than there are": lambda tf: numbers(tf, 1, 4).interleave(
        lambda x: numbers(tf, x), cycle_length=9, block_length=3
    ),
    "window": lambda tf: numbers(tf, 7).window(3, 2).flat_map(lambda window: window.batch(3)),
    "window with strides": lambda tf: (
        numbers(tf, 9)
        .window(3, shift=1, stride=2, drop_remainder=True)
        .flat_map(lambda window: window.batch(3))
    ),
    "window that skips": lambda tf: (
        numbers(tf, 9).window(2, shift=4).flat_map(lambda window: window.batch(2))
    ),
    "window of pairs": lambda tf: (
        slices(tf, ([1, 2, 3], ["a", "b", "c"]))
        .window(2)
        .flat_map(lambda x, y: tf.data.Dataset.zip((x.batch(2), y.batch(2))))
    ),
    "group_by_window": lambda tf: numbers(tf, 11).group_by_window(
        lambda x: 1 - x % 2, lambda key, group: group.batch(2), window_size=3
    ),
    "group_by_window of several sizes": lambda tf: numbers(tf, 14).group_by_window(
        lambda x: x % 3,
        lambda key, group: group.map(lambda x: x * 10 + key).batch(2),
        window_size_func=lambda key: key + 1,
    ),
    "group_by_window of pairs": lambda tf: (
        numbers(tf, 7).enumerate().group_by_window(lambda i, x: x % 2, lambda _, group: group.batch(4), 4)
    ),
    "bucket_by_sequence_length": lambda tf: lists(tf, 9).bucket_by_sequence_length(
        tf.size, [3, 5], [2, 2, 3]
    ),
    "bucket_by_sequence_length without the rest": lambda tf: lists(tf, 9).bucket_by_sequence_length(
        tf.size, [3, 5], [2, 2, 3], drop_remainder=True, padding_values=np.int64(-1)
    ),
    "bucket_by_sequence_length up to the boundary": lambda tf: lists(tf, 5).bucket_by_sequence_length(
        tf.size, [3, 7], [2, 2, 3], padded_shapes=[None], pad_to_bucket_boundary=True
    ),
    "bucket_by_sequence_length of dictionaries": lambda tf: (
        lists(tf, 7)
        .map(lambda x: {"a": x, "n": tf.size(x)})
        .apply(tf.data.experimental.bucket_by_sequence_length(lambda d: d["n"], [4], [3, 2]))
    ),
    "bucket_by_sequence_length without padding": lambda tf: lists(tf, 5).bucket_by_sequence_length(
        tf.size, [3], [1, 1], no_padding=True
    ),
    "scan": lambda tf: numbers(tf, 5).scan(np.int64(1), lambda state, x: (state + x, (state, x * state))),
    "unique rows": lambda tf: slices(tf, [["a", "b"], ["a", "b"], ["ab", ""]]).unique(),
    "unique": lambda tf: slices(tf, ["a", "b", "a", "c", "b"]).unique(),
    "map_and_batch": lambda tf: numbers(tf, 5).apply(
        tf.data.experimental.map_and_batch(lambda x: x + 1, 2, drop_remainder=True)
    ),
    "parallel_interleave": lambda tf: slices(tf, [3, 1, 4, 2]).apply(
        tf.data.experimental.parallel_interleave(
            lambda x: tf.data.Dataset.range(tf.cast(x, tf.int64)), cycle_length=2
        )
    ),
    "shuffle_and_repeat": lambda tf: slices(tf, [3, 3]).apply(tf.data.experimental.shuffle_and_repeat(5, 2)),
    "assert_cardinality": lambda tf: (
        numbers(tf, 5).filter(lambda x: x > 1).apply(tf.data.experimental.assert_cardinality(3))
    ),
    "errors ignored": lambda tf: numbers(tf, 5).map(lambda x: 6 // (x - 2)).ignore_errors(),
    "errors ignored in threads": lambda tf: numbers(tf, 5).map(lambda x: 6 // (x - 2), 2).ignore_errors(),
    "choose_from_datasets": lambda tf: tf.data.Dataset.choose_from_datasets(
        [numbers(tf, 3), numbers(tf, 10, 13)], slices(tf, np.array([0, 1, 0, 1, 1, 1, 0, 0]))
    ),
    "choose_from_datasets to the last": lambda tf: tf.data.Dataset.choose_from_datasets(
        [numbers(tf, 3), numbers(tf, 10, 13)], numbers(tf, 2).repeat(), stop_on_empty_dataset=False
    ),
    "sample_from_datasets of one": lambda tf: tf.data.Dataset.sample_from_datasets(
        [numbers(tf, 3), numbers(tf, 2)], [1.0, 0.0]
    ),
    "concatenate of functions": lambda tf: numbers(tf, 2).concatenate(numbers(tf, 2).map(lambda x: x + 9)),
}

# Programs whose result is not a dataset.
VALUES: dict[str, Program] = {
    "reduce": lambda tf: numbers(tf, 5).reduce(np.int64(0), lambda state, x: state + x),
    "reduce to a structure": lambda tf: numbers(tf, 5).reduce(
        (np.int64(0), 0), lambda state, x: (state[0] + x, state[1] + 1)
    ),
    "reduce counts": lambda tf: numbers(tf, 5).reduce(0.0, lambda state, _: state + 1),
    "cardinality": lambda tf: numbers(tf, 5).cardinality(),
    "cardinality without end": lambda tf: numbers(tf, 5).repeat().cardinality(),
    "cardinality of a filter": lambda tf: numbers(tf, 5).filter(lambda x: True).cardinality(),
    "cardinality, as a function": lambda tf: tf.data.experimental.cardinality(numbers(tf, 4)),
    "constants": lambda tf: (
        tf.data.AUTOTUNE,
        tf.data.experimental.AUTOTUNE,
        tf.data.INFINITE_CARDINALITY,
        tf.data.UNKNOWN_CARDINALITY,
    ),
    "windows": lambda tf: [[int(x) for x in window] for window in numbers(tf, 7).window(3, 2)],
    "windows, how many": lambda tf: [
        int(numbers(tf, n).window(size, shift, stride, drop).cardinality())
        for n in range(8)
        for size in (1, 3)
        for shift in (1, 2, 4)
        for stride in (1, 2)
        for drop in (True, False)
    ],
    "windows, what they are": lambda tf: repr(numbers(tf, 7).window(3, 2)),
    "old facts": lambda tf: repr(
        (
            tf.compat.v1.data.get_output_types(slices(tf, {"a": [1.5]})),
            tf.compat.v1.data.get_output_shapes(iter(slices(tf, ([[1, 2]], ["s"])))),
            tf.compat.v1.data.Dataset.range(3).batch(2).output_types,
            tf.compat.v1.data.Dataset.range(3).batch(2).output_shapes,
        )
    ),
    "len": lambda tf: len(numbers(tf, 5).batch(2)),
    "len without end": lambda tf: len(numbers(tf, 5).repeat()),
    "len unknown": lambda tf: len(numbers(tf, 5).filter(lambda x: True)),
    "bool of nothing": lambda tf: bool(numbers(tf, 0)),
    "as_numpy_iterator": lambda tf: list(slices(tf, {"a": [1, 2], "s": ["x", "y"]}).as_numpy_iterator()),
    "as_numpy_iterator of sparse": lambda tf: list(sparse(tf).as_numpy_iterator()),
    "next": lambda tf: next(iter(numbers(tf, 3))),
    "get_next at the end": lambda tf: iter(numbers(tf, 0)).get_next(),
    "get_single_element": lambda tf: numbers(tf, 1).get_single_element(),
    "get_single_element of many": lambda tf: numbers(tf, 2).get_single_element(),
    "get_single_element of none": lambda tf: numbers(tf, 0).get_single_element(),
    "repr": lambda tf: repr(numbers(tf, 3).batch(2)),
    "iterations are independent": lambda tf: [
        (a.numpy(), b.numpy()) for d in [numbers(tf, 2)] for a in d for b in d
    ],
}

ERRORS: dict[str, Program] = {
    "scan to one value": lambda tf: numbers(tf, 3).scan(0, lambda state, x: x),
    "scan to another state": lambda tf: numbers(tf, 3).scan(0, lambda state, x: (x, x)),
    "unique floats": lambda tf: slices(tf, [1.5, 1.5]).unique(),
    "groups that are no dataset": lambda tf: numbers(tf, 3).group_by_window(
        lambda x: x, lambda key, group: key, window_size=2
    ),
    "window of nothing": lambda tf: numbers(tf, 5).window(0),
    "window without a shift": lambda tf: numbers(tf, 5).window(2, 0),
    "window without a stride": lambda tf: numbers(tf, 5).window(2, 1, 0),
    "groups of no size": lambda tf: numbers(tf, 5).group_by_window(lambda x: x, lambda key, group: group),
    "groups of two sizes": lambda tf: numbers(tf, 5).group_by_window(
        lambda x: x, lambda key, group: group, 2, lambda key: key
    ),
    "groups of nothing": lambda tf: numbers(tf, 5).group_by_window(
        lambda x: x, lambda key, group: group, window_size=0
    ),
    "too few buckets": lambda tf: lists(tf).bucket_by_sequence_length(tf.size, [3, 5], [2, 2]),
    "fewer elements": lambda tf: numbers(tf, 5).apply(tf.data.experimental.assert_cardinality(7)),
    "more elements": lambda tf: numbers(tf, 5).apply(tf.data.experimental.assert_cardinality(4)),
    "an end": lambda tf: numbers(tf, 5).apply(tf.data.experimental.assert_cardinality(-1)),
    "choice of none": lambda tf: tf.data.Dataset.choose_from_datasets([numbers(tf, 3)], numbers(tf, 3)),
    "choice from none": lambda tf: tf.data.Dataset.choose_from_datasets([], numbers(tf, 3)),
    "choice by text": lambda tf: tf.data.Dataset.choose_from_datasets([numbers(tf, 3)], slices(tf, ["a"])),
    "choice from different types": lambda tf: tf.data.Dataset.choose_from_datasets(
        [numbers(tf, 3), slices(tf, ["a"])], numbers(tf, 2)
    ),
    "too few weights": lambda tf: tf.data.Dataset.sample_from_datasets(
        [numbers(tf, 3), numbers(tf, 3)], [1.0]
    ),
    "slices of different lengths": lambda tf: slices(tf, ([1, 2, 3], [1, 2])),
    "slices of a scalar": lambda tf: slices(tf, 3),
    "slices of None": lambda tf: slices(tf, None),
    "slices of rows that differ": lambda tf: slices(tf, [[1, 2], [3]]),
    "range of nothing": lambda tf: tf.data.Dataset.range(),
    "range of a fraction": lambda tf: numbers(tf, 3.5),
    "range with step 0": lambda tf: numbers(tf, 1, 2, 0),
    "zip of nothing": lambda tf: tf.data.Dataset.zip(),
    "zip of a list": lambda tf: tf.data.Dataset.zip([numbers(tf, 3)]),
    "map with a number": lambda tf: numbers(tf, 3).map(3),
    "map to an object": lambda tf: numbers(tf, 3).map(lambda x: object()),
    "map in no threads": lambda tf: numbers(tf, 3).map(lambda x: x, num_parallel_calls=0),
    "filter with a number": lambda tf: numbers(tf, 3).filter(lambda x: x),
    "batch of nothing": lambda tf: numbers(tf, 5).batch(0),
    "batch of less than nothing": lambda tf: numbers(tf, 5).batch(-1),
    "unbatch of scalars": lambda tf: numbers(tf, 3).unbatch(),
    "shard outside": lambda tf: numbers(tf, 3).shard(2, 2),
    "shard of none": lambda tf: numbers(tf, 3).shard(0, 0),
    "concatenate of other types": lambda tf: numbers(tf, 3).concatenate(slices(tf, [1.0])),
    "shuffle of nothing": lambda tf: numbers(tf, 3).shuffle(0),
    "prefetch of less than nothing": lambda tf: numbers(tf, 3).prefetch(-3),
    "interleave of none": lambda tf: numbers(tf, 3).interleave(lambda x: numbers(tf, x), cycle_length=0),
    "interleave no blocks": lambda tf: numbers(tf, 3).interleave(
        lambda x: numbers(tf, x), cycle_length=2, block_length=0
    ),
    "apply to a number": lambda tf: numbers(tf, 4).apply(lambda dataset: 3),
    "padded_batch to a smaller shape": lambda tf: lists(tf).padded_batch(3, padded_shapes=[2]),
    "padded_batch of another rank": lambda tf: numbers(tf, 5).padded_batch(2, padded_shapes=[None]),
    "padded_batch with another type": lambda tf: lists(tf).padded_batch(3, padding_values=1.5),
    "padded_batch with int32": lambda tf: lists(tf).padded_batch(3, padding_values=-1),
    "padded_batch of sparse": lambda tf: sparse(tf).padded_batch(2),
    "padded_batch, one shape for two": lambda tf: (
        numbers(tf, 3).enumerate().padded_batch(2, padded_shapes=[None])
    ),
    "generator that is none": lambda tf: tf.data.Dataset.from_generator(3, tf.int32),
    "generator without types": lambda tf: generator(tf, [1]),
    "generator with types twice": lambda tf: generator(
        tf, [1], tf.int32, output_signature=tf.TensorSpec((), tf.int32)
    ),
    "generator of the wrong shape": lambda tf: generator(tf, [1], tf.int32, [2]),
    "generator of the wrong type": lambda tf: generator(tf, ["a"], tf.int32),
    "generator of fractions": lambda tf: generator(tf, [1.5], tf.int32),
    "generator of None": lambda tf: generator(tf, [None], tf.int32),
    "generator of a list for a tuple": lambda tf: generator(tf, [[1, 2]], (tf.int32, tf.float32)),
    "generator of another dictionary": lambda tf: generator(tf, [{"a": 1}], {"b": tf.int32}),
    "generator that fails": lambda tf: tf.data.Dataset.from_generator(lambda: 1 // 0, tf.int32),
    "generator that is not iterable": lambda tf: tf.data.Dataset.from_generator(lambda: 3, tf.int32),
}

# Errors of the same class with another text.
OTHER_WORDS: dict[str, Program] = {
    "map with too many arguments": lambda tf: numbers(tf, 3).map(lambda a, b: a),
    "batch of different shapes": lambda tf: lists(tf).batch(2),
    "an error in a function": lambda tf: numbers(tf, 3).map(lambda x: 6 // x),
    "signature of dtypes": lambda tf: generator(tf, [1], output_signature=tf.int32),
    "no files": lambda tf: tf.data.Dataset.list_files("/nowhere/*"),
}


@pytest.mark.parametrize("name", [*STATIC, *FUNCTIONS, *VALUES])
def test_program_gives_what_it_gives_under_tensorflow(name: str) -> None:
    program = {**STATIC, **FUNCTIONS, **VALUES}[name]
    assert run(prtf, program) == run(tf, program)


@pytest.mark.parametrize("name", STATIC)
def test_element_spec_and_repr_are_tensorflows(name: str) -> None:
    assert repr(specs(prtf, STATIC[name])) == repr(specs(tf, STATIC[name]))
    assert repr(STATIC[name](prtf)) == repr(STATIC[name](tf))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_element_spec_after_a_function_says_no_less_than_tensorflows(name: str) -> None:
    assert fits(specs(prtf, FUNCTIONS[name]), specs(tf, FUNCTIONS[name]))


@pytest.mark.parametrize("name", ERRORS)
def test_error_is_tensorflows(name: str) -> None:
    ours, theirs = run(prtf, ERRORS[name]), run(tf, ERRORS[name])
    assert isinstance(theirs[0], str), "TensorFlow raises no error"
    assert ours == theirs


@pytest.mark.parametrize("name", OTHER_WORDS)
def test_error_is_of_tensorflows_class(name: str) -> None:
    ours, theirs = run(prtf, OTHER_WORDS[name]), run(tf, OTHER_WORDS[name])
    assert ours[0] == theirs[0]


# Transformations between a function that fails for some elements and ``ignore_errors``.
BETWEEN: dict[str, Program] = {
    "nothing": lambda dataset: dataset,
    # TensorFlow fuses map and batch, and then loses the whole batch that contains the failure.
    "batch": lambda dataset: dataset.prefetch(1).batch(3),
    "padded_batch": lambda dataset: dataset.padded_batch(3),
    "unbatch": lambda dataset: dataset.batch(1).unbatch(),
    "shuffle": lambda dataset: dataset.shuffle(1),
    "take": lambda dataset: dataset.take(7),
    "skip": lambda dataset: dataset.skip(1),
    "shard": lambda dataset: dataset.shard(2, 1),
    "repeat": lambda dataset: dataset.repeat(2),
    "concatenate": lambda dataset: dataset.concatenate(dataset),
    "prefetch": lambda dataset: dataset.prefetch(2),
    "filter": lambda dataset: dataset.filter(lambda x: x > -100),
    "map": lambda dataset: dataset.map(lambda x: x + 1),
    "cache": lambda dataset: dataset.cache(),
    "interleave": lambda dataset: dataset.range(3).interleave(
        lambda _: dataset, cycle_length=2, block_length=2
    ),
}


@pytest.mark.parametrize("name", BETWEEN)
def test_errors_can_be_ignored_behind_any_step(name: str) -> None:
    def program(tf: Any) -> Any:
        failing = numbers(tf, 12).map(lambda x: 60 // (x % 5 - 2))
        return BETWEEN[name](failing).ignore_errors()

    assert run(prtf, program)["elements"] == run(tf, program)["elements"]


def failing(tf: Any, count: int = 6, bad: int = 2, error: Any = ValueError) -> Any:
    """Numbers, of which one is an error."""

    def function(x: Any) -> Any:
        if x == bad:
            raise error("bad")
        return x

    return numbers(tf, count).map(lambda x: tf.ensure_shape(tf.numpy_function(function, [x], tf.int64), []))


def stopping(tf: Any, x: Any) -> Any:
    """``x``, but 2 is a StopIteration."""

    def function(x: Any) -> Any:
        if x == 2:
            raise StopIteration("stop")
        return x

    return tf.ensure_shape(tf.py_function(function, [x], tf.int64), [])


# What comes after an error in the same iteration, and at an end.
GOING_ON: dict[str, Program] = {
    "stop in map": lambda tf: numbers(tf, 5).map(lambda x: stopping(tf, x)),
    "stop in numpy_function": lambda tf: failing(tf, error=StopIteration),
    "stop in map in threads": lambda tf: numbers(tf, 5).map(lambda x: stopping(tf, x), 2),
    "stop in an autotuned map": lambda tf: numbers(tf, 9).map(lambda x: stopping(tf, x), tf.data.AUTOTUNE),
    "stop in map, ignored": lambda tf: numbers(tf, 5).map(lambda x: stopping(tf, x)).ignore_errors(),
    "stop in filter": lambda tf: numbers(tf, 5).filter(lambda x: stopping(tf, x) >= 0),
    "stop in take_while": lambda tf: numbers(tf, 5).take_while(lambda x: stopping(tf, x) >= 0),
    "stop in flat_map": lambda tf: numbers(tf, 5).flat_map(lambda x: slices(tf, [stopping(tf, x)])),
    "stop in interleave": lambda tf: numbers(tf, 5).interleave(
        lambda x: slices(tf, [stopping(tf, x)]), cycle_length=2
    ),
    "stop in scan": lambda tf: numbers(tf, 5).scan(0, lambda state, x: (state, stopping(tf, x))),
    "stop in a key": lambda tf: numbers(tf, 5).group_by_window(
        lambda x: stopping(tf, x), lambda key, group: group.batch(2), window_size=2
    ),
    "zip, the first fails": lambda tf: tf.data.Dataset.zip((failing(tf), numbers(tf, 9))),
    "zip, the second fails": lambda tf: tf.data.Dataset.zip((numbers(tf, 9), failing(tf))),
    "zip, both fail": lambda tf: tf.data.Dataset.zip((failing(tf, 9, 2), failing(tf, 9, 5))),
    "zip, the second fails where the first ends": lambda tf: tf.data.Dataset.zip(
        (numbers(tf, 2), failing(tf))
    ),
    "zip, the first fails where the second ends": lambda tf: tf.data.Dataset.zip(
        (failing(tf), numbers(tf, 2))
    ),
    "zip, errors ignored": lambda tf: tf.data.Dataset.zip((failing(tf), numbers(tf, 9))).ignore_errors(),
    "enumerate": lambda tf: failing(tf).enumerate(),
    "shuffle of one": lambda tf: failing(tf).shuffle(1),
    "choice": lambda tf: tf.data.Dataset.choose_from_datasets(
        [numbers(tf, 9), failing(tf)], slices(tf, np.array([1, 1, 1, 0, 5, 0, 1], np.int64))
    ),
    "choices that fail": lambda tf: tf.data.Dataset.choose_from_datasets([numbers(tf, 9)] * 9, failing(tf)),
    "repeat": lambda tf: failing(tf, 3, 0).repeat(2),
    "repeat of errors only": lambda tf: failing(tf, 1, 0).repeat(2),
    "endless repeat of errors only": lambda tf: failing(tf, 1, 0).repeat(),
}


@pytest.mark.parametrize("name", GOING_ON)
def test_iteration_goes_on_after_an_error_as_in_tensorflow(name: str) -> None:
    assert steps(GOING_ON[name](prtf)) == steps(GOING_ON[name](tf))


@pytest.mark.parametrize("times", [0, 1, 2, 4, None])
@pytest.mark.parametrize("empty", [set(), {0}, {1}, {0, 1, 2, 3}, {5}])
def test_repeat_goes_on_after_an_empty_epoch_as_in_tensorflow(times: int | None, empty: set[int]) -> None:
    def program(tf: Any) -> Any:
        epochs = iter(range(100))

        def epoch() -> Any:
            number = next(epochs)
            return iter([] if number in empty else [number])

        signature = tf.TensorSpec([], tf.int64)
        return tf.data.Dataset.from_generator(epoch, output_signature=signature).repeat(times).take(6)

    assert steps(program(prtf)) == steps(program(tf))


CACHED: dict[str, Callable[[Any, Any], Any]] = {
    "alone": lambda tf, cached: cached,
    "take all": lambda tf, cached: cached.take(6),
    "take some": lambda tf, cached: cached.take(5),
    "batches": lambda tf, cached: cached.batch(2).take(3),
    "zip, second": lambda tf, cached: tf.data.Dataset.zip((numbers(tf, 6), cached)),
    "zip, first": lambda tf, cached: tf.data.Dataset.zip((cached, numbers(tf, 6))),
    "zip with fewer": lambda tf, cached: tf.data.Dataset.zip((numbers(tf, 5), cached)),
    "repeat": lambda tf, cached: cached.repeat().take(8),
}


@pytest.mark.parametrize("name", CACHED)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("in_file", [True, False])
def test_cache_is_complete_when_tensorflows_is(name: str, known: bool, in_file: bool, tmp_path: Path) -> None:
    counts = []
    for library in (prtf, tf):
        calls: list[int] = []
        source = numbers(library, 6).map(
            lambda x, tf=library, calls=calls: tf.py_function(
                lambda x: (calls.append(int(x)), x)[1], [x], tf.int64
            )
        )
        source = source if known else source.filter(lambda x: True)
        cached = source.cache(str(tmp_path / library.__name__)) if in_file else source.cache()
        dataset = CACHED[name](library, cached)
        counts.append([(len(list(dataset)), len(calls)) for _ in range(3)])
    assert counts[0] == counts[1]


BEHIND_A_CACHE: dict[str, Callable[[Any, Any], Any]] = {
    "ragged_batch": lambda tf, rows: rows.ragged_batch(2),
    "dense_to_ragged_batch": lambda tf, rows: rows.apply(tf.data.experimental.dense_to_ragged_batch(2)),
    "padded_batch": lambda tf, rows: rows.padded_batch(2),
    "sparse_batch": lambda tf, rows: rows.sparse_batch(2, [9]),
    "windows": lambda tf, rows: rows.window(3).flat_map(lambda window: window.ragged_batch(2)),
    "groups": lambda tf, rows: rows.group_by_window(
        lambda row: tf.cast(tf.shape(row)[0] % 2, tf.int64), lambda _, group: group.ragged_batch(2), 3
    ),
    "repeat": lambda tf, rows: rows.repeat(2).ragged_batch(4),
}


@pytest.mark.parametrize("name", BEHIND_A_CACHE)
def test_rows_of_unknown_length_are_batched_behind_a_cache_in_a_file(name: str, tmp_path: Path) -> None:
    results = []
    for library in (prtf, tf):
        cached = numbers(library, 6).cache(str(tmp_path / library.__name__))
        dataset = BEHIND_A_CACHE[name](library, cached.map(lambda x, tf=library: tf.fill([x], x)))
        results.append([steps(dataset) for _ in range(2)])
    assert results[0] == results[1]


@pytest.mark.parametrize("calls", [None, 1, 2, -1, 0, -2, 3])
@pytest.mark.parametrize("cycle", [None, -1, 0, 1, 2])
def test_interleave_takes_tensorflows_cycle(calls: int | None, cycle: int | None) -> None:
    def program(tf: Any) -> Any:
        return numbers(tf, 5).interleave(
            lambda x: slices(tf, [x] * 3), num_parallel_calls=calls, cycle_length=cycle
        )

    if calls == 3 and cycle in (None, -1):
        pytest.skip("TensorFlow refuses more calls than there are processors")
    assert run(prtf, program) == run(tf, program)


# --- Random numbers in functions --------------------------------------------------------------------


def uniform(tf: Any, seed: int | None = 1) -> Any:
    return tf.random.uniform([], seed=seed)


def drawn(tf: Any, count: int = 3, seed: int | None = 1) -> Any:
    return numbers(tf, count).map(lambda x: uniform(tf, seed))


def flipped(tf: Any) -> Any:
    return tf.image.random_flip_left_right(tf.reshape(tf.range(2), [1, 2, 1]), seed=3)


RANDOM: dict[str, Program] = {
    "a seed": drawn,
    "no seed": lambda tf: drawn(tf, seed=None),
    "one seed twice": lambda tf: numbers(tf, 4).map(lambda x: (uniform(tf), uniform(tf))),
    "no seed twice": lambda tf: numbers(tf, 4).map(lambda x: (uniform(tf, None), uniform(tf, None))),
    "two seeds": lambda tf: numbers(tf, 4).map(lambda x: (uniform(tf), uniform(tf, 2))),
    "repeat": lambda tf: drawn(tf).repeat(2),
    "repeat without a seed": lambda tf: drawn(tf, seed=None).repeat(2),
    "one function after the other": lambda tf: drawn(tf).map(lambda x: (x, uniform(tf))),
    "zip with itself": lambda tf: tf.data.Dataset.zip((drawn(tf), drawn(tf))),
    "zip with the same": lambda tf: drawn(tf).apply(lambda one: tf.data.Dataset.zip((one, one))),
    "concatenate": lambda tf: drawn(tf).apply(lambda one: one.concatenate(one)),
    "choice": lambda tf: drawn(tf).apply(
        lambda one: tf.data.Dataset.choose_from_datasets(
            [one, one], slices(tf, np.array([0, 0, 1, 1, 0], np.int64))
        )
    ),
    "datasets in interleave": lambda tf: numbers(tf, 4).interleave(lambda x: drawn(tf, 2), cycle_length=2),
    "one dataset in flat_map": lambda tf: drawn(tf).apply(lambda one: numbers(tf, 2).flat_map(lambda x: one)),
    "interleave": lambda tf: numbers(tf, 3).interleave(lambda x: slices(tf, [uniform(tf)]), cycle_length=2),
    "scan": lambda tf: numbers(tf, 3).scan(0, lambda state, x: (state, uniform(tf))),
    "groups": lambda tf: numbers(tf, 8).group_by_window(
        lambda x: x % 2, lambda key, group: group.map(lambda x: uniform(tf)), window_size=2
    ),
    "cache": lambda tf: drawn(tf).cache().repeat(2),
    "prefetch": lambda tf: drawn(tf).prefetch(2).repeat(2),
    "shuffled vectors": lambda tf: numbers(tf, 4).map(lambda x: tf.random.shuffle(tf.range(20), seed=1)),
    "a loop in Python": lambda tf: numbers(tf, 2).map(lambda x: tuple(uniform(tf) for _ in range(3))),
    "while_loop": lambda tf: (
        numbers(tf, 2)
        .map(
            lambda x: tf.while_loop(
                lambda i, found: i < 3,
                lambda i, found: (i + 1, tf.concat([found[1:], [uniform(tf)]], 0)),
                (0, tf.zeros([3])),
                parallel_iterations=1,
            )[1]
        )
        .unbatch()
    ),
    "cond": lambda tf: numbers(tf, 4).map(
        lambda x: tf.cond(x % 2 == 0, lambda: uniform(tf), lambda: uniform(tf))
    ),
    "tf.function": lambda tf: numbers(tf, 2).map(tf.function(lambda x: (uniform(tf), uniform(tf)))),
    "py_function": lambda tf: numbers(tf, 3).map(
        lambda x: tf.py_function(lambda x: uniform(tf), [x], tf.float32)
    ),
}


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("seed", [None, 7])
def test_random_numbers_in_functions_come_again_where_they_do_in_tensorflow(
    name: str, seed: int | None
) -> None:
    """The numbers differ; which of them are equal does not."""
    seen = []
    for library in (prtf, tf):
        library.random.set_seed(seed)
        dataset = RANDOM[name](library)
        seen.append(pattern([list(dataset), list(dataset)]))
        library.random.set_seed(None)
    assert seen[0] == seen[1]


def test_image_and_mask_are_flipped_together_with_one_seed_as_in_tensorflow() -> None:
    for library in (prtf, tf):
        pairs = numbers(library, 40).map(lambda x, tf=library: (flipped(tf), flipped(tf)))
        flips = [(int(one[0, 0, 0]), int(two[0, 0, 0])) for one, two in pairs]
        assert {*flips} == {(0, 0), (1, 1)}


def test_function_draws_the_numbers_that_the_operation_draws_by_itself() -> None:
    for library in (prtf, tf):
        library.random.set_seed(3)
        alone = [float(uniform(library)) for _ in range(3)]
        assert [float(x) for x in drawn(library)] == alone
        library.random.set_seed(None)


@pytest.mark.parametrize("seed", [None, 1])
def test_tf_function_draws_again_what_it_does_in_tensorflow(seed: int | None) -> None:
    seen = []
    for library in (prtf, tf):
        library.random.set_seed(1)
        draw = library.function(lambda tf=library: (uniform(tf, seed), uniform(tf, seed)))
        epochs = []
        for again in (1, 1, 2):
            library.random.set_seed(again)
            epochs.append([draw(), draw()])
        seen.append(pattern(epochs))
        library.random.set_seed(None)
    assert seen[0] == seen[1]


def test_function_keeps_the_global_seed_of_its_time_as_in_tensorflow() -> None:
    for library in (prtf, tf):
        orders = []
        for later in (4, 5):
            library.random.set_seed(3)
            dataset = drawn(library, seed=None)
            library.random.set_seed(later)
            orders.append([float(x) for x in dataset])
            library.random.set_seed(None)
        assert orders[0] == orders[1]


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("again", [None, True, False])
def test_samples_are_drawn_again_where_they_are_in_tensorflow(seed: int | None, again: bool | None) -> None:
    seen = []
    for library in (prtf, tf):
        parts = [numbers(library, 30), numbers(library, 100, 130)]
        dataset = library.data.Dataset.sample_from_datasets(
            parts, seed=seed, rerandomize_each_iteration=again
        )
        epochs = [[int(x) for x in dataset] for _ in range(2)]
        twice = [int(x) for x in dataset.repeat(2)]
        seen.append((epochs[0] == epochs[1], twice[:60] == twice[60:]))
    assert seen[0] == seen[1] == (not again, not again)


# --- Random chains ----------------------------------------------------------------------------------

# Each function gets a dataset and two numbers from 0 to 3.
STEPS: list[Callable[[Any, int, int], Any]] = [
    lambda dataset, a, b: dataset.take(a * 2 - 1),
    lambda dataset, a, b: dataset.skip(a - 1),
    lambda dataset, a, b: dataset.repeat(a),
    lambda dataset, a, b: dataset.shard(a + 1, min(a, b)),
    lambda dataset, a, b: dataset.batch(a + 1, drop_remainder=b > 1).unbatch(),
    lambda dataset, a, b: dataset.map(lambda x: x * a + b),
    lambda dataset, a, b: dataset.filter(lambda x: x % (a + 1) == 0),
    lambda dataset, a, b: dataset.concatenate(dataset.take(a)),
    lambda dataset, a, b: dataset.enumerate(a).map(lambda i, x: i + x),
    lambda dataset, a, b: dataset.cache(),
    lambda dataset, a, b: dataset.prefetch(a),
    lambda dataset, a, b: dataset.interleave(
        lambda x: dataset.range(x % 5), cycle_length=a + 1, block_length=b + 1
    ),
]


@pytest.mark.parametrize("seed", range(12))
def test_random_chain_gives_what_it_gives_under_tensorflow(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5):
        steps = [(rng.choice(STEPS), rng.randrange(4), rng.randrange(4)) for _ in range(rng.randrange(1, 6))]
        size = rng.randrange(12)

        def program(tf: Any, steps: Any = steps, size: int = size) -> Any:
            dataset = tf.data.Dataset.range(size)
            for step, a, b in steps:
                dataset = step(dataset, a, b)
            return dataset

        ours, theirs = run(prtf, program), run(tf, program)
        assert ours["elements"] == theirs["elements"]
        assert ours["number"] in (theirs["number"], -2)


def random_structure(rng: random.Random, rows: int, depth: int = 2) -> Any:
    """Arrays of ``rows`` rows, in tuples and dictionaries."""
    kind = rng.choice(("leaf", "tuple", "dict")) if depth else "leaf"
    if kind == "tuple":
        return tuple(random_structure(rng, rows, depth - 1) for _ in range(rng.randrange(1, 4)))
    if kind == "dict":
        names = rng.sample(["b", "a", "Z", "aa", "1"], rng.randrange(1, 4))
        return {name: random_structure(rng, rows, depth - 1) for name in names}
    shape = (rows, *rng.choice(((), (), (2,), (1, 3))))
    dtype = rng.choice((np.int64, np.float32, np.uint8, np.bool_, object))
    count = int(np.prod(shape))
    values: Any = np.empty(count, dtype)
    values[:] = [
        rng.randbytes(rng.randrange(3)) if dtype is object else rng.randrange(5) for _ in range(count)
    ]
    return values.reshape(shape)


STRUCTURED: list[Callable[[Any, Any, int], Any]] = [
    lambda tf, dataset, a: dataset.batch(a + 1),
    lambda tf, dataset, a: dataset.batch(a + 1, drop_remainder=True),
    lambda tf, dataset, a: dataset.batch(a + 1).unbatch(),
    lambda tf, dataset, a: dataset.padded_batch(a + 1),
    lambda tf, dataset, a: dataset.enumerate(a),
    lambda tf, dataset, a: tf.data.Dataset.zip((dataset, dataset.skip(a))),
    lambda tf, dataset, a: tf.data.Dataset.zip({"x": dataset, "a": dataset.repeat(a)}),
    lambda tf, dataset, a: dataset.concatenate(dataset.take(a)),
    lambda tf, dataset, a: dataset.repeat(a),
    lambda tf, dataset, a: dataset.skip(a).cache().prefetch(a),
]


@pytest.mark.parametrize("seed", range(10))
def test_random_structures_give_what_they_give_under_tensorflow(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        structure = random_structure(rng, rng.randrange(1, 6))
        steps = [(rng.choice(STRUCTURED), rng.randrange(4)) for _ in range(rng.randrange(1, 4))]

        def program(tf: Any, structure: Any = structure, steps: Any = steps) -> Any:
            dataset = tf.data.Dataset.from_tensor_slices(structure)
            for step, a in steps:
                dataset = step(tf, dataset, a)
            return dataset

        ours, theirs = run(prtf, program), run(tf, program)
        if isinstance(theirs, tuple):  # batches of batches that differ in length
            assert ours[0] == theirs[0]
        else:
            assert ours == theirs
            assert repr(program(prtf)) == repr(program(tf))


# --- Files ------------------------------------------------------------------------------------------


@pytest.fixture
def shards(tmp_path: Path) -> list[str]:
    paths = []
    for shard, count in enumerate((3, 1, 4, 0, 2)):
        path = str(tmp_path / f"shard-{shard}")
        with pr.TFRecordWriter(path) as writer:
            writer.write_many([f"{shard}{row}" for row in range(count)])
        paths.append(path)
    return paths


@pytest.mark.parametrize("reads", [None, 1, 2, 3, 4, 5, 8, 0, -5])
def test_parallel_reads_come_in_tensorflows_order(shards: list[str], reads: int | None) -> None:
    def program(tf: Any) -> Any:
        return tf.data.TFRecordDataset(shards, num_parallel_reads=reads)

    assert run(prtf, program) == run(tf, program)


def test_files_are_named_in_all_of_tensorflows_ways(shards: list[str]) -> None:
    ways: list[Program] = [
        lambda tf: shards[0],
        lambda tf: shards,
        lambda tf: [shards[:2], shards[2:4]],
        lambda tf: Path(shards[0]),
        lambda tf: tf.constant(shards),
        lambda tf: slices(tf, shards),
        lambda tf: tf.data.Dataset.list_files(shards[0][:-1] + "?", shuffle=False),
        lambda tf: "file://" + shards[0],
        lambda tf: [],
        lambda tf: 3,
        lambda tf: numbers(tf, 3),
    ]
    for way in ways:

        def program(tf: Any, way: Program = way) -> Any:
            return tf.data.TFRecordDataset(way(tf))

        assert run(prtf, program) == run(tf, program)


def test_interleaved_files_come_in_tensorflows_order(shards: list[str]) -> None:
    def program(tf: Any) -> Any:
        files = tf.data.Dataset.list_files(shards[0][:-1] + "?", shuffle=False)
        return files.interleave(
            lambda path: tf.data.TFRecordDataset(path).map(lambda record: record + "!"),
            cycle_length=3,
            block_length=2,
            num_parallel_calls=tf.data.AUTOTUNE,
        )

    assert run(prtf, program) == run(tf, program)


def test_listed_files_are_those_that_tensorflow_lists(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden", "c.csv"):
        (tmp_path / name).write_text(f"{name} 1\r\n2\n\n3")
    for names in ("*", "*.txt", "?.*", "[ab]*", "c.csv", ["c*", "a*"]):

        def program(tf: Any, names: Any = names) -> Any:
            patterns = [str(tmp_path / one) for one in ([names] if isinstance(names, str) else names)]
            return tf.data.Dataset.list_files(patterns, shuffle=False)

        assert run(prtf, program) == run(tf, program)

    def lines(tf: Any) -> Any:
        return tf.data.TextLineDataset([str(tmp_path / "a.txt"), str(tmp_path / "c.csv")])

    assert run(prtf, lines) == run(tf, lines)


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_dataset_writer_writes_tensorflows_bytes(tmp_path: Path, compression: str) -> None:
    written = []
    for library in (prtf, tf):
        path = tmp_path / library.__name__
        dataset = slices(library, ["a", "", "\0" * 1000])
        library.data.experimental.TFRecordWriter(str(path), compression).write(dataset)
        written.append(path.read_bytes())
        again = library.data.TFRecordDataset(str(path), compression)
        assert [plain(element) for element in again] == [plain(element) for element in dataset]
    assert written[0] == written[1]


def test_dataset_writer_refuses_what_tensorflow_refuses(tmp_path: Path) -> None:
    for what in (lambda tf: numbers(tf, 3), lambda tf: 3, lambda tf: slices(tf, [["a"]])):
        errors = []
        for library in (prtf, tf):
            with pytest.raises((TypeError, ValueError)) as caught:
                library.data.experimental.TFRecordWriter(str(tmp_path / "x")).write(what(library))
            errors.append(error_of(caught.value)[0])
        assert errors[0] == errors[1]


def test_samples_come_in_their_order_and_as_often_as_they_should() -> None:
    for library in (prtf, tf):
        parts = [numbers(library, 300), numbers(library, 1000, 1300)]
        drawn = [int(x) for x in library.data.Dataset.sample_from_datasets(parts, [0.8, 0.2], seed=1)]
        assert sorted(drawn) == [*range(300), *range(1000, 1300)]
        assert [x for x in drawn if x < 1000] == list(range(300))
        assert 120 < sum(x < 1000 for x in drawn[:200]) < 190


def test_files_in_pieces_are_tensorflows(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"HHabcdefghiFFF")
    other.write_bytes(b"HHxyzFFF")
    for arguments in ((3, 2, 3), (3, 2), (7, None, None), (5, 2), (3, 2, 3, None, None, 2)):

        def program(tf: Any, arguments: Any = arguments) -> Any:
            paths = [str(one), str(other)] if len(arguments) == 3 and arguments[1] else str(one)
            return tf.data.FixedLengthRecordDataset(paths, *arguments)

        assert run(prtf, program) == run(tf, program)


def test_shuffle_holds_back_no_more_than_its_buffer() -> None:
    """The orders differ, but each element comes from the same range of positions."""
    for library in (prtf, tf):
        for buffer in (1, 3, 10, 100):
            order = [int(x) for x in numbers(library, 50).shuffle(buffer, seed=7)]
            assert sorted(order) == list(range(50))
            assert all(value < position + buffer for position, value in enumerate(order))


@pytest.mark.parametrize("reshuffle", [True, False])
def test_reshuffling_is_tensorflows(reshuffle: bool) -> None:
    seen = []
    for library in (prtf, tf):
        dataset = numbers(library, 60).shuffle(60, seed=3, reshuffle_each_iteration=reshuffle)
        first, second = ([int(x) for x in dataset] for _ in range(2))
        twice = [int(x) for x in dataset.repeat(2)]
        seen.append((first == second, twice[:60] == twice[60:]))
    assert seen[0] == seen[1] == (not reshuffle, not reshuffle)


def test_cache_in_a_file_serves_later_iterations(tmp_path: Path) -> None:
    for library in (prtf, tf):
        calls = []

        def count(x: Any, calls: list[Any] = calls) -> Any:
            calls.append(int(x))
            return x

        path = str(tmp_path / library.__name__)
        for _ in range(2):
            dataset = numbers(library, 3).map(
                lambda x, tf=library, count=count: tf.py_function(count, [x], tf.int64)
            )
            cached = dataset.cache(path)
            assert [int(x) for x in cached] == [0, 1, 2] == [int(x) for x in cached]
        assert calls == [0, 1, 2]
