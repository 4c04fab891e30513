"""What each command prints and writes, and its exit code."""

from __future__ import annotations

import bz2
import json
import os
import re
import shlex
from pathlib import Path

import pytest

from purerecord import (
    TFRecordWriter,
    encode_example,
    encode_sequence_example,
    load_index,
    read_records,
    validate,
)
from tests.support.command_line import CLEAN, EDGES, PAYLOADS, process, run
from tests.support.damage import flip_byte, frames

# validate


def test_validate_says_what_is_damaged(capfd):
    code, out, err = run(capfd, "validate", "sound", "damaged", "cut")
    assert code == 3
    assert err == ""
    assert out == f"{validate(['sound', 'damaged', 'cut'])}\n"
    assert "to be salvaged or made again: damaged cut" in out


def test_validate_of_sound_files_is_code_0(capfd):
    code, out, err = run(capfd, "validate", "sound")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == ["sound", "100", "7.3", "kB", "none"]


def test_validate_quietly_lists_only_what_is_damaged(capfd):
    _, out, _ = run(capfd, "validate", "-q", "sound", "damaged", "--workers", "2")
    assert not any(line.startswith("sound") for line in out.splitlines())


def test_validate_quietly_prints_no_table_without_rows(capfd):
    Path("empty").write_bytes(b"")
    code, out = run(capfd, "validate", "-q", "--min-records", "1", "empty")[:2]
    assert code == 3
    assert "damage" not in out
    assert "records" in out


@pytest.mark.parametrize("more", [[], ["--json"], ["--workers", "2"]])
def test_validate_quietly_prints_nothing_if_all_is_well(capfd, more):
    Path("sound too").write_bytes(CLEAN)
    assert run(capfd, "validate", "-q", "sound", "sound too", *more) == (0, "", "")


def test_validate_quietly_prints_json_of_damaged_files_only(capfd):
    code, out, _ = run(capfd, "validate", "-q", "--json", "sound", "damaged")
    report = json.loads(out)
    assert (code, report["records"], [file["path"] for file in report["files"]]) == (3, 199, ["damaged"])


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["--expect", "199"], []),
        (["--min-records", "99"], []),
        (["--expect", "200"], ["199 records in all, 200 expected"]),
        (["--min-records", "100"], ["short: 99 records, at least 100 expected"]),
        (["--expect", "0"], ["199 records in all, 0 expected"]),
    ],
)
def test_validate_knows_how_many_records_to_expect(capfd, arguments, lines):
    Path("short").write_bytes(frames(PAYLOADS[:99]))
    code, out, err = run(capfd, "validate", "-q", "sound", "short", *arguments)
    assert (code, err) == (3 if lines else 0, "")
    assert out.splitlines()[2:] == lines


def test_validate_warns_of_files_that_do_not_fit_together(capfd):
    for number in (0, 1, 3):
        with TFRecordWriter(f"x-0000{number}-of-00004", "GZIP" if number == 1 else "") as writer:
            writer.write_many(PAYLOADS)
    code, out, _ = run(capfd, "validate", "-q", "x-*")
    assert code == 0
    assert out.splitlines()[2:] == [
        "warning: 1 of 3 files is GZIP, 2 not compressed: x-00001-of-00004",
        "warning: 1 of 4 shards x-?????-of-00004 is missing: 2",
    ]
    code, out, _ = run(capfd, "validate", "--json", "x-*")
    assert (code, len(json.loads(out)["warnings"])) == (0, 2)


def test_validate_advises_no_salvage_of_a_file_of_another_kind(capfd):
    Path("pointer").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n")
    code, out, _ = run(capfd, "validate", "pointer", "page.html", "cut")
    assert code == 3
    assert out.splitlines()[-2:] == [
        "to be salvaged or made again: cut",
        "no TFRecord files: pointer page.html",
    ]


def test_damaged_files_of_the_json_can_be_given_to_salvage(capfd):
    _, out, _ = run(capfd, "validate", "--json", "sound", "damaged", "cut", "page.html", "missing")
    code, _, err = run(capfd, "salvage", *json.loads(out)["damaged_files"], "out")
    assert (code, err) == (3, "")
    assert sorted(os.listdir("out")) == ["cut", "damaged"]


def test_validate_prints_json(capfd):
    code, out, err = run(capfd, "validate", "--json", "sound", "damaged")
    assert (code, err) == (3, "")
    assert json.loads(out) == validate(["sound", "damaged"]).to_dict()


def test_validate_reports_files_that_cannot_be_read_as_code_1(capfd):
    Path("d").mkdir()
    code, out, _ = run(capfd, "validate", "sound", "d")
    assert code == 1
    assert "directory" in out


def test_validate_looks_into_payloads(capfd):
    Path("text").write_bytes(frames([b"no Example"]))
    assert run(capfd, "validate", "text")[0] == 0
    code, out, _ = run(capfd, "validate", "--decode", "text")
    assert code == 3
    assert "not an Example" in out


def test_schema_from_info_is_the_schema_for_validate(capfd):
    code, out, _ = run(capfd, "info", "--schema", "sound")
    assert code == 0
    Path("schema.json").write_text(out)
    assert run(capfd, "validate", "--schema", "schema.json", "sound")[0] == 0
    Path("other").write_bytes(frames([encode_example({"label": "a"})]))
    code, out, _ = run(capfd, "validate", "--schema", "schema.json", "other")
    assert code == 3
    assert "not of the schema" in out


def test_schema_of_sequence_examples_is_for_validate_too(capfd):
    payloads = [encode_sequence_example({"id": i}, {"words": [["a"], ["b", "c"]]}) for i in range(5)]
    Path("clips").write_bytes(frames(payloads))
    code, out, _ = run(capfd, "info", "--schema", "clips")
    assert (code, set(json.loads(out))) == (0, {"format", "version", "context", "sequence"})
    Path("schema.json").write_text(out)
    assert run(capfd, "validate", "--schema", "schema.json", "clips")[0] == 0
    code, out, _ = run(capfd, "validate", "--schema", "schema.json", "sound")
    assert code == 3
    assert "not of the schema" in out


def test_compression_can_be_declared(capfd):
    assert run(capfd, "validate", "--compression", "none", "sound")[0] == 0
    code, out, _ = run(capfd, "validate", "--compression", "gzip", "sound")
    assert code == 3
    assert "broken compression" in out


def test_files_of_other_compressions_are_read_and_named(capfd):
    Path("a.bz2").write_bytes(bz2.compress(CLEAN))
    for option in ("auto", "bz2"):
        assert run(capfd, "validate", "--compression", option, "a.bz2")[0] == 0
    assert run(capfd, "validate", "--compression", "xz", "a.bz2")[0] == 3
    assert "compression  BZ2" in run(capfd, "info", "a.bz2")[1]
    assert run(capfd, "salvage", "a.bz2", "b")[0] == 0
    assert "compression  GZIP" in run(capfd, "info", "b")[1]
    assert run(capfd, "salvage", "a.bz2", "c", "--output-compression", "bz2")[0] == 2


def test_index_files_beside_their_data_are_not_taken_for_data(capfd):
    Path("d").mkdir()
    for name in ("d/a-00000-of-00002", "d/a-00001-of-00002"):
        Path(name).write_bytes(CLEAN)
    assert run(capfd, "index", "d/*")[0] == 0
    names = sorted(map(str, Path("d").iterdir()))
    for arguments in (["d/*"], names):  # expanded by us, or by the shell
        code, out, _ = run(capfd, "validate", *arguments)
        assert (code, ".index" in out, "200" in out) == (0, False, True)
    code, out, _ = run(capfd, "validate", "d/a-00000-of-00002.index")
    assert (code, "not a TFRecord" in out) == (3, True)


def test_names_in_the_last_lines_can_be_given_to_the_shell_again(capfd):
    Path("a b").write_bytes(Path("damaged").read_bytes())
    _, out, _ = run(capfd, "validate", "a b", "cut", "no 'such'")
    *_, damaged, unreadable = out.splitlines()
    assert damaged == "to be salvaged or made again: 'a b' cut"
    assert shlex.split(unreadable.partition(": ")[2]) == ["no 'such'"]


def test_validate_names_folders_as_what_cannot_be_read(capfd):
    Path("d").mkdir()
    code, out, _ = run(capfd, "validate", "damaged", "d")
    assert code == 1
    assert out.splitlines()[-2:] == ["to be salvaged or made again: damaged", "could not be read: d"]


def die(_job, _file) -> None:
    os._exit(9)


def test_file_that_kills_its_worker_is_named(monkeypatch):
    monkeypatch.setattr("purerecord.processes.pool._work", die)
    report = validate(["sound", "damaged"], workers=2)
    assert [file.error for file in report.files] == [
        "the process that checked it was killed; was memory short?"
    ] * 2


# salvage


def test_salvage_saves_and_reports(capfd):
    code, out, err = run(capfd, "salvage", "damaged", "clean", "--quarantine", "bad")
    assert (code, err) == (3, "")
    assert out.splitlines()[-2:] == ["99 records saved and verified: clean", "2 damaged ranges kept: bad"]
    assert list(read_records("clean")) == PAYLOADS[:7] + PAYLOADS[8:]
    assert len(os.listdir("bad")) == 3


def test_salvage_prints_json(capfd):
    code, out, _ = run(capfd, "salvage", "damaged", "clean", "--json", "--output-compression", "gzip")
    assert code == 3
    assert json.loads(out)["output_compression"] == "GZIP"


def test_salvage_of_many_files_goes_to_a_folder(capfd):
    code, out, _ = run(capfd, "salvage", "[sd]*d", "out", "--quarantine", "bad")
    assert code == 3
    assert sorted(os.listdir("out")) == ["damaged", "sound"]
    assert os.listdir("bad") == ["damaged"]
    begins = [line.split()[0] for line in out.splitlines()]
    assert begins == ["file", "damaged", "[504,", "[3640,", "sound", "2", "with"]
    code, out, _ = run(capfd, "salvage", "[sd]*d", "out2/", "--json")
    assert [report["records"] for report in json.loads(out)] == [99, 100]


def test_both_slashes_of_windows_end_the_name_of_a_folder(capfd, monkeypatch):
    monkeypatch.setattr(os, "sep", "\\")
    monkeypatch.setattr(os, "altsep", "/")
    code, _, _ = run(capfd, "salvage", "sound", "repaired/")
    assert (code, os.listdir("repaired")) == (0, ["sound"])


def test_salvage_of_many_files_ends_with_what_became_of_them(capfd):
    code, out, _ = run(capfd, "salvage", "[sdc]*", "out")
    assert code == 3
    assert out.splitlines()[-2:] == ["3 of 3 files saved, 298 records", "with damage: cut damaged"]
    code, out, _ = run(capfd, "salvage", "sound", "out")
    assert (code, out.splitlines()[-1]) == (0, "100 records saved and verified: out/sound")


def test_salvage_takes_several_sources_and_prints_one_table(capfd):
    code, out, err = run(capfd, "salvage", "sound", "d*d", "cut", "out")
    assert (code, err) == (3, "")
    assert sorted(os.listdir("out")) == ["cut", "damaged", "sound"]
    assert sum(line.startswith("file ") for line in out.splitlines()) == 1


def test_salvage_of_damaged_files_only_skips_sound_ones(capfd):
    code, out, _ = run(capfd, "salvage", "--only-damaged", "sound", "damaged", "cut", "out")
    assert code == 3
    assert sorted(os.listdir("out")) == ["cut", "damaged"]
    assert out.splitlines()[-3:] == [
        "2 of 2 files saved, 198 records",
        "with damage: damaged cut",
        "1 of 3 files sound and skipped",
    ]
    skipped = "1 of 1 file sound and skipped\n"
    assert run(capfd, "salvage", "--only-damaged", "sound", "new") == (0, skipped, "")
    assert run(capfd, "salvage", "--only-damaged", "--json", "sound", "new/") == (0, "[]\n", "")
    assert not os.path.exists("new")


def test_salvage_of_damaged_files_only_needs_files_that_can_be_read_twice():
    with open("damaged", "rb") as file:
        done = process("salvage", "--only-damaged", "-", "out", stdin=file)
        _, err = done.communicate()
    assert done.returncode == 1
    assert b"--only-damaged reads a file twice" in err
    assert not os.path.exists("out")


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_salvage_quietly_prints_nothing_if_all_is_well(capfd, more):
    Path("sound too").write_bytes(CLEAN)
    assert run(capfd, "salvage", "-q", "sound", "sound too", "out", *more) == (0, "", "")
    assert run(capfd, "salvage", "-q", "sound", "copy", *more) == (0, "", "")
    code, out, _ = run(capfd, "salvage", "-q", "sound", "cut", "out", *more)
    assert code == 3
    assert "cut" in out
    assert '"path": "sound"' not in out
    assert not any(line.startswith("sound") for line in out.splitlines())


def test_several_files_are_salvaged_to_a_folder_only(capfd):
    code, out, err = run(capfd, "salvage", "[sd]*d", "cut")
    assert (code, out) == (1, "")
    assert err == "purerecord: cut: 2 files are to be salvaged, so it must be a folder\n"


def test_salvage_does_not_write_to_stdout(capfd):
    before = sorted(os.listdir())
    code, out, err = run(capfd, "salvage", "sound", "-")
    assert (code, out) == (2, "")
    assert "name a file" in err
    assert sorted(os.listdir()) == before


def test_salvage_never_writes_two_files_to_one_place(capfd):
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "x").write_bytes(CLEAN)
    before = sorted(os.listdir())
    code, out, err = run(capfd, "salvage", "*/x", "out", "--quarantine", "bad")
    assert (code, out) == (1, "")
    assert err == "purerecord: one/x and two/x would both be written to out/x; salvage one by one\n"
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("target", "quarantine"), [("q", "q"), ("q", "./q"), ("q/x", "q"), ("out", "sound"), ("q/", "q")]
)
def test_salvage_writes_no_records_to_the_quarantine(capfd, target, quarantine):
    before = sorted(os.listdir())
    code, _, err = run(capfd, "salvage", "damaged", target, "--quarantine", quarantine)
    assert code == 1
    assert "quarantine" in err
    assert sorted(os.listdir()) == before


def test_salvage_checks_all_places_before_it_writes(capfd):
    Path("bad/sound").mkdir(parents=True)
    Path("bad/sound/old").write_bytes(b"")
    code, _, err = run(capfd, "salvage", "[sd]*d", "out", "--quarantine", "bad")
    assert code == 1
    assert "bad/sound" in err
    assert not Path("out").exists()


# info


def test_info_of_a_damaged_file_is_code_3(capfd):
    code, out, _ = run(capfd, "info", "damaged")
    assert code == 3
    assert "purerecord validate says more" in out


def test_info_prints_json(capfd):
    with TFRecordWriter("steps", "GZIP") as writer:
        writer.write(encode_sequence_example({"id": 1}, {"frames": [[1, 2], [3]]}))
        writer.write(b"\xff")
    code, out, _ = run(capfd, "info", "--json", "steps", "sound", "--sample", "10")
    assert code == 0
    steps, sound = json.loads(out)
    assert (steps["compression"], steps["records"], steps["undecodable"]) == ("GZIP", 2, 1)
    assert steps["features"]["frames"] == {
        "kind": "int64",
        "present": 1,
        "fewest": 2,
        "most": 2,
        "sequence": True,
    }
    assert sound["decoded"] == 10


def write_shards() -> None:
    for number in range(3):
        features = {"label": number, **({"extra": [1.5] * number} if number else {})}
        Path(f"s-{number}").write_bytes(frames([encode_example(features)] * (number + 1)))


def test_info_sums_up_many_files(capfd):
    write_shards()
    code, out, err = run(capfd, "info", "s-*", "--sample", "2")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "file     records       size  compression",
        "s-0            1   34 bytes  none",
        "s-1            2  106 bytes  none",
        "s-2            3  171 bytes  none",
        "3 files        6  311 bytes",
        "  records      6",
        "  record size  18 bytes to 41 bytes, 36 bytes on average",
        "  features     in the first 5 records, at most 2 of each file",
        "    extra  float32, 1 to 2 values, missing in 1",
        "    label  int64, 1 value",
    ]


def test_info_of_each_file_is_that_of_the_file_alone(capfd):
    write_shards()
    alone = "".join(run(capfd, "info", f"s-{number}")[1] for number in range(3))
    assert run(capfd, "info", "--each", "s-*") == (0, alone, "")


def test_info_of_many_files_names_damage_and_what_cannot_be_read(capfd):
    code, out, err = run(capfd, "info", "sound", "damaged", "missing")
    assert (code, err) == (1, "purerecord: missing: No such file or directory\n")
    assert out.splitlines()[1:4] == [
        "sound        100   7.3 kB  none",
        "damaged       99   7.3 kB  none, 102 bytes damaged",
        "2 files      199  14.6 kB",
    ]


def test_schema_that_cannot_be_inferred_names_the_file(capfd):
    Path("odd").write_bytes(frames([encode_example({"a": 1}), encode_example({"a": "x"})]))
    code, out, err = run(capfd, "info", "--schema", "odd")
    assert (code, out) == (1, "")
    assert err.startswith("purerecord: odd: ")
    assert "'a'" in err


def test_schema_of_nothing_is_none(capfd):
    Path("empty").write_bytes(b"")
    for name in ("empty", "page.html"):
        code, out, err = run(capfd, "info", "--schema", name)
        assert (code, out) == (1, "")
        assert err == f"purerecord: {name}: no record to infer a schema from\n"


# cat


def test_cat_prints_json_lines(capfd):
    code, out, err = run(capfd, "cat", "sound")
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows == [{"label": [i], "name": [f"{i}.jpg"], "score": [i / 10]} for i in range(100)]


def test_cat_prints_so_many_records_of_some_features(capfd):
    _, out, _ = run(capfd, "cat", "sound", "damaged", "--limit", "101", "--features", "label,none")
    assert [json.loads(line)["label"] for line in out.splitlines()] == [[i] for i in range(100)] + [[0]]


@pytest.mark.parametrize(
    ("skip", "limit", "numbers"),
    [
        (0, 2, [0, 1]),
        (99, 3, [99, 0, 1]),
        (100, 1, [0]),
        (150, None, [*range(50, 100)]),
        (200, None, []),
        (9, 1, [9]),
    ],
)
def test_cat_skips_records(capfd, skip, limit, numbers):
    Path("again").write_bytes(CLEAN)
    limited = [] if limit is None else ["-n", str(limit)]
    code, out, _ = run(capfd, "cat", "sound", "again", "--skip", str(skip), *limited, "--format", "text")
    assert code == 0
    found = [line for line in out.splitlines() if line.startswith("record ")]
    assert found == [f"record {number}: {len(PAYLOADS[number])} bytes" for number in numbers]


def test_cat_goes_on_behind_damage_and_says_so(capfd):
    code, out, err = run(capfd, "cat", "damaged")
    assert code == 3
    assert len(out.splitlines()) == 99
    assert re.fullmatch(
        r"purerecord: damaged: \[\d+, \d+\): bad data checksum\n"
        r"purerecord: damaged: \[\d+, \d+\): garbage\n",
        err,
    )


def test_cat_prints_raw_payloads():
    done = process("cat", "--format", "raw", "--limit", "3", "sound")
    assert done.communicate() == (b"".join(PAYLOADS[:3]), b"")


# index


def test_index_is_written_beside_each_file(capfd):
    code, out, _ = run(capfd, "index", "sound")
    assert (code, out) == (0, "sound.index: 100 records\n")
    assert len(load_index("sound.index")) == 100


def test_index_of_one_compressed_stream_names_it_once(capfd):
    with TFRecordWriter("packed", "GZIP") as writer:
        writer.write(b"x")
    code, out, err = run(capfd, "index", "packed")
    assert (code, out) == (1, "")
    assert err.startswith("purerecord: packed is one compressed stream")
    assert err.count("packed") == 1


def test_index_as_text(capfd):
    assert run(capfd, "index", "sound", "--format", "text", "-o", "sound.idx")[0] == 0
    assert Path("sound.idx").read_text().splitlines()[1] == f"{EDGES[1]} {EDGES[2] - EDGES[1]}"


# All commands


@pytest.mark.light(2)
@pytest.mark.parametrize("command", ["validate", "info", "cat"])
def test_dash_is_stdin(command):
    with open("sound", "rb") as file:
        done = process(command, "-", stdin=file)
        out, err = done.communicate()
    assert (done.returncode, err) == (0, b"")
    assert out


def test_salvage_from_stdin():
    with open("damaged", "rb") as file:
        done = process("salvage", "-", "clean", "--quarantine", "bad", stdin=file)
        done.communicate()
    assert done.returncode == 3
    assert len(list(read_records("clean"))) == 99
    assert len(os.listdir("bad")) == 3


def test_stdin_has_a_name_in_a_folder():
    with open("sound", "rb") as file:
        done = process("salvage", "-", "out/", stdin=file)
        done.communicate()
    assert done.returncode == 0
    assert os.listdir("out") == ["stdin"]


def test_json_is_valid_whatever_files_are_called(capfdbinary):
    name = os.fsdecode(b"\xff\xe9.tfrecord")
    Path(name).write_bytes(flip_byte(CLEAN, 20))
    for command in (["validate", name], ["info", name], ["salvage", name, "x", "--quarantine", "bad"]):
        done = process(*command, "--json")
        out, err = done.communicate()
        assert (done.returncode, err) == (3, b"")
        found = json.loads(out.decode("utf-8"))
        path = found[0]["path"] if isinstance(found, list) else found["files"][0]["path"]
        assert os.fsencode(path) == b"\xff\xe9.tfrecord"
    assert json.loads(Path("bad/damages.json").read_text())["source"] == name


def test_validate_compares_with_a_manifest(capfd):
    run(capfd, "reshard", "sound", "new@2", "--manifest", "-q")
    files = ["new-00000-of-00002", "new-00001-of-00002"]
    assert run(capfd, "validate", *files, "--manifest", "new.manifest.json", "-q") == (0, "", "")
    os.replace(files[0], files[1])
    code, out, _ = run(capfd, "validate", files[1], "--manifest", "new.manifest.json")
    assert code == 3
    assert out.splitlines()[-2:] == [
        "new-00001-of-00002: it holds the records of new-00000-of-00002; "
        "the files are swapped, or one is there twice",
        "new-00000-of-00002: the manifest lists it, but it is not among the files",
    ]
    code, out, err = run(capfd, "validate", "sound", "--manifest", "sound")
    assert (code, out) == (1, "")
    assert err == "purerecord: sound: it is no manifest: not valid JSON\n"
