"""The pool: results in order, progress of all processes together, a file that kills its process."""

from __future__ import annotations

import os

import pytest

from purerecord.processes.pool import run_all


def length(name: str, progress) -> int:
    if name == "fatal":
        os._exit(9)
    if name == "bad":
        raise ValueError(name)
    progress(len(name), 1)
    return len(name)


def test_results_come_in_the_order_of_the_files_and_progress_adds_up():
    told: list[tuple[int, int]] = []
    assert run_all(length, ["a", "ccc", "bb"], 2, lambda *done: told.append(done)) == [1, 3, 2]
    assert [sum(column) for column in zip(*told, strict=True)] == [6, 3]


def test_file_that_kills_its_process_has_no_result_and_the_others_have_theirs():
    assert run_all(length, ["a", "fatal", "bb"], 2, None) == [1, None, 2]


def test_error_of_a_job_is_raised():
    with pytest.raises(ValueError, match="bad"):
        run_all(length, ["a", "bad"], 2, None)
