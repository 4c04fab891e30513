"""map: in threads and processes as without, in order."""

from __future__ import annotations

import multiprocessing
import os
import threading

import pytest

from purerecord.dataset import Dataset
from tests.support.dataset_properties import (
    fail_at_five,
    outcomes,
)


def square(number: int) -> int:
    return number * number


def process(number: int) -> tuple[int, int]:
    return number, os.getpid()


def test_threads_keep_the_order():
    late = threading.Event()

    def first_waits(number):
        if number == 0:
            late.wait(10)
        elif number == 3:
            late.set()
        return number

    assert list(Dataset.range(50).map(first_waits, 4)) == list(range(50))


def test_processes_keep_the_order_and_are_gone_afterwards():
    dataset = Dataset.range(20).map(process, 2, processes=True)
    iterator = iter(dataset)
    numbers, processes = zip(*iterator, strict=True)
    assert numbers == tuple(range(20))
    assert os.getpid() not in processes
    iterator.close()
    for number in set(processes):
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def in_a_worker(pipe) -> None:
    try:
        list(Dataset.range(3).map(square, 2, processes=True))
    except RuntimeError as error:
        pipe.send(str(error))


def test_processes_inside_a_worker_process_are_refused_with_advice():
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=in_a_worker, args=(there,), daemon=True)
    process.start()
    assert here.poll(60)
    assert "leave out processes=True" in here.recv()
    process.join()


def test_threads_go_on_behind_an_error_as_without_them():
    expected = [0, 1, 2, 3, 4, "error five", 6, 7, 8]
    for parallel in (None, 1, 3):
        dataset = Dataset.range(9).map(fail_at_five, parallel)
        assert outcomes(iter(dataset)) == outcomes(iter(dataset.prefetch(2))) == expected
