"""Payloads that a function in this thread is about to get one by one, so that they can be parsed together.

``announced`` is a context in which a function is called with each of some payloads. Once it has parsed two
of them in a row, ``parse_single_example`` parses the next ones together. That changes no result and no
error, only the time. This module does not know how payloads are parsed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

# How many payloads are parsed together, and by how many different requests of one function.
_TOGETHER, _MOST_REQUESTS = 256, 4

# Parses payloads together: a sequence of results, or None if they must be parsed one by one.
ParseTogether = Callable[[Sequence[bytes], Any], "Sequence[dict[str, Any]] | None"]


class _Parsed:
    """What a request has parsed."""

    def __init__(self, request: Any) -> None:
        self.request = request
        self.latest = -1  # the payload that it parsed last
        self.range = range(0)  # the payloads that were parsed together
        self.rows: Sequence[dict[str, Any]] | None = None


class _Announced:
    """Payloads that come one after the other."""

    def __init__(self, payloads: Sequence[Any], parse: ParseTogether) -> None:
        self._payloads = payloads
        self._parse = parse
        self._place = 0  # of the latest payload
        self._parsed: list[_Parsed] = []

    def parsed(self, payload: Any, request: Any) -> dict[str, Any] | None:
        """``payload`` parsed by the request, if it is one of these and was parsed with others; else None."""
        place = self._place_of(payload)
        if place is None:
            return None
        for known in self._parsed:
            if known.request is request:
                break
        else:
            if len(self._parsed) == _MOST_REQUESTS:
                return None
            known = _Parsed(request)
            self._parsed.append(known)
        before, known.latest = known.latest, place
        if place not in known.range:
            if not 0 <= before == place - 1:
                return None
            known.range = range(place, min(place + _TOGETHER, len(self._payloads)))
            known.rows = self._parse(self._payloads[place : known.range.stop], request)
        return None if known.rows is None else known.rows[place - known.range.start]

    def _place_of(self, payload: Any) -> int | None:
        for place in range(self._place, len(self._payloads)):
            if self._payloads[place] is payload:
                self._place = place
                return place
        return None


class _Thread(threading.local):
    announced: _Announced | None = None


_thread = _Thread()


@contextmanager
def announced(payloads: Sequence[Any], parse: ParseTogether) -> Iterator[None]:
    """A context in which a function gets ``payloads`` in this order, in this thread."""
    outer, _thread.announced = _thread.announced, _Announced(payloads, parse)
    try:
        yield
    finally:
        _thread.announced = outer


def parsed_with_others(payload: Any, request: Any) -> dict[str, Any] | None:
    """``payload`` parsed by the request, if it was announced and parsed together with others; else None."""
    return None if _thread.announced is None else _thread.announced.parsed(payload, request)
