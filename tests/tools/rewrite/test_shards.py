"""Writing shards: what goes together, what is read back, and what must not be read twice."""

from __future__ import annotations

import pytest

from purerecord import Records, TFRecordOptions
from purerecord.container.frames import OVERHEAD
from purerecord.tools.rewrite.inputs import FileSource
from purerecord.tools.rewrite.outputs import Segment
from purerecord.tools.rewrite.shards import ShardWriter, WriteShards, grouped
from purerecord.tools.rewrite.work_folder import WorkFolder
from tests.support.rewriting import PAYLOADS, records, write_inputs


def test_a_written_file_is_described(tmp_path):
    writer = ShardWriter(WorkFolder(str(tmp_path)), "shard", TFRecordOptions())
    writer.write(Records.of(PAYLOADS))
    facts = writer.finish()
    assert facts["records"] == 200
    assert facts["size"] == sum(map(len, PAYLOADS)) + OVERHEAD * 200
    assert facts["checksum"].startswith("sha256:")


def test_a_file_that_was_cut_meanwhile_is_noticed(tmp_path):
    writer = ShardWriter(WorkFolder(str(tmp_path)), "shard", TFRecordOptions())
    writer.write(Records.of(PAYLOADS))
    writer._writer.close()
    with open(writer.path, "r+b") as file:
        file.truncate(OVERHEAD + len(PAYLOADS[0]))
    with pytest.raises(OSError, match="what was read back is not what was written"):
        writer.finish()


def test_shards_of_one_stream_are_written_by_one_task():
    stream, other = FileSource("a", "GZIP", "raise", 100), FileSource("b", "GZIP", "raise", 100)
    shards = [(Segment(stream, n, n + 30),) for n in (0, 30, 60)] + [(Segment(other, 0, 100),), ()]
    tasks = grouped(shards, [0, 1, 2, 3, 4], TFRecordOptions(), "shard")
    assert [task.numbers for task in tasks] == [(0, 1, 2), (3,), (4,)]
    assert [task.numbers for task in grouped(shards, [0, 2], TFRecordOptions(), "shard")] == [(0,), (2,)]


def test_shards_of_a_file_that_can_seek_are_written_one_by_one():
    file = FileSource("a", "", "raise", 100, ((0, 0),))
    shards = [(Segment(file, n, n + 50),) for n in (0, 50)]
    assert [task.numbers for task in grouped(shards, [0, 1], TFRecordOptions(), "shard")] == [(0,), (1,)]


def test_a_stream_is_read_once_for_shards_that_follow_one_another(tmp_path, monkeypatch):
    write_inputs(tmp_path / "in", files=1, options="GZIP")
    source = FileSource(str(tmp_path / "in" / "in-0.tfrecord"), "GZIP", "raise", 200)
    opened = []
    batches = FileSource.batches
    monkeypatch.setattr(
        FileSource, "batches", lambda self, begin: opened.append(begin) or batches(self, begin)
    )
    segments = tuple((Segment(source, n, n + 50),) for n in (0, 50, 100, 150))
    task = WriteShards((0, 1, 2, 3), segments, TFRecordOptions())
    task.run(WorkFolder(str(tmp_path)), lambda *_: None)
    assert opened == [0]
    assert records(sorted(map(str, tmp_path.glob("shard-0000?")))) == PAYLOADS


def test_a_file_that_became_shorter_is_an_error(tmp_path):
    write_inputs(tmp_path / "in", files=1)
    source = FileSource(str(tmp_path / "in" / "in-0.tfrecord"), "", "raise", 201)
    task = WriteShards((0,), ((Segment(source, 0, 201),),), TFRecordOptions())
    with pytest.raises(OSError, match="it ends after 200 of 201 records; has it changed"):
        task.run(WorkFolder(str(tmp_path)), lambda *_: None)
