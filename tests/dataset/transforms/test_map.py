"""map: in threads and processes as without, in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from purerecord.dataset import Dataset, TFRecordDataset
from tests.support.dataset_properties import draw, fail_at_five, outcomes, write_files


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


def die_at_five(marker: Path | None, number: int) -> int:
    """Ends its process at 5; with a marker, only once."""
    if number == 5 and (marker is None or not marker.exists()):
        if marker is not None:
            marker.touch()
        os._exit(3)
    return number


def test_after_a_process_has_died_the_next_call_goes_on_at_the_same_element(tmp_path):
    dataset = Dataset.range(12).map(partial(die_at_five, tmp_path / "marker"), 2, processes=True)
    seen = outcomes(iter(dataset.batch(2).unbatch()))
    assert [element for element in seen if not isinstance(element, str)] == list(range(12))
    (error,) = [element for element in seen if isinstance(element, str)]
    assert "a process that map had started has ended" in error


def test_a_process_that_always_dies_is_an_error_each_time():
    iterator = iter(Dataset.range(5, 9).map(partial(die_at_five, None), 1, processes=True))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="nothing is lost"):
            next(iterator)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_processes_end_with_a_parent_that_is_killed(name):
    script = (
        "from purerecord.dataset import Dataset; import time\n"
        "if __name__ == '__main__':\n"
        "    iterator = iter(Dataset.range(99).map(abs, 2, processes=True))\n"
        "    print(next(iterator), flush=True)\n"
        "    time.sleep(99)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().strip() == b"0"
        parent.send_signal(getattr(signal, name))
        assert parent.communicate(timeout=60)[0] == b""  # nobody holds the other end any more


def crop(*arguments):
    *element, random = arguments
    return (*element, int(random.integers(1 << 30)))


def test_with_a_seed_the_draws_depend_on_seed_epoch_and_number_alone():
    dataset = Dataset.range(20).map(crop, seed=3)
    first = list(dataset.iterator(0))
    assert len({number for _, number in first}) == 20
    for again in (
        Dataset.range(20).map(crop, 2, seed=3),
        Dataset.range(20).map(crop, 2, processes=True, seed=3),
        Dataset.range(30).map(crop, seed=3).take(20),
    ):
        assert list(again.iterator(0)) == first
    assert [list(dataset.iterator(0, worker=k, workers=3)) for k in range(3)] == [
        first[k::3] for k in range(3)
    ]
    others = [list(dataset.iterator(1)), list(Dataset.range(20).map(crop, seed=4).iterator(0))]
    for other in others:
        assert not {number for _, number in other} & {number for _, number in first}


def test_with_a_seed_members_of_a_tuple_are_arguments_and_repetitions_differ():
    assert [pair[:2] for pair in Dataset.range(3).enumerate(5).map(crop, seed=0)] == [(5, 0), (6, 1), (7, 2)]
    for seeded in (
        Dataset.range(4).map(crop, seed=1).repeat(3),
        Dataset.range(4).repeat(3).map(crop, seed=-1),
    ):
        assert len({number for _, number in seeded}) == 12


def test_with_a_seed_large_records_before_a_shuffle_are_drawn_for_by_their_number(tmp_path):
    paths = write_files(tmp_path, [20, 10], size=1 << 15)
    dataset = TFRecordDataset(paths).map(draw, seed=2)
    drawn = dict(dataset.iterator(0))
    shuffled = dataset.shuffle(12, seed=1)
    shares = [list(shuffled.iterator(0, worker=k, workers=3)) for k in range(3)]
    assert dict(pair for share in shares for pair in share) == drawn


def test_a_state_of_another_seed_is_refused():
    iterator = Dataset.range(9).map(crop, seed=1).iterator()
    next(iterator)
    for other in (Dataset.range(9).map(crop, seed=2), Dataset.range(9).map(crop)):
        with pytest.raises(ValueError, match="state of another dataset"):
            other.iterator().load_state_dict(iterator.state_dict())


def test_a_seed_is_a_whole_number_and_a_permutation_comes_before_it():
    with pytest.raises(TypeError):
        Dataset.range(3).map(crop, seed=1.5)
    with pytest.raises(ValueError, match="global_shuffle needs"):
        list(Dataset.range(3).map(crop, seed=1).global_shuffle())
    assert len(list(Dataset.range(3).global_shuffle().map(crop, seed=np.int64(1)))) == 3
