"""The pool of worker processes: a worker that dies costs one file, not the others."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor

from purerecord.processes.pool import run_all


def fatal(file: str, count) -> str:
    """A job that kills its process on some files."""
    if file.startswith("fatal"):
        os.kill(os.getpid(), signal.SIGKILL)
    count(1, 1)
    return file.upper()


def test_file_that_kills_its_worker_does_not_take_the_others_with_it():
    files = ["a", "b", "fatal 1", "c", "fatal 2", "d"]
    assert run_all(fatal, files, 2, None) == ["A", "B", None, "C", None, "D"]


def test_worker_that_dies_before_all_is_handed_out(monkeypatch):
    submit = ProcessPoolExecutor.submit

    def late(pool, *arguments):
        future = submit(pool, *arguments)
        future.exception(timeout=20)  # by then its process has died, and the pool takes no more
        return future

    monkeypatch.setattr(ProcessPoolExecutor, "submit", late)
    assert run_all(fatal, ["a", "fatal", "b", "c"], 2, None) == ["A", None, "B", "C"]
