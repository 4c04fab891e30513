"""What the files of all sides hold: columns of numbers, and of bytes, made from a seed.

The race makes each content once and keeps it in a neutral form; every side reads that and writes its own
format. A content of fewer rows holds the first rows of the longer one. Needs numpy, and Pillow for JPEGs.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np

from benchmarks.loaders.jobs import SIZE

VERSION = 1
SEED = 20261119
GRID = 7  # a picture's signature has GRID x GRID means
HEIGHT, WIDTH = 375, 500  # of the JPEGs

Array = np.ndarray[Any, Any]
Column = Union[Array, "list[bytes]"]
Columns = dict[str, Column]
Random = np.random.Generator


class Content(NamedTuple):
    """``rows`` records of one kind, in ``folder``."""

    folder: Path
    kind: str
    rows: int

    @property
    def name(self) -> str:
        """The name of its folder, and of the folders of the sides."""
        return f"{self.kind}-{self.rows}-v{VERSION}"

    def make(self) -> None:
        """Write it, unless it is there."""
        place = self.folder / self.name
        if (place / "columns.json").exists():
            return
        place.mkdir(parents=True, exist_ok=True)
        columns = MAKERS[self.kind](np.random.default_rng([SEED, *self.kind.encode()]), self.rows)
        for name, column in columns.items():
            if isinstance(column, list):
                (place / f"{name}.bin").write_bytes(b"".join(column))
                splits = np.concatenate([[0], np.cumsum([len(value) for value in column])])
                np.save(place / f"{name}.npy", splits)
            else:
                np.save(place / f"{name}.npy", column)
        if self.kind == "jpeg":
            images: Any = columns["image"]
            np.save(place / "signature.npy", signatures(np.stack([picture(data) for data in images])))
        kinds = {name: kind_of(column) for name, column in columns.items()}
        (place / "columns.json").write_text(json.dumps(kinds))

    def kinds(self) -> dict[str, str]:
        """The kind of each column: "int64", "float32" or "bytes"."""
        kinds: dict[str, str] = json.loads((self.folder / self.name / "columns.json").read_text())
        return kinds

    def columns(self) -> Columns:
        """The columns: arrays, and lists of bytes."""
        place = self.folder / self.name
        columns: Columns = {}
        for name, kind in self.kinds().items():
            values = np.load(place / f"{name}.npy")
            if kind == "bytes":
                data = (place / f"{name}.bin").read_bytes()
                columns[name] = [data[a:b] for a, b in pairwise(values.tolist())]
            else:
                columns[name] = values
        return columns

    def signatures(self) -> Array:
        """The signatures of the pictures, by id."""
        found: Array = np.load(self.folder / self.name / "signature.npy")
        return found


def kind_of(column: Column) -> str:
    """The name of the type of a column."""
    return "bytes" if isinstance(column, list) else column.dtype.name


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    """The records, as dicts of Python's int, numpy's float32, bytes and arrays."""
    parts: list[Any] = []
    for column in columns.values():
        if isinstance(column, list):
            parts.append(column)
        else:
            parts.append(column.tolist() if column.dtype == np.int64 else list(column))
    return [dict(zip(columns, row, strict=True)) for row in zip(*parts, strict=True)]


# --- the kinds ---------------------------------------------------------------------------------------


def _numbered(make: Callable[[Random], dict[str, Any]]) -> Callable[[Random, int], Columns]:
    """Columns from rows that are drawn one after the other, so that fewer rows are the first rows."""

    def columns(random: Random, n: int) -> Columns:
        rows = [make(random) for _ in range(n)]
        found: Columns = {"id": np.arange(n)}
        for name, value in rows[0].items():
            values = [row[name] for row in rows]
            if isinstance(value, bytes):
                found[name] = values
            else:
                found[name] = np.array(values, np.float32 if isinstance(value, float) else np.int64)
        return found

    return columns


def _img(random: Random) -> dict[str, Any]:
    size = int(random.integers(20_000, 100_001))
    return {"label": int(random.integers(0, 1000)), "image": random.bytes(size)}


def _tab(random: Random) -> dict[str, Any]:
    letters = random.integers(97, 123, int(random.integers(5, 13)), np.uint8)
    age, user = random.integers(18, 91), random.integers(1, 1 << 20)
    return {"age": int(age), "user_id": int(user), "name": letters.tobytes(), "score": float(random.random())}


def _ctr(random: Random, n: int) -> Columns:
    columns: Columns = {"id": np.arange(n)}
    floats = random.random((n, 39))  # drawn row by row
    for i in range(13):
        columns[f"I{i + 1}"] = floats[:, i].astype(np.float32)
    for i in range(26):
        columns[f"C{i + 1}"] = (floats[:, 13 + i] * (1 << (1 + i * 29 // 25))).astype(np.int64)
    return columns


def _emb(random: Random, n: int) -> Columns:
    return {"id": np.arange(n), "embedding": random.standard_normal((n, 1024), np.float32)}


def _jpeg(random: Random) -> dict[str, Any]:
    """A JPEG of about 50 kB: soft colours and a little noise, as in a photograph."""
    from PIL import Image  # noqa: PLC0415 - the other kinds do without

    coarse = Image.fromarray(random.integers(0, 256, (12, 16, 3), np.uint8))
    soft = np.asarray(coarse.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC), np.int16)
    noise = random.integers(-12, 13, (HEIGHT, WIDTH, 1), np.int16)
    stream = io.BytesIO()
    Image.fromarray(np.clip(soft + noise, 0, 255).astype(np.uint8)).save(stream, "JPEG", quality=85)
    return {"label": int(random.integers(0, 1000)), "image": stream.getvalue()}


MAKERS: dict[str, Callable[[Random, int], Columns]] = {
    "img": _numbered(_img),
    "tab": _numbered(_tab),
    "ctr": _ctr,
    "emb": _emb,
    "jpeg": _numbered(_jpeg),
}


# --- pictures ----------------------------------------------------------------------------------------


def picture(data: bytes) -> Array:
    """The JPEG as a picture of SIZE x SIZE: how every side decodes that has no decoder of its own."""
    from PIL import Image  # noqa: PLC0415 - the other kinds do without

    image = Image.open(io.BytesIO(data)).convert("RGB")
    return np.asarray(image.resize((SIZE, SIZE), Image.Resampling.BILINEAR))


def signatures(pictures: Array) -> Array:
    """The mean colours of GRID x GRID squares of each picture: decoders agree on them, not on each pixel."""
    count, side = len(pictures), SIZE // GRID
    squares = pictures.reshape(count, GRID, side, GRID, side, 3)
    means: Array = squares.mean(axis=(2, 4), dtype=np.float64).astype(np.float32)
    return means
