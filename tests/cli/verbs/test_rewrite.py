"""What each command that rewrites prints and writes, and its exit code."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from purerecord import TFRecordWriter, decode_example, encode_example
from tests.support.command_line import CLEAN, PAYLOADS, run
from tests.support.rewriting import records


def test_reshard_says_what_it_has_done(capfd):
    assert run(capfd, "reshard", "sound", "new@4.tfrecord", "--workers", "2", "--manifest") == (
        0,
        "100 records read, 100 written and verified\n"
        "4 files, 7.3 kB: new-00000-of-00004.tfrecord ... new-00003-of-00004.tfrecord\n"
        "manifest: new.tfrecord.manifest.json\n",
        "",
    )
    assert records([f"new-{n:05d}-of-00004.tfrecord" for n in range(4)]) == PAYLOADS


def test_merge_writes_one_file(capfd):
    Path("second").write_bytes(CLEAN)
    code, out, err = run(capfd, "merge", "sound", "second", "both", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["lengths"] == [200]
    assert records(["both"]) == PAYLOADS * 2


def test_compress_there_and_back(capfd):
    assert run(capfd, "compress", "sound", "packed/", "-q") == (0, "", "")
    assert Path("packed/sound").read_bytes()[:2] == b"\x1f\x8b"
    assert run(capfd, "compress", "packed/*", "plain/", "--to", "none", "-q") == (0, "", "")
    assert Path("plain/sound").read_bytes() == CLEAN


def test_output_compression_is_chosen(capfd):
    run(capfd, "merge", "sound", "packed", "--output-compression", "zlib", "-q")
    assert Path("packed").read_bytes()[:1] == b"\x78"
    assert records(["packed"]) == PAYLOADS


def test_a_dry_run_only_says_what_would_be_done(capfd):
    assert run(capfd, "reshard", "sound", "new@2", "--dry-run") == (
        0,
        "would read 1 file (7.3 kB), would write 2 files: new-00000-of-00002 new-00001-of-00002\n",
        "",
    )
    assert "new" not in "".join(os.listdir())


def test_damage_is_code_1_and_nothing_is_written(capfd):
    code, out, err = run(capfd, "merge", "damaged", "new")
    assert (code, out) == (1, "")
    assert err.startswith("purerecord: damaged: record 50 at byte ")
    assert not [name for name in os.listdir() if "new" in name]


def test_skipped_damage_is_code_3_and_named(capfd):
    code, out, err = run(capfd, "merge", "damaged", "new", "--on-error", "skip")
    assert code == 3
    assert out.startswith("99 records read, 99 written and verified\n1 file, ")
    assert "2 damaged places skipped: damaged: " in out
    assert err.startswith("purerecord: skipped: damaged: ")
    assert records(["new"]) == [payload for n, payload in enumerate(PAYLOADS) if n != 7]


def test_a_missing_input_is_code_1(capfd):
    code, _, err = run(capfd, "merge", "nowhere", "new")
    assert (code, err) == (1, "purerecord: nowhere: No such file or directory\n")


def test_division_that_cannot_be_is_explained(capfd):
    code, _, err = run(capfd, "reshard", "sound", "new")
    assert (code, err) == (
        1,
        "purerecord: say how many: out like name@10.tfrecord, or shards, max_bytes or max_records\n",
    )


def test_select_takes_an_expression_and_names(capfd):
    arguments = ("--where", "label in (3, 7)", "--features", "label,name", "--rename", "name=file/name")
    assert run(capfd, "select", "sound", "few", *arguments) == (
        0,
        "100 records read, 2 written and verified\n1 file, 116 bytes: few\n",
        "",
    )
    found = [decode_example(record) for record in records(["few"])]
    assert [(one["label"].item(), one["file/name"].item()) for one in found] == [(3, b"3.jpg"), (7, b"7.jpg")]
    run(capfd, "select", "sound", "less", "--drop", "name,score", "-q")
    assert list(decode_example(records(["less"])[0])) == ["label"]


def test_a_wrong_expression_is_explained_in_one_line(capfd):
    code, out, err = run(capfd, "select", "sound", "few", "--where", "label = 7")
    assert (code, out) == (1, "")
    assert err == "purerecord: the expression is wrong at character 7 (= 7): write ==\n"


def test_sample_takes_a_number_or_a_fraction(capfd):
    run(capfd, "sample", "sound", "ten", "-n", "10", "--seed", "3", "-q")
    assert len(records(["ten"])) == 10
    code, out, _ = run(capfd, "sample", "sound", "some", "--fraction", "0.5", "--json")
    assert code == 0
    assert json.loads(out)["records"] == len(records(["some"]))


def test_split_writes_a_dataset_for_each_name(capfd):
    code, out, err = run(
        capfd, "split", "sound", "{split}@2", "--split", "train=0.8,val=0.2", "--stratify", "name"
    )
    assert (code, err) == (0, "")
    assert out.startswith("100 records read, 100 written and verified, 81 train, 19 val\n4 files, ")
    code, out, err = run(capfd, "split", "sound", "{split}", "--split", "a=0.5,b=0.5", "--by", "label", "-q")
    assert (code, out, err) == (0, "", "")
    assert sorted(records(["a", "b"])) == sorted(PAYLOADS)


def test_shuffle_takes_a_seed_and_a_memory(capfd):
    assert run(capfd, "shuffle", "sound", "mixed@2", "--seed", "3", "--memory", "20kB", "-q") == (0, "", "")
    found = records(["mixed-00000-of-00002", "mixed-00001-of-00002"])
    assert found != PAYLOADS
    assert sorted(found) == sorted(PAYLOADS)
    run(capfd, "shuffle", "sound", "again", "--seed", "3", "-q")
    assert records(["again"]) == found


def test_sort_takes_a_feature_and_a_direction(capfd):
    run(capfd, "sort", "sound", "down", "--by", "score:desc", "-q")
    assert records(["down"]) == PAYLOADS[::-1]
    run(capfd, "sort", "down", "up", "--by", "label", "-q")
    assert records(["up"]) == PAYLOADS
    run(capfd, "sort", "down", "up", "--by", "label:asc", "-q")
    assert records(["up"]) == PAYLOADS


def test_dedup_keeps_the_first_of_equal_records(capfd):
    shutil.copy("sound", "copy")
    assert run(capfd, "dedup", "sound", "copy", "once") == (
        0,
        "200 records read, 100 written and verified, 100 duplicates\n1 file, 7.3 kB: once\n",
        "",
    )
    assert records(["once"]) == PAYLOADS
    run(capfd, "select", "sound", "less", "--drop", "score,name", "-q")
    run(capfd, "dedup", "sound", "less", "one", "--by", "label", "--memory", "1MB", "-q")
    assert records(["one"]) == PAYLOADS


def test_diff_says_where_two_datasets_differ(capfd):
    run(capfd, "reshard", "sound", "new@3", "-q")
    assert run(capfd, "diff", "sound", "new@3") == (0, "100 records, the same in the same order\n", "")
    assert run(capfd, "diff", "sound", "new@3", "-q") == (0, "", "")
    with TFRecordWriter("other") as writer:
        changed = encode_example({"label": 7, "name": "other", "score": 0.7})
        writer.write_many([*PAYLOADS[:7], changed, *PAYLOADS[8:90], *PAYLOADS[91:]])
    assert run(capfd, "diff", "sound", "other") == (
        3,
        "100 records on the left, 99 on the right\n"
        "1 record only on the left\n"
        "  sound: record 90\n"
        "1 record changed\n"
        "  sound: record 7 and other: record 7: name\n",
        "",
    )
    code, out, _ = run(capfd, "diff", "other", "sound", "--json")
    assert code == 3
    assert json.loads(out)["right_places"] == [{"path": "sound", "record": 90}]
    assert json.loads(out)["changes"][0]["features"] == ["name"]


def test_diff_of_a_damaged_file_is_code_1(capfd):
    code, out, err = run(capfd, "diff", "sound", "damaged")
    assert (code, out) == (1, "")
    assert err.startswith("purerecord: damaged: record ")
