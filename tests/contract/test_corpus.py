"""The golden files, written by TensorFlow: every way of reading gives what the JSON file beside it says."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from purerecord import RecordFile, build_index, read_records
from purerecord.container.looks_like import open_source
from tests.support.all_readers import STREAMING, outcome
from tests.support.damage import OVERHEAD
from tests.support.places import CORPUS

FILES = sorted(CORPUS.glob("*.tfrecord"))
each_file = pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])


def twin(path: Path) -> dict:
    return json.loads(path.with_suffix(".json").read_text())


def facts(records: list[bytes]) -> list[list]:
    return [[len(record), hashlib.sha256(record).hexdigest()[:16]] for record in records]


def test_every_file_has_a_twin_and_all_are_small():
    assert len(FILES) >= 30
    assert {path.stem for path in FILES} == {path.stem for path in CORPUS.glob("*.json")}
    assert sum(path.stat().st_size for path in CORPUS.iterdir() if path.is_file()) < 2_000_000


@each_file
def test_golden_file_is_the_one_that_was_written(path):
    data = path.read_bytes()
    assert hashlib.sha256(data).hexdigest() == twin(path)["sha256"]
    assert len(data) == twin(path)["size"]


@each_file
def test_golden_file_holds_what_its_twin_says(path):
    ways = STREAMING if path.stat().st_size < 20_000 else {"read_records": read_records, **_quick()}
    expected = twin(path)["records"]
    for way, read in ways.items():
        records, error = outcome(read(path))
        assert error is None, way
        assert facts(records) == expected, way


def _quick() -> dict:
    return {way: read for way, read in STREAMING.items() if "stream" not in way and way != "batches of 1"}


@each_file
def test_compression_of_a_golden_file_is_found_or_declared(path):
    compression = twin(path)["compression"]
    assert facts(list(read_records(path, compression=compression))) == twin(path)["records"]
    opened = open_source(str(path))
    opened.read(1)
    assert opened.compression == (compression if path.stat().st_size else None)
    opened.close()


@each_file
def test_golden_file_is_a_sequence(path):
    records = RecordFile(path)
    expected = twin(path)["records"]
    assert len(records) == len(expected)
    assert facts(list(records)) == expected
    if not twin(path)["compression"]:
        order = list(range(0, len(expected), 3))[::-1]
        assert facts(records.__getitems__(order)) == [expected[i] for i in order]
        found = build_index(path)
        assert (found.sizes - OVERHEAD).tolist() == [length for length, _ in expected]
