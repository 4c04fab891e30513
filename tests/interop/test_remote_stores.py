"""Real stores on loopback, through fsspec and through obstore: S3, HTTP, and a proxy that misbehaves."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from functools import partial
from itertools import chain, repeat
from typing import Any

import numpy as np
import pytest

import purerecord as pr
from purerecord import tools
from purerecord.storage import remote_file, stores
from purerecord.storage.remote_file import ChangedError
from purerecord.storage.url import Url
from purerecord.view.html_report import report
from tests.support.damage import frames
from tests.support.doc_pages import run_blocks
from tests.support.faulty_store import plan
from tests.support.interop import interop
from tests.support.places import ROOT
from tests.support.remote_servers import (
    CREDENTIALS,
    Files,
    client_of,
    files_server,
    proxy_server,
    running,
    s3_server,
)
from tests.support.settings import tries

for library in ("moto", "s3fs", "obstore", "aiohttp"):
    interop(library)

RECORDS = [b"record %06d " % i * (1 + i % 50) for i in range(4000)]
SMALL = [pr.encode_example({"id": i, "text": f"row {i}"}) for i in range(300)]


def write(url: str, records: list[bytes], options: Any, fail: bool = False, **arguments: Any) -> None:
    with pr.TFRecordWriter(url, storage_options=options, **arguments) as writer:
        writer.write_many(records)
        writer.flush()
        if fail:
            raise ZeroDivisionError


@pytest.fixture(scope="module")
def s3() -> Iterator[tuple[str, Any]]:
    with s3_server() as server:
        write("s3://bucket/data.tfrecord", RECORDS, server[1]())
        yield server


@pytest.fixture(params=["fsspec", "obstore"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Which library reads; a process that has not used obstore may, any other one may not."""
    monkeypatch.setattr(stores, "_obstore_process", os.getpid() if request.param == "obstore" else -1)
    monkeypatch.setattr(stores, "_obstores", {})
    name: str = request.param
    return name


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_file, "_PAUSE", 0.001)
    monkeypatch.setattr("s3fs.S3FileSystem.retries", 1)  # both would retry too, and wait
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


def test_every_way_of_reading_gives_the_records(s3, library):
    options = s3[1]()
    url = "s3://bucket/data.tfrecord"
    assert list(pr.read_records(url, storage_options=options)) == RECORDS
    assert [r for batch in pr.read_batches(url, storage_options=options) for r in batch] == RECORDS
    assert list(pr.TFRecordDataset("s3://bucket/da*.tfrecord", storage_options=options)) == RECORDS
    assert pr.validate(url, storage_options=options).records == len(RECORDS)
    assert sum(1 for _ in pr.scan(url, storage_options=options)) == len(RECORDS)
    file = pr.RecordFile(url, storage_options=options)
    numbers = np.random.default_rng(0).integers(0, len(RECORDS), 300).tolist()
    assert file.__getitems__(numbers) == [RECORDS[number] for number in numbers]
    assert len(pr.build_index(url, storage_options=options)) == len(RECORDS)
    used = type(stores.open_object(Url(url, options))).__name__
    assert used == {"fsspec": "_S3Object", "obstore": "_ObstoreObject"}[library]


@pytest.mark.parametrize("seed", range(tries(6)))
@pytest.mark.parametrize("scheme", ["s3", "http"])
def test_a_store_that_misbehaves_loses_and_doubles_nothing(s3, library, scheme, seed, monkeypatch):
    monkeypatch.setattr(remote_file, "RANGE", 1 << 17)
    monkeypatch.setattr(remote_file, "ATTEMPTS", 25)
    address, options = s3
    faults = plan(f"{scheme} {seed}", (*("reset", "busy", "short", "cut") * 3, "wrong"))
    with files_server({"/data.tfrecord": frames(RECORDS)}) as files:
        upstream = address if scheme == "s3" else files.address
        with proxy_server(upstream, faults) as proxy:
            if scheme == "s3":
                url, given = "s3://bucket/data.tfrecord", options(proxy.address)
            else:
                url, given = f"http://{proxy.address}/data.tfrecord", None
            read = list(pr.read_records(url, storage_options=given))
    assert read == RECORDS


def test_a_connection_that_stalls_does_not_stop_the_reader(s3, library, monkeypatch):
    monkeypatch.setattr(remote_file, "RANGE", 1 << 18)
    monkeypatch.setattr(remote_file, "PATIENCE", 0.5)
    with proxy_server(s3[0], iter(["none", "stall", "none"]), stall=20) as proxy:
        options = s3[1](proxy.address)
        assert list(pr.read_records("s3://bucket/data.tfrecord", storage_options=options)) == RECORDS


def test_a_store_that_is_down_is_one_error(s3, library, monkeypatch):
    monkeypatch.setattr(remote_file, "ATTEMPTS", 3)
    with proxy_server(s3[0], iter(["busy"] * 1000)) as proxy:
        options = s3[1](proxy.address)
        with pytest.raises(OSError, match="given up after 3 attempts") as caught:
            list(pr.read_records("s3://bucket/data.tfrecord", storage_options=options))
    assert caught.value.filename == "s3://bucket/data.tfrecord"
    assert CREDENTIALS["secret"] not in str(caught.value)


def test_an_object_that_is_replaced_while_it_is_read_is_an_error(s3, library, monkeypatch):
    monkeypatch.setattr(remote_file, "RANGE", 1 << 20)
    options = s3[1]()
    url = "s3://bucket/changing.tfrecord"
    write(url, [b"a" * 100_000] * 60, options)
    reader = pr.read_records(url, storage_options=options)
    assert next(reader) == b"a" * 100_000
    write(url, [b"b" * 100_000] * 60, options)
    with pytest.raises(ChangedError, match="replaced while it was read"):
        list(reader)


def test_a_server_without_ranges_is_read_forward(library):
    large = [bytes(1 << 20)] * 20
    with files_server({"/data.tfrecord": frames(RECORDS), "/large": frames(large)}, ranges=False) as files:
        assert list(pr.read_records(f"http://{files.address}/data.tfrecord")) == RECORDS
        assert list(pr.TFRecordDataset(f"http://{files.address}/large")) == large


class Cut(Files):
    """Gives no ranges, and hangs up after ``server.sent`` bytes; says the size only if it is asked for it."""

    protocol_version = "HTTP/1.0"

    def _answer(self, *, body: bool) -> None:
        if self.path.endswith(".index"):
            super()._answer(body=body)
            return
        self.send_response(200)
        if not body or self.server.tells:
            self.send_header("Content-Length", str(len(self.server.data)))
        self.send_header("ETag", '"1"')
        self.end_headers()
        if body:
            self.wfile.write(self.server.data[: self.server.sent])


class Strict(Files):
    """Has no range of an empty file, as RFC 9110 says."""

    def _answer(self, *, body: bool) -> None:
        if "Range" in self.headers and not self.server.files.get(self.path):
            self.send_error(416)
            return
        super()._answer(body=body)


def test_an_empty_file_of_a_web_server_has_no_records():
    with running(Strict, files={"/empty": b""}, ranges=True) as server:
        url = f"http://{server.address}/empty"
        assert list(pr.read_records(url)) == []
        assert list(pr.TFRecordDataset(url)) == []
        assert pr.validate(url, workers=1).records == 0


def test_a_file_that_has_become_shorter_was_replaced():
    with running(Shorter, files={"/file": frames(RECORDS)}, ranges=True) as server:
        file = pr.RecordFile(f"http://{server.address}/file")
        assert len(file) == len(RECORDS)
        server.files["/file"] = frames(RECORDS[:10])
        with pytest.raises(ChangedError, match="replaced while it was read"):
            file[3000]


class Shorter(Files):
    """Has no ranges behind the end of a file."""

    def _answer(self, *, body: bool) -> None:
        begin = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
        if begin and begin >= len(self.server.files.get(self.path, b"")):
            self.send_error(416)
            return
        super()._answer(body=body)


@pytest.mark.parametrize("tells", [True, False])
def test_a_connection_that_ends_after_a_record_is_not_the_end_of_the_file(tells, tmp_path):
    data, whole = frames(RECORDS), len(frames(RECORDS[:3000]))
    with running(Cut, files={}, data=data, sent=whole, tells=tells) as server:
        url = f"http://{server.address}/data.tfrecord"
        for options in (None, {"local_cache": str(tmp_path)}):
            for read in (pr.read_records, pr.TFRecordDataset, partial(pr.read_records, on_error="skip")):
                with pytest.raises(OSError, match=r"completed|ended after \d+ of") as caught:
                    list(read(url, storage_options=options))
                assert caught.value.filename == url
        assert not [name for name in os.listdir(tmp_path) if not name.startswith(".")]
        server.sent = len(data)
        assert list(pr.TFRecordDataset(url)) == RECORDS
        assert len(pr.RecordFile(url, storage_options={"local_cache": str(tmp_path)})) == len(RECORDS)
        with pytest.raises(OSError, match="only read_records reads it, or a local_cache"):
            len(pr.RecordFile(url))


def test_a_signature_is_used_and_never_shown(library):
    with files_server({"/data.tfrecord": frames(RECORDS)}) as files:
        url = f"http://{files.address}/data.tfrecord?X-Amz-Signature=1234567890"
        dataset = pr.TFRecordDataset(url)
        assert list(dataset) == RECORDS
        with pytest.raises(FileNotFoundError) as caught:
            list(pr.read_records(url.replace("data", "nothing")))
        for text in (repr(dataset), str(caught.value), repr(caught.value), repr(pr.RecordFile(url))):
            assert "Signature" not in text
            assert "1234567890" not in text
        assert list(pickle.loads(pickle.dumps(dataset))) == RECORDS


class Refusing(Files):
    """Refuses each range but the first byte, which shows that there are ranges."""

    def _answer(self, *, body: bool) -> None:
        if not body or self.headers["Range"] == "bytes=0-0":
            super()._answer(body=body)
            return
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.mark.parametrize(
    ("status", "kind"), [(401, PermissionError), (403, PermissionError), (410, OSError), (500, OSError)]
)
def test_a_refusal_is_an_error_without_the_signature(status, kind):
    secrets = ("word77", "s%2F77", "s/77")
    query = f"?sig={secrets[1]}%3D&a=1"
    with running(Refusing, files={"/data.tfrecord": frames(RECORDS)}, ranges=True, status=status) as files:
        url = f"http://me:{secrets[0]}@{files.address}/data.tfrecord{query}"
        with pytest.raises(kind) as caught:
            list(pr.read_records(url))
    shown = "".join(traceback.format_exception(caught.value))
    assert not [secret for secret in secrets if secret in shown]
    assert str(status) in str(caught.value)


class ByQuery(Files):
    """Serves the file that the query names."""

    def _answer(self, *, body: bool) -> None:
        self.path = self.path.replace("?name=", "")
        super()._answer(body=body)


def test_urls_that_differ_in_their_queries_only_are_different_files():
    data = {path: frames([path.encode()] * 9) for path in ("/geta", "/getb")}
    with running(ByQuery, files=data, ranges=True) as files:
        urls = [f"http://{files.address}/get?name={name}" for name in ("a", "b")]
        expected = [b"/geta"] * 9 + [b"/getb"] * 9
        assert list(pr.read_records(urls)) == expected
        assert list(pr.RecordFile(urls)) == expected
        assert list(pr.RecordFile(urls)[[17, 0, 9]]) == [b"/getb", b"/geta", b"/getb"]
        assert sorted(pr.TFRecordDataset(urls).shuffle(20, seed=1)) == expected


def uploads(address: str) -> tuple[list[str], int]:
    """The keys in the bucket, and how many uploads are under way."""
    client = client_of(address)
    listed = client.list_objects_v2(Bucket="bucket").get("Contents", [])
    pending = client.list_multipart_uploads(Bucket="bucket").get("Uploads") or []
    return [item["Key"] for item in listed], len(pending)


@pytest.mark.parametrize("size", [10, 12_000_000])
def test_a_file_appears_whole_or_not_at_all(s3, size):
    address, options = s3
    url = f"s3://bucket/written-{size}.tfrecord"
    with pytest.raises(ZeroDivisionError):
        write(url, [bytes(size)], options(), fail=True)
    writer = pr.TFRecordWriter(url, storage_options=options())
    writer.write(bytes(size))
    with pytest.warns(ResourceWarning, match="never closed"):
        del writer
    keys, pending = uploads(address)
    assert f"written-{size}.tfrecord" not in keys
    assert pending == 0
    write(url, [bytes(size)], options(), index=True)
    assert list(pr.read_records(url, storage_options=options())) == [bytes(size)]
    assert len(pr.RecordFile(url, storage_options=options())) == 1
    assert f"written-{size}.tfrecord.index" in uploads(address)[0]


def test_a_store_that_takes_the_file_and_not_its_index(s3):
    address, options = s3
    before = uploads(address)[1]
    with proxy_server(address, puts=chain(["none"], repeat("busy"))) as proxy:
        once = {**options(proxy.address), "config_kwargs": {"retries": {"max_attempts": 1}}}
        with pytest.raises(OSError, match=r"whole\.tfrecord\.index") as caught:
            write("s3://bucket/whole.tfrecord", RECORDS, once, index=True)
        assert "SlowDown" in str(caught.value)
    assert list(pr.read_records("s3://bucket/whole.tfrecord", storage_options=options())) == RECORDS
    assert uploads(address)[1] == before


@pytest.mark.parametrize("how", [{"shards": 3}, {"max_records": 1000}])
def test_shards_in_a_store(s3, how):
    options = s3[1]()
    name = "s3://bucket/shards/part" if "shards" in how else "s3://bucket/max_records/part@*.tfrecord"
    failing = pr.ShardedWriter(name, **how, storage_options=options)
    failing.write_many(RECORDS)
    failing.__exit__(ZeroDivisionError)
    assert not [key for key in uploads(s3[0])[0] if "part" in key and next(iter(how)) in key]
    with pr.ShardedWriter(name, **how, storage_options=options) as writer:
        writer.write_many(RECORDS)
    assert sorted(pr.read_records(writer.paths, storage_options=options)) == sorted(RECORDS)
    assert not [key for key in uploads(s3[0])[0] if "partial" in key]


def test_salvage_from_a_store_to_a_store(s3, tmp_path):
    options = s3[1]()
    data = bytearray(frames(RECORDS))
    data[100_000] ^= 1
    fsspec = interop("fsspec")
    fsspec.filesystem("s3", **options).pipe("bucket/damaged.tfrecord", bytes(data))
    report = pr.salvage(
        "s3://bucket/damaged.tfrecord",
        "s3://bucket/saved.tfrecord",
        quarantine=tmp_path / "quarantine",
        storage_options=options,
    )
    assert report.records == len(RECORDS) - 1
    saved = list(pr.read_records("s3://bucket/saved.tfrecord", storage_options=options))
    assert [record for record in RECORDS if record in set(saved)] == saved
    assert len(saved) == len(RECORDS) - 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_dataset_that_was_opened_before_a_fork_is_read_in_the_child(s3, library):
    dataset = pr.TFRecordDataset("s3://bucket/data.tfrecord", storage_options=s3[1]())
    table = pr.RecordFile("s3://bucket/data.tfrecord", storage_options=s3[1]())
    assert table[0] == RECORDS[0]
    iterator = iter(dataset)
    begun = [next(iterator) for _ in range(10)]
    assert begun == RECORDS[:10]
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            whole = list(dataset) if table[-1] == RECORDS[-1] else []
            os.write(write, b"right" if whole == RECORDS else b"wrong")
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    assert said == b"right"
    assert list(iterator) == RECORDS[10:]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("scheme", ["s3", "http"])
def test_a_forked_process_that_throws_connections_away_does_not_stop_the_other_one(s3, scheme):
    options = s3[1]() if scheme == "s3" else None
    with files_server({"/data.tfrecord": frames(RECORDS)}) as files:
        url = "s3://bucket/data.tfrecord" if scheme == "s3" else f"http://{files.address}/data.tfrecord"

        def count() -> int:
            return sum(1 for _ in pr.TFRecordDataset(url, storage_options=options))

        assert count() == len(RECORDS)
        child = os.fork()
        if child == 0:
            try:
                count()
                gc.collect()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        found: list[int] = []
        reading = threading.Thread(target=lambda: found.append(count()), daemon=True)
        reading.start()
        reading.join(30)
        assert found == [len(RECORDS)]


def test_parallel_reads_a_store_in_its_processes(s3):
    options = s3[1]()
    with pr.ShardedWriter("s3://bucket/two@2", storage_options=options) as writer:
        writer.write_many(RECORDS)
    dataset = pr.TFRecordDataset("s3://bucket/two@2", storage_options=options).batch(100)
    assert sorted(record for batch in dataset.parallel(2) for record in batch) == sorted(RECORDS)


def test_a_state_names_no_credentials_and_resumes(s3, library):
    dataset = pr.TFRecordDataset("s3://bucket/data.tfrecord", storage_options=s3[1]()).shuffle(50, seed=1)
    iterator = iter(dataset)
    expected = list(dataset.iterator(epoch=0))
    for _ in range(100):
        next(iterator)
    state = iterator.state_dict()
    assert CREDENTIALS["secret"] not in repr(state)
    again = dataset.iterator()
    again.load_state_dict(state)
    assert list(again) == expected[100:]


def test_given_filesystems(s3):
    options = s3[1]()
    fsspec = interop("fsspec")
    filesystem = fsspec.filesystem("s3", **options)
    assert list(pr.read_records("bucket/data.tfrecord", filesystem=filesystem)) == RECORDS
    assert list(pr.read_records("bucket/data*.tfrecord", filesystem=filesystem)) == RECORDS
    store = interop("obstore.store").S3Store(
        "bucket",
        endpoint=options["endpoint_url"],
        access_key_id="x",
        secret_access_key="y",
        region="us-east-1",
        client_options={"allow_http": True},
    )
    assert list(pr.read_records("data.tfrecord", filesystem=store)) == RECORDS
    pyarrow = interop("pyarrow.fs")
    arrow = pyarrow.S3FileSystem(
        access_key="x", secret_key="y", endpoint_override=options["endpoint_url"], region="us-east-1"
    )
    assert list(pr.read_records("bucket/data.tfrecord", filesystem=arrow)) == RECORDS


def test_the_command_line_takes_storage_options(s3):
    options = s3[1]()
    given = [f"--storage-option={name}={options[name]}" for name in ("key", "secret", "endpoint_url")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "AWS_DEFAULT_REGION": "us-east-1"}
    with pr.TFRecordWriter("s3://bucket/rows.tfrecord", storage_options=options) as writer:
        writer.write_many(SMALL)
    for command in (
        ["validate"],
        ["info"],
        ["cat", "--format", "raw", "-n", "1"],
        ["index", "-o", "s3://bucket/rows.index"],
        ["stats", "--html", "s3://bucket/stats.html"],
        ["schema", "--format", "json"],
        ["validate", "--decode", "--schema", "s3://bucket/schema.json"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "purerecord", *command, "s3://bucket/rows.tfrecord", *given],
            capture_output=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout or "--html" in command
        if command[0] == "schema":
            interop("fsspec").filesystem("s3", **options).pipe("bucket/schema.json", done.stdout)
    assert "stats.html" in uploads(s3[0])[0]


def test_a_report_and_a_schema_may_be_in_the_store(s3):
    options = s3[1]()
    report("s3://bucket/data.tfrecord", "s3://bucket/report.html", storage_options=options)
    assert "report.html" in uploads(s3[0])[0]
    filesystem = interop("fsspec").filesystem("s3", **options)
    filesystem.pipe("bucket/codes.csv", b"code\n1\n")
    filesystem.pipe("bucket/codes.json", pr.schema_to_json({"code": pr.FixedLenFeature([], bytes)}).encode())
    tools.convert(
        "s3://bucket/codes.csv",
        "s3://bucket/codes.tfrecord",
        schema="s3://bucket/codes.json",
        storage_options=options,
    )
    (record,) = pr.read_records("s3://bucket/codes.tfrecord", storage_options=options)
    assert pr.decode_example(record)["code"] == [b"1"]


def test_the_page_about_remote_files_runs():
    interop("fsspec").filesystem("memory")
    assert run_blocks("docs/remote.md", " remote") == 2


def test_a_filesystem_of_pyarrow_writes_whole_files_only(s3):
    arrow = interop("pyarrow.fs").S3FileSystem(
        access_key="x", secret_key="y", endpoint_override=s3[1]()["endpoint_url"], region="us-east-1"
    )
    failing = pr.TFRecordWriter("bucket/arrow/a.tfrecord", filesystem=arrow)
    failing.write_many(RECORDS)
    failing.abandon()
    assert not [key for key in uploads(s3[0])[0] if key.startswith("arrow/")]
    with pr.TFRecordWriter("bucket/arrow/a.tfrecord", index=True, filesystem=arrow) as writer:
        writer.write_many(RECORDS)
    assert pr.RecordFile("bucket/arrow/a.tfrecord", filesystem=arrow)[-1] == RECORDS[-1]


def test_an_index_may_be_somewhere_else_in_the_store(s3):
    options = s3[1]()
    beside = "s3://bucket/elsewhere.index"
    index = pr.build_index("s3://bucket/data.tfrecord", storage_options=options)
    index.save(beside, storage_options=options)
    file = pr.RecordFile("s3://bucket/data.tfrecord", index=beside, storage_options=options)
    assert file[7] == RECORDS[7]
    assert file.load_indexes()[0].path == "s3://bucket/elsewhere.index"
