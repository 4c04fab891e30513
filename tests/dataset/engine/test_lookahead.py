"""Working ahead: in order, with errors where they belong, and nothing left behind."""

from __future__ import annotations

import threading
import time

import pytest

from purerecord.dataset import Dataset
from tests.support.dataset_properties import check, elements, outcomes, saved


def square(number: int) -> int:
    return number * number


def fail_at_five(number: int) -> int:
    if number == 5:
        raise RuntimeError("five")
    return number


@pytest.mark.parametrize(
    "chain",
    [
        lambda ds: ds.map(fail_at_five, 3),
        lambda ds: ds.map(fail_at_five).prefetch(2),
        lambda ds: ds.map(fail_at_five, 2).prefetch(2),
    ],
)
def test_error_comes_where_its_element_would(chain):
    iterator = iter(chain(Dataset.range(9)))
    assert elements(iterator, 5) == [0, 1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="five"):
        next(iterator)
    iterator.close()


def test_foreign_elements_are_not_computed():
    computed = []
    dataset = Dataset.range(40).map(lambda n: computed.append(n) or n, 2).batch(2).prefetch(2)
    assert elements(dataset.iterator(0, rank=1, world_size=4)) == [
        [first, first + 1] for first in range(2, 40, 8)
    ]
    assert sorted(computed) == [n for n in range(40) if n // 2 % 4 == 1]


def test_threads_are_gone_when_an_iterator_is_dropped_or_closed():
    before = set(threading.enumerate())
    for dataset in (Dataset.range(100).prefetch(2), Dataset.range(100).map(square, 2)):
        iterator = iter(dataset)
        next(iterator)
        del iterator
        iterator = iter(dataset)
        next(iterator)
        iterator.close()
    for _ in range(1000):  # nobody waits for those of an iterator that is dropped
        if set(threading.enumerate()) <= before:
            break
        time.sleep(0.01)
    assert set(threading.enumerate()) <= before


def test_who_forgets_an_iterator_waits_for_nobody():
    """It may be forgotten anywhere, by the garbage collector in a thread that is just starting, say."""
    go_on = threading.Event()
    done = []

    def slow(number):
        if number:
            go_on.wait(10)
            done.append(number)
        return number

    for chain in (Dataset.range(9).map(slow, 2), Dataset.range(9).map(slow).prefetch(2)):
        iterator = iter(chain)
        assert next(iterator) == 0
        del iterator
        assert not done
    go_on.set()


def test_chains_of_both():
    check(Dataset.range(30).map(square, 2).prefetch(1).map(str, 3).batch(4).prefetch(3))


AHEAD = {
    "prefetch": lambda ds: ds.map(fail_at_five).prefetch(2),
    "threads": lambda ds: ds.map(fail_at_five, 3),
    "threads above": lambda ds: ds.map(fail_at_five).map(abs, 3),
    "both": lambda ds: ds.map(fail_at_five, 2).prefetch(2),
    "prefetch twice": lambda ds: ds.map(fail_at_five).prefetch(2).prefetch(1),
}


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name", AHEAD)
def test_element_that_fails_has_its_place_among_the_ranks(name, ranks):
    plain, ahead = Dataset.range(9).map(fail_at_five), AHEAD[name](Dataset.range(9))
    for rank in range(ranks):
        who = {"rank": rank, "world_size": ranks}
        assert outcomes(ahead.iterator(0, **who)) == outcomes(plain.iterator(0, **who))


@pytest.mark.parametrize("name", AHEAD)
def test_state_before_an_error_is_taken_without_it_and_leads_to_it(name):
    dataset = AHEAD[name](Dataset.range(9))
    iterator = iter(dataset)
    assert elements(iterator, 5) == [0, 1, 2, 3, 4]
    state = saved(iterator)
    assert outcomes(iterator) == ["error five", 6, 7, 8]
    other = iter(dataset)
    other.load_state_dict(state)
    assert outcomes(other) == ["error five", 6, 7, 8]
