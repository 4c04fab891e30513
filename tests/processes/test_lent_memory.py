"""Memory lent to another process: what arrives, when it is used again, and that nothing is left behind."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord.processes import lent_memory
from purerecord.processes.lent_memory import Lender, Loan, accept

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="memory is lent on Linux only"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork"),
]

MIB = 1 << 20


class Part:
    """Bytes that are pickled as a part of a message; they arrive as an array, or as bytes if not lent."""

    def __init__(self, lender: Lender, data: bytes) -> None:
        self.lender = lender
        self.data = data

    def __reduce__(self) -> tuple[Any, ...]:
        placed = self.lender.place([self.data])
        if placed is None:
            return bytes, (self.data,)
        return arrived, (*placed, len(self.data))


def arrived(loan: Loan, place: int, size: int) -> np.ndarray:
    return loan.part(place, size)


def message(lender: Lender, *parts: bytes) -> bytes:
    return pickle.dumps([Part(lender, part) for part in parts])


def sent(lender: Lender, *parts: bytes) -> list[np.ndarray]:
    return pickle.loads(message(lender, *parts))


def filled(number: int, size: int = 100_000) -> bytes:
    return bytes([number % 251]) * size


@pytest.fixture(autouse=True)
def _nothing_opened_yet(monkeypatch):
    monkeypatch.setattr(lent_memory, "_opened", [])
    monkeypatch.setattr(lent_memory, "_received", {})


@pytest.fixture
def lender() -> Lender:
    """A lender whose offer was accepted."""
    lender = Lender()
    accept(lender.offer())
    return lender


def descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


# What arrives


def test_nothing_is_lent_before_the_receiver_has_opened_what_is_offered():
    lender = Lender()
    assert sent(lender, b"abc") == [b"abc"]
    accept((os.getpid(), 10_000, 1))  # what it cannot open it does not answer
    assert sent(lender, b"abc") == [b"abc"]
    accept(lender.offer())
    assert lender.offer() is None
    (array,) = sent(lender, b"abc")
    assert array.tobytes() == b"abc"
    assert Lender().offer() is None  # a process that is forked later knows it


@given(sizes=st.lists(st.lists(st.integers(1, 300_000), max_size=5), max_size=8), seed=st.integers(0, 9))
def test_parts_arrive_as_they_were(sizes, seed):
    lender = Lender()
    if lender.offer():
        accept(lender.offer())
    rng = random.Random(seed)
    kept = []
    for some in sizes:
        parts = [rng.randbytes(size) for size in some]
        arrays = sent(lender, *parts)
        assert [array.tobytes() for array in arrays] == parts
        assert all(array.flags.writeable and array.ctypes.data % 16 == 0 for array in arrays)
        if rng.random() < 0.5:
            kept.append((parts, arrays))
        for before, still in kept:
            assert [array.tobytes() for array in still] == before


def test_parts_given_together_lie_one_right_after_the_other(lender):
    placed = lender.place([b"ab", b"", b"cde"])
    loan = pickle.loads(pickle.dumps(placed[0]))
    assert loan.part(placed[1], 5).tobytes() == b"abcde"
    assert bytes(loan.view(placed[1] + 2, 3)) == b"cde"


# When a buffer is used again


def test_buffer_is_filled_again_when_no_view_of_it_is_left(lender):
    sent(lender, filled(0))
    (first,) = sent(lender, filled(1))
    view = first[10:20].reshape(2, 5)[:, 1:].view(np.int8)
    del first
    for number in range(2, 40):
        sent(lender, filled(number))
    assert set(view.ravel().tolist()) == {1}
    held = [buffer for buffer in lender._buffers if not buffer.is_free()]
    assert len(held) == 1
    assert len(lender._buffers) <= 3
    del view
    assert all(buffer.is_free() for buffer in lender._buffers)


def test_steady_messages_use_one_buffer_each_and_few_in_all(lender):
    held: list[np.ndarray] = []
    for number in range(200):
        held = sent(lender, *(filled(number + part, 10_000 + part) for part in range(20)))
    assert len(lender._buffers) <= 4
    assert len({id(array.base) for array in held}) == 1
    assert sum(buffer.size for buffer in lender._buffers) < 4 * MIB


def test_message_that_is_pickled_or_received_twice_is_in_use_until_both_are_gone(lender):
    sent(lender, filled(0))
    held, placed = [], lender.place([filled(1)])
    for _ in range(2):
        held.append(pickle.loads(pickle.dumps(placed[0])).part(placed[1], 100))
    del placed
    for number in range(2, 20):
        sent(lender, filled(number))
        if number == 10:
            held.pop()
        assert set(held[0].tolist()) == {1}


def test_receiver_that_keeps_everything_gets_copies_and_the_buffers_come_back(lender):
    kept = [sent(lender, filled(number)) for number in range(60)]
    assert [set(array.tolist()) for (array,) in kept] == [{number} for number in range(60)]
    assert len(lender._buffers) <= lent_memory._MOST_LENT + 3
    assert len(lent_memory._received) == lent_memory._MOST_LENT


def test_messages_under_way_are_limited_and_the_rest_is_sent_in_another_way(lender):
    under_way = [message(lender, filled(number)) for number in range(40)]
    assert len(lender._buffers) == lent_memory._MOST_BUFFERS
    for number, pickled in enumerate(under_way):
        (data,) = pickle.loads(pickled)
        assert bytes(data) == filled(number)
    assert sent(lender, filled(3))[0].tobytes() == filled(3)


def test_buffer_that_was_lent_before_a_fork_is_never_filled_again(lender):
    sent(lender, filled(0))
    (array,) = sent(lender, filled(1))
    number = next(n for n, buffer in enumerate(lender._buffers) if not buffer.is_free())
    lent = lender._buffers[number]
    read, write = os.pipe()
    child = os.fork()
    if not child:  # sees the array as it was, whatever the parent does
        os.read(read, 1)
        os._exit(0 if set(array.tolist()) == {1} else 1)
    del array
    assert lent.is_abandoned()
    for other in range(2, 30):
        sent(lender, filled(other))
    assert lent not in lender._buffers
    os.write(write, b"x")
    assert os.waitpid(child, 0)[1] == 0
    os.close(read)
    os.close(write)


def test_array_that_dies_in_a_forked_process_frees_nothing_that_the_parent_still_sees(lender):
    sent(lender, filled(0))
    (array,) = sent(lender, filled(1))
    child = os.fork()
    if not child:
        del array
        os._exit(0)
    os.waitpid(child, 0)
    for number in range(2, 30):
        sent(lender, filled(number))
    assert set(array.tolist()) == {1}


def test_threads_share_a_lender(lender):
    def work(thread: int) -> bool:
        whole = True
        for number in range(50):
            parts = [filled(thread * 50 + number + part, 5000 * (part + 1)) for part in range(4)]
            whole &= [bytes(array) for array in sent(lender, *parts)] == parts
        return whole

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


# Nothing is left behind


def test_descriptors_and_memory_go_with_their_owners():
    before = descriptors()
    lender = Lender()
    accept(lender.offer())
    held = [sent(lender, filled(number)) for number in range(10)]
    del lender
    assert [set(array.tolist()) for (array,) in held] == [{number} for number in range(10)]
    del held
    assert descriptors() == before
    assert not lent_memory._received


@pytest.mark.parametrize("missing", ["memfd_create", "posix_fallocate"])
def test_without_memory_nothing_is_lent_and_the_cause_is_known(missing, lender, monkeypatch):
    sent(lender, filled(0))
    held = sent(lender, filled(1))
    before = descriptors()

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, missing, fail)
    assert sent(lender, filled(2, 5 * MIB)) == [filled(2, 5 * MIB)]
    assert "No space left" in lender.failure
    assert Lender().place([b"abc"]) is None
    assert descriptors() <= before
    monkeypatch.undo()
    (array,) = sent(lender, filled(3, 5 * MIB))  # as soon as there is memory again
    assert array.nbytes == 5 * MIB
    assert held


def test_other_systems_lend_nothing(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    lender = Lender()
    assert (lender.offer(), lender.failure, lender.place([b"abc"])) == (None, None, None)


SENDER = """
import pickle, sys
from purerecord.processes.lent_memory import Lender
from tests.processes.test_lent_memory import message
from purerecord.processes import lent_memory
lent_memory._opened.append(None)
lender = Lender()
sys.stdout.buffer.write(message(lender, b"abc"))
sys.stdout.buffer.flush()
sys.stdin.read()
"""


def test_data_of_another_process_is_read_and_is_gone_when_that_process_has_ended():
    process = subprocess.Popen([sys.executable, "-c", SENDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        pickled = process.stdout.read1()
        (array,) = pickle.loads(pickled)
        assert array.tobytes() == b"abc"
        process.kill()
        process.wait()
        assert array.tobytes() == b"abc"  # as long as it is wanted
        with pytest.raises(FileNotFoundError):
            pickle.loads(pickled)


def test_file_that_has_taken_the_number_of_a_buffer_is_not_read(lender):
    pickled = message(lender, b"abc")
    _, descriptor, _ = lender._buffers[0].address
    other = os.open(os.devnull, os.O_RDWR)
    saved = os.dup(descriptor)
    os.dup2(other, descriptor)
    try:
        with pytest.raises(FileNotFoundError, match="has ended before"):
            pickle.loads(pickled)
    finally:
        os.dup2(saved, descriptor)
        os.close(saved)
        os.close(other)
