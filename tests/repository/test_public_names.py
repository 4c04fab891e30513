"""The public names: what type checkers see, what pickles and reprs name, and what unpickles anywhere.

A pickle may name ``purerecord`` and its public modules, but no module inside them: files can then move
without breaking pickles that users have stored, for example with ``Dataset.cache(path)``.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import os
import pickle
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord
import purerecord as pr
import purerecord.dataset
import purerecord.tfds
from tests.support.settings import sampled

PUBLIC = {
    "purerecord",
    *(
        f"purerecord.{name}"
        for name in ("arrow", "dataset", "grain", "jax", "ray", "spark", "tf", "tfds", "torch")
    ),
}
NAMES = sorted(purerecord.__all__)
CLASSES = [name for name in NAMES if isinstance(getattr(purerecord, name), type)]


def test_type_checkers_see_the_names_that_python_exports():
    tree = ast.parse(Path(purerecord.__file__).read_text())
    imports = {
        alias.asname: f"{node.module}.{alias.name}"
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imports == {name: f"{module}.{name}" for name, module in purerecord._HOME.items()}


def test_names_for_annotations_are_public():
    for name in ("DatasetIterator", "RecordReader", "SalvageReport"):
        assert name in purerecord.__all__
        assert name in dir(purerecord)


@pytest.mark.parametrize("name", NAMES)
def test_public_object_says_that_it_is_of_purerecord(name):
    thing = getattr(purerecord, name)
    assert thing.__module__ == "purerecord"
    assert thing.__name__ == name
    assert pickle.loads(pickle.dumps(thing)) is thing


@pytest.mark.parametrize("name", CLASSES)
def test_annotations_of_public_classes_are_resolved(name):
    hints = typing.get_type_hints(getattr(purerecord, name))
    assert not any(isinstance(hint, (str, typing.ForwardRef)) for hint in hints.values())


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_methods_of_public_classes_are_of_purerecord_too(protocol):
    for method in (pr.Dataset.range, pr.Ragged.from_rows, pr.Records.take):
        assert method.__module__ == "purerecord"
        assert modules_in(method, protocol) == {"purerecord"}
        assert pickle.loads(pickle.dumps(method, protocol)) == method


def test_classes_inside_public_classes_are_of_purerecord_too():
    inner = [
        kind for _, kind in inspect.getmembers(pr.RaggedFeature, inspect.isclass) if "." in kind.__qualname__
    ]
    assert len(inner) == 6
    assert {kind.__module__ for kind in inner} == {"purerecord"}


@pytest.mark.parametrize("module", ["arrow", "grain", "jax", "ray", "tfds", "torch"])
def test_names_of_a_public_module_say_that_they_are_of_it(module):
    try:
        holder = importlib.import_module(f"purerecord.{module}")
        homes = [getattr(holder, name).__module__ for name in holder.__all__]
    except ImportError as error:
        pytest.skip(str(error))
    assert {*homes} <= {f"purerecord.{module}", "purerecord"}


def test_names_of_the_dataset_module_are_those_of_purerecord():
    for name in purerecord.dataset.__all__:
        assert getattr(purerecord.dataset, name) is getattr(purerecord, name)


# Pickles

PAYLOADS = list(pr.encode_examples({"x": np.arange(5)}))


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("public") / "file")
    with pr.TFRecordWriter(path, index=True) as writer:
        writer.write_many(PAYLOADS)
    return path


def values(path: str) -> dict[str, Any]:
    """One value of each public class that holds data, by what it is."""
    (batch,) = pr.read_batches(path)
    ragged, sparse = pr.Ragged.from_rows([[1], [], [2, 3]]), pr.Sparse([[0, 1]], [7], (2, 3))
    keyed = [
        getattr(pr.RaggedFeature, name)("key")
        for name in ("RowSplits", "RowLengths", "RowStarts", "RowLimits", "ValueRowIds")
    ]
    feature = pr.Feature(int64_list=pr.Int64List(value=[1]))
    damage = pr.Damage(3, 9, "garbage", None, "why", (1, 2))
    files = (pr.FileReport("a", 1, 9, (damage,), "GZIP", "error", 5),)
    return {
        "Records": batch,
        "Records of several files": batch.take(np.array([3, 0])),
        "BytesColumn": pr.BytesColumn.of([b"one", b"two"])[1:],
        "RecordFile": pr.RecordFile(path),
        "part of a RecordFile": pr.RecordFile([path, path])[2:7],
        "Index": pr.load_index(path + ".index"),
        "TFRecordOptions": pr.TFRecordOptions("GZIP", block_size=100),
        "Ragged": ragged,
        "Ragged with missing rows": pr.Ragged([1], [0, 1, 1], [False, True], [False, True]),
        "nested Ragged": pr.Ragged(ragged, [0, 1, 3]),
        "Sparse": sparse,
        "FixedLenFeature": pr.FixedLenFeature([2], np.float32, [1.0, 2.0]),
        "FixedLenSequenceFeature": pr.FixedLenSequenceFeature([], bytes, allow_missing=True),
        "VarLenFeature": pr.VarLenFeature(np.int64),
        "SparseFeature": pr.SparseFeature("i", "v", np.float32, 4),
        "RaggedFeature": pr.RaggedFeature(np.int64, "v", [*keyed, pr.RaggedFeature.UniformRowLength(2)]),
        "Example": pr.Example(features=pr.Features(feature={"x": feature})),
        "SequenceExample": pr.SequenceExample(
            feature_lists=pr.FeatureLists(feature_list={"x": pr.FeatureList(feature=[feature])})
        ),
        "BytesList": pr.BytesList(value=[b"a"]),
        "FloatList": pr.FloatList(value=[1.5]),
        "Damage": damage,
        "Frame": next(pr.scan(path)),
        "FileReport": files[0],
        "Report": pr.Report(files),
        "SalvageReport": pr.SalvageReport(files, output="b", quarantine="c"),
        "state of an iterator": pr.TFRecordDataset(path).batch(2).iterator().state_dict(),
        "TFDSFeature": purerecord.tfds.TFDSFeature("x", "Tensor", (2,), "int64", pr.VarLenFeature(np.int64)),
        "TFDSSplit": purerecord.tfds.TFDSSplit("train", ("a", "b"), (1, 2), 99),
    }


VALUES = [
    *(
        "Records",
        "Records of several files",
        "BytesColumn",
        "RecordFile",
        "part of a RecordFile",
        "Index",
        "TFRecordOptions",
    ),
    *(
        "Ragged",
        "Ragged with missing rows",
        "nested Ragged",
        "Sparse",
        "FixedLenFeature",
        "FixedLenSequenceFeature",
        "VarLenFeature",
    ),
    *("SparseFeature", "RaggedFeature", "Example", "SequenceExample", "BytesList", "FloatList", "Damage"),
    *("Frame", "FileReport", "Report", "SalvageReport", "state of an iterator", "TFDSFeature", "TFDSSplit"),
]


class _Names(pickle.Unpickler):
    """Collects the modules of this package that a pickle names."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] == "purerecord":
            self.modules.add(module)
        return super().find_class(module, name)


def modules_in(value: object, protocol: int) -> set[str]:
    names = _Names(pickle.dumps(value, protocol))
    names.load()
    return names.modules


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, compared by their contents if they have no equality of their own."""
    if isinstance(left, pr.RecordFile):
        return list(left) == list(right) and left.paths == right.paths
    if isinstance(left, pr.Index):
        return left.offsets.tolist() == right.offsets.tolist() and left.sizes.tolist() == right.sizes.tolist()
    if isinstance(left, pr.Records):
        return left == right and [left.origin(i) for i in range(len(left))] == [
            right.origin(i) for i in range(len(right))
        ]
    return type(left) is type(right) and bool(left == right)


def test_every_value_has_its_test(path):
    assert list(values(path)) == VALUES


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", VALUES)
def test_pickle_names_no_module_inside_of_purerecord(path, name, protocol):
    value = values(path)[name]
    assert modules_in(value, protocol) <= PUBLIC
    assert same(pickle.loads(pickle.dumps(value, protocol)), value)


FRESH = """
import pickle, sys
value = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps(value))
"""


def test_pickles_load_in_a_process_that_has_imported_nothing(path):
    for name, value in sampled(values(path).items(), 3):
        done = subprocess.run(
            [sys.executable, "-c", FRESH],
            input=pickle.dumps(value),
            env={**os.environ, "PYTHONPATH": str(Path(purerecord.__file__).parents[1])},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (name, done.stderr)
        assert same(pickle.loads(done.stdout), value), name


@pytest.mark.parametrize("name", [name for name in CLASSES if name.endswith("Error")])
def test_errors_survive_a_pickle(name):
    error = getattr(purerecord, name)("the reason")
    assert modules_in(error, 2) <= PUBLIC
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)


CHAINS = [
    lambda files: files.shuffle(3).batch(2).parse({"x": pr.FixedLenFeature([], np.int64)}).prefetch(2),
    lambda files: files.batch(2).parallel(1),
    lambda files: pr.TFRecordDataset(files._node.paths, with_path=True),
    lambda files: files.cache(),
    lambda files: files.repeat(2).take(3).skip(1).shard(2, 0).enumerate().map(len).filter(bool),
    lambda files: files.global_shuffle(1).batch(2).unbatch().padded_batch(2),
    lambda files: files.map(max, seed=1).pack(3),
    lambda files: files.concatenate(files),
    lambda files: pr.Dataset.zip([files, pr.Dataset.range(3)]),
    lambda files: pr.Dataset.sample([files, files]),
    lambda files: pr.Dataset.range(3).interleave(pr.Dataset.range, 2),
    lambda files: pr.Dataset.from_generator(list),
    lambda files: pr.Dataset.from_tensor_slices({"x": np.arange(3)}),
]


@pytest.mark.parametrize("chain", CHAINS)
def test_pickle_of_a_chain_names_no_module_inside_of_purerecord(path, chain):
    dataset = chain(pr.TFRecordDataset(path))
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        assert modules_in(dataset, protocol) <= PUBLIC
    assert repr(pickle.loads(pickle.dumps(dataset))) == repr(dataset)


def test_classes_that_pickled_chains_name_are_not_public():
    from purerecord.dataset.engine.node import PICKLED  # noqa: PLC0415

    assert not PICKLED.keys() & {*purerecord.__all__, *purerecord.dataset.__all__}
    with pytest.raises(AttributeError, match="no attribute 'NoSuchName'"):
        purerecord.dataset.NoSuchName  # noqa: B018 - asking is the test


def test_pickled_datasets_unpickle_in_another_process(path):
    # Such a pickle is for worker processes of the same version: it holds the fields of the nodes.
    dataset = pr.TFRecordDataset(path).shuffle(10, seed=1).batch(2).repeat(2).cache()
    program = "import pickle, sys; print(*(len(batch) for batch in pickle.load(sys.stdin.buffer)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(dataset),
        env={**os.environ, "PYTHONPATH": str(Path(purerecord.__file__).parents[1])},
        capture_output=True,
        check=False,
    )
    assert done.stdout.split() == [b"2", b"2", b"1"] * 2, done.stderr


TF_PUBLIC = {
    *PUBLIC,
    *(f"purerecord.tf.{name}" for name in ("data", "dtypes", "errors", "image", "io", "train")),
}


@pytest.mark.parametrize(
    "make",
    [
        lambda tf: tf.constant([1, 2]),
        lambda tf: tf.constant([b"a\0", b""]),
        lambda tf: tf.ragged.constant([[1], [2, 3]]),
        lambda tf: tf.SparseTensor([[0, 1]], [1], [1, 2]),
        lambda tf: tf.TensorShape([1, None]),
        lambda tf: tf.TensorSpec([1], tf.int32),
        lambda tf: tf.RaggedTensorSpec([2, None], tf.int64),
        lambda tf: tf.io.FixedLenFeature([], tf.int64),
        lambda tf: tf.io.RaggedFeature(tf.string),
        lambda tf: tf.train.Example(),
        lambda tf: tf.data.TFRecordDataset,
        lambda tf: tf.io.TFRecordWriter,
        lambda tf: tf.image.ResizeMethod,
        lambda tf: tf.errors.OutOfRangeError(None, None, "the end"),
    ],
)
def test_pickles_of_the_facade_name_its_public_modules(make):
    tf = importlib.import_module("purerecord.tf")
    value = make(tf)
    assert modules_in(value, 2) <= TF_PUBLIC
    again = pickle.loads(pickle.dumps(value))
    assert type(again) is type(value)
    assert repr(again) == repr(value)


def test_dir_lists_the_public_names_and_no_other():
    assert dir(purerecord) == sorted([*purerecord.__all__, "__version__"])
    assert dir(purerecord.dataset) == sorted(purerecord.dataset.__all__)
    tf = importlib.import_module("purerecord.tf")
    assert dir(tf) == sorted([*tf.__all__, "__version__"])
    for namespace in (tf, tf.data, tf.image, tf.io):
        assert all(hasattr(namespace, name) for name in dir(namespace))
        assert not {"Any", "annotations", "import_module", "missing"} & set(dir(namespace))
    assert {"decode_jpeg", "parse_example", "gfile"} <= set(dir(tf.io))
