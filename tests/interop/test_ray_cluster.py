"""``Cluster``: checks, repairs and rewriting on a real cluster give what one process gives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import purerecord as pr
from purerecord import tools
from tests.support import damage
from tests.support.command_line import HOME
from tests.support.interop import interop
from tests.support.ray_cluster import QUIET, cluster
from tests.support.rewriting import files_of, records, write_inputs

ray = interop("ray")
import purerecord.ray as prr  # noqa: E402 - only where ray is

pytestmark = QUIET


@pytest.fixture(autouse=True, scope="module")
def _cluster():
    cluster()


@pytest.fixture
def inputs(tmp_path) -> str:
    return write_inputs(tmp_path, files=5)


def spoil(paths) -> Path:
    """Damage one of the files."""
    path = sorted(Path(paths).parent.glob(Path(paths).name))[1]
    path.write_bytes(damage.flip_byte(path.read_bytes(), 40))
    return path


def test_validate_gives_the_same_report(tmp_path, inputs, monkeypatch):
    spoil(inputs)
    monkeypatch.chdir(tmp_path)
    paths = [os.path.relpath(inputs), "missing"]
    for how in ({}, {"decode": True}, {"expect": 7}):
        seen = [0, 0]

        def progress(size, count, seen=seen):
            seen[0] += size
            seen[1] += count

        report = pr.validate(paths, workers=prr.Cluster(), progress=progress, **how)
        assert report == pr.validate(paths, **how)
        assert seen == [report.size, sum(file.records for file in report.files)] or how
    assert pr.validate(paths, workers=prr.Cluster(limit=1, num_cpus=0.5)) == pr.validate(paths)


def test_rewriting_gives_the_same_files(tmp_path, inputs):
    for name, work in {
        "reshard": lambda out, **how: tools.reshard(inputs, f"{out}/a@3.tfrecord", manifest=True, **how),
        "merge": lambda out, **how: tools.merge(inputs, f"{out}/a.tfrecord", **how),
        "select": lambda out, **how: tools.select(inputs, f"{out}/a@2.tfrecord", where="id > 7", **how),
        "split": lambda out, **how: tools.split(
            inputs, f"{out}/{{split}}@2", {"train": 0.75, "test": 0.25}, seed=1, **how
        ),
        "shuffle": lambda out, **how: tools.shuffle(
            inputs, f"{out}/a@2.tfrecord", seed=3, memory="1MB", **how
        ),
        "sort": lambda out, **how: tools.sort(inputs, f"{out}/a@2.tfrecord", by="label", memory="1MB", **how),
        "compress": lambda out, **how: tools.compress(inputs, f"{out}/", "gzip-blocks", **how),
        "sample": lambda out, **how: tools.sample(inputs, f"{out}/a@2.tfrecord", count=50, **how),
        "dedup": lambda out, **how: tools.dedup(inputs, f"{out}/", by=["label"], memory="1MB", **how),
    }.items():
        here, there = tmp_path / f"{name}-here", tmp_path / f"{name}-there"
        for folder in (here, there):
            folder.mkdir()
        expected = work(here)
        found = work(there, workers=prr.Cluster())
        assert files_of(there) == files_of(here)
        assert found.to_dict()["records"] == expected.to_dict()["records"]


def test_an_error_is_the_one_of_one_process(tmp_path, inputs):
    path = spoil(inputs)
    errors = []
    for workers in (1, prr.Cluster()):
        with pytest.raises(pr.CorruptionError) as caught:
            tools.reshard(inputs, tmp_path / "out@2", workers=workers)
        errors.append(caught.value)
    assert str(errors[0]) == str(errors[1])
    assert type(errors[0]) is type(errors[1])
    assert str(path) in str(errors[1])
    assert not list(tmp_path.glob("out*"))


def test_salvage_all_saves_every_sound_record_and_reports_the_rest(tmp_path, inputs):
    spoil(inputs)
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"nothing")
    files = [*sorted(Path(inputs).parent.glob(Path(inputs).name)), foreign]
    outcomes = []
    for number, workers in enumerate((1, prr.Cluster())):
        (tmp_path / f"saved-{number}").mkdir()
        jobs = [(file, tmp_path / f"saved-{number}" / file.name, None) for file in files]
        outcomes.append(pr.salvage_all(jobs, workers=workers))
    here, there = outcomes
    assert [str(one).replace("saved-0", "saved-1") for one in here] == [str(one) for one in there]
    assert isinstance(there[-1], pr.CorruptionError)
    assert files_of(tmp_path / "saved-0") == files_of(tmp_path / "saved-1")


class Job:
    """Kills its process at the file "once", the first time, and at the file "always"."""

    def __init__(self, folder) -> None:
        self.folder = folder

    def __call__(self, file, progress):
        flag = self.folder / file
        if file == "always" or (file == "once" and not flag.exists()):
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if file == "wrong":
            raise pr.CorruptionError("no record", path="a", offset=3)
        progress(10, 1)
        return file.upper()


def test_a_job_whose_process_dies_is_tried_again_and_then_given_up(tmp_path):
    # The job lies in a module of the tests, which the workers do not know by name.
    ray.cloudpickle.register_pickle_by_value(__import__(__name__, fromlist=["Job"]))
    seen = []
    files = ["a", "once", "always", "b"]
    found = prr.Cluster().run_all(Job(tmp_path), files, lambda size, count: seen.append((size, count)))
    assert found == ["A", "ONCE", None, "B"]
    assert seen == [(10, 1)] * 3
    with pytest.raises(pr.CorruptionError) as caught:
        prr.Cluster(limit=2).run_all(Job(tmp_path), ["a", "wrong", "b", "c"], None)
    assert (caught.value.path, caught.value.offset) == ("a", 3)


class Slow:
    """Writes to a file for ten seconds; the file "wrong" is an error as soon as the others have begun."""

    def __init__(self, folder) -> None:
        self.folder = folder

    def __call__(self, file, progress):
        if file == "wrong":
            while not (self.folder / "slow").exists():
                time.sleep(0.02)
            raise pr.CorruptionError("no record", path="a", offset=3)
        for _ in range(500):
            with open(self.folder / file, "ab") as out:
                out.write(b"x")
            time.sleep(0.02)


def test_after_an_error_no_task_works_on(tmp_path):
    ray.cloudpickle.register_pickle_by_value(__import__(__name__, fromlist=["Slow"]))
    for _ in range(3):
        with pytest.raises(pr.CorruptionError):
            prr.Cluster().run_all(Slow(tmp_path), ["slow", "wrong", "after", "last"], None)
        sizes = [path.stat().st_size for path in sorted(tmp_path.iterdir())]
        time.sleep(0.3)
        assert [path.stat().st_size for path in sorted(tmp_path.iterdir())] == sizes
        for path in tmp_path.iterdir():
            path.unlink()


def test_wrong_arguments_are_told_at_once(inputs):
    with pytest.raises(ValueError, match="limit must be positive"):
        prr.Cluster(limit=0)
    for workers in (0, "many"):
        with pytest.raises((ValueError, TypeError), match="workers must be"):
            pr.validate(inputs, workers=workers)


@pytest.mark.parametrize("command", [["validate", "--json"], ["validate", "-q"]])
def test_the_shell_prints_the_same_with_both_engines(inputs, command):
    spoil(inputs)
    found = [run(*command, inputs, *engine) for engine in ([], ["--engine", "ray", "--workers", "2"])]
    assert found[0] == found[1]
    assert found[0][0] == 3


def test_the_shell_rewrites_and_salvages_on_a_cluster(tmp_path, inputs):
    code, text, _ = run("reshard", inputs, f"{tmp_path}/new@2", "--engine", "ray", "--json")
    assert (code, json.loads(text)["records"]) == (0, len(records([inputs])))
    assert records([tmp_path / "new@2"]) == records([inputs])
    spoil(inputs)
    code, text, error = run("salvage", "--only-damaged", inputs, f"{tmp_path}/saved/", "--engine", "ray")
    assert (code, error) == (3, "")
    assert len(os.listdir(tmp_path / "saved")) == 1


def run(*arguments: str) -> tuple[int, str, str]:
    """The exit code, and what a command prints, which connects to the cluster of this process."""
    environment = {**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address, "PYTHONPATH": HOME}
    command = [sys.executable, "-m", "purerecord", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr
