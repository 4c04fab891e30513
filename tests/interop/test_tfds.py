"""Folders that tensorflow-datasets writes now, read by both; and the golden folders, read by it."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pytest

import purerecord as pr
from purerecord.tfds import TFDSFolder
from tests.support.interop import interop
from tests.support.places import TESTS
from tests.support.tfds_folders import plain, restored

interop("tensorflow")
tfds = interop("tensorflow_datasets")

HERE = TESTS / "tfds"
SPLITS = [
    "train",
    "test",
    "train[:3]",
    "train[-4:]",
    "train[25%:80%]",
    "train[7:]+test[:2]",
    "all",
    "test[:-1]",
]


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("tfds_generate", HERE / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def builder(generate, tmp_path_factory):
    builder = generate.Everything(data_dir=str(tmp_path_factory.mktemp("tfds")))
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(num_shards=3))
    return builder


def test_a_folder_written_now_holds_what_tensorflow_datasets_reads(builder, generate):
    folder = TFDSFolder(builder.data_dir)
    described = json.loads(json.dumps(generate.describe(builder)))
    assert sorted(folder.features) == described["features"]
    for split, facts in described["splits"].items():
        found = folder.splits[split]
        assert (list(found.lengths), found.num_bytes) == (facts["shards"], facts["bytes"])
        parsed = [pr.parse_single_example(record, folder.features) for record in folder.dataset(split)]
        rows = [{key: plain(restored(row[key], folder.info[key])) for key in row} for row in parsed]
        assert rows == facts["rows"]


def test_features_have_the_shapes_and_dtypes_of_tensorflow_datasets(builder, generate):
    folder = TFDSFolder(builder.data_dir)
    expected = generate.flat(builder.info.features.get_tensor_info())
    for name, info in expected.items():
        found = folder.info.get(name) or folder.info[f"{name}/value"]
        steps = (None,) * name.startswith("steps/")  # a dataset inside an example is a sequence
        assert found.shape == steps + tuple(info.shape), name
        dtype = np.dtype(info.np_dtype)
        assert found.dtype == ("string" if dtype.kind in "OU" else dtype.name), name
    assert folder.info["label"].names == tuple(builder.info.features["label"].names)
    assert folder.info["objects/kind"].names == tuple(builder.info.features["objects"]["kind"].names)


@pytest.mark.parametrize("split", SPLITS)
def test_parts_of_splits_are_those_of_tensorflow_datasets(split, builder):
    folder = TFDSFolder(builder.data_dir)
    decoders = tfds.decode.PartialDecoding({"number": True})
    read = tfds.ReadConfig(interleave_cycle_length=1)
    dataset = builder.as_dataset(split=split, decoders=decoders, read_config=read)
    expected = [int(row["number"]) for row in tfds.as_numpy(dataset)]
    found = [int(pr.decode_example(record)["number"][0]) for record in folder.dataset(split)]
    assert found == expected


def test_the_golden_folders_are_still_read_by_tensorflow_datasets():
    for name in json.loads((HERE / "expected.json").read_text()):
        builder = tfds.builder_from_directory(str(HERE / name))
        folder = TFDSFolder(HERE / name)
        for split, info in builder.info.splits.items():
            assert info.num_examples == folder.splits[split].num_examples
