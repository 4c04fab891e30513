"""Rows a second into a cluster, beside the same rows as Parquet: ``python -m benchmarks.clusters``.

Each side sums all its columns, so that every value is needed. The sides take turns, and a table shows the
medians and their ratios. An engine is a class in ``ENGINES``; one that is not installed is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import purerecord as pr

_FILES = 4
_ROUNDS = 3


def narrow(rows: int, random: np.random.Generator) -> dict[str, Any]:
    """A few numbers, a string and a vector of 16 floats."""
    return {
        "id": np.arange(rows),
        "label": random.integers(0, 1000, rows),
        "score": random.random(rows, np.float32),
        "name": [b"row %d" % number for number in range(rows)],
        "vector": random.random((rows, 16), np.float32),
    }


def wide(rows: int, random: np.random.Generator) -> dict[str, Any]:
    """Twenty columns of floats and twenty of integers."""
    floats = {f"f{number}": random.random(rows, np.float32) for number in range(20)}
    return {**floats, **{f"i{number}": random.integers(0, 100_000, rows) for number in range(20)}}


CONTENTS: dict[str, Callable[[int, np.random.Generator], dict[str, Any]]] = {"narrow": narrow, "wide": wide}


def make(folder: Path, columns: dict[str, Any]) -> None:
    """The columns as TFRecords and as Parquet, in as many files."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where it is measured

    from purerecord.arrow import to_arrow  # noqa: PLC0415

    (folder / "tfrecord").mkdir()
    (folder / "parquet").mkdir()
    rows = len(columns["id"] if "id" in columns else columns["f0"])
    for number in range(_FILES):
        part = slice(rows * number // _FILES, rows * (number + 1) // _FILES)
        some = {name: values[part] for name, values in columns.items()}
        with pr.TFRecordWriter(str(folder / "tfrecord" / f"{number}.tfrecord")) as writer:
            writer.write_many(pr.encode_examples(some))
        pq.write_table(to_arrow(some), folder / "parquet" / f"{number}.parquet")


class Engine(Protocol):
    """An engine that runs here. Each of its sides reads one of the folders and sums all columns."""

    sides: dict[str, str]  # the name of a side, and the folder that it reads

    def total(self, side: str, folder: str) -> float:
        """The sum of everything that is in the folder."""

    def close(self) -> None:
        """End the engine."""


class Spark:
    """Spark with two threads."""

    sides = {"purerecord": "tfrecord", "purerecord, schema given": "tfrecord", "Parquet": "parquet"}  # noqa: RUF012

    def __init__(self, folder: str) -> None:
        from tests.support.spark_session import session  # noqa: PLC0415 - needs pyspark

        self._spark = session(folder)
        self._schemas: dict[str, Any] = {}

    def total(self, side: str, folder: str) -> float:
        """Counts the rows too."""
        if side == "Parquet":
            return self._sum(self._spark.read.parquet(folder))
        reader = self._spark.read.format("tfrecord")
        if side != "purerecord":
            if folder not in self._schemas:
                self._schemas[folder] = reader.load(folder).schema
            reader = self._spark.read.format("tfrecord").schema(self._schemas[folder])
        return self._sum(reader.load(folder))

    def _sum(self, frame: Any) -> float:
        terms = ["count(*)"]
        for name, kind in frame.dtypes:
            if kind.startswith("array"):
                terms.append(f"sum(aggregate({name}, cast(0 as double), (a, b) -> a + b))")
            else:
                terms.append(f"sum(length({name}))" if kind in ("string", "binary") else f"sum({name})")
        return float(sum(frame.selectExpr(*terms).first()))

    def close(self) -> None:
        """Stop Spark."""
        self._spark.stop()


class Ray:
    """Ray on this machine. Its own reader of TFRecords takes part where TensorFlow is installed."""

    sides: dict[str, str]

    def __init__(self, folder: str) -> None:
        import ray  # noqa: PLC0415 - only where it is measured

        from purerecord.ray import read_tfrecords  # noqa: PLC0415

        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        self._ray = ray
        self._readers = {"purerecord": read_tfrecords, "Parquet": ray.data.read_parquet}
        self.sides = {"purerecord": "tfrecord", "Parquet": "parquet"}
        if importlib.util.find_spec("tensorflow"):
            self._readers["Ray's own"] = ray.data.read_tfrecords
            self.sides["Ray's own"] = "tfrecord"

    def total(self, side: str, folder: str) -> float:
        """The blocks lie in Ray's store; they are summed up here."""
        blocks = self._readers[side](folder).materialize().to_arrow_refs()
        tables = self._ray.get(blocks)
        return sum(_sum_of_arrow(column) for table in tables for column in table.columns)

    def close(self) -> None:
        """Stop Ray."""
        self._ray.shutdown()


def _sum_of_arrow(column: Any) -> float:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    while pa.types.is_nested(column.type):
        column = pc.list_flatten(column)
    if not pa.types.is_integer(column.type) and not pa.types.is_floating(column.type):
        column = pc.binary_length(column)
    return float(pc.sum(column.cast(pa.float64())).as_py() or 0)


class Beam:
    """Beam's DirectRunner. Where elements are records, both readers' are decoded in the same way."""

    sides = {  # noqa: RUF012
        "purerecord, Arrow": "tfrecord",
        "purerecord, Records": "tfrecord",
        "purerecord, bytes": "tfrecord",
        "Beam's own, bytes": "tfrecord",
        "Parquet": "parquet",
    }

    def __init__(self, folder: str) -> None:
        import apache_beam as beam  # noqa: PLC0415 - only where it is measured

        self._beam = beam
        self._out = os.path.join(folder, "beam-total")

    def total(self, side: str, folder: str) -> float:
        """The sum of a pipeline, which it writes to a file."""
        with self._beam.Pipeline() as pipeline:
            batches = pipeline | self._reader(side, os.path.join(folder, "*"))
            if "bytes" in side:
                batches |= self._beam.BatchElements(min_batch_size=1000, max_batch_size=10_000)
            sums = batches | self._beam.Map(_sum_of_batch) | self._beam.CombineGlobally(sum)
            sums | self._beam.Map(_save, self._out)
        return float(Path(self._out).read_text())

    def _reader(self, side: str, pattern: str) -> Any:
        from apache_beam.io import parquetio, tfrecordio  # noqa: PLC0415

        from purerecord.beam import ReadFromTFRecord  # noqa: PLC0415

        if side == "Parquet":
            return parquetio.ReadFromParquetBatched(pattern)
        if side.startswith("Beam"):
            return tfrecordio.ReadFromTFRecord(pattern)
        return ReadFromTFRecord(pattern, elements=side.partition(", ")[2].lower())

    def close(self) -> None:
        """Nothing runs between two pipelines."""


def _sum_of_batch(batch: Any) -> float:
    """The sum of all values of an Arrow batch, or of the Examples in a list or ``Records``."""
    if hasattr(batch, "schema"):
        from purerecord.arrow import from_arrow  # noqa: PLC0415

        columns = from_arrow(batch, bytes_columns=True)
    else:
        columns = pr.decode_examples(batch, bytes_columns=True)
    return float(sum(map(_sum_of_column, columns.values())))


def _sum_of_column(column: Any) -> float:
    values = getattr(column, "values", column)  # those of a Ragged
    return float((values.lengths if hasattr(values, "lengths") else values).sum(dtype=np.float64))


def _save(total: float, path: str) -> None:
    Path(path).write_text(repr(total))


ENGINES: dict[str, Callable[[str], Engine]] = {"Spark": Spark, "Ray": Ray, "Beam": Beam}


def measure(engine: Engine, folder: str) -> dict[str, float]:
    """The seconds of each side: the median of some rounds after one that warms up."""
    seconds: dict[str, list[float]] = {side: [] for side in engine.sides}
    totals: dict[str, float] = {}
    for number in range(_ROUNDS + 1):
        for side, kind in engine.sides.items():
            begin = time.perf_counter()
            totals[side] = engine.total(side, os.path.join(folder, kind))
            if number:
                seconds[side].append(time.perf_counter() - begin)
    first = next(iter(totals.values()))
    for side, total in totals.items():
        if abs(total - first) > 1e-6 * abs(first):
            raise ValueError(f"{side} has summed up {total}, and another side {first}")
    return {side: statistics.median(some) for side, some in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Rows a second into the engines of clusters.")
    parser.add_argument("engines", nargs="*", default=list(ENGINES), help=", ".join(ENGINES))
    parser.add_argument("--rows", type=int, default=500_000, help="of each content (default: 500,000)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in CONTENTS.items():
            Path(folder, name).mkdir()
            make(Path(folder, name), content(arguments.rows, np.random.default_rng(0)))
        for engine_name in arguments.engines:
            _report(engine_name, folder, arguments.rows)


def _report(name: str, folder: str, rows: int) -> None:
    try:
        engine = ENGINES[name](folder)
    except ImportError as error:
        print(f"{name}: left out: {error}")
        return
    try:
        for content in CONTENTS:
            seconds = measure(engine, os.path.join(folder, content))
            parquet = seconds["Parquet"]
            for side, taken in seconds.items():
                rate = f"{rows / taken:12,.0f} rows/s, {parquet / taken:5.2f} x Parquet"
                print(f"{name:6} {content:7} {side:26} {rate}")
    finally:
        engine.close()


if __name__ == "__main__":
    main()
