"""``Rewrite``: what holds for every command that rewrites: atomic, verified, resumable, nothing hidden."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from purerecord import ChecksumError, load_manifest, validate
from purerecord.container.record_digest import RecordDigest
from purerecord.tools import compress, merge, reshard
from purerecord.tools.rewrite.engine import Rewrite
from purerecord.tools.rewrite.shards import ShardWriter
from tests.support.command_line import HOME
from tests.support.damage import flip_byte
from tests.support.rewriting import PAYLOADS, files_of, killed_before_step, kills, records, write_inputs
from tests.support.settings import LONG

WORK = {
    "counted and divided": lambda source, out, **how: reshard(source, out / "new@4", **how),
    "one file to one": lambda source, out, **how: compress(source, f"{out}/", "gzip", **how),
    "with a manifest": lambda source, out, **how: reshard(
        source, out / "new@*", max_records=90, manifest=True, **how
    ),
}


@pytest.fixture
def source(tmp_path):
    return write_inputs(tmp_path / "in")


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("resume", [True, False])
def test_killed_at_any_step_it_can_be_run_again(tmp_path, source, name, resume):
    work, out = WORK[name], tmp_path / "out"
    out.mkdir()
    work(source, tmp_path / "expected")
    expected = files_of(tmp_path / "expected")
    for _ in kills(lambda: work(source, out), step=1 if LONG else 6):
        left = {path: data for path, data in files_of(out).items() if ".rewriting" not in path}
        assert left.items() <= expected.items(), "what has its name is whole"
        work(source, out, resume=resume)
        assert files_of(out) == expected
        for path in expected:
            os.unlink(out / path)


@pytest.fixture
def other_disk():
    """A folder on another disk than the files of the tests."""
    if not os.path.isdir("/dev/shm") or os.stat("/dev/shm").st_dev == os.stat(tempfile.gettempdir()).st_dev:
        pytest.skip("needs two file systems")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as path:
        yield Path(path)


@pytest.mark.parametrize("resume", [True, False])
def test_temporary_files_may_be_on_another_disk_also_if_killed(tmp_path, source, other_disk, resume):
    out = tmp_path / "out"
    reshard(source, tmp_path / "expected" / "new@4", manifest=True)
    expected = files_of(tmp_path / "expected")
    work = partial(reshard, source, out / "new@4", manifest=True, temporary=str(other_disk))
    for _ in kills(work, step=1 if LONG else 7):
        left = {path: data for path, data in files_of(out).items() if ".rewriting" not in path}
        assert left.items() <= expected.items(), "what has its name is whole"
        work(resume=resume)
        assert files_of(out) == expected
        assert not list(other_disk.iterdir())
        for path in expected:
            os.unlink(out / path)


def test_killed_at_any_step_old_shards_are_whole_or_missing(tmp_path, source):
    out = tmp_path / "out"
    reshard(source, out / "new@4", options="GZIP", manifest=True)
    before = files_of(out)
    reshard(source, tmp_path / "expected" / "new@4")
    expected = files_of(tmp_path / "expected")
    for _ in kills(lambda: reshard(source, out / "new@4"), step=1 if LONG else 8):
        left = {path: data for path, data in files_of(out).items() if ".rewriting" not in path}
        assert left.items() <= before.items() or left.items() <= expected.items(), "never a mix of both"
        reshard(source, out / "new@4", resume=True)
        assert files_of(out) == expected
        reshard(source, out / "new@4", options="GZIP", manifest=True)


@pytest.mark.skipif(not LONG, reason="in the long form")
def test_killed_at_a_random_moment_it_can_be_run_again(tmp_path):
    source = write_inputs(tmp_path / "in", PAYLOADS * 500)
    (tmp_path / "out").mkdir()
    reshard(source, tmp_path / "expected" / "new@9", options="GZIP")
    program = (
        f"from purerecord.tools import reshard\n"
        f"if __name__ == '__main__':\n"
        f"    out = {str(tmp_path / 'out' / 'new@9')!r}\n"
        f"    reshard({source!r}, out, options='GZIP', workers=2, resume=True)\n"
    )
    (tmp_path / "program.py").write_text(program)
    environment = {**os.environ, "PYTHONPATH": HOME}
    for attempt in range(20):
        running = subprocess.Popen([sys.executable, tmp_path / "program.py"], env=environment)
        try:
            running.wait(random.Random(attempt).uniform(0.2, 1.5))
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.wait()
    subprocess.run([sys.executable, tmp_path / "program.py"], env=environment, check=True)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "expected")


def test_a_run_goes_on_without_doing_again_what_is_done(tmp_path, source, monkeypatch):
    for step in (4, 30):
        assert killed_before_step(step, lambda: reshard(source, tmp_path / "new@8"))
    done = {path.name for path in (tmp_path / ".new.rewriting").glob("shard-*.done")}
    assert 0 < len(done) < 8
    written = []
    begin = ShardWriter.__init__
    monkeypatch.setattr(
        ShardWriter,
        "__init__",
        lambda self, folder, name, *more: written.append(name) or begin(self, folder, name, *more),
    )
    assert records(reshard(source, tmp_path / "new@8", resume=True).paths) == PAYLOADS
    assert {f"{name}.done" for name in written} == {f"shard-{n:05d}.done" for n in range(8)} - done


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda folder: os.utime(folder / "in" / "in-1.tfrecord", (1, 1)), "in-1.tfrecord: it has changed"),
        (
            lambda folder: (folder / "in" / "in-3.tfrecord").write_bytes(b""),
            "its input: it had 3 files, now 4",
        ),
    ],
)
def test_a_run_does_not_go_on_with_another_input(tmp_path, source, change, reason):
    assert killed_before_step(12, lambda: reshard(source, tmp_path / "new@4"))
    change(tmp_path)
    with pytest.raises(ValueError, match=reason):
        reshard(source, tmp_path / "new@4", resume=True)
    assert records(reshard(source, tmp_path / "new@4").paths) == PAYLOADS


def test_a_run_does_not_go_on_with_other_arguments(tmp_path, source):
    assert killed_before_step(12, lambda: reshard(source, tmp_path / "new@4"))
    with pytest.raises(ValueError, match="the run that was stopped differs in its compression"):
        reshard(source, tmp_path / "new@4", resume=True, options="GZIP")
    with pytest.raises(ValueError, match="the run that was stopped differs in its output"):
        reshard(source, tmp_path / "new@5", resume=True)
    with pytest.raises(ValueError, match="the run that was stopped differs in its command"):
        merge(source, tmp_path / "new@4", resume=True)


def test_two_runs_do_not_write_the_same_output(tmp_path, source):
    how = {"shards": 2}
    with (
        Rewrite("reshard", source, tmp_path / "new", {}, how),
        pytest.raises(OSError, match="another run is writing this output"),
    ):
        reshard(source, tmp_path / "new", **how)
    assert records(reshard(source, tmp_path / "new", **how).paths) == PAYLOADS


def test_damage_raises_and_leaves_nothing(tmp_path, source):
    path = tmp_path / "in" / "in-2.tfrecord"
    path.write_bytes(flip_byte(path.read_bytes(), 1000))
    before = files_of(tmp_path)
    with pytest.raises(ChecksumError, match=r"in-2\.tfrecord: record"):
        reshard(source, tmp_path / "new@4")
    with pytest.raises(ChecksumError, match=r"in-2\.tfrecord: record"):
        compress(source, tmp_path / "new@*", "gzip")
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("options", ["", "GZIP"])
@pytest.mark.parametrize("workers", [1, 2])
def test_damage_is_skipped_counted_and_named_on_request(tmp_path, source, options, workers):
    path = tmp_path / "in" / "in-2.tfrecord"
    path.write_bytes(flip_byte(path.read_bytes(), 15))
    how = {"on_error": "skip", "workers": workers, "options": options}
    for done in (
        reshard(source, tmp_path / "new@4", **how),
        compress(source, tmp_path / "other@*", "none", **how),
    ):
        assert (done.skipped, done.ok, done.read, done.records) == (1, False, 199, 199)
        assert "in-2.tfrecord: record 0 at byte 0" in done.damage[0]
        assert records(done.paths) == [record for n, record in enumerate(PAYLOADS) if n != 88]
        assert str(done).endswith(done.damage[0])


def test_what_is_written_is_read_back(tmp_path, source, monkeypatch):
    finish = ShardWriter._check

    def swapped(self):
        data = Path(self.path).read_bytes()
        Path(self.path).write_bytes(data + data[:30])  # a record twice: no CRC tells
        finish(self)

    length = 16 + len(PAYLOADS[0])
    monkeypatch.setattr(ShardWriter, "_check", swapped)
    monkeypatch.setattr(RecordDigest, "__str__", RecordDigest.__str__)
    data = (tmp_path / "in" / "in-0.tfrecord").read_bytes()
    assert len(data) > length
    with pytest.raises(OSError, match="what was read back is not what was written"):
        reshard(source, tmp_path / "new@4")
    assert not list(tmp_path.glob("new*"))


def test_an_error_of_the_disk_leaves_what_is_done(tmp_path, source, monkeypatch):
    finish = ShardWriter.finish

    def full(self):
        if self.path.endswith("shard-00002"):
            raise OSError(28, "No space left on device", self.path)
        return finish(self)

    monkeypatch.setattr(ShardWriter, "finish", full)
    with pytest.raises(OSError, match="No space left"):
        reshard(source, tmp_path / "new@4")
    assert (tmp_path / ".new.rewriting" / "shard-00001.done").exists()
    assert not list(tmp_path.glob("new*"))
    monkeypatch.setattr(ShardWriter, "finish", finish)
    assert records(reshard(source, tmp_path / "new@4", resume=True).paths) == PAYLOADS
    assert not (tmp_path / ".new.rewriting").exists()


@pytest.mark.parametrize("name", ["plan.json", "counted-00001.done", "shard-00001.done"])
def test_a_note_that_a_loss_of_power_has_emptied_counts_for_nothing(tmp_path, source, monkeypatch, name):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Rewrite, "publish", full)
        with pytest.raises(OSError, match="No space left"):
            reshard(source, tmp_path / "new@4")
    (tmp_path / ".new.rewriting" / name).write_bytes(b"")
    assert records(reshard(source, tmp_path / "new@4", resume=True).paths) == PAYLOADS


def test_an_input_that_changes_meanwhile_is_an_error(tmp_path, source, monkeypatch):
    write = Rewrite.write_shards

    def touched(self, *arguments):
        os.utime(tmp_path / "in" / "in-1.tfrecord", (1, 1))
        return write(self, *arguments)

    monkeypatch.setattr(Rewrite, "write_shards", touched)
    with pytest.raises(OSError, match="it has changed while it was read"):
        reshard(source, tmp_path / "new@4")
    assert not list(tmp_path.glob("new*"))


def test_a_dry_run_writes_nothing(tmp_path, source):
    before = files_of(tmp_path)
    done = reshard(source, tmp_path / "new@4", dry_run=True)
    assert done.dry_run
    assert len(done.inputs) == 3
    assert done.input_size == sum(len(data) for data in before.values())
    assert [Path(path).name for path in done.paths] == [f"new-{n:05d}-of-00004" for n in range(4)]
    assert reshard(source, tmp_path / "new", max_records=9, dry_run=True).paths[0].endswith("-?????-of-?????")
    assert files_of(tmp_path) == before
    assert not (tmp_path / ".new.rewriting").exists()


def test_the_manifest_lists_what_was_written(tmp_path, source):
    done = reshard(source, tmp_path / "new@4.tfrecord", manifest=True)
    assert done.manifest == str(tmp_path / "new.tfrecord.manifest.json")
    manifest = load_manifest(done.manifest)
    assert manifest.paths() == list(done.paths)
    assert [entry.records for entry in manifest.files] == list(done.lengths)
    assert [entry.size for entry in manifest.files] == [os.path.getsize(path) for path in done.paths]
    assert validate(done.paths).ok


def test_an_old_manifest_goes_with_the_old_shards(tmp_path, source):
    done = reshard(source, tmp_path / "new@4", manifest=True)
    reshard(source, tmp_path / "new@4")
    assert not os.path.exists(done.manifest)


def test_a_folder_that_is_written_has_its_manifest_inside(tmp_path, source):
    done = compress(source, f"{tmp_path}/packed/", "gzip", manifest=True)
    assert done.manifest == f"{tmp_path}/packed/MANIFEST.json"
    assert [entry.name for entry in load_manifest(done.manifest).files] == [
        f"in-{n}.tfrecord" for n in range(3)
    ]


def test_progress_counts_what_is_processed(tmp_path, source):
    told = []
    merge(source, tmp_path / "new", progress=lambda size, records: told.append((size, records)))
    assert sum(records for _, records in told) == 200
    size = sum(len(data) for data in files_of(tmp_path / "in").values())
    assert sum(size for size, _ in told) == 2 * size  # counted, then written
