"""The arguments of the commands that rewrite files."""

from __future__ import annotations

import pytest

from tests.support.command_line import run


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("reshard", "sound"), "the following arguments are required: OUT"),
        (("reshard", "sound", "new", "--shards", "0"), "a whole number from 1 on is needed, not '0'"),
        (("reshard", "sound", "new", "--max-bytes", "many"), "a size like 150MB or 64MiB is needed"),
        (("compress", "sound", "new", "--to", "zip"), "invalid choice: 'zip'"),
        (("merge", "sound", "new", "--on-error", "stop"), "invalid choice: 'stop'"),
        (("sample", "sound", "new"), "one of the arguments -n/--count --fraction is required"),
        (("sample", "sound", "new", "-n", "1", "--fraction", "1"), "not allowed with argument"),
        (("select", "sound", "new", "--rename", "a"), "it must be like OLD=NEW, not 'a'"),
        (("split", "sound", "new", "--split", "train"), "it must be like train=0.8,val=0.2"),
        (("split", "sound", "new", "--split", "a=0.5,a=0.5"), "it names 'a' twice"),
        (("split", "sound", "new", "--split", "a=1", "--by", "x", "--stratify", "y"), "not allowed with"),
        (("select", "sound", "new", "--rename", "a=b", "--rename", "a=c"), "--rename names 'a' twice"),
    ],
)
def test_wrong_usage_is_code_2(capfd, arguments, reason):
    code, out, err = run(capfd, *arguments)
    assert (code, out) == (2, "")
    assert reason in err
