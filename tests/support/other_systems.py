"""What Windows and macOS do differently, simulated: tests run on Linux only."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest


def sync_as_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """``os.fsync`` refuses a file that is not open for writing."""
    import fcntl  # noqa: PLC0415 - Windows has none, and needs no simulation

    fsync = os.fsync

    def sync(file: int) -> None:
        if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        fsync(file)

    monkeypatch.setattr(os, "fsync", sync)


def replace_as_windows(monkeypatch: pytest.MonkeyPatch, *opened: Any) -> None:
    """``os.replace`` refuses to replace the files ``opened``, which a program has open."""
    replace = os.replace

    def refuse(source: Any, target: Any) -> None:
        if os.fspath(target) in map(os.fspath, opened):
            raise PermissionError(errno.EACCES, "Access is denied", source, 5, target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)


def limit_calls_as_macos(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """``pread``, ``preadv`` and ``writev`` refuse more than ``most`` bytes at once: 2 GiB, on macOS."""
    pread, preadv, writev = os.pread, os.preadv, os.writev

    def check(size: int) -> None:
        if size > most:
            raise OSError(errno.EINVAL, "Invalid argument")

    def limited_pread(file: int, size: int, offset: int) -> bytes:
        check(size)
        return pread(file, size, offset)

    def limited_preadv(file: int, views: list[Any], offset: int) -> int:
        check(sum(map(len, views)))
        return preadv(file, views, offset)

    def limited_writev(file: int, pieces: list[Any]) -> int:
        check(sum(map(len, pieces)))
        return writev(file, pieces)

    monkeypatch.setattr(os, "pread", limited_pread)
    monkeypatch.setattr(os, "preadv", limited_preadv)
    monkeypatch.setattr(os, "writev", limited_writev)
