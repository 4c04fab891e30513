"""Converting: speed beside a TensorFlow script and beside copying, and memory; ``-m benchmarks.convert``.

``parquet``: a table of 20 columns to TFRecords, and the same by ``convert_script``, a script as people write
it; both files must hold the same Examples. ``pictures``: a folder of JPEGs to TFRecords, beside a loop that
only reads the files and writes their bytes with both CRCs. ``memory``: each format there and back, with a
small and a four times larger file. Each conversion is timed in a new process, without the imports.
``--tensorflow`` names a Python with tensorflow, pandas, pyarrow and pillow. No test looks at the figures.
"""

from __future__ import annotations

import argparse
import io
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

import purerecord as pr
from benchmarks.digest import Written, fingerprint
from benchmarks.worker import ROOT
from purerecord.tools import convert

_PARTS = ("parquet", "pictures", "memory")
_GROUP = 50_000  # rows that are made at once
_CLASSES = 10
_TABLES = ("parquet", "arrow", "csv", "jsonl", "npz")
_ARCHIVES = ("tar", "array_record")


def make_table(path: Path, rows: int) -> None:
    """A Parquet file of 9 integers, 8 floats, 2 strings and a list of 16 integers."""
    rng = np.random.default_rng(0)
    words = np.array(["apple", "pear", "banana", "cherry", "several words"])

    def group(count: int) -> Any:
        columns: dict[str, Any] = {f"count_{i}": rng.integers(0, 10**i, count) for i in range(1, 9)}
        columns |= {f"score_{i}": rng.random(count, np.float32) for i in range(8)}
        columns["category"] = words[rng.integers(0, len(words), count)]
        columns["user"] = [f"user-{number:08x}" for number in rng.integers(0, 1 << 32, count).tolist()]
        columns["label"] = rng.integers(0, 2, count)
        tokens = pa.array(rng.integers(0, 30_000, count * 16))
        return pa.table({**columns, "tokens": pa.FixedSizeListArray.from_arrays(tokens, 16)})

    first = group(min(rows, _GROUP))
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for begin in range(_GROUP, rows, _GROUP):
            writer.write_table(group(min(_GROUP, rows - begin)))


def jpegs() -> list[bytes]:
    """Some JPEGs of noise, of about 60 kB."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(32):
        file = io.BytesIO()
        Image.fromarray(rng.integers(0, 256, (250, 320, 3), np.uint8)).save(file, "JPEG", quality=75)
        made.append(file.getvalue())
    return made


def make_pictures(folder: Path, count: int) -> None:
    """JPEGs in a folder for each class."""
    made = jpegs()
    for number in range(count):
        place = folder / f"class_{number % _CLASSES}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:06d}.jpg").write_bytes(made[number % len(made)])


def make_samples(path: Path, count: int) -> None:
    """Records with the features that webdataset has of pictures."""
    made = jpegs()
    with pr.TFRecordWriter(path) as writer:
        for number in range(count):
            row = {"__key__": f"{number:06d}", "jpg": made[number % len(made)], "cls": number % _CLASSES}
            writer.write(pr.encode_example(row))


def copy_with_crc(source: Path, target: Path) -> None:
    """Every file of a folder as a record: what no converter can do without."""
    with pr.TFRecordWriter(target, atomic=True) as writer:
        for path in sorted(source.rglob("*.jpg")):
            writer.write(path.read_bytes())


def run(side: str, source: Path, target: Path, python: str = sys.executable) -> tuple[float, float]:
    """The seconds, and the MB of memory above the imports, of one conversion in a new process."""
    command = [python, "-m", "benchmarks.convert", "--side", side, str(source), str(target)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{side}: {done.stderr.strip()}")
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), float(memory)


def work(side: str, source: Path, target: Path) -> None:
    """One conversion, in the process that was started for it."""
    sides: dict[str, Any] = {"purerecord": convert, "copy": copy_with_crc}
    import_module("purerecord.arrow")
    if side == "tensorflow":
        sides[side] = import_module("benchmarks.convert_script").main
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    sides[side](source, target)
    seconds = time.perf_counter() - begin
    print(seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / 1e6)


def race(other: str, source: Path, python: str, rounds: int) -> tuple[float, float]:
    """The best seconds of purerecord and of another side, which take turns."""
    times: dict[str, list[float]] = {"purerecord": [], other: []}
    for _ in range(rounds):
        for side, interpreter in (("purerecord", sys.executable), (other, python)):
            target = source.parent / f"{side}.tfrecord"
            times[side].append(run(side, source, target, interpreter)[0])
    return min(times["purerecord"]), min(times[other])


def parquet(folder: Path, rows: int, python: str, rounds: int) -> str:
    """A Parquet file, beside a TensorFlow script."""
    source = folder / "table.parquet"
    make_table(source, rows)
    ours, theirs = race("tensorflow", source, python, rounds)
    files = [folder / f"{side}.tfrecord" for side in ("purerecord", "tensorflow")]
    if len({fingerprint([Written(file, exact=False)]) for file in files}) > 1:
        raise SystemExit("parquet: the two files hold different Examples")
    size = files[0].stat().st_size / 1e6
    return (
        f"parquet: {rows:,} rows, {size:.0f} MB of records in {ours:.2f} s; "
        f"TensorFlow script {theirs:.2f} s: {theirs / ours:.1f} times as fast, same Examples"
    )


def pictures(folder: Path, count: int, rounds: int) -> str:
    """A folder of pictures, beside copying the bytes."""
    source = folder / "pictures"
    make_pictures(source, count)
    ours, copy = race("copy", source, sys.executable, rounds)
    size = (folder / "copy.tfrecord").stat().st_size / 1e6
    return (
        f"pictures: {count:,} files, {size:.0f} MB in {ours:.2f} s; "
        f"copying with CRCs {copy:.2f} s: {ours / copy:.2f} times its time"
    )


def memory(folder: Path, rows: int, count: int) -> Iterator[str]:
    """Each format there and back, of a small and a large file."""
    tables, samples = [], []
    for times in (1, 4):
        make_table(folder / "table.parquet", times * rows)
        tables.append(folder / f"table-{times}.tfrecord")
        convert(folder / "table.parquet", tables[-1])
        samples.append(folder / f"samples-{times}.tfrecord")
        make_samples(samples[-1], times * count)
    for forms, files in ((_TABLES, tables), (_ARCHIVES, samples)):
        sizes = " and ".join(f"{file.stat().st_size / 1e6:.0f} MB" for file in files)
        yield f"memory above the imports, in MB, of {sizes} of records:"
        for form in forms:
            small, large = (_there_and_back(file, folder, form) for file in files)
            yield f"  to {form:<13}{small[0]:5.0f}{large[0]:5.0f}    and back {small[1]:5.0f}{large[1]:5.0f}"


def _there_and_back(source: Path, folder: Path, form: str) -> tuple[float, float]:
    target = folder / f"there.{form}"
    memories = run("purerecord", source, target)[1], run("purerecord", target, folder / "back.tfrecord")[1]
    target.unlink()
    return memories


def main() -> None:
    """Run the parts and print a line for each."""
    parser = argparse.ArgumentParser("python -m benchmarks.convert", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of: {', '.join(_PARTS)}")
    parser.add_argument("--tensorflow", default=sys.executable, metavar="PYTHON", help="that has tensorflow")
    parser.add_argument("--rows", type=int, default=200_000, help="of the table")
    parser.add_argument("--pictures", type=int, default=4_000, help="files in the folder")
    parser.add_argument("--rounds", type=int, default=2, help="the best counts")
    parser.add_argument("--side", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        work(arguments.side[0], *map(Path, arguments.side[1:]))
        return
    for part in arguments.parts or _PARTS:
        with TemporaryDirectory(dir=ROOT / "benchmarks") as name:
            if part == "parquet":
                print(parquet(Path(name), arguments.rows, arguments.tensorflow, arguments.rounds))
            elif part == "pictures":
                print(pictures(Path(name), arguments.pictures, arguments.rounds))
            else:
                for line in memory(Path(name), arguments.rows // 2, arguments.pictures // 4):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
