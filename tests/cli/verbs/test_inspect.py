"""What each command that inspects prints, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import CLEAN, PAYLOADS, run, shell
from tests.support.damage import flip_byte

# head and tail


def test_head_and_tail_print_ten_records(capfd):
    for command, labels in (("head", range(10)), ("tail", range(90, 100))):
        code, out, err = run(capfd, command, "sound")
        assert (code, err) == (0, "")
        assert [json.loads(line)["label"] for line in out.splitlines()] == [[label] for label in labels]


def test_tail_goes_back_to_the_file_before(capfd):
    Path("a").write_bytes(CLEAN[: 2 * 73][:0] + CLEAN)
    code, out, _ = run(capfd, "tail", "sound", "a", "-n", "101", "--features", "label")
    assert code == 0
    assert [json.loads(line)["label"][0] for line in out.splitlines()] == [99, *range(100)]


def test_tail_numbers_records_from_the_end(capfd):
    _, out, _ = run(capfd, "tail", "sound", "-n", "2", "--format", "text", "--features", "label")
    assert out == f"record -2: {len(PAYLOADS[-2])} bytes\n  label: 98\n" + (
        f"record -1: {len(PAYLOADS[-1])} bytes\n  label: 99\n"
    )


def test_raw_records_are_the_bytes_themselves():
    assert shell("purerecord tail -n 1 --format raw sound")[1] == PAYLOADS[-1]
    assert shell("cat sound | purerecord tail -n 1 --format raw -")[1] == PAYLOADS[-1]


def test_damage_at_the_end_is_said_and_is_code_3(capfd):
    code, out, err = run(capfd, "tail", "cut", "-n", "1")
    assert code == 3
    assert json.loads(out)["label"] == [98]
    assert "truncated" in err


def test_head_stops_before_damage_that_it_does_not_reach(capfd):
    assert run(capfd, "head", "damaged", "-n", "5")[::2] == (0, "")


def test_a_missing_file_is_code_1_and_the_others_are_shown(capfd):
    code, out, err = run(capfd, "tail", "sound", "missing", "-n", "1", "--features", "label")
    assert (code, out) == (1, '{"label": [99]}\n')
    assert err == "purerecord: missing: No such file or directory\n"


# count


def test_count_prints_a_line_for_each_file(capfd):
    code, out, err = run(capfd, "count", "sound", "damaged")
    assert (code, out) == (1, "file   records\nsound      100\n")
    assert err.startswith("purerecord: damaged: record 50 at byte ")
    Path("second").write_bytes(CLEAN)
    assert run(capfd, "count", "sound", "second") == (
        0,
        "file     records\nsound        100\nsecond       100\n2 files      200\n",
        "",
    )


def test_count_prints_the_bare_total_for_scripts(capfd):
    assert run(capfd, "count", "--total", "sound", "sound") == (0, "200\n", "")
    assert run(capfd, "count", "--total", "sound", "missing")[:2] == (1, "")


def test_count_prints_json(capfd):
    code, out, _ = run(capfd, "count", "--json", "sound")
    assert (code, json.loads(out)["files"]) == (
        0,
        [{"path": "sound", "records": 100, "source": "headers"}],
    )


def test_count_reads_stdin(capfd):
    assert shell("purerecord count --total - < sound")[:2] == (0, b"100\n")


def test_damage_inside_a_record_does_not_change_the_count(capfd):
    Path("flipped").write_bytes(flip_byte(CLEAN, 14))
    assert run(capfd, "count", "--total", "flipped") == (0, "100\n", "")
