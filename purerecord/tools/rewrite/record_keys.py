"""Numbers that stand for records: random ones that follow from a seed, and digests of what a record holds.

The same record has the same number in every run and in every process, so what follows from these numbers does
not depend on how the work is divided. This module must not know what the numbers decide.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records import Records
from ..one_kind import of_one_kind

Keys = npt.NDArray[np.uint64]
# Bytes of a digest. Two different records have the same one with a probability of 2**-128.
DIGEST = 16
# Why nothing can follow from the values of a feature.
NO_VALUE = "no record has a value of it; is the name right?"


def random_keys(numbers: npt.NDArray[Any], seed: int) -> Keys:
    """A random number for each of ``numbers``: different ones for different numbers."""
    first, second = np.frombuffer(hashlib.sha256(f"random keys {seed}".encode()).digest()[:16], "<u8")
    return _mixed(_mixed(numbers.view(np.uint64) + first) ^ second)


def _mixed(keys: Keys) -> Keys:
    """Each number to another one, one to one, by the last steps of SplitMix64."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Keys = keys ^ (keys >> np.uint64(31))
    return mixed


def payload_digests(records: Records) -> Keys:
    """The BLAKE2b of each payload, as rows of two numbers."""
    blake = hashlib.blake2b
    return _rows(b"".join([blake(view, digest_size=DIGEST).digest() for view in records.views()]))


def feature_digests(records: Records, names: Sequence[str]) -> tuple[Keys, npt.NDArray[np.bool_]]:
    """The BLAKE2b of the values of some features in each record, and which records have them all.

    Values are the same if they are of the same kind and have the same bytes.
    """
    digests, known = np.zeros((len(records), 2), np.uint64), np.ones(len(records), bool)
    for rows, some, columns in of_one_kind(records, names):
        splits = {name: column.row_splits for name, column in columns.items()}
        hashes = [hashlib.blake2b(digest_size=DIGEST) for _ in range(len(some))]
        for name, column in columns.items():
            known[rows] &= np.diff(splits[name]) > 0
            _add(hashes, column.kind, column.values, splits[name].tolist())
        digests[rows] = _rows(b"".join([one.digest() for one in hashes]))
    return digests, known


def _add(hashes: list[Any], kind: int, values: Any, splits: list[int]) -> None:
    if isinstance(values, np.ndarray):
        data = np.ascontiguousarray(values).data.cast("B")
        width = values.itemsize
        for row, one in enumerate(hashes):
            begin, end = splits[row], splits[row + 1]
            one.update(b"%d %d " % (kind, end - begin))
            one.update(data[begin * width : end * width])
        return
    views = list(values.views())
    for row, one in enumerate(hashes):
        some = views[splits[row] : splits[row + 1]]
        one.update(b"%d %d " % (kind, len(some)))
        for view in some:
            one.update(b"%d " % len(view))
            one.update(view)


def _rows(joined: bytes) -> Keys:
    return np.frombuffer(joined, "<u8").astype(np.uint64).reshape(-1, 2)


def part_bounds(fractions: Sequence[float]) -> list[int]:
    """Where the parts of all 64-bit numbers end that have these fractions; without the last."""
    ends = np.cumsum(fractions)[:-1].tolist()
    return [min(int(end * 2.0**64), 2**64 - 1) for end in ends]
