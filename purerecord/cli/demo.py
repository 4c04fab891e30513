"""``purerecord demo``: a short tour that writes, reads, parses, damages and repairs a dataset.

It works offline in a temporary folder, or in a named one, takes seconds, and prints each step and its speed.
It must use nothing but the public API, like the program of a user.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import purerecord as pr

RECORDS = 100_000


def run(folder: str | None = None) -> None:
    """Run the tour in ``folder``, or in a temporary folder."""
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
        _tour(folder)
        return
    with tempfile.TemporaryDirectory(prefix="purerecord-demo-") as temporary:
        _tour(temporary)


def _tour(folder: str) -> None:
    pattern = os.path.join(folder, "demo@4.tfrecord")
    columns = _columns()
    with _timed("encoded and wrote"), pr.ShardedWriter(pattern) as writer:
        writer.write_many(pr.encode_examples(columns))
    print(f"  {len(writer.paths)} shards, {sum(map(os.path.getsize, writer.paths)):,} bytes in {folder!r}")

    with _timed("read, both CRCs checked,"):
        count = sum(1 for _ in pr.read_records(pattern))
    assert count == RECORDS

    spec = {
        "id": pr.FixedLenFeature([], np.int64),
        "price": pr.FixedLenFeature([], np.float32),
        "name": pr.FixedLenFeature([], bytes),
        "tags": pr.RaggedFeature(np.int64),
    }
    with _timed("read and parsed into columns"):
        batches = [pr.parse_example(batch, spec) for batch in pr.read_batches(pattern)]
    first = batches[0]
    for name, column in first.items():
        print(f"  {name:6}{type(column).__name__:8} {_shortened(column)}")
    assert sum(int(batch["id"].sum()) for batch in batches) == int(columns["id"].sum())

    damaged = os.path.join(folder, "damaged.tfrecord")
    _damage(writer.paths[0], damaged)
    print("damaged a copy of one shard: a flipped bit, a block of zeros, a cut end")
    report = pr.validate(damaged)
    print("\n".join("  " + line for line in str(report).splitlines()))

    repaired = os.path.join(folder, "repaired.tfrecord")
    pr.salvage(damaged, repaired)
    kept, whole = len(pr.RecordFile(repaired)), len(pr.RecordFile(writer.paths[0]))
    assert pr.validate(repaired).ok
    print(f"salvaged {kept:,} of {whole:,} records into a clean file")


def _columns() -> dict[str, Any]:
    rng = np.random.default_rng(7)
    lengths = rng.integers(0, 6, RECORDS)
    return {
        "id": np.arange(RECORDS),
        "price": rng.random(RECORDS, np.float32),
        "name": np.array([f"item {number % 1000}".encode() for number in range(RECORDS)], object),
        "tags": pr.Ragged(rng.integers(0, 500, int(lengths.sum())), np.append(0, np.cumsum(lengths))),
    }


def _damage(source: str, target: str) -> None:
    with open(source, "rb") as file:
        data = bytearray(file.read())
    data[1000] ^= 0x10
    block = len(data) // 2 // 4096 * 4096
    data[block : block + 4096] = bytes(4096)
    del data[-7:]
    with open(target, "wb") as file:
        file.write(data)


def _shortened(column: object) -> str:
    text = repr(column).replace("\n", " ")
    return text if len(text) <= 60 else text[:57] + "..."


@contextmanager
def _timed(what: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    seconds = time.perf_counter() - begin
    print(f"{what} {RECORDS:,} records in {seconds:.2f} s: {RECORDS / seconds:,.0f} records/s")
