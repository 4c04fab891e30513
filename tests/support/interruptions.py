"""Interrupts at a chosen moment inside purerecord: an exception, or anything else that a test does there.

A moment is a place where Python handles signals: before a line, and after a C function has returned, when its
result is lost. Python does not look at signals before ``return name``, nor in the middle of entering or
leaving ``with lock``, so these lines are no moments. What is raised in ``__del__``, Python ignores.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import purerecord

_HOME = os.path.dirname(purerecord.__file__) + os.sep
_NO_MOMENT = re.compile(r"(return( \w+)?|with .*)\s*(#.*)?$")


def interrupt() -> None:
    """What Ctrl-C does."""
    raise KeyboardInterrupt


class Moments:
    """Counts the moments in a block, and calls ``act`` at one of them."""

    def __init__(self, at: int | None = None, act: Callable[[], None] = interrupt) -> None:
        self.count = 0
        self._at = at
        self._act = act
        self._done = False

    def _moment(self, frame: FrameType) -> None:
        if self._done:
            return
        self.count += 1
        if self._at is not None and self.count >= self._at and not _is_in_del(frame):
            self._done = True
            self._act()

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_HOME):
            return None
        if event == "line" and not _NO_MOMENT.match(_line(frame).strip()):
            self._moment(frame)
        return self._trace

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_return" and frame.f_code.co_filename.startswith(_HOME):
            self._moment(frame)

    @contextmanager
    def counted(self) -> Iterator[Moments]:
        """The block whose moments count."""
        tracing, profiling = sys.gettrace(), sys.getprofile()
        sys.settrace(self._trace)
        sys.setprofile(self._profile)
        try:
            yield self
        finally:
            sys.setprofile(profiling)
            sys.settrace(tracing)


def _is_in_del(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


def _line(frame: FrameType) -> str:
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno)
