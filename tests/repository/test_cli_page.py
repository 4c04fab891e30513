"""The page about the command line shows every command and option as it is now."""

from __future__ import annotations

from tests.support.cli_page import COMMAND, PAGE, page
from tests.support.command_line import COMMANDS


def test_the_page_is_what_the_commands_say():
    there = PAGE.read_text(encoding="utf-8")
    assert there == page(), f"run `{COMMAND}`"


def test_the_page_has_every_command():
    headings = [line[4:] for line in page().splitlines() if line.startswith("### ")]
    assert sorted(headings) == sorted(COMMANDS)
