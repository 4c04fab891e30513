"""The progress line: one line on a terminal that goes away, and nothing elsewhere."""

from __future__ import annotations

import io

from purerecord.cli.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_one_line_that_goes_away(monkeypatch):
    clock = iter([0.0, 0.1, 1.0, 2.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    terminal = Terminal()
    with ProgressLine(10_000_000, terminal) as progress:
        progress(1_000_000, 5_000)  # too soon to be shown
        progress(1_000_000, 5_000)
        progress(3_000_000, 10_000)
    assert terminal.getvalue() == (
        "\r\x1b[K2.0 MB of 10.0 MB (20%), 2.0 MB/s, 10,000 records/s, 0:04 left"
        "\r\x1b[K5.0 MB of 10.0 MB (50%), 2.5 MB/s, 10,000 records/s, 0:02 left"
        "\r\x1b[K"
    )


def test_progress_without_a_total_has_no_end(monkeypatch):
    clock = iter([0.0, 4000.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    terminal = Terminal()
    ProgressLine(0, terminal)(1000, 1)
    assert terminal.getvalue() == "\r\x1b[K1.0 kB, 0 bytes/s, 0 records/s"


def test_progress_is_not_shown_where_nobody_looks():
    nowhere = io.StringIO()
    with ProgressLine(100, nowhere) as progress:
        progress(100, 1)
    assert nowhere.getvalue() == ""


def test_long_times_have_hours(monkeypatch):
    clock = iter([0.0, 1.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    terminal = Terminal()
    ProgressLine(3601 + 3600, terminal)(1, 1)
    assert terminal.getvalue().endswith("2:00:00 left")
