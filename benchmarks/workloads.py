"""The workloads of the benchmark: their columns, and their files in the cache folder.

All data comes from a seed, so that each side can make the same columns in its own process. A file is
written once; its name contains the number of records and ``VERSION``. This module does not know the sides
that read the files.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.handmade import Column, Jagged, examples, frame, sequence_examples

VERSION = 1
SEED = 20240229
SHARDS = 4
BLOCK_SIZE = 1 << 20  # of the blocked GZIP file, in bytes before compression

Columns = dict[str, Column]
Random = np.random.Generator


class NotThereYetError(Exception):
    """purerecord does not offer this yet."""


class Field(NamedTuple):
    """The spec of one feature; ``shape`` is None if the length varies."""

    kind: str  # "int64" | "float32" | "bytes"
    shape: tuple[int, ...] | None = ()


@dataclass(frozen=True)
class Workload:
    """One kind of data. ``steps`` is the spec of a SequenceExample's feature lists."""

    name: str
    about: str
    records: int
    make: Callable[[Random, int], Columns]
    spec: dict[str, Field]
    steps: dict[str, Field] = field(default_factory=dict)
    shuffled: bool = False
    data: str = ""  # the workload whose files and columns this one shares; "" for its own
    batches: tuple[int, ...] = (1024, 4096, 8192)  # batch sizes to try in a pipeline


def tab(random: Random, n: int) -> Columns:
    """Two small integers, a short string, a float, as in the classic tutorial."""
    letters = random.integers(97, 123, (n, 12), np.uint8)
    lengths = random.integers(5, 13, n).tolist()
    return {
        "age": random.integers(18, 91, n),
        "user_id": random.integers(1, 1 << 20, n),
        "name": [row[:length].tobytes() for row, length in zip(letters, lengths, strict=True)],
        "score": random.random(n, np.float32),
    }


def ctr(random: Random, n: int) -> Columns:
    """13 floats, 26 integers of 1 to 30 bits, a label."""
    columns: Columns = {"label": random.integers(0, 2, n)}
    for i in range(13):
        columns[f"I{i + 1}"] = random.random(n, np.float32)
    for i in range(26):
        columns[f"C{i + 1}"] = random.integers(0, 1 << (1 + i * 29 // 25), n)
    return columns


def emb(random: Random, n: int) -> Columns:
    """An embedding, an id, 10 to 200 tokens."""
    splits = np.concatenate([[0], np.cumsum(random.integers(10, 201, n))])
    return {
        "embedding": random.standard_normal((n, 1024), np.float32),
        "id": random.integers(0, 1 << 40, n),
        "tokens": Jagged(random.integers(0, 50_000, int(splits[-1])), splits),
    }


def img(random: Random, n: int) -> Columns:
    """Incompressible bytes of 20 to 100 kB, a file name, a label."""
    sizes = random.integers(20_000, 100_001, n).tolist()
    return {
        "image": [random.bytes(size) for size in sizes],
        "filename": [b"train/n%08d.jpg" % i for i in range(n)],
        "label": random.integers(0, 1000, n),
    }


def wide(random: Random, n: int) -> Columns:
    """400 features, floats and integers in turn."""
    columns: Columns = {}
    for i in range(0, 400, 2):
        columns[f"feature_{i:03}"] = random.random(n, np.float32)
        columns[f"feature_{i + 1:03}"] = random.integers(0, 1 << (1 + i // 14), n)
    return columns


def seq(random: Random, n: int) -> Columns:
    """A context of two features, and 5 to 30 steps with a token and a vector of 16."""
    splits = np.concatenate([[0], np.cumsum(random.integers(5, 31, n))])
    total = int(splits[-1])
    return {
        "id": random.integers(0, 1 << 30, n),
        "label": random.integers(0, 10, n),
        "token": Jagged(random.integers(0, 50_000, total), splits),
        "vector": Jagged(random.standard_normal((total, 16), np.float32), splits),
    }


_INT, _FLOAT, _BYTES = Field("int64"), Field("float32"), Field("bytes")
_TAB = {"age": _INT, "user_id": _INT, "name": _BYTES, "score": _FLOAT}
_CTR = {
    "label": _INT,
    **{f"I{i + 1}": _FLOAT for i in range(13)},
    **{f"C{i + 1}": _INT for i in range(26)},
}
_EMB = {"embedding": Field("float32", (1024,)), "id": _INT, "tokens": Field("int64", None)}
_IMG = {"image": _BYTES, "filename": _BYTES, "label": _INT}
_WIDE = {f"feature_{i:03}": _INT if i % 2 else _FLOAT for i in range(400)}
_THREE = {name: _WIDE[name] for name in ("feature_010", "feature_201", "feature_399")}
_CONTEXT = {"id": _INT, "label": _INT}
_STEPS = {"token": _INT, "vector": Field("float32", (16,))}

WORKLOADS = {
    work.name: work
    for work in (
        Workload("tab", "2 int64, short bytes, float", 200_000, tab, _TAB),
        Workload("ctr", "13 floats, 26 int64, label", 50_000, ctr, _CTR),
        Workload("emb", "1024 floats, id, 10..200 tokens", 20_000, emb, _EMB),
        Workload("img", "20..100 kB bytes, name, label", 9_360, img, _IMG, batches=(128, 512, 1024)),
        Workload("shuf", "tab, keys in any order", 100_000, tab, _TAB, shuffled=True),
        Workload("shuf40", "ctr, keys in any order", 20_000, ctr, _CTR, shuffled=True),
        Workload("wide", "400 features", 5_000, wide, _WIDE, batches=(512, 1024, 4096)),
        Workload("wide3", "3 of 400 features", 5_000, wide, _THREE, data="wide"),
        Workload("seq", "SequenceExample, 5..30 steps", 20_000, seq, _CONTEXT, _STEPS),
    )
}


@dataclass(frozen=True)
class Store:
    """The workloads at one size, with their files in ``folder``; ``scale`` divides the records."""

    folder: Path
    scale: int = 1

    def records(self, work: Workload) -> int:
        """The number of records of the workload at this scale."""
        return max(work.records // self.scale, 16)

    def columns(self, work: Workload) -> Columns:
        """The values of the workload, the same in every process and every run."""
        return work.make(_random(work), self.records(work))

    def file(self, work: Workload) -> Path:
        """All records in one file."""
        return self._cached(work, "", lambda path: _write(path, self._payloads(work)))

    def shards(self, work: Workload) -> list[Path]:
        """The same records, in the same order, in ``SHARDS`` files."""
        cuts = np.linspace(0, self.records(work), SHARDS + 1).astype(int).tolist()
        paths = [self._path(work, f"-{i:05}-of-{SHARDS:05}") for i in range(SHARDS)]
        if not all(path.exists() for path in paths):
            stream = self._payloads(work)
            for path, begin, end in zip(paths, cuts[:-1], cuts[1:], strict=True):
                _write(path, islice(stream, end - begin))
        return paths

    def gzip(self, work: Workload) -> Path:
        """The file compressed as GZIP, with the parameters of TensorFlow's writer."""

        def write(path: Path) -> None:
            deflate = zlib.compressobj(-1, zlib.DEFLATED, 31, 9)
            path.write_bytes(deflate.compress(self.file(work).read_bytes()) + deflate.flush())

        return self._cached(work, ".gz", write)

    def blocked_gzip(self, work: Workload) -> Path:
        """The file as purerecord's seekable GZIP: many members, which is ordinary GZIP to other readers."""

        def write(path: Path) -> None:
            import purerecord as pr  # noqa: PLC0415 - only this form needs purerecord

            if not hasattr(pr, "TFRecordWriter"):
                raise NotThereYetError("purerecord.TFRecordWriter")
            options = pr.TFRecordOptions("GZIP", block_size=BLOCK_SIZE)
            with pr.TFRecordWriter(str(path), options) as writer:
                writer.write_many(list(self._payloads(work)))

        return self._cached(work, ".blocked.gz", write)

    def pair(self, work: Workload) -> list[Path]:
        """Two files; each holds all records twice."""
        once = self.file(work)

        def write(path: Path) -> None:
            path.write_bytes(once.read_bytes() * 2)

        return [self._cached(work, f".twice-{number}", write) for number in range(2)]

    def repeated(self, source: Path, size: int) -> Path:
        """A file that repeats ``source`` until it has at least ``size`` bytes."""
        path = self.folder / f"repeated-{size}-{source.name}"
        once = source.read_bytes()
        with path.open("wb") as file:
            while file.tell() < size:
                file.write(once)
        return path

    def _payloads(self, work: Workload) -> Iterator[bytes]:
        columns = self.columns(work)
        if work.steps:
            steps = {name: column for name, column in columns.items() if isinstance(column, Jagged)}
            return sequence_examples({name: columns[name] for name in work.spec}, steps)
        order = None
        if work.shuffled:
            order = _random(work).random((self.records(work), len(columns))).argsort(axis=1)
        return examples(columns, order)

    def _path(self, work: Workload, ending: str) -> Path:
        return self.folder / f"{work.data or work.name}-{self.records(work)}-v{VERSION}{ending}.tfrecord"

    def _cached(self, work: Workload, ending: str, write: Callable[[Path], None]) -> Path:
        path = self._path(work, ending)
        if not path.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f"unfinished-{path.name}")
            write(temporary)
            temporary.rename(path)
        return path


def _random(work: Workload) -> Random:
    name = work.data or work.name
    return np.random.default_rng([SEED, *name.encode()])


def _write(path: Path, stream: Iterable[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"unfinished-{path.name}")
    with temporary.open("wb") as file:
        file.writelines(map(frame, stream))
    temporary.rename(path)
