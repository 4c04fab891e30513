"""The arguments of the commands that inspect files."""

from __future__ import annotations

import pytest

from tests.support.command_line import run


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("head",), "the following arguments are required: PATH"),
        (("head", "sound", "-n", "0"), "a whole number from 1 on is needed, not '0'"),
        (("tail", "sound", "--format", "xml"), "invalid choice: 'xml'"),
        (("count", "sound", "--format", "csv"), "unrecognized arguments"),
        (("stats", "sound", "--html", "-", "--json"), "--html - and --json are both for stdout"),
    ],
)
def test_wrong_usage_is_code_2(capfd, arguments, reason):
    code, out, err = run(capfd, *arguments)
    assert (code, out) == (2, "")
    assert reason in err
