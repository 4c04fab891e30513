"""The local cache in front of real stores: several processes, one that is killed, a program of the shell."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import purerecord as pr
from tests.support.damage import frames
from tests.support.interop import interop
from tests.support.places import ROOT
from tests.support.remote_servers import files_server, proxy_server, s3_server

for library in ("moto", "s3fs", "aiohttp"):
    interop(library)

RECORDS = [b"record %06d " % i * (1 + i % 50) for i in range(4000)]
READ = """
import sys, purerecord as pr
options = {"local_cache": sys.argv[1], "local_cache_size": sys.argv[2]}
print(sum(1 for url in sys.argv[3:] for _ in pr.read_records(url, storage_options=options)))
"""


def start(*arguments: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", READ, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def files() -> Iterator[Any]:
    """A server of four files, slow enough that processes meet."""
    data = frames(RECORDS)
    with (
        files_server({f"/{name}.tfrecord": data for name in "abcd"}) as upstream,
        proxy_server(upstream.address, delay=0.05, rate=2 << 20) as proxy,
    ):
        yield proxy


def copies(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def test_processes_share_the_copies_and_keep_the_bound(files, tmp_path):
    urls = [f"http://{files.address}/{name}.tfrecord" for name in "abcd"]
    size = 2 * len(frames(RECORDS))
    processes = [start(tmp_path, size, *urls) for _ in range(3)]
    assert [process.communicate(timeout=120)[0] for process in processes] == ["16000\n"] * 3
    assert sum(os.stat(tmp_path / name).st_size for name in copies(tmp_path)) <= size


def test_a_process_that_is_killed_while_it_fetches_leaves_room_for_the_next(files, tmp_path):
    url = f"http://{files.address}/a.tfrecord"
    size = len(frames(RECORDS))
    process = start(tmp_path, size, url)
    while not any(name.endswith(".partial") for name in copies(tmp_path)):
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()
    for _ in range(2):
        again = start(tmp_path, size, f"http://{files.address}/b.tfrecord")
        assert again.communicate(timeout=60)[0] == "4000\n"
    (copy,) = copies(tmp_path)
    assert copy.startswith("b.tfrecord.")


def test_a_server_without_ranges_fills_the_cache_too(tmp_path):
    options = {"local_cache": str(tmp_path)}
    with files_server({"/a.tfrecord": frames(RECORDS)}, ranges=False) as server:
        url = f"http://{server.address}/a.tfrecord"
        assert list(pr.read_records(url, storage_options=options)) == RECORDS
        assert pr.RecordFile(url, storage_options=options)[3999] == RECORDS[3999]


def test_s3_a_loader_in_processes_and_the_command_line(tmp_path):
    with s3_server() as (_, options_of):
        given = {**options_of(), "local_cache": str(tmp_path), "local_cache_size": "10MB"}
        for number in range(3):
            with pr.TFRecordWriter(f"s3://bucket/{number}.tfrecord", storage_options=options_of()) as writer:
                writer.write_many(RECORDS)
        dataset = pr.TFRecordDataset("s3://bucket/*.tfrecord", storage_options=given).batch(1000)
        assert sum(map(len, dataset.parallel(2))) == 12000
        assert len(copies(tmp_path)) == 3
        words = [
            f"--storage-option={name}={value}" for name, value in given.items() if name != "client_kwargs"
        ]
        command = [sys.executable, "-m", "purerecord", "validate", "s3://bucket/*.tfrecord", *words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "AWS_DEFAULT_REGION": "us-east-1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "12,000  4.5 MB  none" in done.stdout
