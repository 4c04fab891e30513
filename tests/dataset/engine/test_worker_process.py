"""The child's end of a worker: what it sends of an error, and where the chain then stands."""

from __future__ import annotations

import pickle

import pytest

from purerecord.dataset import Dataset
from purerecord.dataset.engine import worker_process
from purerecord.dataset.engine.lookahead import FailedElement
from purerecord.dataset.engine.node import Context, SkippedDamage
from purerecord.errors import ChecksumError


class UnpicklableError(Exception):
    """An error that pickle can store but not restore: its constructor needs two arguments."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def test_error_that_survives_a_pickle_is_sent_as_it_is():
    error = ChecksumError("bad", path="a", record=1)
    assert worker_process._picklable(error) is error


def test_error_that_does_not_survive_a_pickle_is_sent_as_its_text():
    sent = worker_process._picklable(UnpicklableError("no", "way"))
    assert type(sent) is RuntimeError
    assert str(sent) == "UnpicklableError: no way"


def failing(number: int) -> int:
    if number == 2:
        raise ValueError("two")
    return number


def cursor_at_the_failing_element():
    cursor = Dataset.range(5).map(failing)._node.open(Context())
    assert list(cursor.take(2)) == [0, 1]
    return cursor


def test_failed_element_is_sent_in_its_place_and_the_chain_stands_after_it():
    cursor = cursor_at_the_failing_element()
    begin = cursor.state()
    with pytest.raises(ValueError, match="two") as caught:
        cursor.take(1)
    sent = worker_process._failure(begin, cursor, SkippedDamage(), caught.value)
    assert [type(element) for element in sent.run.elements] == [FailedElement]
    assert sent.run.error is None
    assert sent.end == cursor.state() != begin
    assert list(cursor.take(1)) == [3]


def test_error_that_the_cursor_cannot_get_past_ends_the_run():
    cursor = cursor_at_the_failing_element()
    begin, error = cursor.state(), ValueError("the file is gone")
    sent = worker_process._failure(begin, cursor, SkippedDamage(), error)
    assert sent.run.elements == ()
    assert sent.run.error is error
    assert sent.end == begin


def test_chain_opens_at_a_state_and_counts_damage_from_there():
    dataset = Dataset.range(5).map(failing)
    cursor = cursor_at_the_failing_element()
    damage = SkippedDamage(skipped=7)
    opened = worker_process._open(pickle.dumps((dataset._node, 0)), cursor.state(), damage)
    assert damage.skipped == 0
    assert opened.state() == cursor.state()
