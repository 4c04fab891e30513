"""A lock that processes share: one holder at a time, and free when its holder ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from purerecord.storage.file_lock import FileLock
from tests.support.places import ROOT


def test_one_holder_at_a_time(tmp_path):
    path = str(tmp_path / "lock")
    with FileLock(path), pytest.raises(BlockingIOError, match="another process holds it"):
        FileLock(path, wait=False)
    FileLock(path, wait=False).release()


def test_the_next_one_waits_until_the_lock_is_free(tmp_path):
    path = str(tmp_path / "lock")
    order = []
    first = FileLock(path)

    def second() -> None:
        with FileLock(path):
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    order.append("first")
    first.release()
    thread.join()
    assert order == ["first", "second"]


@pytest.mark.parametrize("remove", [False, True])
def test_a_lock_whose_file_was_removed_is_still_one_lock(tmp_path, remove):
    path = str(tmp_path / "lock")
    counts = []

    def work() -> None:
        for _ in range(20):
            lock = FileLock(path)
            counts.append(sum(counts[-1:]) + 1)
            counts.append(counts.pop())  # another holder would come in between
            lock.release(remove=remove)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == list(range(1, 81))
    assert os.path.exists(path) != remove


def test_the_lock_of_a_process_that_was_killed_is_free(tmp_path):
    path = str(tmp_path / "lock")
    program = (
        "import sys, time; from purerecord.storage.file_lock import FileLock; "
        "lock = FileLock(sys.argv[1]); print('held', flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", program, path], env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(BlockingIOError):
            FileLock(path, wait=False)
        process.kill()
        process.wait()
        FileLock(path, wait=False).release()
