"""The progress line: one line on a terminal that goes away, and nothing elsewhere."""

from __future__ import annotations

import io
import os

import pytest

from purerecord.cli.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def stderr_as_terminal(monkeypatch) -> Terminal:
    """Make stderr a terminal, and return it."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    return terminal


def test_progress_is_one_line_that_goes_away(monkeypatch):
    terminal = stderr_as_terminal(monkeypatch)
    clock = iter([0.0, 0.1, 1.0, 2.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    with ProgressLine(10_000_000) as progress:
        progress(1_000_000, 5_000)  # too soon to be shown
        progress(1_000_000, 5_000)
        progress(3_000_000, 10_000)
    assert terminal.getvalue() == (
        "\r\x1b[K2.0 MB of 10.0 MB (20%), 2.0 MB/s, 10,000 records/s, 0:04 left"
        "\r\x1b[K5.0 MB of 10.0 MB (50%), 2.5 MB/s, 10,000 records/s, 0:02 left"
        "\r\x1b[K"
    )


def test_progress_without_a_total_has_no_end(monkeypatch):
    terminal = stderr_as_terminal(monkeypatch)
    clock = iter([0.0, 4000.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    ProgressLine(0)(1000, 1)
    assert terminal.getvalue() == "\r\x1b[K1.0 kB, 0 bytes/s, 0 records/s"


def test_progress_is_not_shown_where_nobody_looks(monkeypatch):
    nowhere = io.StringIO()
    monkeypatch.setattr("sys.stderr", nowhere)
    with ProgressLine(100) as progress:
        progress(100, 1)
    assert nowhere.getvalue() == ""


@pytest.mark.parametrize("columns", [20, 60])
def test_progress_fits_the_terminal(monkeypatch, columns):
    terminal = stderr_as_terminal(monkeypatch)
    clock = iter([0.0, 1.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    monkeypatch.setattr(terminal, "fileno", lambda: 2)
    monkeypatch.setattr("os.get_terminal_size", lambda number: os.terminal_size((columns, 24)))
    ProgressLine(10_000_000)(2_000_000, 5_000)
    whole = "2.0 MB of 10.0 MB (20%), 2.0 MB/s, 5,000 records/s, 0:04 left"
    assert terminal.getvalue() == f"\r\x1b[K{whole[: columns - 1]}"


def test_long_times_have_hours(monkeypatch):
    terminal = stderr_as_terminal(monkeypatch)
    clock = iter([0.0, 1.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    ProgressLine(3601 + 3600)(1, 1)
    assert terminal.getvalue().endswith("2:00:00 left")
