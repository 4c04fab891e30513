"""What a job over many shards in an object store takes: time, requests, money, shards that fail.

A worker is a process with a core of its own. It reads one shard after the other, as ``storage.remote_file``
does: some ranges on their way at a time. So it is as fast as the slower of its connections and its core.
Writing does not overlap with reading. The model knows nothing about stragglers, about a store that slows down
under load, or about a network that machines share; ``Store`` says what one machine gets.

This module looks at no clock; ``scale`` measures the rates that go in and compares the result with real runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from purerecord.storage import remote_file


@dataclass(frozen=True)
class Store:
    """An object store as one machine sees it; rates are bytes per second."""

    latency: float  # seconds until the first byte of an answer
    connection_rate: float
    machine_rate: float  # of all connections of a machine together
    failures: float = 0.0  # the part of all requests that fail and are repeated
    read_price: float = 0.0  # of a request that reads
    write_price: float = 0.0
    egress_price: float = 0.0  # of a byte that leaves


@dataclass(frozen=True)
class Machines:
    """Machines that are alike; each runs ``workers`` processes, one on a core."""

    count: int
    workers: int
    hour_price: float = 0.0


@dataclass(frozen=True)
class Job:
    """Work on each byte of the data."""

    name: str
    cpu: float  # seconds of a core for a byte that is read, all passes together
    passes: int = 1  # how often the bytes are read from a store: a copy is read back to verify it
    copies: int = 0  # how often they are written


@dataclass(frozen=True)
class Prediction:
    """What a job takes."""

    seconds: float
    bound: str  # what would have to be faster: "network", "CPU", "latency"
    idle: float  # the part of the workers' time after their last shard
    reads: float  # requests
    writes: float
    price: float
    lost_shards: float  # shards that are given up, to be expected; the job names them, and they are run again


def predict(size: float, shard: float, job: Job, store: Store, machines: Machines) -> Prediction:
    """What ``job`` takes over ``size`` bytes in shards of ``shard`` bytes."""
    shards = math.ceil(size / shard)
    workers = machines.count * machines.workers
    parts = _of_a_shard(shard, job, store, machines.workers)
    rounds = math.ceil(shards / workers)
    seconds = rounds * sum(parts.values())
    ranges = shards * job.passes * (1 + math.ceil(max(0, shard - remote_file.FIRST) / remote_file.RANGE))
    reads = (ranges + 2 * shards * job.passes) / (1 - store.failures)  # the status before and after
    writes = shards * job.copies * math.ceil(shard / remote_file.RANGE)
    price = machines.count * seconds / 3600 * machines.hour_price
    price += reads * store.read_price + writes * store.write_price + size * job.passes * store.egress_price
    # Where the core is slower than the connections, these wait for it.
    waits = {**parts, "CPU": parts["CPU"] and shard * job.cpu}
    return Prediction(
        seconds,
        max(waits, key=waits.__getitem__),
        1 - shards / (rounds * workers),
        reads,
        writes,
        price,
        ranges * store.failures**remote_file.ATTEMPTS,
    )


def _of_a_shard(shard: float, job: Job, store: Store, workers: int) -> dict[str, float]:
    """The seconds that a worker spends on one shard: on latencies, on bytes, and on computing beyond that."""
    repeated = store.failures * (store.latency + remote_file._PAUSE / 2) / (1 - store.failures)
    once = store.latency + repeated
    connection = min(store.connection_rate, store.machine_rate / workers)
    # The first range comes alone, then several are on their way: the bytes are there when the last one is.
    first = min(shard, remote_file.FIRST)
    piece = min(shard - first, remote_file.RANGE)
    ahead = remote_file.AHEAD * remote_file.RANGE / (once + remote_file.RANGE / store.connection_rate)
    rest = max(piece / connection, (shard - first) / min(ahead, store.machine_rate / workers))
    network = first / connection + rest
    return {
        "latency": job.passes * 4 * once,
        "network": job.passes * network + job.copies * (shard / connection),
        "CPU": max(shard * job.cpu - network * job.passes, 0.0),
    }
