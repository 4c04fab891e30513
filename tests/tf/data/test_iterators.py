"""``tf.data``: shuffling, interleaving, threads and prefetching, on plain iterators."""

from __future__ import annotations

import gc
import threading
from itertools import islice, repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purerecord import tf
from purerecord.tf.data.iterators import (
    AutotunedMap,
    Failure,
    Interleave,
    ParallelMap,
    Randomness,
    Resumable,
    Shuffle,
    Zip,
    repeated,
    weighted_choices,
)
from purerecord.tf.data.run import Run

Dataset = tf.data.Dataset


@given(st.integers(0, 40), st.integers(1, 50), st.integers(0, 2**32))
def test_shuffle_is_a_permutation_that_looks_no_further_than_its_buffer(
    size: int, buffer: int, seed: int
) -> None:
    order = list(Shuffle(lambda _: iter(range(size)), buffer, str(seed), False)(Run()))
    assert sorted(order) == list(range(size))
    assert all(value < position + buffer for position, value in enumerate(order))


def failing(*events: Any) -> Any:
    """An iterator that raises the errors among ``events`` and goes on."""
    return Resumable(Failure(event) if isinstance(event, Exception) else event for event in events)


def test_zip_takes_an_element_of_every_input_even_if_one_fails_or_ends() -> None:
    rest = iter("abcd")
    zipped = Zip([failing(1, ValueError("two"), 3), rest])
    assert next(zipped) == (1, "a")
    with pytest.raises(ValueError, match="two"):
        next(zipped)
    assert list(zipped) == [(3, "c")]
    assert list(rest) == []
    assert list(zipped) == []


def test_shuffle_reads_no_more_than_its_buffer() -> None:
    source = iter(range(10))
    next(Shuffle(lambda _: source, 3, "", False)(Run()))
    assert next(source) == 3


def test_repeat_goes_on_after_an_empty_epoch_unless_it_has_no_end() -> None:
    for times, expected in ((4, [0, 2, 3]), (None, [0])):
        epochs = iter([[0], [], [2], [3]])
        assert list(repeated(lambda _, epochs=epochs: iter(next(epochs)), times, Run())) == expected


def test_weighted_choices_come_again_unless_they_are_drawn_again() -> None:
    for again in (False, True):
        randomness = Randomness("5", again)
        probe, one, two = (
            list(islice(weighted_choices(repeat([1.0, 1.0]), randomness(Run(probe))), 50))
            for probe in (True, False, False)
        )
        assert probe == one
        assert (one == two) is not again


def reference(sources: list[list[Any]], cycle: int, block: int) -> list[Any]:
    """TensorFlow's rule, as plainly as it can be said: one position, one step at a time."""
    waiting, slots, out = list(sources), [None] * cycle, []
    position = taken = 0
    while waiting or any(slot is not None for slot in slots):
        if slots[position] is None and waiting:
            slots[position] = iter(waiting.pop(0))
        if slots[position] is not None:
            try:
                out.append(next(slots[position]))
                taken += 1
            except StopIteration:
                slots[position] = None
                taken = block
        if slots[position] is None or taken == block:
            position, taken = (position + 1) % cycle, 0
    return out


@given(st.lists(st.lists(st.integers(), max_size=6), max_size=6), st.integers(1, 5), st.integers(1, 4))
def test_interleaving_follows_the_rule(sources: list[list[Any]], cycle: int, block: int) -> None:
    assert list(Interleave(iter(sources), iter, cycle, block)) == reference(sources, cycle, block)


def test_threads_keep_the_order_and_pass_errors_on_in_their_place() -> None:
    def function(number: int) -> int:
        if number == 5:
            raise ValueError("five")
        return number

    results = ParallelMap(function, iter(range(10)), 3)
    assert list(islice(results, 5)) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="five"):
        next(results)
    assert list(results) == [6, 7, 8, 9]


def test_an_error_below_comes_after_what_was_before_it() -> None:
    def broken() -> Any:
        yield from range(3)
        raise ValueError("below")

    results = ParallelMap(lambda number: number, broken(), 2)
    assert list(islice(results, 3)) == [0, 1, 2]
    with pytest.raises(ValueError, match="below"):
        next(results)


def test_quick_functions_stay_in_their_thread_and_slow_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purerecord.tf.data.iterators.os.cpu_count", lambda: 2)
    for worthwhile, elsewhere in ((float("inf"), False), (-1.0, True)):
        monkeypatch.setattr("purerecord.tf.data.iterators._SECONDS_WORTH_A_THREAD", worthwhile)
        threads = list(AutotunedMap(lambda _: threading.current_thread().name, iter(range(20))))
        assert ({*threads[4:]} != {threading.current_thread().name}) is elsewhere
        assert {*threads[:4]} == {threading.current_thread().name}


def test_prefetching_thread_ends_with_its_iterator() -> None:
    before = set(threading.enumerate())
    iterator = iter(Dataset.range(1000).prefetch(2))
    next(iterator)
    assert set(threading.enumerate()) - before
    del iterator
    gc.collect()
    assert not set(threading.enumerate()) - before


def test_prefetched_errors_come_in_their_place() -> None:
    dataset = Dataset.range(4).map(lambda x: 6 // (x - 2)).prefetch(2)
    iterator = iter(dataset)
    assert [int(next(iterator)), int(next(iterator))] == [-3, -6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        next(iterator)
