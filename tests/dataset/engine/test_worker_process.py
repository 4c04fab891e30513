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
    cursor = remote(Dataset.range(2).map(raise_odd_error))
    with pytest.raises(RuntimeError, match="OddError: 0 and 2"):
        cursor.take(1)


def test_element_that_cannot_be_sent_is_an_error():
    cursor = remote(Dataset.range(2).map(make_function))
    with pytest.raises(TypeError, match="an element cannot be sent from one process to another"):
        cursor.take(1)


def test_interrupt_is_not_for_the_others():
    cursor = remote(Dataset.range(300).map(process_of))
    (process,) = cursor.take(1)
    os.kill(process, signal.SIGINT)
    assert set(taken(cursor)) == {process}
