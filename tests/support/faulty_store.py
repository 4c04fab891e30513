"""A store in memory whose requests fail as those of real stores do, by a plan."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from purerecord.container import index
from purerecord.storage import remote_file
from purerecord.storage.stores import Status
from purerecord.storage.url import Url

URL = Url("fake://bucket/file")
FAULTS = ("reset", "busy", "short", "empty", "too much", "stall", "none")


class FaultyObject:
    """One remote file with the content ``data``. Each request meets the next of ``faults``, then none."""

    def __init__(self, data: bytes, faults: Iterator[str] | None = None, delay: float = 0) -> None:
        self.data = data
        self.version = "1"
        self.faults = faults or iter(())
        self.delay = delay
        self.requests: list[tuple[int, int]] = []
        self.most_at_once = 0
        self._under_way = 0
        self._lock = threading.Lock()

    def status(self) -> Status:
        return Status(len(self.data), self.version)

    def read(self, begin: int, end: int) -> bytes:
        with self._lock:
            self.requests.append((begin, end))
            fault = next(self.faults, "none")
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            time.sleep(self.delay)
            return self._answer(fault, begin, end)
        finally:
            with self._lock:
                self._under_way -= 1

    def _answer(self, fault: str, begin: int, end: int) -> bytes:
        data = self.data[begin:end]
        if fault == "reset":
            raise ConnectionResetError("the connection was reset")
        if fault == "busy":
            raise OSError("503 Slow Down")
        if fault == "forbidden":
            raise PermissionError("403")
        if fault == "gone":
            raise FileNotFoundError("404")
        if fault == "stall":
            time.sleep(0.3)
        if fault == "short":
            return data[: max(1, len(data) // 2)]
        if fault == "empty":
            return b""
        if fault == "too much":
            return data + b"?"
        return data


@contextmanager
def stored_as(file: FaultyObject, **settings: object) -> Iterator[FaultyObject]:
    """``URL`` names ``file``; ``settings`` replace constants of ``remote_file``, whose pauses are short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote_file, "open_object", lambda url: file)
        patch.setattr(index, "exists", lambda url: False)
        for name, value in {"_PAUSE": 0.0005, "RANGE": 100, "FIRST": 100, **settings}.items():
            patch.setattr(remote_file, name, value)
        yield file


def plan(seed: object, faults: tuple[str, ...] = FAULTS) -> Iterator[str]:
    """Endless faults, half of them none; the same for the same ``seed``."""
    random = Random(str(seed))
    while True:
        yield random.choice(faults) if random.random() < 0.5 else "none"
