"""What the options of several commands have in common: sizes, numbers, groups of commands."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from purerecord.cli.arguments import build_parser
from purerecord.cli.options import GROUPS, size
from tests.support.command_line import COMMANDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000", 1000),
        ("1B", 1),
        ("150MB", 150_000_000),
        ("64MiB", 1 << 26),
        ("1.5 kb", 1500),
        ("2gib", 2 << 30),
        ("1TB", 10**12),
    ],
)
def test_size_takes_units_in_thousands_and_in_steps_of_1024(text, expected):
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "many", "0", "-1", "1 XB", "0.1", "1e9", "MB"])
def test_size_refuses_what_is_no_size(text):
    with pytest.raises(ArgumentTypeError, match="150MB"):
        size(text)


def test_help_lists_every_command_in_a_group():
    listing = build_parser().description
    assert listing is not None
    for name in COMMANDS:
        assert f"\n  {name} " in listing
    assert [line[:-1] for line in listing.splitlines() if line.endswith(":")] == [
        group for group in GROUPS if f"{group}:" in listing
    ]
