"""The child's end of a worker process: what it sends where an element, an error or a signal is unusual."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from purerecord.dataset import Dataset
from tests.dataset.engine.test_worker import process_of, remote, taken


class OddError(Exception):
    """Cannot be unpickled."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def raise_odd_error(number: int) -> int:
    raise OddError(number, 2)


def make_function(number: int) -> Any:
    return lambda: number


def test_error_that_cannot_be_sent_is_told_in_words():
    (failed,) = remote(Dataset.range(2).map(raise_odd_error)).take(1)
    assert type(failed.error) is RuntimeError
    assert str(failed.error) == "OddError: 0 and 2"
    assert "in raise_odd_error" in failed.trace


def test_element_that_cannot_be_sent_is_an_error():
    (failed,) = remote(Dataset.range(2).map(make_function)).take(1)
    with pytest.raises(TypeError, match="an element cannot be sent from one process to another"):
        raise failed.error


def test_interrupt_is_not_for_the_others():
    cursor = remote(Dataset.range(300).map(process_of))
    (process,) = cursor.take(1)
    os.kill(process, signal.SIGINT)
    assert set(taken(cursor)) == {process}
