"""Tasks run here or in worker processes."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

import pytest

from purerecord.tools.rewrite.tasks import run_tasks
from purerecord.tools.rewrite.work_folder import WorkFolder


@dataclass(frozen=True)
class Note:
    name: str
    fails: str = ""

    def run(self, folder, progress):
        if self.fails == "error":
            raise ValueError("no")
        if self.fails == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        progress(10, 1)
        folder.mark(self.name, {"by": os.getpid()})


@pytest.mark.parametrize("workers", [1, 2, 9])
def test_every_task_notes_its_result(tmp_path, workers):
    told = []
    folder = WorkFolder(str(tmp_path))
    run_tasks(folder, [Note("a"), Note("b"), Note("c")], workers, lambda *done: told.append(done))
    by = {folder.done(name)["by"] for name in "abc"}
    assert (os.getpid() in by) == (workers == 1)
    assert sum(size for size, _ in told) == 30


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_raised(tmp_path, workers):
    with pytest.raises(ValueError, match="no"):
        run_tasks(WorkFolder(str(tmp_path)), [Note("a"), Note("b", "error")], workers, None)


def test_a_killed_worker_is_told(tmp_path):
    folder = WorkFolder(str(tmp_path))
    with pytest.raises(ChildProcessError, match="a worker process was killed; was memory short"):
        run_tasks(folder, [Note("a"), Note("b", "killed")], 2, None)
    assert folder.done("a")


class Elsewhere:
    """A cluster of one process, which is this one, and which perhaps does not see the work folder."""

    def __init__(self, hides=None) -> None:
        self.hides = hides

    size = 1

    def run_all(self, job, files, progress):
        if self.hides is not None:
            self.hides.rmdir()
        return [job(file, progress) for file in files]


def test_a_cluster_gets_even_a_single_task(tmp_path):
    told = []
    run_tasks(WorkFolder(str(tmp_path)), [Note("a")], Elsewhere(), lambda *done: told.append(done))
    assert WorkFolder(str(tmp_path)).done("a")
    assert told == [(10, 1)]


def test_a_node_that_does_not_see_the_folder_says_so(tmp_path):
    place = tmp_path / "work"
    place.mkdir()
    with pytest.raises(FileNotFoundError, match="this node does not see the folder for temporary files"):
        run_tasks(WorkFolder(str(place)), [Note("a")], Elsewhere(hides=place), None)
