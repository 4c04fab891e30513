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
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

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
_TABLES = ("parquet", "arrow", "csv", "npz")
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


class Cost(NamedTuple):
    """What a conversion takes: seconds, seconds of the processor, and MB above the imports."""

    seconds: float
    processor: float
    memory: float


def run(side: str, source: Path, target: Path, python: str = sys.executable) -> Cost:
    """The cost of one conversion in a new process."""
    command = [python, "-m", "benchmarks.convert", "--side", side, str(source), str(target)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{side}: {done.stderr.strip()}")
    return Cost(*map(float, done.stdout.split()[-3:]))


def work(side: str, source: Path, target: Path) -> None:
    """One conversion, in the process that was started for it."""
    sides: dict[str, Any] = {"purerecord": convert, "copy": copy_with_crc}
    import_module("purerecord.arrow")
    if side == "tensorflow":
        sides[side] = import_module("benchmarks.convert_script").main
    before = resident("VmRSS")
    begin, used = time.perf_counter(), time.process_time()
    sides[side](source, target)
    print(time.perf_counter() - begin, time.process_time() - used)
    print(resident("VmHWM") - before)


def resident(entry: str) -> float:
    """MB of this process now, or at most so far, as Linux says."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(entry)) * 1024 / 1e6


def race(other: str, source: Path, python: str, rounds: int) -> str:
    """What purerecord and another side take, in words. They take turns; the best of each counts."""
    costs: dict[str, list[Cost]] = {"purerecord": [], other: []}
    for _ in range(rounds):
        for side, interpreter in (("purerecord", sys.executable), (other, python)):
            costs[side].append(run(side, source, source.parent / f"{side}.tfrecord", interpreter))
    ours, theirs = (Cost(*map(min, zip(*found, strict=True))) for found in costs.values())
    ratio, processor = theirs.seconds / ours.seconds, theirs.processor / ours.processor
    return (
        f"{ours.seconds:.2f} s (processor {ours.processor:.2f}), {other} {theirs.seconds:.2f} s "
        f"({theirs.processor:.2f}): {other} takes {ratio:.2f} times as long ({processor:.2f})"
    )


def parquet(folder: Path, rows: int, python: str, rounds: int) -> str:
    """A Parquet file, beside a TensorFlow script."""
    source = folder / "table.parquet"
    make_table(source, rows)
    words = race("tensorflow", source, python, rounds)
    files = [folder / f"{side}.tfrecord" for side in ("purerecord", "tensorflow")]
    if len({fingerprint([Written(file, exact=False)]) for file in files}) > 1:
        raise SystemExit("parquet: the two files hold different Examples")
    return f"parquet: {rows:,} rows, {files[0].stat().st_size / 1e6:.0f} MB, same Examples: {words}"


def pictures(folder: Path, count: int, rounds: int) -> str:
    """A folder of pictures, beside copying the bytes."""
    source = folder / "pictures"
    make_pictures(source, count)
    words = race("copy", source, sys.executable, rounds)
    return f"pictures: {count:,} files, {(folder / 'copy.tfrecord').stat().st_size / 1e6:.0f} MB: {words}"


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
    there = run("purerecord", source, target).memory
    back = run("purerecord", target, folder / "back.tfrecord").memory
    target.unlink()
    return there, back


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
    cache = ROOT / "benchmarks" / "cache"  # which git ignores, should a run be killed
    cache.mkdir(exist_ok=True)
    for part in arguments.parts or _PARTS:
        with TemporaryDirectory(dir=cache) as name:
            if part == "parquet":
                print(parquet(Path(name), arguments.rows, arguments.tensorflow, arguments.rounds))
            elif part == "pictures":
                print(pictures(Path(name), arguments.pictures, arguments.rounds))
            else:
                for line in memory(Path(name), arguments.rows // 2, arguments.pictures // 4):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
