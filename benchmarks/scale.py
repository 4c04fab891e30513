"""A petabyte in an object store, predicted from measured rates: ``python -m benchmarks.scale``.

First the rates of this machine are measured: seconds of a core for a byte, when a file is validated, loaded
as columns, or rewritten, from a store on loopback (``store_server``) that sets no limit. Then the model
(``fleet``) is checked: it predicts real runs against that store, and against one with 30 ms latency and a
limited rate per connection; both figures are printed. Last comes the table for the large data. Prices and
rates of the large store are assumptions; each has an option. Needs ``pip install 'purerecord[remote]'
aiohttp``.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import purerecord as pr
from benchmarks.fleet import Job, Machines, Prediction, Store, predict
from benchmarks.store_server import serving
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads import Store as Files
from purerecord.cli.options import size as bytes_of

_WORKLOADS = ("img", "ctr")
# The store of the check.
_LATENCY, _RATE = 0.03, 4 << 20


def _validate(urls: list[str], workers: int, folder: Path, spec: dict[str, Any]) -> None:
    report = pr.validate(urls, workers=workers)
    assert report.ok


def _load(urls: list[str], workers: int, folder: Path, spec: dict[str, Any]) -> None:
    dataset = pr.TFRecordDataset(urls).batch(1024 if len(spec) > 3 else 64).parse(spec)
    for _ in dataset.parallel(workers) if workers > 1 else dataset:
        pass


def _rewrite(urls: list[str], workers: int, folder: Path, spec: dict[str, Any]) -> None:
    """Each shard becomes one of half the size and another one, which are read back."""
    for number, url in enumerate(urls):
        with pr.ShardedWriter(folder / f"copy-{number}@2.tfrecord") as writer:
            for records in pr.read_batches(url):
                writer.write_many(records)
        assert pr.validate(writer.paths, workers=1).ok
        for path in writer.paths:
            os.unlink(path)


_RUNS: dict[str, Callable[[list[str], int, Path, dict[str, Any]], None]] = {
    "validate": _validate,
    "load": _load,
    "rewrite": _rewrite,
}


@dataclass(frozen=True)
class Data:
    """The files of a workload on disk."""

    files: list[Path]
    spec: dict[str, Any]

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.files)

    def urls(self, address: str) -> list[str]:
        return [f"{address}/{path.name}" for path in self.files]


def main() -> None:
    arguments = _parser().parse_args()
    with TemporaryDirectory(prefix="purerecord-scale-") as folder:
        for name in _WORKLOADS:
            data = _data(name, Path(folder), arguments.megabytes)
            jobs = _measured(data, Path(folder))
            about = ", ".join(f"{job.name} {1e-6 / job.cpu:.0f}" for job in jobs)
            print(f"{name}: MB that one core handles in a second: {about}")
            for job in jobs:
                _check(job, data, Path(folder))
            _table(jobs, arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale",
        description="Predict what a job over a petabyte takes.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--megabytes", type=int, default=256, help="of each workload, for the rates and the check")
    add("--size", type=bytes_of, default="1000TB", help="the large data")
    add("--shard", type=bytes_of, default="1GB", help="a shard of it")
    add("--machines", type=int, default=64, help="how many")
    add("--workers", type=int, default=8, help="processes (cores) of a machine")
    add("--latency", type=float, default=0.05, help="of the store, in seconds")
    add("--connection-rate", type=bytes_of, default="50MB", help="bytes per second")
    add("--machine-rate", type=bytes_of, default="1.25GB", help="bytes per second of a machine")
    add("--failures", type=float, default=0.001, help="the part of the requests that fail")
    add("--hour-price", type=float, default=0.40, help="of a machine")
    add("--read-price", type=float, default=0.0004 / 1000, help="of a request")
    add("--write-price", type=float, default=0.005 / 1000, help="of a request")
    add("--egress-price", type=float, default=0.0, help="of a byte that leaves the store's region")
    return parser


def _data(name: str, folder: Path, megabytes: int) -> Data:
    """Four shards of a workload, of about so many megabytes together."""
    work = WORKLOADS[name]
    files = Files(folder / "cache", 8 if name == "img" else 1)
    shards = files.shards(work)
    dtypes = {"int64": "int64", "float32": "float32", "bytes": bytes}
    spec = {
        key: pr.FixedLenFeature(field.shape or [], dtypes[field.kind])
        for key, field in work.spec.items()
        if field.shape is not None
    }
    target = []
    for shard in shards:  # repeated up to the size; a file of frames is frames
        content = shard.read_bytes()
        target.append(folder / f"{name}-{len(target)}.tfrecord")
        target[-1].write_bytes(content * max(1, (megabytes << 20) // len(shards) // len(content)))
    return Data(target, spec)


def _measured(data: Data, folder: Path) -> list[Job]:
    """The jobs with the seconds of a core that they take for a byte here."""
    jobs = []
    with serving(data.files[0].parent) as address:
        for name, run in _RUNS.items():
            run(data.urls(address)[:1], 1, folder, data.spec)  # imports and learns
            before = _cpu()
            run(data.urls(address), 1, folder, data.spec)
            jobs.append(Job(name, (_cpu() - before) / data.size))
    return jobs


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _check(job: Job, data: Data, folder: Path) -> None:
    """Print what the model says of two runs here, and what these take."""
    shard = data.size / len(data.files)
    far = 1 if job.name == "rewrite" else 2
    for workers, latency, rate in ((1, 0.0, None), (far, _LATENCY, _RATE)):
        with serving(data.files[0].parent, latency=latency, rate=rate) as address:
            begin = time.monotonic()
            _RUNS[job.name](data.urls(address), workers, folder, data.spec)
            seconds = time.monotonic() - begin
        store = Store(latency, rate or 1e12, 1e12)
        predicted = predict(data.size, shard, job, store, Machines(1, workers)).seconds
        limit = f"{rate / 1e6:.1f} MB/s" if rate else "no limit"
        print(
            f"  check: {job.name}, {data.size / 1e6:.0f} MB, workers: {workers}, {latency * 1000:.0f} ms, "
            f"{limit} a connection: predicted {predicted:.2f} s, took {seconds:.2f} s"
        )


def _table(jobs: list[Job], arguments: argparse.Namespace) -> None:
    names = {field.name for field in fields(Store)}
    store = Store(**{name: value for name, value in vars(arguments).items() if name in names})
    machines = Machines(arguments.machines, arguments.workers, arguments.hour_price)
    print(
        f"  {arguments.size / 1e12:,.0f} TB in shards of {arguments.shard / 1e9:.2g} GB, "
        f"{machines.count} machines with {machines.workers} workers, {store.latency * 1000:.0f} ms, "
        f"{store.connection_rate / 1e6:.0f} MB/s a connection, {store.machine_rate / 1e6:.0f} a machine, "
        f"{store.failures:.1%} of the requests fail:"
    )
    for job in jobs:
        stored = replace(job, passes=2, copies=1) if job.name == "rewrite" else job
        print(_line(job.name, predict(arguments.size, arguments.shard, stored, store, machines)))


def _line(name: str, found: Prediction) -> str:
    return (
        f"  {name:9} {found.seconds / 3600:7.1f} h, bound by {found.bound:7}, {found.idle:.0%} idle, "
        f"{found.reads / 1e6:.0f} M reads, {found.writes / 1e6:.0f} M writes, "
        f"${found.price:,.0f}, {found.lost_shards:.2g} shards given up"
    )


if __name__ == "__main__":
    main()
