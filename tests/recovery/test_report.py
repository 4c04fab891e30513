"""Reports: facts that add up, the JSON they become and the table that people read."""

from __future__ import annotations

import json

import pytest

from purerecord.container.damage import Damage
from purerecord.recovery.report import FileReport, Report, SalvageReport, human_size

SOUND = FileReport("train-00000-of-00003", 1000, 59_700)
DAMAGED = FileReport(
    "train-00001-of-00003",
    997,
    59_700,
    (Damage(4955, 5014, "bad data checksum", 1), Damage(19_970, 21_000, "garbage", None, "why")),
    "GZIP",
)
UNREADABLE = FileReport("train-00002-of-00003", 12, 700, error="Input/output error")
FLEET = Report((SOUND, DAMAGED, UNREADABLE))
MISSING = FileReport("missing", 0, 0, error="No such file or directory")
PAGE = FileReport("page", 0, 34, (Damage(0, 34, "not a TFRecord", None, "it looks like an HTML page"),))
CUT = FileReport("cut", 5, 520, (Damage(500, 520, "truncated payload"),))


def test_good_and_damaged_bytes_add_up_to_the_size():
    assert DAMAGED.damaged_bytes == 59 + 1030
    assert DAMAGED.good_bytes + DAMAGED.damaged_bytes == DAMAGED.size
    assert SOUND.good_bytes == SOUND.size


def test_bytes_of_a_compressed_file_add_up_too():
    damage = Damage(500, 520, "broken compression", None, "", (300, 340))
    file = FileReport("a", 9, 520, (damage,), "GZIP", file_size=400)
    assert file.good_bytes + file.damaged_bytes == file.size == 520
    assert (file.good_file_bytes, file.damaged_file_bytes, file.file_size) == (360, 40, 400)
    assert json.loads(json.dumps(file.to_dict())) == file.to_dict()
    assert file.to_dict()["damages"][0]["compressed"] == [300, 340]
    assert str(damage) == "[500, 520), compressed [300, 340): broken compression"
    assert file.verdict() == "20 bytes (40 bytes of the compressed file) in 1 place, records lost: unknown"
    assert (DAMAGED.file_size, SOUND.good_file_bytes) == (DAMAGED.size, SOUND.size)


@pytest.mark.parametrize(("file", "ok"), [(SOUND, True), (DAMAGED, False), (UNREADABLE, False)])
def test_file_is_ok_without_damage_and_without_error(file, ok):
    assert file.ok is ok
    assert Report((file,)).ok is ok


def test_lost_records_are_known_only_if_known_of_every_damage():
    assert SOUND.lost_records == 0
    assert DAMAGED.lost_records is None
    assert FileReport("a", 1, 100, (Damage(0, 9, "zeros", 2), Damage(20, 30, "zeros", 3))).lost_records == 5


def test_fleet_has_totals_and_says_which_files_are_damaged():
    assert not FLEET.ok
    assert FLEET.records == 2009
    assert FLEET.size == 120_100
    assert FLEET.damaged_bytes == 1089
    assert FLEET.damaged == (DAMAGED,)


def test_what_can_be_salvaged_is_kept_apart_from_what_cannot():
    half = FileReport("half", 3, 600, DAMAGED.damages, error="Input/output error")
    report = Report((SOUND, CUT, PAGE, MISSING, half))
    assert (report.damaged, report.foreign, report.unreadable) == ((CUT,), (PAGE,), (MISSING, half))
    described = report.to_dict()
    assert described["damaged_files"] == ["cut"]
    assert described["foreign_files"] == ["page"]
    assert described["unreadable_files"] == ["missing", "half"]
    assert str(report).splitlines()[-3:] == [
        "to be salvaged or made again: cut",
        "no TFRecord files: page",
        "could not be read: missing half",
    ]


@pytest.mark.parametrize("file", [CUT, MISSING, PAGE, UNREADABLE])
def test_what_is_not_known_to_be_lost_is_null(file):
    assert file.lost_records is None
    assert file.to_dict()["lost_records"] is None
    assert Report((SOUND, file)).to_dict()["lost_records"] is None


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ([], "20 bytes in 1 place, 1 record cut, and what came after it: unknown"),
        ([1], "29 bytes in 2 places, 1 record lost, 1 record cut, and what came after it: unknown"),
        ([2, 0], "38 bytes in 3 places, 2 records lost, 1 record cut, and what came after it: unknown"),
        ([None], "29 bytes in 2 places, records lost: unknown"),
    ],
)
def test_cut_file_says_what_is_known_and_what_is_not(before, text):
    damages = [Damage(20 * i, 20 * i + 9, "garbage", records) for i, records in enumerate(before)]
    assert FileReport("a", 5, 520, (*damages, *CUT.damages)).verdict() == text


def test_json_says_none_where_there_is_no_compression():
    assert (SOUND.to_dict()["compression"], DAMAGED.to_dict()["compression"]) == ("none", "GZIP")
    assert SalvageReport((SOUND,), output="x").to_dict()["output_compression"] == "none"
    assert SalvageReport((PAGE,)).to_dict()["output_compression"] is None


def test_dict_survives_json():
    described = FLEET.to_dict()
    assert json.loads(json.dumps(described)) == described
    assert described["ok"] is False
    assert described["damaged_files"] == [DAMAGED.path]
    assert described["unreadable_files"] == [UNREADABLE.path]
    assert [file["ok"] for file in described["files"]] == [True, False, False]
    assert described["files"][1]["damages"][0] == {
        "begin": 4955,
        "end": 5014,
        "kind": "bad data checksum",
        "records": 1,
        "detail": "",
        "compressed": None,
    }
    assert described["files"][2]["error"] == "Input/output error"


def test_text_is_a_table_with_totals_and_what_to_do():
    assert str(FLEET).splitlines() == [
        "file                  records       size  damage",
        "train-00000-of-00003    1,000    59.7 kB  none",
        "train-00001-of-00003      997    59.7 kB  1.1 kB in 2 places, records lost: unknown",
        "  [4955, 5014): bad data checksum",
        "  [19970, 21000): garbage (why)",
        "train-00002-of-00003       12  700 bytes  Input/output error",
        "3 files                 2,009   120.1 kB  1.1 kB in 1 file, 1 file could not be read",
        "to be salvaged or made again: train-00001-of-00003",
        "could not be read: train-00002-of-00003",
    ]


def test_text_can_leave_out_files_that_are_sound():
    text = FLEET.text(only_damaged=True)
    assert SOUND.path not in text
    assert DAMAGED.path in text


def test_text_of_one_file_has_no_totals():
    assert str(SOUND).splitlines() == [
        "file                  records     size  damage",
        "train-00000-of-00003    1,000  59.7 kB  none",
    ]


def test_text_of_no_file_has_only_totals():
    assert str(Report(())).splitlines()[-1].split() == ["0", "files", "0", "0", "bytes", "none"]


def test_only_the_first_damages_are_listed():
    damages = tuple(Damage(i, i + 1, "garbage") for i in range(0, 60, 2))
    lines = str(FileReport("a", 0, 60, damages)).splitlines()
    assert sum("garbage" in line for line in lines) == 10
    assert "  and 20 more" in lines


def test_salvage_report_says_where_everything_went():
    report = SalvageReport((DAMAGED,), output="clean", compression="ZLIB", quarantine="bad")
    assert str(report).splitlines()[-2:] == [
        "997 records saved and verified: clean",
        "2 damaged ranges kept: bad",
    ]
    assert "made again" not in str(report)
    described = report.to_dict()
    assert (described["output"], described["output_compression"], described["quarantine"]) == (
        "clean",
        "ZLIB",
        "bad",
    )


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1.4, "1 byte"),
        (999, "999 bytes"),
        (999.7, "1.0 kB"),
        (1000, "1.0 kB"),
        (59_700, "59.7 kB"),
        (1_234_567, "1.2 MB"),
        (5_000_000_000, "5.0 GB"),
        (10**19, "10000.0 PB"),
    ],
)
def test_sizes_are_in_the_unit_that_suits_them(size, text):
    assert human_size(size) == text
