"""Rewriting in tests: files to rewrite, what they hold, and runs that are killed at every step."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from purerecord import TFRecordWriter, encode_example, read_records
from purerecord.container.writer import TFRecordWriter as _Writer
from purerecord.tools.rewrite import publish, work_folder

PAYLOADS = [
    encode_example({"id": i, "label": i % 3, "score": i / 10, "name": f"{i:03d}" * (i % 4)})
    for i in range(200)
]


def write_inputs(folder: Path, payloads: list[bytes] = PAYLOADS, files: int = 3, options: Any = None) -> str:
    """Write ``payloads`` to files of different lengths, and give the glob of these."""
    folder.mkdir(exist_ok=True)
    bounds = [len(payloads) * n * n // (files * files) for n in range(files + 1)]
    for number in range(files):
        with TFRecordWriter(folder / f"in-{number}.tfrecord", options) as writer:
            writer.write_many(payloads[bounds[number] : bounds[number + 1]])
    return str(folder / "in-*.tfrecord")


def shards(paths: Any) -> list[list[bytes]]:
    """The records of each file."""
    return [list(read_records(path)) for path in paths]


def records(paths: Any) -> list[bytes]:
    """The records of all files, in order."""
    return [record for shard in shards(paths) for record in shard]


def files_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder, with their content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# What changes something on disk. A process is killed right before, one call after the other.
_STEPS = (
    (_Writer, "write_many"),
    (_Writer, "close"),
    (work_folder.WorkFolder, "mark"),
    (work_folder, "write_whole"),
    (publish, "replace"),
    (os, "replace"),
    (os, "fsync"),
    (os, "unlink"),
)


def killed_before_step(number: int, work: Callable[[], Any]) -> bool:
    """Do ``work`` in a forked process that is killed before step ``number``; False if it has ended before."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the work has failed in the child"
        return os.WIFSIGNALED(status)
    left = [number]
    for holder, name in _STEPS:
        setattr(holder, name, _counting(getattr(holder, name), left))
    try:
        work()
    except BaseException:
        os._exit(1)
    os._exit(0)


def _counting(function: Any, left: list[int]) -> Any:
    def counting(*arguments: Any, **more: Any) -> Any:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        return function(*arguments, **more)

    return counting


def kills(work: Callable[[], Any], step: int = 1) -> Iterator[int]:
    """Kill ``work`` before every ``step``-th of its steps; what the caller does between is up to it."""
    number = 0
    while killed_before_step(number, work):
        yield number
        number += step
    assert number, "nothing was killed"
