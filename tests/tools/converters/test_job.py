"""``Job``: the records of the sources."""

from __future__ import annotations

import io

from purerecord import TFRecordWriter
from purerecord.tools import ConvertReport
from purerecord.tools.converters.job import Job


def test_batches_are_counted_once(tmp_path):
    path = str(tmp_path / "a")
    with TFRecordWriter(path) as writer:
        writer.write_many([b"a", b"bc"])
    done = []
    job = Job([path], "out", ConvertReport("", "", []), progress=lambda *counts: done.append(counts))
    assert [list(batch) for batch in job.batches(counted=False)] == [[b"a", b"bc"]]
    assert [list(batch) for batch in job.batches()] == [[b"a", b"bc"]]
    assert done == [(3, 2)]
    assert job.report.records == 2
    assert job.read_again
    assert not Job([io.BytesIO()], "out", job.report).read_again
