"""What holds for every command: killed and resumed, with any number of workers, on damage, in a dry run."""

from __future__ import annotations

import os

import pytest

from purerecord import ChecksumError, SchemaError, TFRecordWriter, tools, validate
from tests.support.damage import flip_byte
from tests.support.rewriting import PAYLOADS, files_of, kills, records, write_inputs
from tests.support.settings import LONG

COMMANDS = {
    "select records": lambda source, out, **how: tools.select(
        source, f"{out}/x@3", where="label == 1", **how
    ),
    "select features": lambda source, out, **how: tools.select(source, f"{out}/", drop=["name"], **how),
    "sample a part": lambda source, out, **how: tools.sample(source, f"{out}/", fraction=0.3, **how),
    "sample a number": lambda source, out, **how: tools.sample(source, f"{out}/x@2", count=50, **how),
    "split": lambda source, out, **how: tools.split(
        source, f"{out}/{{split}}@2", {"a": 0.8, "b": 0.2}, **how
    ),
    "split exactly": lambda source, out, **how: tools.split(
        source, f"{out}/{{split}}/", {"a": 0.8, "b": 0.2}, stratify="label", **how
    ),
    "shuffle": lambda source, out, **how: tools.shuffle(source, f"{out}/x@3", memory=30_000, **how),
    "dedup": lambda source, out, **how: tools.dedup(source, f"{out}/x@3", memory=9000, **how),
    "dedup by a feature": lambda source, out, **how: tools.dedup(source, f"{out}/", by=["name"], **how),
    "sort": lambda source, out, **how: tools.sort(source, f"{out}/x@*", "name", memory=30_000, **how),
}


@pytest.fixture(params=COMMANDS)
def work(request):
    return COMMANDS[request.param]


@pytest.fixture
def source(tmp_path):
    return write_inputs(tmp_path / "in")


def test_killed_at_any_step_and_resumed_it_writes_the_same(tmp_path, source, work):
    work(source, tmp_path / "expected", manifest=True)
    expected, out = files_of(tmp_path / "expected"), tmp_path / "out"
    for _ in kills(lambda: work(source, out, manifest=True), step=1 if LONG else 31):
        left = {path: data for path, data in files_of(out).items() if ".rewriting" not in path}
        assert left.items() <= expected.items(), "what has its name is whole"
        work(source, out, manifest=True, resume=True)
        found = {path: data for path, data in files_of(tmp_path).items() if path.startswith((".out", "out"))}
        assert found == {f"out/{path}": data for path, data in expected.items()}, "nothing else is left"
        for path in expected:
            os.unlink(out / path)


@pytest.mark.light(2)
@pytest.mark.parametrize("options", ["", "GZIP"])
def test_any_number_of_workers_writes_the_same_files(tmp_path, options, work):
    source = write_inputs(tmp_path / options, options=options)
    one = work(source, tmp_path / "one", manifest=True)
    two = work(source, tmp_path / "two", manifest=True, workers=2)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    assert (one.lengths, one.facts, one.read) == (two.lengths, two.facts, 200)
    assert validate(one.paths).ok


def test_a_dry_run_writes_nothing(tmp_path, source, work):
    before = files_of(tmp_path)
    done = work(source, tmp_path / "out", dry_run=True)
    assert (done.dry_run, len(done.inputs)) == (True, 3)
    assert files_of(tmp_path) == before
    assert not (tmp_path / "out").exists()
    assert set(done.paths) == set(work(source, tmp_path / "out").paths)


def test_damage_is_an_error_or_skipped_and_counted(tmp_path, source, work):
    path = tmp_path / "in" / "in-2.tfrecord"
    path.write_bytes(flip_byte(path.read_bytes(), 15))
    with pytest.raises(ChecksumError, match=r"in-2\.tfrecord: record 0 at byte 0"):
        work(source, tmp_path / "out")
    assert not any(os.scandir(tmp_path / "out")) if (tmp_path / "out").exists() else True
    done = work(source, tmp_path / "out", on_error="skip")
    assert (done.skipped, done.read) == (1, 199)


@pytest.mark.light(2)
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs a list of the open files")
def test_files_may_be_more_than_a_process_may_open(tmp_path, work):
    import resource  # noqa: PLC0415 - Windows has none

    (tmp_path / "in").mkdir()
    for number, payload in enumerate(PAYLOADS):
        with TFRecordWriter(tmp_path / "in" / f"{number:03d}.tfrecord") as writer:
            writer.write(payload)
    paths = sorted(map(str, (tmp_path / "in").iterdir()))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 25, hard))
    try:
        done = work(paths, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert done.read == 200


def test_a_file_that_is_named_twice_is_an_error(tmp_path, source, work):
    with pytest.raises(ValueError, match=r"in-0\.tfrecord is among the input twice; so would be its records"):
        work([source, str(tmp_path / "in" / "." / "in-0.tfrecord")], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (lambda source, out: tools.sort(source, out / "x", "nmae"), "feature 'nmae': no record has a value"),
        (lambda source, out: tools.dedup(source, out / "x", by=["nmae"]), "feature 'nmae': no record has"),
        (
            lambda source, out: tools.dedup(source, out / "x", by=["id", "nmae"]),
            "no record has values of all of 'id', 'nmae'; are the names right",
        ),
        (
            lambda source, out: tools.split(source, out / "{split}", {"a": 1}, stratify="nmae"),
            "feature 'nmae': no record has",
        ),
    ],
)
def test_a_feature_that_no_record_has_is_an_error(tmp_path, source, work, reason):
    with pytest.raises(SchemaError, match=reason):
        work(source, tmp_path / "out")
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())


def test_progress_reaches_the_whole_input(tmp_path, source, work):
    told = []
    work(source, tmp_path / "out", progress=lambda size, records: told.append(size))
    assert sum(told) >= sum(len(data) for data in files_of(tmp_path / "in").values())


def test_nothing_is_lost_and_nothing_is_there_twice(tmp_path, source, work):
    done = work(source, tmp_path / "out", shards=None)
    found = records(done.paths)
    assert len(found) == len(set(found)) == done.records <= len(PAYLOADS)
