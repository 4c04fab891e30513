"""Records in each format: what is printed, what is said, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from purerecord import encode_example, encode_sequence_example
from tests.support.command_line import CLEAN, run
from tests.support.damage import frames


def test_csv(capfd):
    assert run(capfd, "cat", "sound", "-n", "2", "--format", "csv") == (
        0,
        "label,name,score\n0,0.jpg,0.0\n1,1.jpg,0.1\n",
        "",
    )


def test_csv_of_chosen_features_has_them_in_this_order(capfd):
    _, out, _ = run(capfd, "head", "sound", "-n", "1", "--format", "csv", "--features", "score,label")
    assert out == "score,label\n0.0,0\n"


def test_table(capfd):
    assert run(capfd, "tail", "sound", "-n", "2", "--format", "table") == (
        0,
        "label  name    score\n   98  98.jpg    9.8\n   99  99.jpg    9.9\n",
        "",
    )


@pytest.mark.parametrize("name", ["csv", "table"])
def test_a_later_feature_without_a_column_is_counted_and_is_code_3(capfd, name):
    more = [encode_example({"label": 1, "extra\x1b": 2})] * 3
    Path("mixed").write_bytes(CLEAN + CLEAN + frames(more))
    code, out, err = run(capfd, "cat", "mixed", "--format", name)
    assert (code, len(out.splitlines())) == (3, 204)
    assert err == (
        "purerecord: features without a column, in 3 records: 'extra\\x1b'; --features names the columns\n"
    )


@pytest.mark.parametrize("name", ["csv", "table"])
def test_a_record_that_is_no_example_is_left_out_and_is_code_3(capfd, name):
    Path("mixed").write_bytes(frames([b"junk"]) + CLEAN)
    code, out, err = run(capfd, "head", "mixed", "-n", "2", "--format", name)
    assert (code, len(out.splitlines())) == (3, 2)
    assert err == 'purerecord: mixed: record 0: no Example; "junk"\n'


@pytest.mark.parametrize("name", ["csv", "table"])
def test_a_feature_that_no_record_has_is_code_1(capfd, name):
    code, out, err = run(capfd, "cat", "sound", "--format", name, "--features", "lable")
    assert (code, out) == (1, "")
    assert err == "purerecord: no record has a feature 'lable'; there is 'label'\n"


def test_feature_lists_are_columns_too(capfd):
    Path("steps").write_bytes(frames([encode_sequence_example({"id": 1}, {"xs": [[1], [2, 3]]})]))
    assert run(capfd, "cat", "steps", "--format", "csv")[1] == 'id,xs\n1,"[[1], [2, 3]]"\n'
    assert run(capfd, "cat", "steps", "--format", "table")[1] == "id  xs\n 1  2 steps\n"


def test_an_empty_file_prints_nothing(capfd):
    Path("empty").write_bytes(b"")
    for name in ("json", "csv", "table", "text", "raw"):
        assert run(capfd, "cat", "empty", "--format", name) == (0, "", "")


@pytest.mark.parametrize("name", ["json", "csv", "table", "text"])
def test_no_control_character_of_a_table_or_text_reaches_the_output(capfd, name):
    hostile = encode_example({"na\x1bme": "\x1b[31mred\u202e", "n": [1, 2]})
    Path("hostile").write_bytes(frames([hostile]))
    code, out, _ = run(capfd, "cat", "hostile", "--format", name)
    assert code == 0
    assert "\x1b" not in out.replace("\x1b[31mred", "") if name == "csv" else "\x1b" not in out
