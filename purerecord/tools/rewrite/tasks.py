"""``run_tasks``: the tasks of a run, here, in several worker processes, or on a cluster.

A task is an object that can be pickled, with a ``name`` and a method ``run(folder, progress)``. It notes its
result in the work folder, where the caller finds it; all nodes of a cluster must see that folder. This module
must not know what a task does.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ...processes.pool import Progress, Workers, no_progress
from .work_folder import WorkFolder


class Task(Protocol):
    """A part of the work."""

    @property
    def name(self) -> str:
        """What it is called."""

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Do it, and mark it in ``folder`` as done."""


@dataclass(frozen=True)
class _Job:
    folder: WorkFolder

    def __call__(self, task: Task, progress: Progress) -> bool:
        if not os.path.isdir(self.folder.path):
            reason = "this node does not see the folder for temporary files; name one that all nodes see"
            raise FileNotFoundError(errno.ENOENT, reason, self.folder.path)
        task.run(self.folder, progress)
        return True


def run_tasks(folder: WorkFolder, tasks: Sequence[Task], workers: Workers, progress: Progress | None) -> None:
    """Run all tasks, up to ``workers`` at the same time, or as many as a cluster does."""
    job = _Job(WorkFolder(folder.path))
    if isinstance(workers, int) and (workers == 1 or len(tasks) < 2):
        for task in tasks:
            job(task, progress or no_progress)
        return
    from ...processes.pool import run_all  # noqa: PLC0415 - slow to import

    if not all(run_all(job, tasks, workers, progress)):
        raise ChildProcessError(
            "a worker process was killed; was memory short? Fewer workers need less; resuming goes on there"
        )
