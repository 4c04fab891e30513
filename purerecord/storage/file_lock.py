"""``FileLock``: a lock that processes of one machine share, held through a file.

The system releases it when its holder ends, however that ends. Threads exclude each other too. This module
does not know what is locked.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from typing import Any

_PAUSE = 0.05  # seconds between two looks, where the system cannot wait


class FileLock:
    """Holds the lock at ``path``; BlockingIOError if it is held elsewhere and this shall not ``wait``.

    >>> with FileLock("lock"):
    ...     ...
    """

    def __init__(self, path: str, *, wait: bool = True) -> None:
        self._path = path
        self._descriptor = _held(path, wait=wait)
        while not _is_at(self._descriptor, path):  # its holder has removed it meanwhile
            os.close(self._descriptor)
            self._descriptor = _held(path, wait=wait)

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self, *, remove: bool = False) -> None:
        """Let the next one have it; ``remove`` removes its file."""
        if remove:
            with suppress(OSError):  # Windows removes no file that is open
                os.unlink(self._path)
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _held(path: str, *, wait: bool) -> int:
    """An open descriptor of the file at ``path`` that holds its lock."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        while not _try(descriptor, wait=wait):
            if not wait:
                raise BlockingIOError(errno.EAGAIN, "another process holds it", path)
            time.sleep(_PAUSE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _try(descriptor: int, *, wait: bool) -> bool:
    """Lock the file, and say whether that succeeded; may wait for it."""
    try:
        import fcntl  # noqa: PLC0415 - Windows has none
    except ImportError:
        return _try_on_windows(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_on_windows(descriptor: int) -> bool:
    import msvcrt  # noqa: PLC0415 - Windows only

    module: Any = msvcrt
    try:
        module.locking(descriptor, module.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def _is_at(descriptor: int, path: str) -> bool:
    """Whether ``path`` is still the name of the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
