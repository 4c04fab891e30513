"""Interrupts at a chosen moment inside purerecord: an exception, or anything else that a test does there.

A moment is a place where Python handles signals: after a C function has returned, when its result is lost,
and before a line that begins a function, follows a call or is jumped back to. Python does not look at signals
before ``return name``, nor in the middle of entering or leaving ``with lock``, nor before ``finally`` resets
an attribute, nor when a generator is closed, so these are no moments. What is raised in ``__del__`` or in the
callback of a ``weakref.finalize``, Python ignores.
"""

from __future__ import annotations

import inspect
import linecache
import os
import re
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import purerecord

_HOME = os.path.dirname(purerecord.__file__) + os.sep
_RESET = re.compile(r"self\.\w+ = (False|None)$")
_FINALIZE = weakref.finalize.__call__.__code__
_NO_MOMENT = re.compile(r"(return( \w+)?|with .*)\s*(#.*)?$")


def interrupt() -> None:
    """What Ctrl-C does."""
    raise KeyboardInterrupt


class Moments:
    """Counts the moments in a block, and calls ``act`` at one of them; or ``times``, after as many each."""

    def __init__(
        self,
        at: int | None = None,
        act: Callable[[], None] = interrupt,
        *,
        only_lines: bool = False,
        times: int = 1,
    ) -> None:
        self.count = 0
        self._only_lines = only_lines
        self._at = at
        self._act = act
        self._times = times
        self._acted = 0

    def _moment(self, frame: FrameType) -> None:
        if self._acted == self._times:
            return
        self.count += 1
        if self._at is not None and self.count >= self._at * (self._acted + 1) and not _is_ignored(frame):
            self._acted += 1
            self._act()

    def _trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_HOME):
            return None
        handles = True  # whether signals are handled before the next line
        # The number of the line before. A generator that is closed stands at its line a second time.
        last = frame.f_lineno if frame.f_code.co_flags & inspect.CO_GENERATOR else 0

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal handles, last
            if event == "line":
                elsewhere = handles and frame.f_lineno != last
                if (elsewhere or frame.f_lineno < last) and not _is_no_moment(frame):
                    self._moment(frame)
                handles, last = "(" in _line(frame), frame.f_lineno
            return trace

        return trace

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_return" and frame.f_code.co_filename.startswith(_HOME):
            self._moment(frame)

    @contextmanager
    def counted(self) -> Iterator[Moments]:
        """The block whose moments count."""
        tracing, profiling = sys.gettrace(), sys.getprofile()
        sys.settrace(self._trace)
        sys.setprofile(None if self._only_lines else self._profile)
        try:
            yield self
        finally:
            sys.setprofile(profiling)
            sys.settrace(tracing)


def _is_ignored(frame: FrameType | None) -> bool:
    """Whether Python ignores what is raised here."""
    while frame is not None and frame.f_code.co_name != "__del__" and frame.f_code is not _FINALIZE:
        frame = frame.f_back
    return frame is not None


def _line(frame: FrameType, step: int = 0) -> str:
    return linecache.getline(frame.f_code.co_filename, frame.f_lineno + step).strip()


def _is_no_moment(frame: FrameType) -> bool:
    line = _line(frame)
    return bool(_NO_MOMENT.match(line) or (_line(frame, -1) == "finally:" and _RESET.match(line)))
