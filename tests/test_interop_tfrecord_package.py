"""docs/migrating.md, proved: the ``tfrecord`` package and purerecord give the same for the same file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interop import interop

import purerecord as pr

tfrecord = interop("tfrecord")

KINDS = {"byte": bytes, "int": np.int64, "float": np.float32}
DESCRIPTION = {"name": "byte", "row": "int", "size": "float"}
SPECS = {name: pr.RaggedFeature(KINDS[kind]) for name, kind in DESCRIPTION.items()}


def rows(count: int = 20) -> list[dict[str, Any]]:
    rng = random.Random(0)
    return [
        {
            "name": rng.randbytes(5) + b"x",
            "row": [row, -row],
            "size": [rng.random() for _ in range(row % 4 + 1)],
        }
        for row in range(count)
    ]


def plain(value: Any) -> list[Any]:
    """A feature as a list, of however many values; the package leaves a single string alone."""
    return [value] if isinstance(value, bytes) else np.asarray(value).tolist()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file that the package wrote."""
    name = str(tmp_path / "file.tfrecord")
    writer = tfrecord.TFRecordWriter(name)
    for row in rows():
        writer.write({key: (row[key], kind) for key, kind in DESCRIPTION.items()})
    writer.close()
    return name


def test_description_as_specs_gives_the_same_values(path: str) -> None:
    theirs = list(tfrecord.tfrecord_loader(path, None, DESCRIPTION))
    ours = list(pr.TFRecordDataset(path).parse(SPECS))
    assert len(ours) == len(theirs) == 20
    for one, other in zip(ours, theirs, strict=True):
        assert {key: plain(one[key]) for key in one} == {key: plain(other[key]) for key in other}


def test_no_description_gives_everything(path: str) -> None:
    theirs = tfrecord.tfrecord_loader(path, None)
    for record, other in zip(pr.read_records(path), theirs, strict=True):
        ours = pr.decode_example(record)
        assert {key: plain(ours[key]) for key in ours} == {key: plain(other[key]) for key in other}


def test_package_reads_what_we_write(tmp_path: Path) -> None:
    path = str(tmp_path / "ours.tfrecord")
    with pr.TFRecordWriter(path) as writer:
        for row in rows():
            writer.write(pr.encode_example(row))
    theirs = list(tfrecord.tfrecord_loader(path, None, DESCRIPTION))
    assert [plain(example["name"]) for example in theirs] == [[row["name"]] for row in rows()]
    assert [plain(example["row"]) for example in theirs] == [row["row"] for row in rows()]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it leaves the file open
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_wrong_kind_and_missing_feature_are_errors_in_both(path: str) -> None:
    with pytest.raises(TypeError, match="row"):
        next(iter(tfrecord.tfrecord_loader(path, None, {"row": "float"})))
    with pytest.raises(pr.SchemaError, match="row"):
        next(iter(pr.TFRecordDataset(path).parse({"row": pr.RaggedFeature(np.float32)})))
    with pytest.raises(KeyError, match="missing"):
        next(iter(tfrecord.tfrecord_loader(path, None, {"missing": "int"})))
    with pytest.raises(pr.SchemaError, match="missing"):
        next(iter(pr.TFRecordDataset(path).parse({"missing": pr.FixedLenFeature([], np.int64)})))


def test_sequences_are_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "sequence.tfrecord")
    writer = tfrecord.TFRecordWriter(path)
    writer.write({"length": (2, "int")}, {"tokens": ([[1, 2], [3]], "int")})
    writer.close()
    ((context, sequence),) = tfrecord.tfrecord_loader(path, None, {"length": "int"}, None, {"tokens": "int"})
    ours = pr.parse_sequence_example(
        list(pr.read_records(path)),
        {"length": pr.FixedLenFeature([], np.int64)},
        {"tokens": pr.RaggedFeature(np.int64)},
    )
    assert ours[0]["length"].tolist() == context["length"].tolist()
    assert ours[1]["tokens"].to_list() == [[step.tolist() for step in sequence["tokens"]]]


def test_compressed_files_need_no_argument(tmp_path: Path, path: str) -> None:
    compressed = str(tmp_path / "file.gz")
    with pr.TFRecordWriter(compressed, "GZIP") as writer:
        writer.write_many(pr.read_records(path))
    theirs = list(tfrecord.tfrecord_loader(compressed, None, DESCRIPTION, compression_type="gzip"))
    ours = list(pr.TFRecordDataset(compressed).parse(SPECS))
    assert [plain(one["row"]) for one in ours] == [plain(other["row"]) for other in theirs]


def test_index_files_go_both_ways(tmp_path: Path, path: str) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    interop("tfrecord.tools.tfrecord2idx").create_index(path, str(theirs))
    pr.build_index(path).save(str(ours), format="text")
    assert ours.read_text().split() == theirs.read_text().split()
    assert len(pr.RecordFile(path, index=pr.load_index(str(theirs)))) == 20
