"""The files of a viewer, counted in the background."""

from __future__ import annotations

import io

import pytest

import purerecord as pr
from purerecord.view.catalog import Catalog, known_files
from purerecord.view.limits import DEFAULT
from tests.support.damage import frames

KINDS = {"PlainFile": None, "SpooledFile": "GZIP", "BlockFile": pr.TFRecordOptions("GZIP", block_size=100)}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_file_is_opened_by_what_it_holds(tmp_path, kind):
    path = str(tmp_path / "file")
    with pr.TFRecordWriter(path, KINDS[kind]) as writer:
        writer.write_many([b"x"] * 100)
    catalog = Catalog(path, "auto", DEFAULT)
    catalog.start()
    assert catalog.wait_until_counted(60)
    assert type(catalog.files[0].source).__name__ == kind
    assert catalog.totals()["records"] == 100
    catalog.close()


def test_a_wrong_compression_is_a_failure_that_says_why(tmp_path):
    (tmp_path / "file").write_bytes(frames([b"x"]))
    catalog = Catalog(str(tmp_path / "file"), "GZIP", DEFAULT)
    catalog.start()
    assert catalog.wait_until_counted(60)
    (known,) = known_files(catalog.files)
    assert known["status"] == "failed"
    assert known["message"]
    catalog.close()


def test_open_files_and_many_files_are_counted(tmp_path):
    for number in range(30):
        (tmp_path / f"{number:02d}").write_bytes(frames([b"x"] * number))
    catalog = Catalog([str(tmp_path / "*"), io.BytesIO(frames([b"y"] * 7))], "auto", DEFAULT)
    assert {file.status for file in catalog.files} == {"waiting"}
    catalog.start()
    assert catalog.wait_until_counted(60)
    assert [file.source.count for file in catalog.files if file.source] == [*range(30), 7]
    catalog.close()


def test_a_file_that_is_asked_for_is_opened_although_no_thread_works(tmp_path):
    (tmp_path / "file").write_bytes(frames([b"x"]))
    catalog = Catalog(str(tmp_path / "file"), "auto", DEFAULT)
    source = catalog.files[0].open()
    assert source is not None
    assert source.walk()
    assert catalog.reach(catalog.files[0], 0) is source
    assert source.count == 1
    catalog.close()
