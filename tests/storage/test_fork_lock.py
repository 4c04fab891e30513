"""Locks and forks."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from purerecord.storage.fork_lock import ForkLock


def test_threads_of_one_process_exclude_each_other():
    lock = ForkLock()
    with lock.here():
        assert not lock.here().acquire(blocking=False)
    assert lock.here().acquire(blocking=False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_finds_it_free_though_another_thread_held_it():
    lock, held, forked = ForkLock(), threading.Event(), threading.Event()

    def hold():
        with lock.here():
            held.set()
            forked.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(30)
    child = os.fork()
    if not child:
        signal.alarm(30)  # kills a child that hangs
        with lock.here():
            os._exit(0)
    forked.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
