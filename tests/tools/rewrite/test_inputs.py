"""The files that are read: found, counted, and read from any record on."""

from __future__ import annotations

import io

import numpy as np
import pytest

from purerecord import TFRecordOptions, TFRecordWriter
from purerecord.storage import remote_file, stores
from purerecord.tools import merge
from purerecord.tools.rewrite.inputs import CountRecords, find_inputs, options_like
from purerecord.tools.rewrite.work_folder import WorkFolder
from tests.support.interop import interop
from tests.support.rewriting import PAYLOADS, write_inputs

OPTIONS = [None, "GZIP", "ZLIB", TFRecordOptions("GZIP", block_size=2000)]


def found(paths, on_error="raise"):
    return find_inputs(paths, "auto", on_error)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_counted_file_is_read_from_any_record_on(tmp_path, options, on_error, monkeypatch):
    monkeypatch.setattr("purerecord.tools.rewrite.inputs.MARKED", 500)
    monkeypatch.setattr("purerecord.tools.rewrite.inputs._RECORDS_AT_ONCE", 7)
    (source,) = found(write_inputs(tmp_path / "in", files=1, options=options), on_error)
    task = CountRecords(source)
    folder = WorkFolder(str(tmp_path))
    task.run(folder, lambda *_: None)
    counted = task.source_of(folder.done(task.name))
    assert counted.records == 200
    assert len(counted.marks) > 5 if counted.seekable else counted.marks == ()
    assert counted.seekable == (options is None and on_error == "raise")
    for begin in (0, 1, 6, 7, 8, 130, 199, 200):
        assert [record for batch in counted.batches(begin) for record in batch] == PAYLOADS[begin:]
    assert np.concatenate(list(counted.lengths())).tolist() == list(map(len, PAYLOADS))


@pytest.mark.parametrize("options", OPTIONS)
def test_the_output_is_compressed_like_the_input(tmp_path, options):
    like = options_like(found(write_inputs(tmp_path / "in", options=options)))
    wanted = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
    assert like.compression == wanted.compression
    assert (like.block_size is None) == (wanted.block_size is None)


def test_what_can_be_read_only_once_is_refused(tmp_path):
    with pytest.raises(ValueError, match="can be read only once"):
        merge(io.BytesIO(b""), tmp_path / "out")
    with pytest.raises(ValueError, match="there is no input file"):
        merge([], tmp_path / "out")


def test_sequence_numbers_order_the_records_of_all_files(tmp_path):
    sources = found(write_inputs(tmp_path / "in"))
    numbers = np.concatenate([source.sequence(0, 5) for source in sources])
    assert (np.diff(numbers) > 0).all()
    assert sources[1].sequence(3, 1)[0] == sources[1].sequence(0, 5)[3]


def test_a_store_that_is_busy_is_asked_again(monkeypatch):
    memory = interop("fsspec").filesystem("memory")
    write_inputs_to("memory://inputs/a.tfrecord")
    status, failures = stores._FsspecObject.status, iter([OSError("503 Slow Down")] * 2)

    def busy(file):
        if error := next(failures, None):
            raise error
        return status(file)

    monkeypatch.setattr(remote_file, "_PAUSE", 0.001)
    monkeypatch.setattr(stores._FsspecObject, "status", busy)
    assert found("memory://inputs/a.tfrecord")[0].size == memory.info("/inputs/a.tfrecord")["size"]
    with pytest.raises(FileNotFoundError, match="No such file or directory: 'memory://inputs/b'"):
        found("memory://inputs/b")
    memory.rm("/inputs", recursive=True)


def write_inputs_to(url):
    with TFRecordWriter(url) as writer:
        writer.write_many(PAYLOADS)
