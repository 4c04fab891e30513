"""The workflows in ``examples``, with purerecord alone: what they print and what they write."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

import purerecord as pr
from tests.support.interop import interop
from tests.support.run_workflows import EXAMPLES, WORKFLOWS, Run

Image = interop("PIL.Image")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """All of them, where a TensorFlow that may be installed cannot be imported."""
    modules = tmp_path_factory.mktemp("modules")
    (modules / "tensorflow.py").write_text("raise ImportError('TensorFlow is not needed')")
    started = {
        workflow: Run(workflow, tmp_path_factory.mktemp(workflow), modules=modules) for workflow in WORKFLOWS
    }
    return {workflow: run.finish() for workflow, run in started.items()}


def read(path: Path) -> list[dict[str, list]]:
    return [
        {name: list(values) for name, values in pr.decode_example(record).items()}
        for record in pr.read_records(path)
    ]


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        return np.array(picture)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_no_example_needs_what_windows_has_not(path):
    for missing in ("signal.SIGKILL", "os.fork", '"/tmp'):
        assert missing not in path.read_text(encoding="utf-8")


def test_cats_and_dogs_splits_the_folder(runs):
    out = runs["cats_and_dogs"].out
    parts = [read(out / f"{part}.tfrecord.gz") for part in ("train", "validation")]
    assert [len(part) for part in parts] == [96, 24]
    seen = {}
    for example in parts[0] + parts[1]:
        name = example["name"][0].decode()
        assert example["image"] == [(out / "pictures" / name).read_bytes()]
        assert example["label"] == [["cat", "dog"].index(name.split(".")[0])]
        seen[name] = example
    assert sorted(seen) == sorted(path.name for path in (out / "pictures").iterdir())
    assert len(seen) == 120


def test_cats_and_dogs_are_gzip_and_written_with_a_progress_bar(runs):
    run = runs["cats_and_dogs"]
    assert (run.out / "train.tfrecord.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert f"train      [{'#' * 15}{' ' * 15}] 48/96" in run.errors
    assert f"validation [{'#' * 30}] 24/24\n" in run.errors


def test_cats_and_dogs_are_shuffled_and_batched(runs):
    lines = runs["cats_and_dogs"].output.splitlines()
    first, second, *_ = (line.split(": ", 1)[1] for line in lines)
    assert first == second
    counts = re.match(r"batches of \(24, 96, 96, 3\), (\d+) cats, (\d+) dogs, mean colour ", first)
    assert counts is not None
    assert int(counts[1]) + int(counts[2]) == 96
    assert lines[2:4] == ["the same pictures in both epochs: True", "in the same order: False"]
    assert lines[-1] == "in both parts: 0"


def test_grid_shows_the_first_pictures_for_validation(runs):
    out = runs["cats_and_dogs"].out
    grid = pixels(out / "grid.png")
    assert grid.shape == (4 * 130 + 12, 6 * 108 + 12, 3)
    name = read(out / "validation.tfrecord.gz")[0]["name"][0].decode()
    with Image.open(out / "pictures" / name) as picture:
        expected = np.array(picture.resize((96, 96), Image.Resampling.BILINEAR)).astype(float)
    # Pillow smooths when it makes a picture smaller, so this is near, not equal.
    assert np.abs(grid[12:108, 12:108] - expected).mean() < 4


def test_landmarks_are_a_tree_of_files_of_one_record(runs):
    out = runs["landmarks"].out
    with open(out / "labels.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    for row in rows:
        (example,) = read((out / "records" / row["file"]).with_suffix(".tfrecord"))
        assert example["image/encoded"] == [(out / "pictures" / row["file"]).read_bytes()]
        assert example["image/filename"] == [row["file"].encode()]
        assert example["image/class/text"] == [row["place"].encode()]
        assert example["image/class/label"] == [int(row["label"])]
        assert example["image/tags"] == [tag.encode() for tag in row["tags"].split("|")]
        assert (example["image/width"], example["image/height"]) == ([150], [100])
    assert len(list((out / "records").rglob("*.tfrecord"))) == 24


def test_landmarks_have_names_in_any_language(runs):
    lines = runs["landmarks"].output.splitlines()
    assert lines[:2] == ["24 files of one record", "24 pictures as in the folder"]
    assert lines[2::3] == ["København", "İstanbul", "Αθήνα", "東京"]
    assert lines[-1] == "  7 東京/東京タワー ['東京', 'tower'] 150 x 100"


def test_tutorial_prints_an_example(runs):
    output = runs["tutorial"].output
    assert 'bytes_list {\n  value: "K\\303\\270benhavn"\n}\n' in output
    assert r"b'\x12\x06\n\x04T\xf8-@'" in output
    assert 'key: "feature2"\n    value {\n      bytes_list {\n        value: "goat"' in output
    assert "(TensorSpec(shape=(), dtype=tf.bool, name=None), TensorSpec(" in output
    assert "feature2: <tf.Tensor: shape=(), dtype=string, numpy=b'goat'>" in output
    assert "tf.Tensor(\n[[ 0.5 -1. ]\n [ 2.   4. ]], shape=(2, 2), dtype=float32)" in output


def test_tutorial_writes_the_observations_twice(runs):
    run = runs["tutorial"]
    assert "both files are the same: True" in run.output
    rows = read(run.out / "by_dataset.tfrecord")
    assert len(rows) == 10_000
    true = sum(row["feature0"][0] for row in rows)
    assert f"10000 observations, {true} are true" in run.output
    for name in ("cat", "chicken", "dog", "goat", "horse"):
        count = sum(row["feature2"] == [name.encode()] for row in rows)
        assert f"\n{name}: {count}\n" in run.output


def test_tutorial_stores_pictures_and_tensors(runs):
    run = runs["tutorial"]
    rows = read(run.out / "pictures.tfrecord")
    for name, row in zip(("cat.jpg", "bridge.jpg"), rows, strict=True):
        assert row["image_raw"] == [(run.out / name).read_bytes()]
        assert tuple(row["shape"]) == pixels(run.out / name).shape
    assert run.output.count("as it was: True") == 2
    number, text = read(run.out / "tensors.tfrecord")
    assert pr.parse_tensor(number["float"][0]).tolist() == [[0.5, -1.0], [2.0, 4.0]]
    assert [value.decode() for value in pr.parse_tensor(text["text"][0])] == ["København", "東京"]


def test_faces_are_stored_in_an_order_by_chance(runs):
    out = runs["faces"].out
    people = [row["person"][0] for row in read(out / "identification.tfrecord")]
    assert np.bincount(people).tolist() == [16] * 6
    assert people != sorted(people)
    with open(out / "ages.csv", encoding="utf-8", newline="") as file:
        ages = [float(row["age"]) for row in csv.DictReader(file)]
    stored = [row["age"][0] for row in read(out / "regression.tfrecord")]
    assert stored != ages
    assert sorted(stored) == sorted(ages)


def test_faces_are_augmented_and_timed(runs):
    run = runs["faces"]
    lines = run.output.splitlines()
    assert lines[0] == "identification: (288, 72, 72, 3), 288 different pictures"
    assert lines[1].count(": 48") == 6
    assert lines[2] == "regression: (288, 72, 72, 3), 288 different pictures"
    assert lines[-1] == "the same in the folder and in the TFRecord: True"
    assert re.search(
        r"^an epoch from the folder: [\d.]+ s\nan epoch from the TFRecord: [\d.]+ s$", run.errors, re.M
    )


def test_single_image_comes_back(runs):
    run = runs["single_image"]
    cat = pixels(run.out / "cat.jpg")
    assert np.array_equal(pixels(run.out / "again.png"), cat)
    (row,) = read(run.out / "cat.tfrecord")
    assert row["raw"] == [cat.tobytes()]
    assert f"pixels: {cat.shape} uint8 mean {cat.mean():.3f}\n" in run.output
    assert "decoded pixels are the same: True\n" in run.output


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_workflows_are_short_and_change_one_import(workflow):
    text = (EXAMPLES / f"{workflow}.py").read_text(encoding="utf-8")
    assert text.count("\n") < 150
    assert len(re.findall("^ +import (?:tensorflow|purerecord).* as tf", text, re.MULTILINE)) == 2
    assert text.count("tensorflow as tf") + text.count("tensorflow.compat.v1 as tf") == 1


def test_every_example_is_in_the_table():
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    missing = [path.name for path in EXAMPLES.glob("*.py") if f"]({path.name})" not in page]
    assert not missing
