"""Worker processes: they compute elements, fail, die, and end when they are not needed any more."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import popen_fork
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.dataset.engine import worker as worker_module
from purerecord.dataset.engine.node import Context, SkippedDamage
from purerecord.dataset.engine.worker import RemoteCursor, Worker, WorkerPool
from purerecord.dataset.engine.worker_process import BUFFERS_PER_WORKER
from purerecord.errors import ChecksumError
from purerecord.processes import shared_memory
from tests.support.dataset_properties import elements, write_files
from tests.support.places import ROOT


def node(dataset: Dataset) -> Any:
    return dataset._node


def remote(
    dataset: Dataset, pool: WorkerPool | None = None, damage: SkippedDamage | None = None
) -> RemoteCursor:
    return RemoteCursor(node(dataset), Context(0, damage or SkippedDamage()), pool or WorkerPool())


def taken(cursor: RemoteCursor) -> list[Any]:
    found: list[Any] = []
    while len(some := cursor.take(1)):
        found += some
    return found


def vector(number: int) -> np.ndarray:
    return np.full(1000, number)


def process_of(_: Any) -> int:
    return os.getpid()


def fail_at_three(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


def be_killed_at_three(number: int) -> int:
    if number == 3 and not Path("died").exists():
        Path("died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(process: int) -> None:
    for _ in range(1000):
        if not is_alive(process):
            return
        time.sleep(0.01)
    raise AssertionError(f"process {process} is still there")


def test_elements_are_made_in_another_process_in_order():
    assert taken(remote(Dataset.range(100))) == list(range(100))
    (process,) = set(taken(remote(Dataset.range(100).map(process_of))))
    assert process != os.getpid()


def test_what_is_held_stays_as_it_came():
    held = taken(remote(Dataset.range(30).map(vector)))
    assert [array.tolist() for array in held] == [[number] * 1000 for number in range(30)]


def test_buffers_are_filled_again_when_no_array_refers_to_them():
    cursor = remote(Dataset.range(50).map(vector))
    places = set()
    while len(some := cursor.take(1)):
        places.add(some[0].ctypes.data)
        assert (some[0] == some[0][0]).all()
        del some
    assert len(places) <= BUFFERS_PER_WORKER


def test_what_was_changed_here_does_not_come_again():
    cursor = remote(Dataset.range(20).map(vector))
    for number in range(20):
        (array,) = cursor.take(1)
        assert array.tolist() == [number] * 1000
        array[:] = -1


def test_elements_of_growing_size_get_larger_buffers():
    cursor = remote(Dataset.range(12).map(np.zeros).batch(1))
    assert [batch.shape for batch in taken(cursor)] == [(1, number) for number in range(12)]
    cursor = remote(Dataset.from_tensor_slices([4**n for n in range(11)]).map(vector_of))
    assert [array.size for array in taken(cursor)] == [4**n for n in range(11)]


def vector_of(size: int) -> np.ndarray:
    return np.ones(size, np.uint8)


def test_without_shared_memory_elements_come_all_the_same(monkeypatch):
    monkeypatch.setattr(worker_module.SharedBuffer, "make", lambda size: None)
    held = taken(remote(Dataset.range(20).map(vector)))
    assert [array.tolist() for array in held] == [[number] * 1000 for number in range(20)]


def test_error_comes_where_its_element_would_and_says_where_it_was_raised():
    cursor = remote(Dataset.range(6).map(fail_at_three))
    assert [*cursor.take(1), *cursor.take(1), *cursor.take(1)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three") as caught:
        cursor.take(1)
    assert "in fail_at_three" in str(caught.value.__cause__)
    assert taken(cursor) == [4, 5]  # as without other processes


def test_chain_that_cannot_be_sent_is_an_error_with_advice():
    cursor = remote(Dataset.range(2).map(lambda number: number))
    with pytest.raises(TypeError, match="must be defined at the top of a module"):
        cursor.take(1)


def test_file_that_is_not_there_is_the_same_error_as_without(tmp_path):
    paths = write_files(tmp_path, [3])
    dataset = TFRecordDataset(paths)
    os.remove(paths[0])
    with pytest.raises(FileNotFoundError, match="part-0"):
        remote(dataset).take(1)


def test_damage_is_reported_and_counted_here(tmp_path):
    (path,) = write_files(tmp_path, [20])
    data = bytearray(Path(path).read_bytes())
    data[46] ^= 1
    Path(path).write_bytes(data)
    with pytest.raises(ChecksumError, match=r"part-0.*record 2") as caught:
        taken(remote(TFRecordDataset(path)))
    assert (caught.value.record, caught.value.part) == (2, "data")
    damage = SkippedDamage()
    assert len(taken(remote(TFRecordDataset(path, on_error="skip"), damage=damage))) == 19
    assert damage.skipped == 1
    assert isinstance(damage.last_error, ChecksumError)


def test_process_that_dies_is_an_error_and_the_next_one_goes_on_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cursor = remote(Dataset.range(6).map(be_killed_at_three))
    found, errors = [], []
    while len(found) < 6:
        try:
            found += cursor.take(1)
        except RuntimeError as error:
            errors.append(str(error))
    assert found == list(range(6))
    assert len(errors) == 1
    assert "signal 9" in errors[0]


def exit_at_three(number: int) -> int:
    if number == 3 and not Path("killed").exists():
        Path("killed").touch()
        os._exit(1)  # TerminateProcess of Windows gives such an exit code
    return number


def test_process_that_dies_on_windows_which_has_no_signals_is_an_error_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(signal, "SIGKILL")
    monkeypatch.setattr(popen_fork.Popen, "kill", popen_fork.Popen.terminate)
    cursor = remote(Dataset.range(6).map(exit_at_three))
    found: list[Any] = []
    with pytest.raises(RuntimeError, match=r"has ended \(exit code 1\)"):  # noqa: PT012
        while True:
            found += cursor.take(1)
    assert found + taken(cursor) == list(range(6))
    del cursor
    gc.collect()  # ends the process while this is Windows


def test_interrupted_waiting_loses_nothing(monkeypatch):
    cursor = remote(Dataset.range(6).map(vector))
    receive = Worker.next
    calls = []

    def interrupted(self):
        sent = receive(self)
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt  # and what came is gone
        return sent

    monkeypatch.setattr(Worker, "next", interrupted)
    found = [cursor.take(1)[0][0], cursor.take(1)[0][0]]
    with pytest.raises(KeyboardInterrupt):
        cursor.take(1)
    found += [array[0] for array in taken(cursor)]
    assert found == list(range(6))


def test_state_is_where_the_next_element_is_without_waiting_for_it():
    dataset = Dataset.range(9).map(vector)
    for used in range(10):
        cursor = remote(dataset)
        for _ in range(used):
            cursor.take(1)
        other = remote(dataset)
        other.restore(cursor.state())
        assert [array[0] for array in taken(other)] == list(range(used, 9))
        assert [array[0] for array in taken(cursor)] == list(range(used, 9))


def test_elements_are_passed_over_before_and_behind_the_beginning():
    cursor = remote(Dataset.range(20))
    assert cursor.skip(3) == 3
    assert cursor.take(1) == [3]
    assert cursor.skip(4) == 4
    assert cursor.take(1) == [8]
    assert cursor.skip(100) == 11


def test_idle_process_serves_again():
    pool = WorkerPool()
    dataset = Dataset.range(5).map(process_of)
    processes = [set(taken(remote(dataset, pool))) for _ in range(3)]
    assert processes[0] == processes[1] == processes[2]
    cursor = remote(dataset, pool)
    cursor.take(1)
    cursor.close()  # in the middle
    assert set(taken(remote(dataset, pool))) == processes[0]


def test_two_at_a_time_have_a_process_each():
    pool = WorkerPool()
    dataset = Dataset.range(500).map(process_of)
    one, two = remote(dataset, pool), remote(dataset, pool)
    assert one.take(1) != two.take(1)
    one.close()
    two.close()


def test_process_ends_when_nobody_needs_it():
    pool = WorkerPool()
    dataset = Dataset.range(500).map(process_of)
    cursor = remote(dataset, pool)
    (process,) = cursor.take(1)
    del cursor  # without having come to the end
    gc.collect()
    wait_until_gone(process)
    (process,) = set(taken(remote(dataset, pool)))
    assert is_alive(process)
    del pool
    gc.collect()
    wait_until_gone(process)


def test_nothing_is_left_of_the_shared_buffers():
    folder = Path(shared_memory._FOLDER)
    before = set(folder.glob("*.purerecord")) if folder.is_dir() else set()
    taken(remote(Dataset.range(20).map(vector)))
    gc.collect()
    assert (set(folder.glob("*.purerecord")) if folder.is_dir() else set()) == before


def test_pool_travels_without_its_processes():
    pool = WorkerPool()
    assert taken(remote(Dataset.range(3), pool)) == [0, 1, 2]
    assert taken(remote(Dataset.range(3), pickle.loads(pickle.dumps(pool)))) == [0, 1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_copy_of_the_process_starts_its_own():
    pool = WorkerPool()
    dataset = Dataset.range(5).map(process_of)
    (before,) = set(taken(remote(dataset, pool)))
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        found = set(taken(remote(dataset, pool)))
        os.write(writing, b"%d" % found.pop())
        os._exit(0)
    other = int(os.read(reading, 20))
    os.waitpid(child, 0)
    assert other != before
    assert set(taken(remote(dataset, pool))) == {before}


ORPHAN = """
import os, sys, time
sys.path.insert(0, {root!r})
from tests.dataset.engine.test_worker import process_of, remote
from purerecord.dataset import Dataset
cursor = remote(Dataset.range(10**9).map(process_of))
other = remote(Dataset.range(10**9).map(process_of))
print(cursor.take(1)[0], other.take(1)[0], flush=True)
os.kill(os.getpid(), 9)
"""


def test_processes_end_with_the_one_that_started_them_even_if_that_is_killed():
    script = ORPHAN.format(root=str(ROOT))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    processes = list(map(int, done.stdout.split()))
    assert len(processes) == 2, done.stderr
    for process in processes:
        wait_until_gone(process)


def test_no_thread_is_left_here():
    before = set(threading.enumerate())
    taken(remote(Dataset.range(20).map(vector)))
    assert set(threading.enumerate()) <= before


def test_elements_of_a_chain_of_records_come_too(tmp_path):
    dataset = TFRecordDataset(write_files(tmp_path, [700, 3]))
    assert taken(remote(dataset)) == elements(iter(dataset))


def wait_for_file(number: int) -> int:
    while number == 1 and not Path("go").exists():
        time.sleep(0.01)
    return number


def test_state_does_not_wait_for_the_next_element(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cursor = remote(Dataset.range(3).map(wait_for_file))
    assert cursor.take(1) == [0]
    state = cursor.state()  # element 1 will not be there before there is the file
    Path("go").touch()
    assert taken(cursor) == [1, 2]
    other = remote(Dataset.range(3).map(wait_for_file))
    other.restore(state)
    assert taken(other) == [1, 2]


def sleep_at_one(number: int) -> int:
    if number == 1:
        Path("asleep").touch()
        time.sleep(60)
    return number


@pytest.mark.parametrize("stopped", [False, True], ids=["that is busy", "that is stopped"])
def test_process_that_does_not_answer_is_ended(stopped, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(worker_module, "_STOP_TIMEOUT", 0.1)
    cursor = remote(Dataset.range(3).map(sleep_at_one))
    assert cursor.take(1) == [0]
    process = cursor._worker._process.pid
    while not Path("asleep").exists():  # before that, it would answer
        time.sleep(0.01)
    if stopped:
        os.kill(process, signal.SIGSTOP)
    cursor.close()
    gc.collect()
    wait_until_gone(process)


def test_idle_process_that_has_died_is_replaced():
    pool = WorkerPool()
    dataset = Dataset.range(5).map(process_of)
    (process,) = set(taken(remote(dataset, pool)))
    os.kill(process, signal.SIGKILL)
    pool._idle[0]._process.join()
    (other,) = set(taken(remote(dataset, pool)))
    assert other != process


def test_no_more_processes_are_kept_than_there_are_cpus(monkeypatch):
    monkeypatch.setattr(worker_module, "_MOST_IDLE", 2)
    pool = WorkerPool()
    cursors = [remote(Dataset.range(5), pool) for _ in range(4)]
    assert [cursor.take(1) for cursor in cursors] == [[0]] * 4
    for cursor in cursors:
        cursor.close()
    assert len(pool._idle) == 2


def test_idle_process_keeps_no_large_buffers(monkeypatch):
    monkeypatch.setattr(worker_module, "_LARGEST_IDLE_BUFFER", 5000)
    pool = WorkerPool()
    dataset = Dataset.range(20).map(vector)
    for _ in range(3):
        assert [array[0] for array in taken(remote(dataset, pool))] == list(range(20))
        (worker,) = pool._idle
        assert sum(buffer.size > 5000 for buffer in worker._buffers) <= len(worker._lent)


def text_of(number: int) -> np.ndarray:
    return np.array([b"%d" % number] * 10, object)


def test_strings_give_their_buffer_back_at_once():
    cursor = remote(Dataset.range(20).map(text_of))
    held = []
    for number in range(20):
        held += cursor.take(1)
        assert not cursor._worker._lent
        assert held[-1].tolist() == [b"%d" % number] * 10


def test_names_of_shared_buffers_are_gone_while_they_are_in_use():
    folder = Path(shared_memory._FOLDER)
    if not folder.is_dir():
        pytest.skip("shared buffers are elsewhere")
    before = set(folder.glob("*.purerecord"))
    cursor = remote(Dataset.range(20).map(vector))
    cursor.take(1)
    cursor.take(1)
    assert len(set(folder.glob("*.purerecord")) - before) <= 1  # one may just be on its way


def test_damage_that_was_told_of_is_not_counted_again(tmp_path):
    (path,) = write_files(tmp_path, [600])
    data = bytearray(Path(path).read_bytes())
    data[46] ^= 1
    Path(path).write_bytes(data)
    dataset = TFRecordDataset(path, on_error="skip").batch(50)
    cursor = remote(dataset)
    cursor.take(1)
    damage = SkippedDamage()
    other = remote(dataset, damage=damage)
    other.restore(cursor.state())
    before = damage.skipped  # by restoring here
    assert sum(map(len, taken(other))) == 549
    assert damage.skipped == before


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@needs_fork
def test_copy_of_the_process_goes_on_seeing_what_it_saw():
    cursor = remote(Dataset.range(40).map(vector))
    children = []
    for number in range(12):
        (array,) = cursor.take(1)
        child = os.fork()
        if not child:
            time.sleep(0.3)  # meanwhile the others go on
            os._exit(int((array != number).any()))
        children.append(child)
        del array
    taken(cursor)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 12


@needs_fork
def test_copy_of_the_process_goes_on_with_its_own_cursor():
    cursor = remote(Dataset.range(40).map(vector))
    assert [cursor.take(1)[0][0] for _ in range(3)] == [0, 1, 2]
    child = os.fork()
    found = [int(array[0]) for array in taken(cursor)]
    if not child:
        os._exit(int(found != list(range(3, 40))))
    assert found == list(range(3, 40))
    assert os.waitpid(child, 0)[1] == 0


def test_foreign_element_that_fails_concerns_nobody():
    dataset = Dataset.range(6).map(fail_at_three)
    cursor = remote(dataset)
    assert cursor.take(1) == [0]
    assert cursor.skip(3) == 3  # 3 among them
    assert taken(cursor) == [4, 5]


def test_damage_in_a_foreign_record_concerns_nobody(tmp_path):
    (path,) = write_files(tmp_path, [20], size=20_000)
    data = bytearray(Path(path).read_bytes())
    data[5 * 20_020] ^= 1
    Path(path).write_bytes(data)
    plain = node(TFRecordDataset(path)).open(Context())
    cursor = remote(TFRecordDataset(path))
    assert plain.take(1) == cursor.take(1)
    assert plain.skip(8) == cursor.skip(8) == 8
    assert [*plain.take(1)] == cursor.take(1)
    assert cursor.skip(100) == 10


def be_killed_once(batch: Any) -> Any:
    if any(record.startswith(b"400") for record in batch) and not Path("died").exists():
        Path("died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return batch


def test_damage_is_counted_once_also_if_a_process_dies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (path,) = write_files(tmp_path, [600], size=100)
    data = bytearray(Path(path).read_bytes())
    for place in (500, 1000, 65_000):
        data[place] ^= 1
    Path(path).write_bytes(data)
    damage = SkippedDamage()
    cursor = remote(TFRecordDataset(path, on_error="skip").batch(50).map(be_killed_once), damage=damage)
    found = []
    while len(found) < 12:
        try:
            found += cursor.take(1)
        except RuntimeError:
            assert damage.skipped == 2
    assert Path("died").exists()
    assert sum(map(len, found)) == 597
    assert damage.skipped == 3
