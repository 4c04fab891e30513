"""Digests of what a side produced, to make sure before the timing that both sides do the same work.

Batches of any size give the same digest: only the sequence of rows counts. Each side converts its products
to the types of this module, which does not know the sides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from benchmarks.handmade import canonical, payloads


class Rows(NamedTuple):
    """A column of a batch: all values flat, and the number of values in each row."""

    values: npt.NDArray[Any] | list[bytes]
    lengths: npt.NDArray[np.int64]


class Written(NamedTuple):
    """A written file; with ``exact`` its bytes must agree, not only its Examples."""

    path: Path
    exact: bool


class Single(NamedTuple):
    """The parsed features of one record: a product without a batch dimension."""

    features: dict[str, Any]


Plain = Union[bytes, memoryview, "list[bytes]", "dict[str, Rows]", Written, int]


def dense(values: npt.NDArray[Any] | list[bytes]) -> Rows:
    """A column in which every row has the same number of values."""
    array = np.asarray(values, object) if isinstance(values, list) else values
    count = len(array)
    flat: Any = array.ravel().tolist() if array.dtype == object else array.ravel()
    return Rows(flat, np.full(count, len(flat) // max(count, 1), np.int64))


def single(value: Any) -> Rows:
    """The value of one record, without a batch dimension, as a column of one row."""
    return dense([value] if isinstance(value, bytes) else np.asarray(value)[None])


def padded(values: npt.NDArray[Any], lengths: npt.NDArray[np.int64]) -> Rows:
    """A column of padded rows; only the first ``lengths[i]`` steps of row ``i`` are data."""
    inside = np.arange(values.shape[1]) < lengths[:, None]
    return Rows(values[inside].ravel(), lengths.astype(np.int64))


def fingerprint(products: Iterable[Plain]) -> tuple[int, str]:
    """The number of records in ``products``, and a digest of their content."""
    count = 0
    hashes: dict[str, Any] = {}

    def update(name: str, data: bytes) -> None:
        hashes.setdefault(name, hashlib.sha1()).update(data)

    for product in products:
        if isinstance(product, int):
            count += product
            continue
        if isinstance(product, Written) and product.exact:
            update("file", product.path.read_bytes())
        columns = product if isinstance(product, dict) else {"record": _records(product)}
        count += len(next(iter(columns.values())).lengths)
        for name, (values, lengths) in columns.items():
            kind, data = _flat(values)
            update(f"{name}: {kind}", data)
            update(f"{name}: lengths", np.asarray(lengths, np.int64).tobytes())
    parts = [f"{name} {found.hexdigest()}" for name, found in sorted(hashes.items())]
    return count, hashlib.sha1("\n".join(parts).encode()).hexdigest()


def _records(product: bytes | memoryview | list[bytes] | Written) -> Rows:
    if isinstance(product, Written):
        found = payloads(product.path)
        records = list(found if product.exact else map(canonical, found))
    else:
        records = product if isinstance(product, list) else [bytes(product)]
    return Rows(records, np.ones(len(records), np.int64))


def _flat(values: npt.NDArray[Any] | list[bytes]) -> tuple[str, bytes]:
    """The type of the values, and bytes that are equal only if all values are."""
    if isinstance(values, list):
        sizes = (len(value).to_bytes(8, "little") for value in values)
        return "bytes", b"".join(part for pair in zip(sizes, values, strict=True) for part in pair)
    return values.dtype.name, values.tobytes()
