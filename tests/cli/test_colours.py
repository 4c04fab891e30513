"""Colours appear on a terminal only, and never with NO_COLOR."""

from __future__ import annotations

import sys

import pytest

from purerecord.cli import colours


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
    ],
)
def test_colours_are_for_terminals(monkeypatch, terminal, environment, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    assert colours.coloured() is coloured
    assert colours.bold("x") == ("\x1b[1mx\x1b[0m" if coloured else "x")
    assert colours.dim("") == ""
    assert colours.cyan("x").count("\x1b") == 2 * coloured


def test_a_closed_stdout_has_no_colours(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert colours.bold("x") == "x"
