"""Stored datasets, CSV files and batches of other kinds of ``tf.data``, against live TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr
import purerecord.tf as prtf
from tests.support.facade_vs_tensorflow import fits, plain, run, steps
from tests.support.interop import interop

tf = interop("tensorflow")

Program = Callable[[Any], Any]


def numbers(tf: Any, *args: Any) -> Any:
    return tf.data.Dataset.range(*args)


def slices(tf: Any, *args: Any) -> Any:
    return tf.data.Dataset.from_tensor_slices(*args)


def one(tf: Any, value: Any) -> Any:
    return tf.data.Dataset.from_tensors(value)


STORED: dict[str, Program] = {
    "numbers": lambda tf: numbers(tf, 5),
    "nothing": lambda tf: numbers(tf, 0),
    "structures": lambda tf: slices(tf, {"a": [1, 2], "b": (["x", "é"], [[1.0, 2.0], [3.0, 4.0]])}),
    "unknown lengths": lambda tf: tf.data.Dataset.from_generator(
        lambda: iter([[1], [2, 3]]), output_signature=tf.TensorSpec([None], tf.int32)
    ),
    "sparse": lambda tf: one(tf, tf.sparse.from_dense([[1, 0], [0, 2]])),
    "ragged": lambda tf: one(tf, tf.ragged.constant([[[1]], [[2, 3], []]])),
    "ragged batches": lambda tf: slices(tf, tf.ragged.constant([[1], [2, 3]])).batch(2),
    "None": lambda tf: one(tf, (1, None)),
    "booleans and text": lambda tf: slices(tf, (np.array([True, False]), [["a", ""], ["b", "c\0"]])),
}


@pytest.mark.filterwarnings("ignore:Encoding a StructuredValue")
@pytest.mark.parametrize("name", STORED)
def test_dataset_is_loaded_by_either_library_whoever_saved_it(name: str, tmp_path: Path) -> None:
    for number, writer in enumerate((prtf, tf)):
        path = str(tmp_path / str(number))
        STORED[name](writer).save(path)
        wanted = [plain(element) for element in STORED[name](tf)]
        for reader in (prtf, tf):
            loaded = reader.data.Dataset.load(path)
            assert [plain(element) for element in loaded] == wanted
            assert int(loaded.cardinality()) == len(wanted)
            assert fits(loaded.element_spec, STORED[name](tf).element_spec)


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB", "NONE", "AUTO"])
def test_compressed_and_sharded_datasets_are_loaded_by_either_library(
    compression: str, tmp_path: Path
) -> None:
    for number, writer in enumerate((prtf, tf)):
        path = str(tmp_path / str(number))
        numbers(writer, 7).save(path, compression=compression, shard_func=lambda x: x % 2)
        for reader in (prtf, tf):
            loaded = reader.data.Dataset.load(
                path,
                compression=compression,
                reader_func=lambda shards: shards.flat_map(lambda x: x),  # noqa: B023
            )
            assert [int(x) for x in loaded] == [0, 2, 4, 6, 1, 3, 5]


def test_dataset_that_is_saved_again_is_the_new_one(tmp_path: Path) -> None:
    for library in (prtf, tf):
        path = str(tmp_path / library.__name__)
        for count in (5, 2):
            numbers(library, count).save(path)
            assert len(list(library.data.Dataset.load(path))) == count


def test_loading_refuses_what_tensorflow_refuses(tmp_path: Path) -> None:
    numbers(tf, 3).save(str(tmp_path / "there"))
    there, nowhere = str(tmp_path / "there"), str(tmp_path / "nowhere")
    programs: list[Program] = [
        lambda tf: tf.data.Dataset.load(nowhere),
        lambda tf: tf.data.Dataset.load(nowhere, tf.TensorSpec([], tf.int64)),
        lambda tf: tf.data.Dataset.load(there, tf.TensorSpec([], tf.float32)),
        lambda tf: numbers(tf, 3).save(there, shard_func=lambda x: "a"),
    ]
    for program in programs:
        assert run(prtf, program) == run(tf, program)


def test_snapshot_is_read_instead_of_computed_as_in_tensorflow(tmp_path: Path) -> None:
    counts = []
    for library in (prtf, tf):
        calls: list[int] = []

        def count(x: Any, calls: list[int] = calls) -> Any:
            calls.append(int(x))
            return x

        source = numbers(library, 5).map(lambda x, tf=library, f=count: tf.numpy_function(f, [x], tf.int64))
        dataset = source.snapshot(str(tmp_path / library.__name__))
        found = []
        for epoch in (dataset.take(2), dataset, dataset, dataset.repeat(2)):
            elements = [int(x) for x in epoch]
            found.append((elements, len(calls) > 0))
            calls.clear()
        counts.append(found)
    assert counts[0] == counts[1]


def csv(tmp_path: Path, text: str, types: str, **options: Any) -> Program:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    kinds = {"i": "int32", "l": "int64", "f": "float32", "d": "float64", "s": "string"}

    def program(tf: Any) -> Any:
        defaults = [
            [7] if kind == "7" else ["d"] if kind == "d!" else getattr(tf, kinds[kind]) for kind in types
        ]
        return steps(tf.data.experimental.CsvDataset(str(path), defaults, **options))

    return program


CSV: list[tuple[str, str, dict[str, Any]]] = [
    ("1,2.5,a\n3,4,b\n", "ifs", {}),
    ("1,2.5,a\r\n3,4,b", "ifs", {}),
    ("1\n\n2\n", "i", {}),
    ("1\n\n2\n", "7", {}),
    ('1,"a ""b"", c\nd"\n2,""\n3,x\n', "is", {}),
    ('1,"a "b", c"\n2,x\n', "is", {}),
    ('1,a"b\n2,x\n', "is", {}),
    ('1,"ab\n2,x\n', "is", {}),
    ('1,"ab"\n2,x\n', "is", {"use_quote_delim": False}),
    ("1,\n,x\n2,y\n", "is", {}),
    ("NA,x\n2,y\n", "7s", {"na_value": "NA"}),
    ("x,x\n1.5,x\n3000000000,x\n2,y\n", "is", {}),
    ("x\n1e3\n inf\nnan\n 2 \n+3\n0x10\n1_000\n", "f", {}),
    ("+3\n 2 \n-1\n0x10\n1_000\n007\n", "i", {}),
    ("1,2,3\n4,5\n6\n", "ii", {}),
    ("a,b\n4,5\n", "ii", {"header": True}),
    ("1,2,3\n4,5,6\n", "ii", {"select_cols": [0, 2]}),
    ("1,2,3\n4,5,6\n", "ii", {"select_cols": [0, 5]}),
    ("1,2,3\n4,5,6\n", "ii", {"exclude_cols": [1]}),
    ("1;2\n4;5\n", "ld", {"field_delim": ";"}),
    ("", "i", {}),
]


def test_rows_of_csv_files_are_tensorflows(tmp_path: Path) -> None:
    for text, types, options in CSV:
        program = csv(tmp_path, text, types, **options)
        assert program(prtf) == program(tf), (text, options)


def test_batches_of_csv_files_are_tensorflows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,2.5,x\n3,4.5,y\n5,1.5,z\n")
    whole = {"num_epochs": 1, "shuffle": False}
    for options in (
        whole,
        {**whole, "label_name": "c"},
        {**whole, "label_name": "c", "select_columns": ["c", "a"]},
        {**whole, "label_name": "q"},
        {**whole, "select_columns": ["q"]},
    ):

        def program(tf: Any, options: Any = options) -> Any:
            return [plain(x) for x in tf.data.experimental.make_csv_dataset(str(path), 2, **options)]

        ours, theirs = run(prtf, program), run(tf, program)
        assert ours == theirs


def test_batches_of_features_are_tensorflows(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    with pr.TFRecordWriter(path) as writer:
        writer.write_many(
            [pr.encode_example({"x": n, "y": [float(n)] * (n % 3), "z": "z"}) for n in range(5)]
        )

    def program(tf: Any, **options: Any) -> Any:
        features = {
            "x": tf.io.FixedLenFeature([], tf.int64),
            "y": tf.io.VarLenFeature(tf.float32),
            "z": tf.io.RaggedFeature(tf.string),
        }
        made = tf.data.experimental.make_batched_features_dataset(
            path, 2, features, num_epochs=1, shuffle=False, **options
        )
        return [plain(element) for element in made]

    for options in ({}, {"label_key": "x"}, {"drop_final_batch": True}, {"label_key": "q"}):

        def either(tf: Any, options: Any = options) -> Any:
            return program(tf, **options)

        ours, theirs = run(prtf, either), run(tf, either)
        assert ours == theirs


def lists(tf: Any, count: int = 5) -> Any:
    return numbers(tf, count).map(lambda x: tf.fill([x], x))


BATCHES: dict[str, Program] = {
    "ragged": lambda tf: lists(tf).ragged_batch(3),
    "ragged, whole": lambda tf: lists(tf).ragged_batch(3, drop_remainder=True),
    "ragged, int32": lambda tf: lists(tf).ragged_batch(3, row_splits_dtype=tf.int32),
    "ragged matrices": lambda tf: numbers(tf, 4).map(lambda x: tf.fill([2, x], x)).ragged_batch(2),
    "ragged, of one length": lambda tf: slices(tf, [[1, 2], [3, 4]]).ragged_batch(2),
    "ragged scalars": lambda tf: lists(tf).map(lambda x: (x, tf.size(x))).ragged_batch(2),
    "ragged, by the function": lambda tf: lists(tf).apply(tf.data.experimental.dense_to_ragged_batch(2)),
    "sparse": lambda tf: lists(tf).sparse_batch(3, [None]),
    "sparse with a length": lambda tf: lists(tf).sparse_batch(3, [6]),
    "sparse matrices": lambda tf: numbers(tf, 3).map(lambda x: tf.fill([x, 2], x)).sparse_batch(3, [None, 2]),
    "sparse, by the function": lambda tf: lists(tf).apply(tf.data.experimental.dense_to_sparse_batch(2, [9])),
    "rebatch": lambda tf: numbers(tf, 7).batch(4).rebatch(3),
    "rebatch, whole": lambda tf: numbers(tf, 7).batch(4).rebatch(3, drop_remainder=True),
    "rebatch in turn": lambda tf: numbers(tf, 10).batch(4).rebatch([2, 1]),
    "rebatch structures": lambda tf: slices(tf, {"a": [1, 2, 3], "b": ["x", "y", "z"]}).batch(2).rebatch(1),
    "rebatch ragged": lambda tf: slices(tf, tf.ragged.constant([[1], [2, 3], []])).batch(2).rebatch(3),
    "rebatch scalars": lambda tf: numbers(tf, 4).rebatch(2),
    "counter": lambda tf: tf.data.Dataset.counter(3, -2, tf.int32).take(4),
    "counter, by the function": lambda tf: tf.data.experimental.Counter(2).take(3),
    "list": lambda tf: tf.data.experimental.from_list([(1, "a"), (2, "b")]),
    "padded to a cardinality": lambda tf: slices(tf, {"a": [1, 2]}).apply(
        tf.data.experimental.pad_to_cardinality(4)
    ),
    "reducer": lambda tf: numbers(tf, 9).apply(
        tf.data.experimental.group_by_reducer(
            lambda x: x % 2,
            tf.data.experimental.Reducer(
                lambda key: (np.int64(0), key), lambda s, x: (s[0] + x, s[1]), lambda total, key: (key, total)
            ),
        )
    ),
    "resampled to what it is": lambda tf: slices(tf, [0, 1, 0, 1]).rejection_resample(
        lambda x: x, [0.5, 0.5], [0.5, 0.5]
    ),
    "element at": lambda tf: one(tf, tf.data.experimental.at(numbers(tf, 5), 3)),
    "element beyond": lambda tf: tf.data.experimental.at(numbers(tf, 5), 5),
    "single element": lambda tf: one(tf, tf.data.experimental.get_single_element(numbers(tf, 1))),
    "structure": lambda tf: repr(tf.data.experimental.get_structure(numbers(tf, 1))),
}


def test_batches_of_other_kinds_are_tensorflows() -> None:
    for name, program in BATCHES.items():
        assert run(prtf, program) == run(tf, program), name


def test_resampling_gives_tensorflows_proportions() -> None:
    classes = np.array([0] * 900 + [1] * 100).astype(np.int64)
    np.random.default_rng(0).shuffle(classes)
    for initial in (None, [0.9, 0.1]):
        for library in (prtf, tf):
            dataset = (
                slices(library, classes).repeat().rejection_resample(lambda x: x, [0.5, 0.5], initial, seed=3)
            )
            found = [int(kind) for kind, _ in dataset.take(600)]
            assert 0.4 < np.mean(found) < 0.6
