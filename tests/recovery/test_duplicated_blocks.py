"""Blocks that were written twice get a kind of damage of their own, and cost no record."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest

from purerecord import Damage, Frame, read_records, salvage, scan, validate
from purerecord.container.damage import DUPLICATED
from tests.support.damage import delete, flip_byte, frames, insert, starts
from tests.support.settings import sampled

RANDOM = random.Random(3)
PAYLOADS = [RANDOM.randbytes(RANDOM.randint(0, 450)) for _ in range(240)]
CLEAN = frames(PAYLOADS)
EDGES = set(starts(PAYLOADS))


def repeated(data: bytes, begin: int, size: int) -> bytes:
    """The block at ``begin``, written twice."""
    return insert(data, begin + size, data[begin : begin + size])


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "a"


def found(path: Path, data: bytes) -> tuple[list[Damage], list[bytes]]:
    path.write_bytes(data)
    damages = [item for item in scan(path) if isinstance(item, Damage)]
    assert list(validate(path).files[0].damages) == damages
    return damages, list(read_records(path, on_error="skip"))


@pytest.mark.parametrize("size", [512, 1024, 4096, 8192])
def test_block_that_was_written_twice_is_named(path, size):
    for begin in range(0, len(CLEAN) - size, 4096):
        seam = begin + size
        damages, records = found(path, repeated(CLEAN, begin, size))
        assert set(records) == set(PAYLOADS), "nothing is lost"
        if seam in EDGES and begin in EDGES:
            assert damages == []  # which leaves no trace
            continue
        assert {(damage.kind, damage.records) for damage in damages} == {(DUPLICATED, 0)}, begin
        assert damages[0].begin <= seam <= damages[-1].end
        detail = f"the {size} bytes at {seam} are those before them, written twice"
        assert {damage.detail for damage in damages} == {detail}


def test_block_inside_a_large_record_costs_that_record(path):
    payloads = [b"before", RANDOM.randbytes(30_000), b"behind"]
    damages, records = found(path, repeated(frames(payloads), 8192, 4096))
    assert records == [b"before", b"behind"]
    assert [(damage.kind, damage.records) for damage in damages] == [(DUPLICATED, 1), (DUPLICATED, 0)]


def test_last_block_of_a_file(path):
    payloads = [RANDOM.randbytes(300)] * 20
    data = frames(payloads)
    data = data[: len(data) // 316 * 316]
    whole = data + frames([RANDOM.randbytes(-(len(data) + 16) % 4096)])
    assert len(whole) % 4096 == 0
    damages, records = found(path, repeated(whole, len(whole) - 4096, 4096))
    assert [damage.kind for damage in damages] == [DUPLICATED]
    assert set(records) == set(read_records(io.BytesIO(whole)))


EQUAL = [bytes(range(112)) * 1] * 200  # frames of 128 bytes, all the same
TILED = [RANDOM.randbytes(64) * 200 for _ in range(5)]  # each repeats itself, at any multiple of 64
ZEROS = [bytes(5000)] * 5


@pytest.mark.parametrize("payloads", [EQUAL, TILED, ZEROS, PAYLOADS], ids=["equal", "tiled", "zeros", "any"])
def test_other_damage_is_not_called_that(path, payloads):
    data = frames(payloads)
    for at in sampled(range(13, len(data) - 40, len(data) // 40), 12):
        for damaged in (flip_byte(data, at), insert(data, at, b"?!"), delete(data, at, at + 5)):
            damages, _ = found(path, damaged)
            assert damages
            assert all(damage.kind != DUPLICATED for damage in damages)


def test_ranges_of_duplicated_blocks_are_kept_when_salvaging(path, tmp_path):
    path.write_bytes(repeated(CLEAN, 4096, 4096))
    report = salvage(path, tmp_path / "b", quarantine=tmp_path / "bad")
    damages = report.files[0].damages
    assert {damage.kind for damage in damages} == {DUPLICATED}
    assert report.files[0].lost_records == 0
    assert len(list((tmp_path / "bad").iterdir())) == len(damages) + 1


def test_every_byte_is_still_accounted_for(path):
    data = repeated(repeated(CLEAN, 20480, 4096), 4096, 4096)
    path.write_bytes(data)
    (file,) = validate(path).files
    assert {damage.kind for damage in file.damages} == {DUPLICATED}
    assert len({damage.detail for damage in file.damages}) == 2
    assert file.good_bytes + file.damaged_bytes == file.size == len(data)
    assert sum(isinstance(item, Frame) for item in scan(path)) == file.records
