"""What each command that inspects prints, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import purerecord as pr
from purerecord import tools
from tests.support.command_line import CLEAN, PAYLOADS, run, shell
from tests.support.damage import flip_byte, frames

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


# schema


def test_schema_prints_what_each_other_command_takes(capfd):
    for form in ("json", "pbtxt"):
        code, out, err = run(capfd, "schema", "sound", "--format", form)
        assert (code, err) == (0, "")
        Path("schema").write_text(out)
        assert run(capfd, "validate", "-q", "--schema", "schema", "sound") == (0, "", "")
        assert run(capfd, "convert", "--schema", "schema", "sound", f"{form}.jsonl")[0] == 0
        first = next(iter(pr.TFRecordDataset("sound").batch(9).parse("schema")))
        assert first["label"].tolist() == list(range(9))


def test_schema_of_other_records_does_not_fit(capfd):
    Path("schema").write_text('feature { name: "lable" type: INT presence { min_fraction: 1 } shape {} }')
    code, out, _ = run(capfd, "validate", "--schema", "schema", "sound")
    assert code == 3
    assert "lable" in out


def test_schema_is_python_to_paste(capfd):
    code, out, _ = run(capfd, "schema", "sound", "--format", "python")
    namespace: dict[str, object] = {}
    exec(out, namespace)
    assert (code, sorted(namespace["features"])) == (0, ["label", "name", "score"])


def test_schema_of_all_records_has_what_comes_late(capfd):
    Path("late").write_bytes(CLEAN + frames([pr.encode_example({"late": 1})]))
    assert "late" not in json.loads(run(capfd, "schema", "late", "--sample", "100")[1])["features"]
    code, out, err = run(capfd, "schema", "late", "--all", "--workers", "2")
    assert (code, err) == (0, "")
    assert json.loads(out)["features"]["late"]["type"] == "RaggedFeature"


def test_schema_says_damage_and_goes_on(capfd):
    for more in ([], ["--all"]):
        code, out, err = run(capfd, "schema", "damaged", *more)
        assert (code, sorted(json.loads(out)["features"])) == (3, ["label", "name", "score"])
        assert err.startswith("purerecord: damaged: [")


def test_schema_of_nothing_is_code_1(capfd):
    Path("empty").write_bytes(b"")
    for more in ([], ["--all"]):
        assert run(capfd, "schema", "empty", *more) == (
            1,
            "",
            "purerecord: no record to infer a schema from\n",
        )
    assert run(capfd, "schema", "missing")[:2] == (1, "")


# stats and du


def test_stats_prints_what_the_library_says(capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert run(capfd, "stats", "sound") == (0, tools.stats("sound").text(100) + "\n", "")
    code, out, _ = run(capfd, "stats", "--json", "sound", "--workers", "2")
    assert (code, out) == (0, tools.stats("sound").as_json())


def test_stats_of_chosen_features(capfd):
    _, out, _ = run(capfd, "stats", "sound", "--features", "label", "--json")
    assert [feature["name"] for feature in json.loads(out)["features"]] == ["label"]
    code, _, err = run(capfd, "stats", "sound", "--features", "label,lable")
    assert (code, err) == (1, "purerecord: no record has a feature 'lable'\n")


def test_stats_writes_a_page(capfd):
    assert run(capfd, "stats", "sound", "--html", "page.html") == (0, "", "")
    assert Path("page.html").read_text(encoding="utf-8") == tools.stats("sound").as_html()
    assert run(capfd, "stats", "sound", "--html", "-")[1] == tools.stats("sound").as_html()
    code, out, err = run(capfd, "stats", "sound", "--html", "missing/page.html")
    assert (code, out, err) == (1, "", "purerecord: missing/page.html: No such file or directory\n")


def test_stats_and_du_say_damage_and_go_on(capfd):
    Path("mixed").write_bytes(frames([b"junk"]) + CLEAN)
    for command in ("stats", "du"):
        code, out, err = run(capfd, command, "damaged", "mixed", "--json")
        assert (code, json.loads(out)["records"]) == (3, 199)
        assert err.count("purerecord: damaged: [") == 2
        assert "purerecord: mixed: 1 record no Examples; record 0: " in err
        code, out, err = run(capfd, command, "damaged", "--on-error", "raise")
        assert (code, out) == (1, "")
        assert err.startswith("purerecord: damaged: record ")


def test_du_prints_what_the_library_says(capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    assert run(capfd, "du", "sound") == (0, tools.du("sound").text(90) + "\n", "")
    assert json.loads(run(capfd, "du", "--json", "sound")[1]) == tools.du("sound").to_dict()


def test_stats_and_du_of_missing_files_are_code_1(capfd):
    for command in ("stats", "du"):
        assert run(capfd, command, "missing") == (
            1,
            "",
            "purerecord: missing: No such file or directory\n",
        )
