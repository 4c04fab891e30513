"""The arguments of ``purerecord view``."""

from __future__ import annotations

import pytest

from tests.support.command_line import run


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("view",), "the following arguments are required: PATH"),
        (("view", "sound", "--port", "70000"), "a port from 0 to 65535 is needed, not '70000'"),
        (("view", "sound", "--port", "-1"), "a port from 0 to 65535 is needed, not '-1'"),
        (("view", "sound", "--compression", "zip"), "invalid choice: 'zip'"),
    ],
)
def test_wrong_usage_is_code_2(capfd, arguments, reason):
    code, out, err = run(capfd, *arguments)
    assert (code, out) == (2, "")
    assert reason in err
