"""Uncompressed files: what is counted, damaged, remote, indexed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import purerecord as pr
from purerecord import scan
from purerecord.container.damage import Damage
from purerecord.storage.file_handles import OpenFiles
from purerecord.view.limits import DEFAULT
from purerecord.view.plain_file import PlainFile
from tests.support.damage import flip_byte, frame, frames, starts
from tests.support.settings import tries

PAYLOADS = [f"record {n}".encode() * (1 + n % 5) for n in range(200)]
EDGES = starts(PAYLOADS)
CLEAN = frames(PAYLOADS)


def counted(path, limits=DEFAULT) -> PlainFile:
    file = PlainFile(str(path), limits, OpenFiles())
    while file.walk():
        pass
    while file.check():
        pass
    return file


def payloads(file: PlainFile) -> list[bytes]:
    """All payloads that have no problem."""
    found, row = [], 0
    while row < file.count:
        fetched = file.fetch(row, file.count, 1 << 20)
        found += [payload for n, payload in enumerate(fetched.records) if row + n not in fetched.problems]
        row = fetched.end
    return found


def shown(path) -> tuple[list[bytes], list[Damage]]:
    file = counted(path)
    try:
        return payloads(file), list(file.damages)
    finally:
        file.close()


def test_all_records_of_a_sound_file_are_counted_and_checked(tmp_path):
    (tmp_path / "file").write_bytes(CLEAN)
    file = counted(tmp_path / "file")
    assert (file.count, file.exact, file.walked, file.verified) == (200, True, len(CLEAN), len(CLEAN))
    assert payloads(file) == PAYLOADS
    assert list(file.damages) == []
    assert file.place(3) == (EDGES[3], len(PAYLOADS[3]), f"bytes {EDGES[3]} to {EDGES[4]} of the file")
    assert file.row_at(EDGES[7]) == 7
    assert file.frame_bytes(2, 0, 1 << 20) == frame(PAYLOADS[2])
    assert file.frame_bytes(2, 5, 10) == frame(PAYLOADS[2])[5:15]
    file.close()


def test_large_records_are_counted_by_their_headers(tmp_path):
    large = [bytes([n]) * 100_000 for n in range(20)]
    (tmp_path / "file").write_bytes(frames([*PAYLOADS[:3], *large]))
    found, damages = shown(tmp_path / "file")
    assert found == [*PAYLOADS[:3], *large]
    assert not damages


DAMAGES = {
    "a byte of the data of record 5": flip_byte(CLEAN, EDGES[5] + 14),
    "a byte of the length of record 5": flip_byte(CLEAN, EDGES[5]),
    "the first length": flip_byte(CLEAN, 0),
    "the last byte": flip_byte(CLEAN, len(CLEAN) - 1),
    "cut in a header": CLEAN[: EDGES[150] + 5],
    "cut in a payload": CLEAN[: EDGES[150] + 15],
    "bytes missing from the data of record 5": CLEAN[: EDGES[5] + 13] + CLEAN[EDGES[5] + 16 :],
    "bytes inserted between records": CLEAN[: EDGES[9]] + b"garbage" * 9 + CLEAN[EDGES[9] :],
    "zeros": CLEAN[: EDGES[9]] + bytes(4096) + CLEAN[EDGES[9] :],
    "rubbish at the end": CLEAN + b"\xff" * 40,
    "two places": flip_byte(flip_byte(CLEAN, EDGES[5]), EDGES[100] + 3),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_after_damage_the_same_records_are_found_as_by_scan(tmp_path, name):
    (tmp_path / "file").write_bytes(DAMAGES[name])
    found, damages = shown(tmp_path / "file")
    scanned = list(scan(str(tmp_path / "file")))
    good = [
        DAMAGES[name][one.offset + 12 : one.offset + 12 + one.length]
        for one in scanned
        if not isinstance(one, Damage)
    ]
    assert found == good
    bad = [(one.begin, one.end) for one in scanned if isinstance(one, Damage)]
    assert [(one.begin, one.end) for one in damages] == bad


@given(st.lists(st.integers(0, len(CLEAN) - 1), min_size=1, max_size=4), st.data())
@settings(max_examples=tries(30))
def test_after_any_damage_no_record_is_lost_that_scan_finds(tmp_path_factory, places, data):
    damaged = CLEAN
    for at in places:
        length = data.draw(st.integers(0, 50))
        damaged = damaged[:at] + data.draw(st.binary(max_size=50)) + damaged[at + length :]
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(damaged)
    found, _ = shown(path)
    good = [
        damaged[one.offset + 12 : one.offset + 12 + one.length]
        for one in scan(str(path))
        if not isinstance(one, Damage)
    ]
    assert found == good


def test_a_record_that_is_damaged_stays_in_its_row_and_says_so(tmp_path):
    (tmp_path / "file").write_bytes(DAMAGES["a byte of the data of record 5"])
    file = counted(tmp_path / "file")
    fetched = file.fetch(0, 200, 1 << 20)
    assert fetched.problems == {5: "the data does not match its checksum"}
    assert file.count == 200
    assert file.place(5)[0] == EDGES[5]
    file.close()


def test_an_index_beside_the_file_is_used_and_a_stale_one_is_not(tmp_path):
    path = str(tmp_path / "file")
    with pr.TFRecordWriter(path, index=True) as writer:
        writer.write_many(PAYLOADS)
    file = PlainFile(path, DEFAULT, OpenFiles())
    assert (file.count, file.exact) == (200, True)
    assert payloads(file) == PAYLOADS
    file.close()
    with open(path, "ab") as more:
        more.write(frame(b"more"))
    file = counted(path)
    assert file.count == 201
    assert file.message is not None
    assert file.message.startswith("the index beside the file is not used: ")
    file.close()


def test_reading_takes_few_bytes_at_a_time_and_at_least_one_record(tmp_path):
    (tmp_path / "file").write_bytes(frames([b"x" * 100] * 50))
    file = counted(tmp_path / "file")
    assert len(file.fetch(10, 50, 116 * 3).lengths) == 3
    assert len(file.fetch(10, 50, 1).lengths) == 1
    assert len(file.fetch(10, 12, 1 << 20).lengths) == 2
    file.close()


def test_a_record_that_is_too_large_is_not_read(tmp_path):
    (tmp_path / "file").write_bytes(frames([b"a", b"x" * 1000, b"b"]))
    file = counted(tmp_path / "file", replace(DEFAULT, record_bytes=500))
    assert list(file.fetch(0, 3, 1 << 20).records) == [b"a"]
    fetched = file.fetch(1, 3, 1 << 20)
    assert fetched.problems == {
        1: "the record has 1,000 bytes; the viewer decodes records of up to 500 bytes"
    }
    assert (list(fetched.records), fetched.lengths) == ([b""], [1000])
    assert list(file.fetch(2, 3, 1 << 20).records) == [b"b"]
    assert file.frame_bytes(1, 12, 3) == b"xxx"
    file.close()


def test_the_number_of_places_that_are_kept_is_bounded(tmp_path):
    large = frames([b"x" * 20_000] * 5000)
    (tmp_path / "file").write_bytes(large)
    file = counted(tmp_path / "file", replace(DEFAULT, rows=10))
    assert 10 <= file.count < 5000
    assert not file.exact
    assert file.message == "the viewer keeps the places of 10 records of a file"
    file.close()


def test_a_file_that_becomes_shorter_gives_problems_and_no_crash(tmp_path):
    (tmp_path / "file").write_bytes(CLEAN)
    file = counted(tmp_path / "file")
    (tmp_path / "file").write_bytes(CLEAN[: EDGES[100]])
    fetched = file.fetch(90, 110, 1 << 20)
    assert list(fetched.problems) == list(range(100, 110))
    assert np.array_equal(fetched.lengths, [len(PAYLOADS[n]) for n in range(90, 110)])
    file.close()


def test_checking_ends_where_nearly_everything_is_damaged(tmp_path):
    data = b"".join(flip_byte(frames([b"x" * 50_000]), 20) for _ in range(600))
    (tmp_path / "file").write_bytes(data)
    file = counted(tmp_path / "file", replace(DEFAULT, damages_counted=100))
    while file.check():
        pass
    assert 100 <= file.damages.count < 600
    assert file.message == f"{file.damages.count:,} places are damaged; what follows is not checked"
