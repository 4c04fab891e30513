"""``Catalog``: the files of a viewer, and the threads that count their records in the background.

A file is opened when its turn comes, or when somebody asks for its rows; a file that cannot be read has a
status that says why. This module does not know what a payload means, nor how it is shown.
"""

from __future__ import annotations

import errno
import os
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..container.looks_like import detect
from ..errors import PureRecordError
from ..printable import printable
from ..storage.file_handles import OpenFiles, open_file
from ..storage.inflate import decode_block_header
from ..storage.opened import HEAD_SIZE
from ..storage.paths import Named, resolve, without_indexes
from ..storage.remote_file import NoRangesError
from ..storage.url import Url, local_path
from .block_file import BlockFile
from .limits import Limits
from .plain_file import PlainFile
from .source import Source
from .spool import Spool
from .spooled_file import SpooledFile

_THREADS = 2
_FOLDERS = re.compile("/" if os.sep == "/" else r"[/\\]")
# What may go wrong with a file.
FAULTS = (PureRecordError, OSError, ValueError, ImportError, MemoryError)


class ShownFile:
    """One file of the catalog; ``source`` is None until it is opened, and if it cannot be."""

    def __init__(
        self, number: int, named: Named, compression: Any, limits: Limits, *, files: OpenFiles, spool: Spool
    ) -> None:
        self.number = number
        name = named if isinstance(named, str) else str(getattr(named, "name", "<stream>"))
        self.name = printable(name)
        self.short = printable(re.split(_FOLDERS, name)[-1] or name)
        self.source: Source | None = None
        self.failure: str | None = None
        self.busy = False  # whether a thread is at work on it
        self.counted = self.checked = False  # whether nothing is left to do, for now
        self._named = named
        self._compression = compression
        self._limits = limits
        self._files = files
        self._spool = spool
        self._lock = threading.Lock()

    @property
    def ended(self) -> bool:
        """Whether no more records will be known than there are now, although there may be more."""
        source = self.source
        return self.failure is not None or (source is not None and self.counted and not source.can_go_on)

    @property
    def status(self) -> str:
        """One word for what is known of the file."""
        if self.failure is not None:
            return "failed"
        if self.source is None:
            return "waiting"
        if self.source.exact and not self.source.count and self.source.damages.count:
            return "failed"
        if not self.source.exact:
            return "limited" if self.counted else "scanning"
        return "done" if self.checked else "checking"

    @property
    def message(self) -> str | None:
        """A sentence about the status, if there is something to say."""
        if self.failure is not None or self.source is None:
            return self.failure
        if self.status == "failed" and self.source.message is None:
            return f"no good record in the file: {next(iter(self.source.damages))}"
        return self.source.message

    def open(self) -> Source | None:
        """The open file; None if it cannot be read."""
        with self._lock:
            if self.source is None and self.failure is None:
                try:
                    self.source = self._opened()
                except FAULTS as error:
                    self.fail(error)
        return self.source

    def fail(self, error: BaseException) -> None:
        """Remember why the file cannot be read."""
        plain = error.strerror if isinstance(error, OSError) else None  # without its number
        told = f"{self.short}: {plain}" if plain else printable(str(error))
        self.failure = told or type(error).__name__
        self.counted = self.checked = True

    def _opened(self) -> Source:
        named, limits = self._named, self._limits
        if not isinstance(named, str) or not _can_seek(named):
            return SpooledFile(named, self._compression, None, limits, self._spool)
        try:
            with _closing(open_file(named)) as file:
                size, head = file.size(), file.read_at(0, HEAD_SIZE)
        except NoRangesError:
            return SpooledFile(named, self._compression, None, limits, self._spool)
        compression = detect(head) if self._compression == "auto" else self._compression
        if not compression:
            return PlainFile(named, limits, self._files)
        if decode_block_header(head) is not None:
            with suppress(PureRecordError, ValueError):  # one whose blocks are damaged is read forward
                return BlockFile(named, limits, self._files)
        return SpooledFile(named, compression, size, limits, self._spool)

    def step(self) -> None:
        """Do the next piece of the work in the background."""
        source = self.open()
        if source is None:
            return
        try:
            if not self.counted:
                self.counted = not source.walk()
            elif not self.checked:
                self.checked = not source.check()
        except FAULTS as error:
            self.fail(error)


class _closing:  # noqa: N801 - like contextlib's, for what may have no close
    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> Any:
        return self._file

    def __exit__(self, *_: object) -> None:
        getattr(self._file, "close", lambda: None)()


def _can_seek(name: str) -> bool:
    return isinstance(local_path(name), Url) or os.path.isfile(name) or not os.path.exists(name)


class Catalog:
    """The files that ``paths`` name."""

    def __init__(self, paths: Any, compression: Any, limits: Limits) -> None:
        self.limits = limits
        found = resolve(_unfolded(paths), missing_ok=True)
        self.cut = len(found) > limits.files
        self._spool = Spool(limits.spool_total)
        files = OpenFiles()
        self.files = [
            ShownFile(number, named, compression, limits, files=files, spool=self._spool)
            for number, named in enumerate(found[: limits.files])
        ]
        self._wanted: list[ShownFile] = []  # the file that was asked for last comes first
        self._changed = threading.Condition()
        self._closed = False
        self._next_to_count = self._next_to_check = 0  # files before these have had their turn

    # --- The threads in the background --------------------------------------------------------------

    def start(self) -> None:
        """Begin to count records."""
        for number in range(_THREADS):
            threading.Thread(target=self._work, name=f"purerecord-view-{number}", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (file := self._next()) is None:
                    self._changed.wait()
                if self._closed:
                    return
                assert file is not None
                file.busy = True
            try:
                file.step()
            finally:
                with self._changed:
                    file.busy = False
                    self._changed.notify_all()

    def _next(self) -> ShownFile | None:
        """The file that needs work most: one that was asked for, one to be counted, one to be checked."""
        self._wanted = [file for file in self._wanted if not file.counted]
        for file in self._wanted:
            if not file.busy:
                return file
        self._next_to_count = self._skip_done(self._next_to_count, "counted")
        for file in self.files[self._next_to_count : self._next_to_count + _THREADS]:
            if not file.busy and not file.counted:
                return file
        if self._next_to_count < len(self.files):
            return None
        self._next_to_check = self._skip_done(self._next_to_check, "checked")
        for file in self.files[self._next_to_check : self._next_to_check + _THREADS]:
            if not file.busy and not file.checked:
                return file
        return None

    def _skip_done(self, number: int, what: str) -> int:
        while number < len(self.files) and getattr(self.files[number], what):
            number += 1
        return number

    def close(self) -> None:
        """Stop the threads and close the files."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            while any(file.busy for file in self.files):
                if not self._changed.wait(1.0):
                    break
        for file in self.files:
            if file.source is not None and not file.busy:
                file.source.close()
        self._spool.close()

    # --- Questions ----------------------------------------------------------------------------------

    def reach(self, file: ShownFile, row: int) -> Source | None:
        """The open file, once ``row`` is known or all are counted, or after a while; None if it failed."""
        source = file.open()
        if source is None:
            return None
        with self._changed:
            if source.count > row or source.exact:
                return source
            if file.counted and file.failure is None:
                if not source.allow_more():
                    return source
                file.counted = False
            if file not in self._wanted:
                self._wanted.insert(0, file)
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: source.count > row or file.counted or self._closed, self.limits.scan_wait
            )
        return source

    def wait_until_counted(self, timeout: float | None = None) -> bool:
        """Wait until all files are counted and checked, for tests and reports; whether they are."""
        with self._changed:
            return self._changed.wait_for(
                lambda: all(file.checked and not file.busy for file in self.files), timeout
            )

    @property
    def closed(self) -> bool:
        """Whether the viewer is closed."""
        return self._closed

    @property
    def busy(self) -> bool:
        """Whether there is work left."""
        return any(not (file.counted and file.checked) for file in self.files)

    def totals(self) -> dict[str, Any]:
        """What is known of all files together."""
        sources = [file.source for file in self.files if file.source is not None]
        return {
            "records": sum(source.count for source in sources),
            "exact": all(
                file.failure is not None or (file.source is not None and file.source.exact)
                for file in self.files
            ),
            "size": sum(source.size or 0 for source in sources),
            "damages": sum(source.damages.count for source in sources),
        }


def _unfolded(paths: Any) -> Any:
    """``paths``, with the files of local folders in their place: those called tfrecord, if there are any."""
    if isinstance(paths, (list, tuple)):
        return [_unfolded(path) for path in paths]
    if not isinstance(paths, (str, bytes, os.PathLike)) or isinstance(local_path(paths), Url):
        return paths
    folder = local_path(paths)
    if not os.path.isdir(folder):
        return paths
    names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    inside = [os.path.join(folder, name) for name in names]
    inside = without_indexes([name for name in inside if not os.path.isdir(name)])
    records = [name for name in inside if "tfrec" in os.path.basename(name).lower()]
    if not inside:
        raise FileNotFoundError(errno.ENOENT, "there is no file in the folder", folder)
    return records or inside


def known_files(files: Sequence[ShownFile]) -> list[dict[str, Any]]:
    """What is known of each of some files."""
    return [_known(file) for file in files]


def _known(file: ShownFile) -> dict[str, Any]:
    source = file.source
    facts: dict[str, Any] = {"file": file.number, "name": file.name, "short": file.short}
    facts |= {"status": file.status, "message": file.message}
    facts |= {"can_go_on": source is not None and file.counted and source.can_go_on}
    if source is None:
        unknown = dict.fromkeys(("size", "compression", "plain_size", "progress"))
        return facts | unknown | {"records": 0, "exact": False, "walked": 0, "verified": 0, "damages": 0}
    return facts | {
        "size": source.size,
        "compression": source.compression,
        "records": source.count,
        "exact": source.exact,
        "walked": source.walked,
        "plain_size": source.plain_size,
        "verified": source.verified,
        "damages": source.damages.count,
        "progress": source.progress,
    }
