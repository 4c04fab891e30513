"""Shares: whoever takes, nothing comes twice and nothing is left out."""

from __future__ import annotations

import json
import os
import signal
import threading
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import ChecksumError
from purerecord.dataset import Dataset, TFRecordDataset
from purerecord.dataset.engine.states import merge_states
from tests.support.damage import HEADER, frames, starts
from tests.support.dataset_properties import elements, numbered, plain, saved, write_files
from tests.support.interruptions import Moments

SHAPES = st.tuples(st.integers(1, 4), st.integers(1, 4))


def chain(size: int, kind: str) -> Dataset:
    """Elements that are read ahead many at a time, or passed over one by one."""
    dataset = Dataset.range(size)
    return {"many": dataset, "one": dataset.batch(1), "shuffled": dataset.shuffle(7).map(str)}[kind]


KINDS = st.sampled_from(["many", "one", "shuffled"])


def consumers(shape):
    """Everyone of this many ranks and workers, in the order of their numbers."""
    ranks, workers = shape
    return [
        {"rank": rank, "world_size": ranks, "worker": worker, "workers": workers}
        for worker in range(workers)
        for rank in range(ranks)
    ]


@given(size=st.integers(0, 60), shape=SHAPES, kind=KINDS)
def test_everything_comes_once(size, shape, kind):
    dataset = chain(size, kind)
    whole = elements(dataset.iterator(0))
    shares = [elements(dataset.iterator(0, **who)) for who in consumers(shape)]
    assert shares == [whole[place :: len(shares)] for place in range(len(shares))]


@given(size=st.integers(0, 60), shape=SHAPES, kind=KINDS, even=st.sampled_from(["drop", "pad"]))
def test_even_ranks_have_as_many_steps(size, shape, kind, even):
    dataset = chain(size, kind)
    ranks = shape[0]
    whole = elements(dataset.iterator(0))
    steps = [0] * ranks
    for who in consumers(shape):
        steps[who["rank"]] += len(elements(dataset.iterator(0, even=even, **who)))
    assert steps == [size // ranks if even == "drop" else -(-size // ranks)] * ranks
    seen = [e for who in consumers(shape) for e in elements(dataset.iterator(0, even=even, **who))]
    kept = whole[: size // ranks * ranks] if even == "drop" else whole
    assert set(map(str, seen)) == set(map(str, kept))


@given(size=st.integers(0, 60), before=SHAPES, after=SHAPES, kind=KINDS, taken=st.integers(0, 70))
def test_others_go_on_where_some_have_stopped(size, before, after, kind, taken):
    dataset = chain(size, kind)
    whole = elements(dataset.iterator(3))
    its = [dataset.iterator(3, **who) for who in consumers(before)]
    for number in range(taken):
        next(its[number % len(its)], None)
    state = json.loads(json.dumps(merge_states([it.state_dict() for it in its])))
    rest = [None] * max(0, size - taken)
    everyone = consumers(after)
    for place, who in enumerate(everyone):
        it = dataset.iterator(0, **who)
        it.load_state_dict(state)
        rest[place :: len(everyone)] = elements(it)
    assert rest == whole[taken:]


def fail_at_seven(number):
    if number == 7:
        raise RuntimeError("seven")
    return number


@given(shape=SHAPES)
def test_who_goes_on_after_an_error_gets_the_next_of_its_own(shape):
    dataset = Dataset.range(30).map(fail_at_seven)
    for place, who in enumerate(consumers(shape)):
        iterator = dataset.iterator(0, **who)
        found = []
        while True:
            try:
                found.append(next(iterator))
            except StopIteration:
                break
            except RuntimeError:
                continue
        count = shape[0] * shape[1]
        assert found == [number for number in range(place, 30, count) if number != 7]


def test_error_that_stays_is_raised_again_and_again(tmp_path):
    payloads = [bytes([number]) for number in range(12)]
    data = bytearray(frames(payloads))
    data[starts(payloads)[7] + HEADER] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    iterator = TFRecordDataset(tmp_path / "damaged").batch(1).iterator(0, rank=1, world_size=3)
    assert [list(next(iterator)) for _ in range(2)] == [[b"\x01"], [b"\x04"]]
    for _ in range(3):
        with pytest.raises(ChecksumError, match="record 7"):
            next(iterator)


INTERRUPTED = {
    "map": lambda ds, f: ds.map(f),
    "map in threads": lambda ds, f: ds.map(f, 2),
    "filter": lambda ds, f: ds.filter(lambda record: f(record) != b"3"),
    "prefetch": lambda ds, f: ds.map(f).prefetch(2),
    "shuffle": lambda ds, f: ds.shuffle(20).map(f).shuffle(9),
    "batch": lambda ds, f: ds.map(f).batch(3),
    "parallel": lambda ds, f: ds.parallel(2).map(f),
    "interleave": lambda ds, f: ds.interleave(lambda r: Dataset.range(int(r) % 4), 3, 2).map(f),
    "zip": lambda ds, f: Dataset.zip(ds.map(f).prefetch(1), ds.shuffle(5).map(f)),
    "shard": lambda ds, f: ds.map(f).shard(2, 1),
}


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", INTERRUPTED)
def test_after_an_interrupt_the_next_element_comes(name, ranks, tmp_path):
    countdown = [0]  # calls until the next interrupt; none if it is not positive

    def interrupted(value):
        countdown[0] -= 1
        if countdown[0] == 0:
            raise KeyboardInterrupt
        return value

    chain = INTERRUPTED[name](TFRecordDataset(write_files(tmp_path, [30, 50])), interrupted)
    for rank in range(ranks):
        who = {"rank": rank, "world_size": ranks}
        whole = elements(chain.iterator(0, **who))
        iterator, got = chain.iterator(0, **who), []
        for calls in (1, 2, 17, 30, 0):
            countdown[0] = calls
            with suppress(KeyboardInterrupt):
                for element in iterator:
                    got.append(plain(element))
            countdown[0] = 0
            other = chain.iterator(0, **who)
            other.load_state_dict(saved(iterator))
            assert got + elements(other) == whole, "resumed with the state after an interrupt"
        assert got == whole


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.light(6)
@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("name", INTERRUPTED)
def test_parent_and_child_both_go_on_after_a_fork(name, compression, tmp_path):
    files = TFRecordDataset(write_files(tmp_path, [300, 500], compression), on_error="skip")
    chain = INTERRUPTED[name](files, lambda value: value)
    whole = elements(chain.iterator(0))
    iterator = chain.iterator(0)
    begin = elements(iterator, 9)
    child = os.fork()
    if not child:
        signal.alarm(30)  # kills a child that hangs
        os._exit(0 if begin + elements(iterator) == whole else 1)
    assert begin + elements(iterator) == whole
    assert os.waitpid(child, 0)[1] == 0


def test_threads_may_share_an_iterator(tmp_path):
    iterator = iter(TFRecordDataset(write_files(tmp_path, [3000, 3000])).shuffle(50).map(bytes))
    got: list[bytes] = []
    threads = [threading.Thread(target=lambda: got.extend(iterator)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got, key=int) == numbered(6000)


def test_an_iterator_that_is_asked_while_it_computes_says_so():
    iterator = iter(Dataset.range(5).map(lambda _: next(iterator)))
    with pytest.raises(RuntimeError, match="asked for an element while it computes one"):
        next(iterator)


def test_stop_iteration_of_a_function_does_not_end_the_loop():
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(Dataset.range(5).map(lambda _: next(iter(()))))


def fail_at_one(value: int) -> int:
    if value == 1:
        raise ValueError(value)
    return value


@pytest.mark.parametrize("threads", [None, 2])
def test_no_interrupt_takes_the_place_of_an_error_that_was_about_to_come(threads):
    dataset = Dataset.range(3).map(fail_at_one, threads)

    def outcomes(iterator) -> list[object]:
        found: list[object] = []
        while True:
            try:
                found.append(next(iterator))
            except StopIteration:
                return found
            except ValueError as error:
                found.append(str(error))
            except KeyboardInterrupt:
                pass

    iterator = iter(dataset)
    with Moments().counted() as moments:
        assert outcomes(iterator) == [0, "1", 2]
    for at in range(1, moments.count + 1):
        iterator = iter(dataset)
        with Moments(at).counted():
            assert outcomes(iterator) == [0, "1", 2], at
