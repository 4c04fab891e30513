"""The arguments of ``purerecord convert``: every format and option is on its one page of help."""

from __future__ import annotations

import pytest

from purerecord.tools.converters.formats import FORMATS, options
from tests.support.command_line import run


def test_help_lists_every_format_and_every_option(capfd):
    code, out, _ = run(capfd, "convert", "--help")
    assert code == 0
    for known in FORMATS:
        assert f"\n  {known.name} " in out
    for option in options():
        assert f"--{option.name.replace('_', '-')}" in out


@pytest.mark.parametrize("wrong", [("--shards", "0"), ("--max-bytes", "many"), ("--storage-option", "x")])
def test_wrong_values_are_wrong_usage(capfd, wrong):
    code, _, err = run(capfd, "convert", "a.jsonl", "a.tfrecord", *wrong)
    assert code == 2
    assert wrong[0] in err
