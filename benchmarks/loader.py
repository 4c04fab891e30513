"""Batches into a training loop: ``python -m benchmarks.loader [--tensorflow PYTHON] [--quick]``.

Each loader runs one epoch of each workload, as a training loop would. Each side has its own process; the
sides take turns for several rounds, and the best round counts. Before the timing, every side reports which
records it got. A side that did not get each record exactly once has no figure.

  emb   20,000 records of 1024 floats and an id: batches of 128, shuffled in a window of 2,048
  img   9,360 images of 20..100 kB in 390 classes, as bytes: batches of 64, shuffled in a window of 1,024
  files the same images from a folder of files, by random access, as ImageFolder does

TensorFlow and torch seldom share an environment, so ``--tensorflow`` names the Python that has TensorFlow.
TensorFlow's figures are for numpy arrays, without the conversion to tensors. ``tfrecord`` checks no CRC.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

BATCH = {"emb": 128, "img": 64}
WINDOW = {"emb": 2048, "img": 1024}
Ids = Iterator[list[int]]


def write(folder: Path, scale: int) -> dict[str, int]:
    """Write each workload into four shards, and the images as files; return the record counts."""
    import purerecord as pr  # noqa: PLC0415 - TensorFlow's environment may lack it

    rng = np.random.default_rng(1)
    count = 20_000 // scale
    with pr.ShardedWriter(str(folder / "emb@4.tfrecord")) as writer:
        for begin in range(0, count, 1000):
            x = rng.random((1000, 1024), np.float32)
            writer.write_many(pr.encode_examples({"id": np.arange(begin, begin + 1000), "x": x}))
    images = 9_360 // scale
    noise = rng.bytes(200_000)
    with pr.ShardedWriter(str(folder / "img@4.tfrecord")) as writer:
        for number in range(images):
            begin = int(rng.integers(0, 100_000))
            image = noise[begin : begin + int(rng.integers(20_000, 100_000))]
            class_folder = folder / "images" / f"class{number % 390:03d}"
            class_folder.mkdir(parents=True, exist_ok=True)
            (class_folder / f"{number:05d}.jpg").write_bytes(image)
            writer.write(pr.encode_example({"id": number, "image": image}))
    return {"emb": count, "img": images}


def ours(workload: str, folder: str, workers: int) -> Ids:
    """purerecord, with the chain from its documentation."""
    from torch.utils.data import DataLoader  # noqa: PLC0415

    import purerecord as pr  # noqa: PLC0415
    from purerecord.dataset import TFRecordDataset  # noqa: PLC0415
    from purerecord.torch import IterableDataset  # noqa: PLC0415

    features: dict[str, Any] = {"id": pr.FixedLenFeature([], np.int64)}
    if workload == "emb":
        features["x"] = pr.FixedLenFeature([1024], np.float32)
    else:
        features["image"] = pr.FixedLenFeature([], bytes)
    dataset = TFRecordDataset(f"{folder}/{workload}@4.tfrecord").shuffle(WINDOW[workload], seed=1)
    shared = IterableDataset(dataset.batch(BATCH[workload]).parse(features))
    for batch in DataLoader(shared, batch_size=None, num_workers=workers):
        yield batch["id"].tolist()


def tfrecord(workload: str, folder: str, workers: int) -> Ids:
    """The ``tfrecord`` package. Without an index its workers would repeat all records, so it has none."""
    import tfrecord.torch  # noqa: PLC0415
    from torch.utils.data import DataLoader  # noqa: PLC0415

    description = {"id": "int", "x": "float"} if workload == "emb" else {"id": "int", "image": "byte"}
    splits = {f"{shard:05d}": 0.25 for shard in range(4)}
    dataset = tfrecord.torch.MultiTFRecordDataset(
        f"{folder}/{workload}-{{}}-of-00004.tfrecord",
        None,
        splits,
        description,
        shuffle_queue_size=WINDOW[workload],
        infinite=False,
    )
    collate = None if workload == "emb" else lambda rows: {"id": [int(row["id"][0]) for row in rows]}
    for batch in DataLoader(dataset, batch_size=BATCH[workload], collate_fn=collate):
        ids = batch["id"]
        yield ids if isinstance(ids, list) else ids.flatten().tolist()


def tensorflow(workload: str, folder: str, workers: int) -> Ids:
    """tf.data as its guide recommends: batch, then parse, then prefetch."""
    import tensorflow as tf  # noqa: PLC0415

    features: dict[str, Any] = {"id": tf.io.FixedLenFeature([], tf.int64)}
    if workload == "emb":
        features["x"] = tf.io.FixedLenFeature([1024], tf.float32)
    else:
        features["image"] = tf.io.FixedLenFeature([], tf.string)
    paths = [f"{folder}/{workload}-{shard:05d}-of-00004.tfrecord" for shard in range(4)]
    dataset = tf.data.TFRecordDataset(paths, num_parallel_reads=workers or None)
    dataset = dataset.shuffle(WINDOW[workload], seed=1).batch(BATCH[workload])
    dataset = dataset.map(lambda batch: tf.io.parse_example(batch, features), tf.data.AUTOTUNE)
    for batch in dataset.prefetch(tf.data.AUTOTUNE).as_numpy_iterator():
        yield batch["id"].tolist()


def files(workload: str, folder: str, workers: int) -> Ids:
    """A folder with one file per image."""
    from torch.utils.data import DataLoader, Dataset  # noqa: PLC0415

    class Folder(Dataset):  # type: ignore[type-arg]
        paths = sorted(str(path) for path in Path(folder, "images").glob("*/*.jpg"))

        def __len__(self) -> int:
            return len(self.paths)

        def __getitem__(self, index: int) -> tuple[bytes, int]:
            path = self.paths[index]
            with open(path, "rb") as file:
                return file.read(), int(os.path.basename(path)[:5])

    loader: Any = DataLoader(
        Folder(), batch_size=BATCH["img"], shuffle=True, num_workers=workers, collate_fn=list
    )
    for rows in loader:
        yield [number for _, number in rows]


SIDES: dict[str, Callable[[str, str, int], Ids]] = {
    "purerecord": ours,
    "tfrecord": tfrecord,
    "tf.data": tensorflow,
    "files": files,
}
RUNS = [
    (workload, side, workers)
    for workload in ("emb", "img")
    for side, workers in [
        ("purerecord", 0),
        ("purerecord", 2),
        ("tfrecord", 0),
        ("tf.data", 0),
        ("tf.data", 2),
    ]
] + [("img", "files", 0), ("img", "files", 2)]


def serve(workload: str, side: str, workers: int, folder: str) -> None:
    """Run one side: print which records it got, then run an epoch per line on stdin and print its seconds."""
    import warnings  # noqa: PLC0415

    warnings.simplefilter("ignore")
    got = sorted(number for ids in SIDES[side](workload, folder, workers) for number in ids)
    print(json.dumps([len(got), got == list(range(len(got)))]), flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        for _ids in SIDES[side](workload, folder, workers):
            pass
        print(json.dumps(time.perf_counter() - begin), flush=True)


def race(folder: str, counts: dict[str, int], pythons: dict[str, str], rounds: int) -> None:
    """Run the sides of each workload in turn; print their best rounds."""
    for workload in ("emb", "img"):
        best: dict[tuple[str, int], float] = {}
        sides: dict[tuple[str, int], subprocess.Popen[str]] = {}
        for _, side, workers in (run for run in RUNS if run[0] == workload):
            command = [pythons.get(side, sys.executable), "-m", "benchmarks.loader", "--serve"]
            arguments = [workload, side, str(workers), folder]
            process = subprocess.Popen(
                command + arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            assert process.stdout is not None
            reply = process.stdout.readline()
            if not reply or json.loads(reply) != [counts[workload], True]:
                print(f"{workload:5} {side:11} workers={workers}  no figure: {reply.strip() or 'it failed'}")
                process.kill()
                process.wait()
                continue
            sides[side, workers] = process
        for _ in range(rounds):
            for key, process in sides.items():
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write("\n")
                process.stdin.flush()
                seconds = json.loads(process.stdout.readline())
                best[key] = min(best.get(key, seconds), seconds)
        for (side, workers), seconds in best.items():
            batches = -(-counts[workload] // BATCH[workload])
            rate = f"{batches / seconds:8.1f} batches/s {counts[workload] / seconds:10,.0f} records/s"
            print(f"{workload:5} {side:11} workers={workers}  {rate}", flush=True)
        for process in sides.values():
            process.communicate()


def main() -> None:
    """Write the workloads and run all sides, or be the process of one side."""
    if sys.argv[1:2] == ["--serve"]:
        workload, side, workers, folder = sys.argv[2:]
        serve(workload, side, int(workers), folder)
        return
    parser = argparse.ArgumentParser(description="Batches into a training loop, from several loaders.")
    parser.add_argument("--tensorflow", default=sys.executable, help="a Python that has TensorFlow")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts = write(Path(folder), 10 if options.quick else 1)
        race(folder, counts, {"tf.data": options.tensorflow}, options.rounds)


if __name__ == "__main__":
    main()
