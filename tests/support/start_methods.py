"""Programs that start worker processes, for tests/processes/test_start.py.

Every worker process imports this module again, so it imports neither pytest nor hypothesis.
"""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path
from typing import Any

import purerecord as pr
from purerecord.dataset import Dataset, TFRecordDataset


def write_files(folder: Path, counts: list[int]) -> list[str]:
    paths = [str(folder / str(number)) for number in range(len(counts))]
    for path, count in zip(paths, counts, strict=True):
        with pr.TFRecordWriter(path) as writer:
            writer.write_many([b"record"] * count)
    return paths


def square(number: int) -> int:
    return number * number


def count_records(batch: Any) -> int:
    return len(batch)


def run_everything(folder: str, method: str) -> None:
    """What each program does: all that starts processes, under one start method."""
    multiprocessing.set_start_method(method)
    paths = write_files(Path(folder), [5, 9, 4])
    parallel = TFRecordDataset(paths).batch(2).map(count_records).parallel(2)
    print(sum(parallel), flush=True)
    iterator = iter(Dataset.range(6).map(square, 2, processes=True))
    print(list(iterator), flush=True)
    iterator.close()
    report = pr.validate(paths, workers=2)
    print([file.records for file in report.files], flush=True)


def run_in_a_forked_process(folder: str, method: str) -> None:
    """The same after a fork of a program that has started processes before."""
    multiprocessing.set_start_method(method)
    paths = write_files(Path(folder), [5, 9])
    dataset = TFRecordDataset(paths).parallel(2)
    print(len(list(dataset)), flush=True)
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    print(len(list(dataset)), flush=True)
    iterator = iter(Dataset.range(6).map(square, 2, processes=True))
    print(list(iterator), flush=True)
    iterator.close()
    os._exit(0)
