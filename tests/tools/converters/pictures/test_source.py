"""What all readers of pictures share: the label map beside the output, or a given one."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

import purerecord as pr
from purerecord.tools import convert
from tests.support.picture_folders import pets, save


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pets()
    os.mkdir("out")


def labels(path="out/a.tfrecord"):
    return {int(pr.decode_example(record)["image/class/label"][0]) for record in pr.read_records(path)}


def test_the_label_map_is_written_beside_the_shards():
    report = convert("pets", "out/a@2.tfrecord", style="detection")
    assert Path("out/label_map.pbtxt").read_text().split() == (
        ["item", "{", "name:", '"cats"', "id:", "1", "}", "item", "{", "name:", '"dogs"', "id:", "2", "}"]
    )
    assert report.notes == ["the classes and their numbers are in out/label_map.pbtxt"]
    assert labels("out/a@2.tfrecord") == {1, 2}
    convert("pets", "out/b.tfrecord", style="detection")  # the same classes: the map stays


def test_another_label_map_there_is_an_error_before_the_work():
    save("out/label_map.pbtxt", "item { id: 5 name: 'cats' } item { id: 6 name: 'dogs' }")
    with pytest.raises(ValueError, match=r"out/label_map\.pbtxt: this label map is there already"):
        convert("pets", "out/a.tfrecord", style="detection")
    assert os.listdir("out") == ["label_map.pbtxt"]
    convert("pets", "out/a.tfrecord", style="detection", label_map="out/label_map.pbtxt")
    assert labels() == {5, 6}
    convert("pets", "out/b.tfrecord", label_map="out/label_map.pbtxt")
    found = [int(pr.decode_example(record)["label"][0]) for record in pr.read_records("out/b.tfrecord")]
    assert set(found) == {4, 5}


def test_a_class_that_the_given_map_lacks_is_an_error_before_the_work():
    save("map.pbtxt", "item { id: 1 name: 'cats' }")
    with pytest.raises(ValueError, match=r"pets/dogs/0\.png: class 'dogs' is not in map\.pbtxt"):
        convert("pets", "out/a.tfrecord", label_map="map.pbtxt")
    assert os.listdir("out") == []


def test_a_stream_gets_no_label_map_and_a_note_says_so():
    out = io.BytesIO()
    report = convert("pets", out, from_format="images", style="detection")
    assert report.notes == ["a stream has no file beside it, so no label_map.pbtxt was written"]
    assert len(list(pr.read_records(io.BytesIO(out.getvalue())))) == 6


def test_a_schema_is_not_for_pictures():
    with pytest.raises(ValueError, match="no schema"):
        convert("pets", "a.tfrecord", schema={"label": "int64"})


def test_label_map_is_not_written_by_a_dry_run():
    convert("pets", "out/a.tfrecord", style="detection", dry_run=True)
    assert os.listdir("out") == []
