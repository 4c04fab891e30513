"""Progress on a terminal: one line that says how far it is, how fast, and how long it will take.

Nothing is shown where nobody looks: the line goes to stderr, and only if that is a terminal. This module does
not know what is being done.
"""

from __future__ import annotations

import sys
import time
from typing import TextIO

from ..recovery.report import human_size

# The line is written anew so often, in seconds.
_TICK = 0.2


class ProgressLine:
    """Counts bytes and records; ``with`` it, the line is gone at the end."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._shown = self._stream.isatty()
        self._total = total
        self._bytes = self._records = 0
        self._begin = self._last = time.monotonic()

    def __call__(self, size: int, records: int) -> None:
        """So much more is done."""
        self._bytes += size
        self._records += records
        now = time.monotonic()
        if self._shown and now - self._last >= _TICK:
            self._last = now
            self._write(f"\r\x1b[K{self._line(now - self._begin)}")

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # the terminal is gone; the work goes on
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
