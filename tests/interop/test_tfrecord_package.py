"""docs/migrating.md, proved: the ``tfrecord`` package and purerecord give the same values for the same file.

The package and TensorFlow cannot be in one process, because both register the same messages. So the package
runs once in a process of its own, and its results are compared here.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purerecord as pr

if importlib.util.find_spec("tfrecord") is None and not os.environ.get("PURERECORD_REQUIRE_INTEROP"):
    pytest.skip("needs tfrecord; pip install it to run the interop tests", allow_module_level=True)

KINDS = {"byte": bytes, "int": np.int64, "float": np.float32}
DESCRIPTION = {"name": "byte", "row": "int", "size": "float"}
SPECS = {name: pr.RaggedFeature(KINDS[kind]) for name, kind in DESCRIPTION.items()}

# Runs the package in a folder with the files "ours" and "ours.gz" and the pickled rows.
PROGRAM = """
import pickle
import tfrecord
from tfrecord.tools.tfrecord2idx import create_index

rows, description = pickle.load(open("rows", "rb"))
writer = tfrecord.TFRecordWriter("theirs")
for row in rows:
    writer.write({key: (row[key], kind) for key, kind in description.items()})
writer.close()
writer = tfrecord.TFRecordWriter("sequence")
writer.write({"length": (2, "int")}, {"tokens": ([[1, 2], [3]], "int")})
writer.close()
create_index("theirs", "index")

def error(description):
    try:
        list(tfrecord.tfrecord_loader("theirs", None, description))
    except Exception as caught:
        return type(caught).__name__

load = tfrecord.tfrecord_loader
pickle.dump({
    "described": list(load("theirs", None, description)),
    "everything": list(load("theirs", None)),
    "ours": list(load("ours", None, description)),
    "compressed": list(load("ours.gz", None, description, compression_type="gzip")),
    "sequence": list(load("sequence", None, {"length": "int"}, None, {"tokens": "int"})),
    "kind": error({"row": "float"}),
    "missing": error({"missing": "int"}),
}, open("results", "wb"))
"""


def make_rows(count: int = 20) -> list[dict[str, Any]]:
    rng = random.Random(0)
    return [
        {
            "name": rng.randbytes(5) + b"x",
            "row": [row, -row],
            "size": [rng.random() for _ in range(row % 4 + 1)],
        }
        for row in range(count)
    ]


ROWS = make_rows()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of both; the results of the package are in "results"."""
    path = tmp_path_factory.mktemp("package")
    (path / "rows").write_bytes(pickle.dumps((ROWS, DESCRIPTION)))
    for name, options in (("ours", ""), ("ours.gz", "GZIP")):
        with pr.TFRecordWriter(str(path / name), options) as writer:
            writer.write_many(map(pr.encode_example, ROWS))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module")
def theirs(folder: Path) -> dict[str, Any]:
    results: dict[str, Any] = pickle.loads((folder / "results").read_bytes())
    return results


def plain(example: Any) -> dict[str, list[Any]]:
    """Features as lists of values. The package gives a single string without a list."""
    return {
        key: [value] if isinstance(value, bytes) else np.asarray(value).tolist()
        for key, value in sorted(example.items())
    }


def test_description_as_specs_gives_the_same_values(folder: Path, theirs: dict[str, Any]) -> None:
    ours = list(pr.TFRecordDataset(str(folder / "theirs")).parse(SPECS))
    assert len(ours) == len(ROWS)
    assert list(map(plain, ours)) == list(map(plain, theirs["described"]))


def test_no_description_gives_everything(folder: Path, theirs: dict[str, Any]) -> None:
    ours = map(pr.decode_example, pr.read_records(str(folder / "theirs")))
    assert list(map(plain, ours)) == list(map(plain, theirs["everything"]))


def test_package_reads_what_we_write(theirs: dict[str, Any]) -> None:
    assert list(map(plain, theirs["ours"])) == list(map(plain, theirs["described"]))
    assert [example["name"] for example in theirs["ours"]] == [row["name"] for row in ROWS]


def test_wrong_kind_and_missing_feature_are_errors_in_both(folder: Path, theirs: dict[str, Any]) -> None:
    assert (theirs["kind"], theirs["missing"]) == ("TypeError", "KeyError")
    for specs in ({"row": pr.RaggedFeature(np.float32)}, {"missing": pr.FixedLenFeature([], np.int64)}):
        with pytest.raises(pr.SchemaError, match=next(iter(specs))):
            list(pr.TFRecordDataset(str(folder / "theirs")).parse(specs))


def test_sequences_are_the_same(folder: Path, theirs: dict[str, Any]) -> None:
    ((context, sequence),) = theirs["sequence"]
    ours = pr.parse_sequence_example(
        list(pr.read_records(str(folder / "sequence"))),
        {"length": pr.FixedLenFeature([], np.int64)},
        {"tokens": pr.RaggedFeature(np.int64)},
    )
    assert ours[0]["length"].tolist() == context["length"].tolist()
    assert ours[1]["tokens"].to_list() == [[step.tolist() for step in sequence["tokens"]]]


def test_compressed_files_need_no_argument(folder: Path, theirs: dict[str, Any]) -> None:
    ours = pr.TFRecordDataset(str(folder / "ours.gz")).parse(SPECS)
    assert list(map(plain, ours)) == list(map(plain, theirs["compressed"]))


def test_index_files_go_both_ways(folder: Path, theirs: dict[str, Any]) -> None:
    path = str(folder / "theirs")
    pr.build_index(path).save(str(folder / "ours.index"), format="text")
    assert (folder / "ours.index").read_text().split() == (folder / "index").read_text().split()
    assert len(pr.RecordFile(path, index=pr.load_index(str(folder / "index")))) == len(ROWS)
