"""``stats`` reads files: the result is the same with any number of workers, and damage is not silent."""

from __future__ import annotations

import json

import pytest

import purerecord as pr
from purerecord import tools
from tests.support.damage import flip_byte, frames, starts

PAYLOADS = [
    pr.encode_example({"label": i % 3, "name": f"{i}.jpg", "score": [i / 7] * (i % 4)}) for i in range(300)
]


@pytest.fixture
def shards(tmp_path):
    for number in range(3):
        path = tmp_path / f"train-{number:05d}-of-00003"
        with pr.TFRecordWriter(path, "GZIP" if number == 1 else None) as writer:
            writer.write_many(PAYLOADS[100 * number : 100 * number + 100])
    return tmp_path / "train@3"


def test_files_are_counted_together(shards):
    found = tools.stats(shards)
    assert (found.records, found.ok, len(found.files)) == (300, True, 3)
    assert [file.records for file in found.files] == [100] * 3
    assert found.files[1].compression == "GZIP"
    assert found["label"].numbers["int64"].most_frequent == ((0, 100), (1, 100), (2, 100))
    assert found["score"].untyped == 75
    with pytest.raises(KeyError):
        found["nothing"]


@pytest.mark.parametrize("most", [10, 10_000])
def test_workers_do_not_change_the_result(shards, most):
    assert tools.stats(shards, workers=2, most_distinct=most) == tools.stats(shards, most_distinct=most)


def test_a_repr_is_short(shards):
    assert repr(tools.stats(shards)) == "<Stats: 300 records, 3 features, 3 files>"


def test_json_reads_back(shards):
    found = tools.stats(shards)
    assert json.loads(found.as_json()) == found.to_dict()


def test_batches_do_not_change_the_result(shards, monkeypatch):
    whole = tools.stats(shards)
    monkeypatch.setattr("purerecord.tools.inspect.stats._BATCH_RECORDS", 7)
    assert tools.stats(shards) == whole


def test_progress_counts_all_records(shards):
    seen = []
    tools.stats(shards, progress=lambda size, records: seen.append((size, records)))
    assert sum(records for _, records in seen) == 300
    assert all(size >= 0 for size, _ in seen)


def test_damage_is_raised_or_skipped_and_reported(tmp_path):
    data = flip_byte(frames(PAYLOADS), starts(PAYLOADS)[5] + 20)
    path = tmp_path / "damaged.tfrecord"
    path.write_bytes(data)
    with pytest.raises(pr.ChecksumError):
        tools.stats(path)
    found = tools.stats(path, on_error="skip")
    assert (found.records, len(found.files[0].damages), found.ok) == (299, 1, False)


def test_records_that_are_no_examples_are_raised_or_skipped_and_counted(tmp_path):
    path = tmp_path / "mixed.tfrecord"
    path.write_bytes(frames([*PAYLOADS[:4], b"junk", *PAYLOADS[4:]]))
    with pytest.raises(pr.DecodeError, match="record 4"):
        tools.stats(path)
    found = tools.stats(path, on_error="skip")
    assert (found.records, found.undecodable, found.ok) == (300, 1, False)
    assert found.files[0].reason.startswith("record 4: ")


def test_an_empty_file_has_no_features(tmp_path):
    path = tmp_path / "empty.tfrecord"
    path.write_bytes(b"")
    found = tools.stats(path)
    assert (found.records, found.features, found.ok) == (0, (), True)


@pytest.mark.parametrize(
    ("options", "error"),
    [({"on_error": "tail"}, ValueError), ({"workers": 0}, ValueError), ({"features": "label"}, TypeError)],
)
def test_wrong_options_are_refused(shards, options, error):
    with pytest.raises(error):
        tools.stats(shards, **options)


def test_missing_files_are_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        tools.stats(tmp_path / "missing.tfrecord")
