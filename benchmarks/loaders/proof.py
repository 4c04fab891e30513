"""What a side delivered, in one figure that does not depend on the order of the records.

The digest is the sum of a hash of each record. The race computes it from the content itself, so a side that
leaves out, repeats or changes a record is found out, whatever the others do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.loaders.content import Array, Content, signatures

MAX_DEVIATION = 8.0  # of the mean colour of a square, of 255, between two decoders


@dataclass(frozen=True)
class Proof:
    """What was delivered: ``digest`` is the sum of the records' hashes, ``spread`` how far records moved.

    ``spread`` is the mean distance between a record's number and its place, as a share of the number of
    records: 0 in order, a third in random order.
    """

    records: int
    distinct: int
    digest: str
    spread: float = 0.0

    def fault(self, expected: Proof) -> str:
        """What is wrong, in words; "" if nothing is."""
        if self.records != expected.records or self.distinct != expected.distinct:
            lost, twice = expected.records - self.distinct, self.records - self.distinct
            parts = [f"{lost} of {expected.records} records lost"] * (lost > 0)
            parts += [f"{twice} records came again"] * (twice > 0)
            return ", ".join(parts) or f"{self.records} records instead of {expected.records}"
        return "" if self.digest == expected.digest else "other values than were written"


class Prover:
    """Adds up what batches hold; ``kinds`` are the kinds of the columns that each must have."""

    def __init__(self, content: Content, decoded: bool) -> None:
        self._kinds = {
            name: kind for name, kind in content.kinds().items() if not (decoded and name == "image")
        }
        self._signatures = content.signatures() if decoded else None
        self._total = 0
        self._ids: list[Array] = []

    def add(self, batch: Mapping[str, Any]) -> None:
        """Add a batch as a side hands it out."""
        ids = as_array(batch["id"])
        self._ids.append(ids)
        hashes = np.zeros(len(ids), np.uint64)
        for name, kind in self._kinds.items():
            hashes += _hashes(name, kind, batch[name], len(ids))
        if self._signatures is not None and "image" in batch:
            found = signatures(np.asarray(as_array(batch["image"])))
            deviation = np.abs(found - self._signatures[ids]).max(axis=(1, 2, 3))
            hashes += (deviation > MAX_DEVIATION).astype(np.uint64)
        self._total = (self._total + int(_mix(hashes).sum(dtype=np.uint64))) % (1 << 64)

    def proof(self) -> Proof:
        """The proof of all batches so far."""
        ids = np.concatenate(self._ids) if self._ids else np.empty(0, np.int64)
        moved = np.abs(ids - np.arange(len(ids))).mean() / len(ids) if len(ids) else 0.0
        return Proof(len(ids), len(np.unique(ids)), f"{self._total:016x}", round(float(moved), 3))


def prove(content: Content, batches: Iterable[Mapping[str, Any]], decoded: bool = False) -> Proof:
    """The proof of the batches."""
    prover = Prover(content, decoded)
    for batch in batches:
        prover.add(batch)
    return prover.proof()


def expected(content: Content, decoded: bool) -> Proof:
    """The proof of the content itself; its pictures are compared with the signatures, not added up."""
    columns = content.columns()
    if decoded:
        del columns["image"]
    return prove(content, [columns], decoded)


def as_array(column: Any) -> Array:
    """A column of numbers: of an array, a tensor or a list."""
    array: Array = column.numpy() if hasattr(column, "numpy") else np.asarray(column)
    return array


def _hashes(name: str, kind: str, column: Any, count: int) -> Array:
    salt = np.uint64(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little"))
    if kind == "bytes":
        values = [bytes(memoryview(_buffer(value))) for value in column]
        found = b"".join(hashlib.blake2b(value, digest_size=8).digest() for value in values)
        return _mix(np.frombuffer(found, np.uint64) ^ salt)
    array = as_array(column)
    if array.dtype.kind != np.dtype(kind).kind:
        raise TypeError(f"{name} came as {array.dtype}, not {kind}")
    cast = array.astype(kind)
    if not np.array_equal(cast, array):
        raise ValueError(f"{name} lost digits")
    rows = np.ascontiguousarray(cast).reshape(count, -1)
    bits = rows.view(np.uint32 if kind == "float32" else np.uint64).astype(np.uint64)
    places = np.arange(bits.shape[1], dtype=np.uint64) + np.uint64(1)
    total: Array = _mix(bits ^ _mix(places) ^ salt).sum(axis=1, dtype=np.uint64)
    return total


def _buffer(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else value


def _mix(values: Array) -> Array:
    """Spread each 64-bit number over all bits, so that sums of hashes mean something (splitmix64)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    spread: Array = mixed ^ (mixed >> np.uint64(31))
    return spread
