"""The way of the data through the package stays short: few modules, and few crossings between them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.places import ROOT
from tests.support.walk import trace

# The most modules and crossings that a task may have. Raise a limit only for a good reason.
LIMITS = {
    "read_records": (14, 95),
    "batch, parse": (50, 300),  # bytes that were damaged on the way are asked for again: 9 more
    "encode, write": (17, 105),
    "salvage": (29, 215),
}


@pytest.fixture(scope="module")
def table() -> list[str]:
    """The table of a fresh process, which has learned nothing from other data."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.walk"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_table_has_a_line_for_each_walk(table):
    assert table[0].split() == ["walk", "modules", "crossings", "functions", "depth"]
    assert [line[:14].strip() for line in table[1:]] == list(LIMITS)


@pytest.mark.parametrize("name", LIMITS)
def test_walk_stays_short(table, name):
    (line,) = (line for line in table if line.startswith(name))
    modules, crossings, functions, depth = (int(word.replace(",", "")) for word in line[14:].split())
    most_modules, most_crossings = LIMITS[name]
    assert modules <= most_modules
    assert crossings <= most_crossings
    assert functions > depth > 0


def test_calls_outside_of_the_package_are_not_counted():
    assert trace(lambda: sorted([3, 1, 2], key=lambda number: -number)) == (0, 0, 0, 0)
