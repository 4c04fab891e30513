"""Progress on a terminal: one line with the bytes done, the speed and the time left.

The line goes to stderr, and only if that is a terminal. This module must not know which work is done.
"""

from __future__ import annotations

import os
import sys
import time

from ..recovery.report import human_size

_REFRESH = 0.2  # seconds between two updates of the line


class ProgressLine:
    """Counts bytes and records. Used as a context manager, it erases the line at the end."""

    def __init__(self, total: int) -> None:
        self._stream = sys.stderr
        self._shown = self._stream.isatty()
        self._total = total
        self._bytes = self._records = 0
        self._begin = self._last = time.monotonic()

    def __call__(self, size: int, records: int) -> None:
        """Add ``size`` bytes and ``records`` records to the work that is done."""
        self._bytes += size
        self._records += records
        now = time.monotonic()
        if self._shown and now - self._last >= _REFRESH:
            self._last = now
            self._write(f"\r\x1b[K{self._line(now - self._begin)[: self._width()]}")

    def _width(self) -> int:
        """The columns of the terminal without the last: of a line that goes on in the next one, only the end
        could be erased."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return (columns or 80) - 1

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal is gone, but the work continues
            self._shown = False

    def _line(self, seconds: float) -> str:
        speed = self._bytes / seconds
        parts = [human_size(self._bytes)]
        if self._total:
            parts[0] += f" of {human_size(self._total)} ({min(1.0, self._bytes / self._total):.0%})"
        parts += [f"{human_size(speed)}/s", f"{self._records / seconds:,.0f} records/s"]
        if self._total and speed:
            parts.append(f"{_clock(max(0, self._total - self._bytes) / speed)} left")
        return ", ".join(parts)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._write("\r\x1b[K")


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
