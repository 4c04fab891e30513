"""``WorkFolder``: where a run keeps its temporary files and what it has done.

The name of the folder follows from that of the output. So the next run finds what a killed one has left: it
removes it or, if it is asked to and nothing has changed, goes on with it. One run at a time holds the folder.
This module must not know what is rewritten.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from contextlib import suppress
from typing import Any

import numpy as np

from ...printable import printable
from ...storage.file_lock import FileLock
from ...storage.url import Url
from ...storage.whole_file import write_whole

SUFFIX = ".rewriting"
_PLAN, _LOCK = "plan.json", "lock"


class WorkFolder:
    """The folder at ``path``; it can be pickled and sent to a worker process."""

    def __init__(self, path: str) -> None:
        self.path = path

    def file(self, name: str) -> str:
        """The path of a file in the folder."""
        return os.path.join(self.path, name)

    def mark(self, name: str, result: dict[str, Any]) -> None:
        """Note that the task ``name`` is done; its files must be on disk already."""
        write_whole(self.file(f"{name}.done"), json.dumps(result).encode())

    def save_array(self, name: str, array: Any) -> None:
        """Write an array to a file, and flush it to disk."""
        with open(self.file(f"{name}.npy"), "wb") as file:
            np.save(file, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())

    def load_array(self, name: str) -> Any:
        """An array that was saved; only what is used of it takes memory."""
        path = self.file(f"{name}.npy")
        try:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:  # an empty array cannot be mapped
            return np.load(path, allow_pickle=False)

    def done(self, name: str) -> dict[str, Any] | None:
        """The result of the task ``name``; None unless it is done.

        After a loss of power a note can be empty: what it says is then not known, so it is done again.
        """
        try:
            with open(self.file(f"{name}.done"), "rb") as file:
                result: dict[str, Any] = json.loads(file.read())
                return result
        except (FileNotFoundError, ValueError):
            return None

    def has_begun(self, name: str) -> bool:
        """Whether a note of this name was made, whatever is left of it."""
        return os.path.lexists(self.file(f"{name}.done"))


class HeldFolder(WorkFolder):
    """A ``WorkFolder`` that this run has begun, or goes on with, and that no other run can use."""

    def __init__(self, path: str, plan: dict[str, Any], *, resume: bool) -> None:
        super().__init__(path)
        os.makedirs(path, mode=0o700, exist_ok=True)
        self._check_ours()
        try:
            self._lock = FileLock(self.file(_LOCK), wait=False)
        except BlockingIOError:
            raise BlockingIOError(errno.EAGAIN, "another run is writing this output", path) from None
        try:
            self.resumed = resume and self._goes_on(plan)
            if not self.resumed:
                self._clear()
                write_whole(self.file(_PLAN), json.dumps(plan).encode())
        except BaseException:
            self.release()
            raise

    def _check_ours(self) -> None:
        if hasattr(os, "getuid") and os.stat(self.path).st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "this temporary folder belongs to somebody else", self.path)

    def _goes_on(self, plan: dict[str, Any]) -> bool:
        """Whether there is a run to go on with; a ValueError if its plan was another one."""
        try:
            with open(self.file(_PLAN), "rb") as file:
                before = json.loads(file.read())
        except (FileNotFoundError, ValueError):
            return False
        plan = json.loads(json.dumps(plan))
        for key, value in plan.items():
            if before.get(key) != value:
                raise ValueError(
                    f"the run that was stopped differs in its {key}{_difference(before.get(key), value)}; "
                    "begin anew, without resuming"
                )
        return True

    def _clear(self) -> None:
        for entry in os.scandir(self.path):
            if entry.name == _LOCK:
                continue
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)

    def release(self) -> None:
        """Leave the folder to the next run, which may go on with it."""
        self._lock.release()

    def remove(self) -> None:
        """Remove the folder; its plan first, so that no run goes on with the rest."""
        os.unlink(self.file(_PLAN))
        self._clear()
        self._lock.release(remove=True)
        with suppress(OSError):
            os.rmdir(self.path)


def _difference(before: Any, now: Any) -> str:
    """The first of two lists' items in which they differ, as text; "" if they are no lists of files."""
    if not isinstance(before, list) or not isinstance(now, list):
        return ""
    for one, other in zip(before, now, strict=False):
        if one != other:
            what = "it has changed" if one[0] == other[0] else f"it was {printable(str(one[0]))}"
            return f": {printable(str(other[0]))}: {what}"
    return f": it had {len(before)} files, now {len(now)}"


def work_folder_path(output: str, temporary: str | None) -> str:
    """The path of the folder for the run that writes ``output``, which may be a ``Url``."""
    if isinstance(output, Url) or temporary is not None:
        whole = output.address if isinstance(output, Url) else os.path.abspath(output)
        name = f"purerecord-{hashlib.sha256(os.fsencode(whole)).hexdigest()[:16]}"
        return os.path.join(temporary or tempfile.gettempdir(), name + SUFFIX)
    folder, name = os.path.split(output.rstrip(os.sep))
    return os.path.join(folder, f".{name}{SUFFIX}")
