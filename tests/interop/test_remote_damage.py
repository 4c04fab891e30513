"""A web server that sends wrong bytes, or others than it was asked for: no reader loses or doubles any."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import purerecord as pr
from purerecord import tools
from purerecord.container.byte_range import splits
from purerecord.storage import remote_file
from purerecord.storage.remote_file import ChangedError
from tests.support.damage import frames
from tests.support.interop import interop
from tests.support.remote_servers import Files, running

interop("aiohttp")

RECORDS = [b"record %06d " % i + Random(i).randbytes(13 * (i % 40)) for i in range(3000)]
EQUAL = [b"%08d" % i * 6 for i in range(8192)]  # a frame has 64 bytes: another range may begin with a frame


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The content of the files that are served, and the records of each."""
    folder = tmp_path_factory.mktemp("files")
    found = {"/plain": (frames(RECORDS), RECORDS), "/equal": (frames(EQUAL), EQUAL)}
    blocks = pr.TFRecordOptions("GZIP", block_size=1 << 14)
    for name, options in {"gzip": "GZIP", "zlib": "ZLIB", "blocks": blocks}.items():
        with pr.TFRecordWriter(folder / name, options) as writer:
            writer.write_many(RECORDS)
        found[f"/{name}"] = ((folder / name).read_bytes(), RECORDS)
    return found


@pytest.fixture(autouse=True)
def small_ranges(monkeypatch):
    monkeypatch.setattr(remote_file, "RANGE", 1 << 16)
    monkeypatch.setattr(remote_file, "FIRST", 1 << 16)
    monkeypatch.setattr(remote_file, "ATTEMPTS", 30)
    monkeypatch.setattr(remote_file, "_PAUSE", 0.0001)


class Wrong(Files):
    """Answers the first request for many a range wrongly: ``server.kind`` says how."""

    def _answer(self, *, body: bool) -> None:
        wanted = self.headers.get("Range")
        random = Random(f"{self.server.seed} {wanted}")
        known = wanted in self.server.asked
        self.server.asked.add(wanted)
        if not body or wanted in (None, "bytes=0-0") or known or random.random() > 0.4:
            super()._answer(body=body)
            return
        data = self.server.files[self.path]
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        begin, size = int(first), min(int(last) + 1, len(data)) - int(first)
        part = data[begin : begin + size]
        if self.server.kind == "garbage":
            part = random.randbytes(size)
        elif self.server.kind == "another range":
            begin = random.randrange(0, len(data) - size + 1, 64)
            part = data[begin : begin + size]
        whole = self.server.kind == "the whole file"
        self.send_response(200 if whole else 206)
        if not whole:
            self.send_header("Content-Range", f"bytes {begin}-{begin + size - 1}/{len(data)}")
        self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
        self.send_header("Content-Length", str(len(data if whole else part)))
        self.end_headers()
        self.wfile.write(data if whole else part)


def in_parts(url: str, _: Path) -> list[bytes]:
    parts = [pr.read_batches(url, byte_range=part) for part in splits(url, 30_000)]
    return [record for part in parts for batch in part for record in batch]


def at_random(url: str, _: Path) -> list[bytes]:
    if url.endswith(("gzip", "zlib")):
        return list(pr.RecordFile(url))
    file = pr.RecordFile(url, index=pr.build_index(url))
    numbers = Random(0).choices(range(len(file)), k=40)
    together = file.__getitems__(numbers)
    return list(file) if together == [file[number] for number in numbers] else []


def salvaged(url: str, folder: Path) -> list[bytes]:
    pr.salvage(url, folder / "saved")
    return list(pr.read_records(folder / "saved"))


READERS: dict[str, Callable[[str, Path], list[bytes]]] = {
    "records": lambda url, _: list(pr.read_records(url)),
    "skip": lambda url, _: list(pr.read_records(url, on_error="skip")),
    "batches": lambda url, _: [record for batch in pr.read_batches(url) for record in batch],
    "dataset": lambda url, _: list(pr.TFRecordDataset(url)),
    "parts": in_parts,
    "random": at_random,
    "salvage": salvaged,
}


@pytest.mark.parametrize("kind", ["garbage", "another range", "the whole file"])
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["/plain", "/equal", "/gzip", "/zlib", "/blocks"])
@pytest.mark.light(40)
def test_wrong_bytes_are_asked_for_again(files, tmp_path, name, reader, kind):
    content = {path: data for path, (data, _) in files.items()}
    with running(Wrong, files=content, ranges=True, seed=1, asked=set(), kind=kind) as server:
        url = f"http://{server.address}{name}"
        assert READERS[reader](url, tmp_path) == files[name][1]
        report = pr.validate(url, workers=1)
        assert report.ok
        assert report.records == tools.count(url).records == len(files[name][1])


@pytest.mark.parametrize("name", ["/plain", "/gzip", "/blocks"])
def test_damage_in_the_store_is_damage(files, tmp_path, name):
    data = bytearray(files[name][0])
    data[len(data) // 2] ^= 1
    with running(Files, files={"/damaged": bytes(data)}, ranges=True) as server:
        url = f"http://{server.address}/damaged"
        with pytest.raises(pr.CorruptionError):
            list(pr.read_records(url))
        found = list(pr.read_records(url, on_error="skip"))
    (tmp_path / "damaged").write_bytes(data)
    assert found == list(pr.read_records(tmp_path / "damaged", on_error="skip"))


def test_records_of_two_versions_are_never_mixed():
    old, new = (frames([letter * 48] * 8192) for letter in (b"a", b"b"))
    with running(Files, files={"/file": old}, ranges=True) as server:
        url = f"http://{server.address}/file"
        file = pr.RecordFile(url)
        reader = pr.read_batches(url, byte_range=(0, 300_000), batch_size=10)
        assert file[0] == b"a" * 48
        assert set(next(reader)) == {b"a" * 48}
        server.files["/file"] = new  # as large as the old one
        for read in (lambda: file[5000], lambda: file.__getitems__([1, 4000]), lambda: list(file)):
            with pytest.raises(ChangedError, match="replaced while it was read"):
                read()
        server.files["/file"] = new[:-64]
        with pytest.raises(ChangedError):
            file[8191]
        assert set(pr.read_records(url)) == {b"b" * 48}
