"""prefetch: a thread that works ahead."""

from __future__ import annotations

import threading

from purerecord.dataset import Dataset


def test_prefetch_works_ahead():
    fetched = threading.Event()

    def note(number):
        if number == 2:
            fetched.set()
        return number

    iterator = iter(Dataset.range(100).map(note).prefetch(3))
    assert next(iterator) == 0
    assert fetched.wait(10)
    iterator.close()
