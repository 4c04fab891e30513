"""The pool: results in order, progress of all processes together, a file that kills its process."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor

import pytest

from purerecord.processes.pool import check_workers, run_all


def length(name: str, progress) -> int:
    """The job: the length of a name. Some names kill the process, or are an error."""
    if name.startswith("fatal"):
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "bad":
        raise ValueError(name)
    progress(len(name), 1)
    return len(name)


def test_results_come_in_the_order_of_the_files_and_progress_adds_up():
    told: list[tuple[int, int]] = []
    assert run_all(length, ["a", "ccc", "bb"], 2, lambda *done: told.append(done)) == [1, 3, 2]
    assert [sum(column) for column in zip(*told, strict=True)] == [6, 3]


def test_file_that_kills_its_worker_does_not_take_the_others_with_it():
    files = ["a", "bb", "fatal 1", "ccc", "fatal 2", "dddd"]
    assert run_all(length, files, 2, None) == [1, 2, None, 3, None, 4]


def test_worker_that_dies_before_all_is_handed_out(monkeypatch):
    submit = ProcessPoolExecutor.submit

    def late(pool, *arguments):
        future = submit(pool, *arguments)
        future.exception(timeout=20)  # by then its process has died, and the pool takes no more
        return future

    monkeypatch.setattr(ProcessPoolExecutor, "submit", late)
    assert run_all(length, ["a", "fatal", "bb", "ccc"], 2, None) == [1, None, 2, 3]


class Elsewhere:
    """A cluster of one process, which is this one."""

    def __init__(self) -> None:
        self.given: list[str] = []

    size = 1

    def run_all(self, job, files, progress):
        self.given += files
        return [job(file, progress) for file in files]


def test_a_cluster_gets_the_job_and_the_files():
    told: list[tuple[int, int]] = []
    cluster = Elsewhere()
    check_workers(cluster)
    assert run_all(length, ["a", "bb"], cluster, lambda *done: told.append(done)) == [1, 2]
    assert (cluster.given, told) == (["a", "bb"], [(1, 1), (2, 1)])


@pytest.mark.parametrize("workers", [0, -1, "ray", 2.0])
def test_workers_are_a_number_or_a_cluster(workers):
    with pytest.raises((TypeError, ValueError), match="workers must be"):
        check_workers(workers)


def test_error_of_a_job_is_raised():
    with pytest.raises(ValueError, match="bad"):
        run_all(length, ["a", "bad"], 2, None)
