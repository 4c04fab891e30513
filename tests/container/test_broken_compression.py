"""Broken compressed files: reports name the broken bytes of the file itself, and quarantine keeps them."""

from __future__ import annotations

import gzip
import io
import json
import random
import tracemalloc
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

from purerecord import TFRecordOptions, TFRecordWriter, salvage, scan, validate
from purerecord.container.damage import BROKEN_COMPRESSION, Damage
from purerecord.storage import inflate
from tests.support.damage import cut, flip_byte, frames, header, insert

RANDOM = random.Random(11)
PAYLOADS = [RANDOM.randbytes(RANDOM.randint(0, 300)) for _ in range(200)]
CLEAN = frames(PAYLOADS)


def blocked() -> bytes:
    file = io.BytesIO()
    with TFRecordWriter(file, TFRecordOptions("GZIP", block_size=3000)) as writer:
        writer.write_many(PAYLOADS)
    return file.getvalue()


def members() -> bytes:
    return b"".join(gzip.compress(CLEAN[at : at + 4000]) for at in range(0, len(CLEAN), 4000))


FORMS = {
    "GZIP": gzip.compress(CLEAN),
    "ZLIB": zlib.compress(CLEAN),
    "members": members(),
    "blocked": blocked(),
}


def broken(data: bytes) -> list[Damage]:
    return [item for item in scan(io.BytesIO(data)) if getattr(item, "kind", "") == BROKEN_COMPRESSION]


@pytest.mark.light(2)
@pytest.mark.parametrize("form", FORMS)
def test_every_byte_of_the_file_is_accounted_for(form):
    data = FORMS[form]
    for at in range(20, len(data), len(data) // 13):
        for damaged in (flip_byte(data, at), cut(data, at), insert(data, at, b"?" * 50), data + b"more"):
            (file,) = validate(io.BytesIO(damaged)).files
            assert file.good_bytes + file.damaged_bytes == file.size
            assert file.good_file_bytes + file.damaged_file_bytes == file.file_size == len(damaged)
            ranges = [damage.compressed for damage in file.damages if damage.compressed is not None]
            assert ranges == sorted(ranges)
            assert all(a[1] <= b[0] for a, b in pairwise(ranges))
            assert all(0 <= begin <= end <= len(damaged) for begin, end in ranges)
            assert len(ranges) == len(broken(damaged)) > 0 or file.ok is False


def test_cut_file_lacks_bytes_but_has_no_bad_ones():
    data = cut(FORMS["GZIP"], 9000)
    assert broken(data)[-1].compressed == (9000, 9000)


def test_break_reaches_to_the_next_member_or_to_the_end():
    edges = [0]
    for at in range(0, len(CLEAN), 4000):
        edges.append(edges[-1] + len(gzip.compress(CLEAN[at : at + 4000])))
    data = flip_byte(FORMS["members"], edges[2] + 500)
    (damage,) = broken(data)
    assert edges[2] < damage.compressed[0] <= damage.compressed[1] == edges[3]
    (damage,) = broken(FORMS["GZIP"] + b"something else")
    assert damage.compressed == (len(FORMS["GZIP"]), len(FORMS["GZIP"]) + 14)
    (damage,) = broken(insert(FORMS["ZLIB"], 5000, b"\xff" * 4000))
    assert 4000 < damage.compressed[0] < damage.compressed[1] == len(FORMS["ZLIB"]) + 4000


@pytest.mark.parametrize("form", FORMS)
def test_quarantine_keeps_what_could_not_be_inflated(tmp_path, form):
    data = insert(FORMS[form], 9000, b"\xff" * 300)
    source = tmp_path / "a"
    source.write_bytes(data)
    report = salvage(source, tmp_path / "b", quarantine=tmp_path / "bad")
    assert report.files[0].file_size == len(data)
    entries = json.loads((tmp_path / "bad" / "damages.json").read_text())["damages"]
    kept = [entry for entry in entries if entry["compressed_file"]]
    assert kept
    for entry in kept:
        begin, end = entry["compressed"]
        assert entry["compressed_file"] == f"compressed-{begin:012d}.bin"
        assert (tmp_path / "bad" / entry["compressed_file"]).read_bytes() == data[begin:end]


def test_quarantine_of_a_compressed_pipe_says_that_it_has_not_kept_it(tmp_path):
    data = flip_byte(FORMS["members"], 9000)
    salvage(io.BytesIO(data), tmp_path / "b", quarantine=tmp_path / "bad")
    entries = json.loads((tmp_path / "bad" / "damages.json").read_text())["damages"]
    assert [entry["compressed_file"] for entry in entries if entry["compressed"]] == [None]
    assert not list(Path(tmp_path / "bad").glob("compressed*"))


SIZE = 32 << 20


@pytest.mark.light(2)
@pytest.mark.parametrize(
    ("before", "behind", "most"),
    [
        (header(1 << 40), b"", 2.4 * SIZE),  # a length that holds, with an absurd record
        (header(2 * SIZE), b"", 2.4 * SIZE),  # one that is cut
        (header(SIZE), b"1234" + frames([b"next"]), 2.4 * SIZE),  # one that is damaged
        (b"", frames([b"next"]), SIZE),  # no record at all: a hole of any size needs little memory
    ],
    ids=["absurd", "cut", "damaged", "hole"],
)
def test_little_that_inflates_to_much_is_held_twice_at_the_most(tmp_path, before, behind, most):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(before + bytes(SIZE) + behind, 1))
    assert path.stat().st_size < SIZE / 100
    tracemalloc.start()
    (file,) = validate(path, compression="GZIP").files
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert file.records == bool(behind)
    assert peak < most


def test_search_among_what_looks_like_members_is_linear(monkeypatch):
    tried = []
    monkeypatch.setattr(inflate, "_inflates", lambda data: tried.append(len(data)) or False)
    data = flip_byte(FORMS["GZIP"], 5000) + b"\x1f\x8b\x08" * 30_000
    (damage,) = broken(data)
    assert damage.compressed[1] == len(data)
    assert len(tried) >= 30_000
    assert max(tried) <= 4096
