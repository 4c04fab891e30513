"""The fast check of whole files: which frames it passes over, and where ``FrameStream`` takes over."""

from __future__ import annotations

import io

import pytest

import purerecord
from purerecord import TFRecordOptions, TFRecordWriter, encode_example, scan, validate
from purerecord.container.damage import Damage
from tests.support.damage import cut, flip_byte, frames, starts
from tests.support.settings import sampled

PAYLOADS = [encode_example({"label": i, "name": f"{i}.jpg"}) for i in range(500)]


@pytest.fixture(params=[64, 1000, 1 << 20], ids="chunk {}".format)
def chunk(request, monkeypatch):
    monkeypatch.setattr(purerecord.recovery.fast_verify, "_VERIFY_BUFFER", request.param)
    return request.param


SIZES = {
    "empty": [0] * 100,
    "small": [i % 50 for i in range(1000)],
    "at the edge": [900 + i % 150 for i in range(60)],
    "large": [20_000, 70_000, 15_000, 1 << 14, (1 << 14) + 1] * 3,
    "mixed": [10, 40_000, 3, 0, 2_000_000, 5, 100],
}


def payloads_of(kind: str) -> list[bytes]:
    return [bytes([i % 251]) * size for i, size in enumerate(SIZES[kind])]


@pytest.mark.parametrize("kind", SIZES)
def test_sound_files_of_all_sizes_are_sound(tmp_path, chunk, kind):
    payloads = payloads_of(kind)
    (tmp_path / "a").write_bytes(frames(payloads))
    (file,) = validate(tmp_path / "a").files
    assert file.ok
    assert (file.records, file.size) == (len(payloads), len(frames(payloads)))


@pytest.mark.parametrize("kind", SIZES)
def test_every_damage_is_found_where_it_is(tmp_path, chunk, kind):
    payloads = payloads_of(kind)
    data, edges = frames(payloads), starts(payloads)
    for number in sampled(range(0, len(payloads), max(1, len(payloads) // 12)), 4):
        for at in {edges[number] + 3, edges[number] + 10, edges[number + 1] - 1}:
            (tmp_path / "a").write_bytes(flip_byte(data, at))
            (file,) = validate(tmp_path / "a").files
            items = list(scan(io.BytesIO(flip_byte(data, at))))
            assert list(file.damages) == [item for item in items if isinstance(item, Damage)]
            assert file.damages
            assert file.records == len(items) - len(file.damages)


@pytest.mark.parametrize("kind", SIZES)
def test_every_cut_is_found(tmp_path, chunk, kind):
    payloads = payloads_of(kind)
    data, edges = frames(payloads), starts(payloads)
    for size in {1, 11, 12, 15, edges[1] + 5, edges[-2] + 3, len(data) - 5, len(data) - 1}:
        if size not in edges and size < len(data):
            (tmp_path / "a").write_bytes(cut(data, size))
            (file,) = validate(tmp_path / "a").files
            assert len(file.damages) == 1
            assert file.damages[0].end == size == file.size


@pytest.mark.parametrize("options", ["GZIP", "ZLIB", TFRecordOptions("GZIP", block_size=3000)])
def test_compressed_files_are_verified_as_well(tmp_path, chunk, options):
    with TFRecordWriter(tmp_path / "a", options) as writer:
        writer.write_many(PAYLOADS)
    assert validate(tmp_path / "a").records == 500
