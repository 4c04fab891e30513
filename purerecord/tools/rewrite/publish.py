"""Publishing: complete shards leave the work folder and get their names, all at the end.

Old shards of the same names are moved into the work folder first. If the process is killed meanwhile, shards
are missing, which every reader of the shard pattern notices; a run that goes on finds out how far it came.
In a store a file appears whole, and the last shard, without which the set is not complete, comes last.
This module must not know what the shards hold.
"""

from __future__ import annotations

import errno
import filecmp
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from ...processes.pool import Progress, Workers
from ...storage.paths import replace, writing
from ...storage.stores import Upload, remove
from ...storage.url import Url
from .tasks import run_tasks
from .work_folder import WorkFolder

# Bytes that are sent to a store at once.
_SENT_AT_ONCE = 1 << 22


class Complete(NamedTuple):
    """A shard that is complete: its name in the work folder, and the name that it gets."""

    file: str
    target: str


def publish(
    folder: WorkFolder, shards: Sequence[Complete], workers: Workers, beside: WorkFolder | None = None
) -> None:
    """Give the shards their names; they go to a folder ``beside`` the output first, if there is one."""
    if shards and isinstance(shards[0].target, Url):
        _upload_all(folder, shards, workers)
        return
    for shard in shards:
        parent = os.path.dirname(shard.target)
        if parent:
            os.makedirs(parent, exist_ok=True)
    if beside is not None:
        for shard in shards:
            _bring(folder.file(shard.file), beside.file(shard.file))
        folder = beside
    began = folder.has_begun("publishing")
    folder.mark("publishing", {})
    waiting = [shard for shard in shards if not began or os.path.lexists(folder.file(shard.file))]
    _replace_all(folder, waiting)


def _bring(source: str, target: str) -> None:
    """Move a shard from one folder to another, perhaps on another disk, where it is read back."""
    if not os.path.lexists(source):
        return  # a run with which this one goes on has brought it
    try:
        os.replace(source, target)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    temporary = f"{target}.partial"
    with writing(temporary):
        shutil.copyfile(source, temporary)
        with open(temporary, "r+b") as file:  # Windows syncs only what is open for writing
            os.fsync(file.fileno())
    if not filecmp.cmp(source, temporary, shallow=False):
        raise OSError(errno.EIO, "what was read back is not what was written; is the disk sound?", temporary)
    os.replace(temporary, target)
    os.unlink(source)


def _replace_all(folder: WorkFolder, shards: Sequence[Complete]) -> None:
    moved: list[tuple[str, str]] = []  # from where to where
    try:
        for shard in shards:
            if os.path.lexists(shard.target):
                with writing(shard.target):
                    _move(shard.target, folder.file(f"old-{shard.file}"), moved)
        for shard in shards:
            with writing(shard.target):
                _move(folder.file(shard.file), shard.target, moved)
    except BaseException:
        for source, target in reversed(moved):
            with suppress(OSError):
                os.replace(target, source)
        raise


def _move(source: str, target: str, moved: list[tuple[str, str]]) -> None:
    moved.append((source, target))
    replace(source, target)


@dataclass(frozen=True)
class UploadShard:
    """A task that sends a shard to a store."""

    shard: Complete

    @property
    def name(self) -> str:
        """What it is called."""
        return f"sent-{self.shard.file}"

    def run(self, folder: WorkFolder, progress: Progress) -> None:
        """Send it."""
        target = self.shard.target
        assert isinstance(target, Url)
        upload = Upload(target)
        try:
            with open(folder.file(self.shard.file), "rb") as file:
                while data := file.read(_SENT_AT_ONCE):
                    upload.write(data)
                    progress(len(data), 0)
            upload.commit()
        except BaseException:
            upload.discard()
            raise
        folder.mark(self.name, {})


def _upload_all(folder: WorkFolder, shards: Sequence[Complete], workers: Workers) -> None:
    *first, last = [UploadShard(shard) for shard in shards]
    if first and isinstance(last.shard.target, Url):
        remove(last.shard.target)  # an old one: a set without it is not complete for any reader
    waiting = [task for task in first if folder.done(task.name) is None]
    run_tasks(folder, waiting, workers, None)
    run_tasks(folder, [last], 1, None)
