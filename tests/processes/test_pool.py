"""The pool: results in order, progress of all processes together, a file that kills its process."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor

import pytest

from purerecord.processes.pool import run_all


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


def test_error_of_a_job_is_raised():
    with pytest.raises(ValueError, match="bad"):
        run_all(length, ["a", "bad"], 2, None)
