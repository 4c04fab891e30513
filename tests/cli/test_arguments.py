"""The arguments of the command line: help for every option, and exit code 2 at wrong usage."""

from __future__ import annotations

import re

import pytest

import purerecord
from purerecord.cli.arguments import build_parser
from tests.support.command_line import COMMANDS, run


def test_version(capfd):
    assert run(capfd, "--version") == (0, f"purerecord {purerecord.__version__}\n", "")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_every_command_has_help(capfd, command):
    code, out, _ = run(capfd, *command, "--help")
    assert code == 0
    assert out.startswith("usage: purerecord")


def test_every_option_says_what_it_does():
    parser = build_parser()
    (commands,) = (action for action in parser._actions if hasattr(action, "choices") and action.choices)
    for command in commands.choices.values():
        assert all(action.help for action in command._actions)


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("validate",),
        ("validate", "sound", "--workers", "0"),
        ("validate", "sound", "--workers", "many"),
        ("cat", "sound", "--limit", "-1"),
        ("cat", "sound", "--format", "xml"),
        ("salvage", "sound"),
    ],
)
def test_wrong_usage_is_code_2_and_one_line(capfd, arguments):
    code, out, err = run(capfd, *arguments)
    assert code == 2
    assert out == ""
    assert re.fullmatch(r"purerecord.*: .*; see purerecord.* --help\n", err)


def test_no_arguments_print_the_help(capfd):
    assert run(capfd) == run(capfd, "--help")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
def test_help_ends_with_examples(capfd, command):
    _, out, _ = run(capfd, *command, "--help")
    assert "purerecord" in re.split(r"\nexamples?:\n", out)[1]


def test_index_offers_no_stdin(capfd):
    assert "stdin" not in run(capfd, "index", "--help")[1]


@pytest.mark.parametrize("name", ["none", "NONE", "auto", "Auto"])
def test_compression_may_be_spelled_as_json_prints_it(capfd, name):
    assert run(capfd, "validate", "-q", "sound", "--compression", name) == (0, "", "")


@pytest.mark.parametrize("number", ["0", "-1", "many", "1.5"])
def test_wrong_number_is_explained(capfd, number):
    code, _, err = run(capfd, "validate", "sound", f"--workers={number}")
    assert code == 2
    assert f"argument --workers: a whole number from 1 on is needed, not '{number}'" in err


def test_raw_records_have_no_features_to_choose_from(capfd):
    code, out, err = run(capfd, "cat", "sound", "--format", "raw", "--features", "label")
    assert (code, out) == (2, "")
    assert "--features is for" in err
