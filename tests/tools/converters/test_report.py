"""``ConvertReport``: facts, as JSON and as text without control characters."""

from __future__ import annotations

import json

from purerecord.tools import ConvertReport


def test_text_and_json_say_what_was_left_out():
    report = ConvertReport("csv", "tfrecord", ["a\x1b.csv"], ["a.tfrecord"], records=1200, size=2000)
    report.types = {"id\n": "int64"}
    report.skip("broken picture", "one\x1b.jpg")
    report.skip("broken picture", "two.jpg", 2)
    report.note("rounded")
    report.note("rounded")
    assert report.text().split("\n") == [
        "  id\\n  int64",
        "a.tfrecord: 1,200 records, 2.0 kB",
        "  note: rounded",
        "  left out: 3 (broken picture, first one\\x1b.jpg)",
    ]
    assert report.lost
    assert json.loads(json.dumps(report.as_json()))["skipped"] == {
        "broken picture": {"count": 3, "names": ["one\x1b.jpg", "two.jpg"]}
    }
    assert report.as_json()["notes"] == ["rounded"]


def test_nothing_left_out_is_nothing_lost():
    report = ConvertReport("csv", "tfrecord", ["a.csv"], ["a", "b"], dry_run=True)
    assert not report.lost
    assert str(report) == "would write the records of a.csv to 2 files from a on"
