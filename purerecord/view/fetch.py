"""``fetch``: rows of a source, without the payloads that would cost too much to decode.

A record of some megabytes can hold millions of strings, each of which becomes an object. This module does not
know how values are shown.
"""

from __future__ import annotations

from contextlib import suppress

from ..errors import DecodeError
from ..payload.wire import DELIMITED, fields
from .limits import Limits
from .source import Fetched, Source

# The tag of a feature, a step and a string: without so many of these bytes there are not so many of them.
_TAG = b"\n"
# What is counted, as field numbers from the outside to the inside: the features of an Example and of a
# context and their strings, the feature lists and their steps and the strings of these.
_PATHS: tuple[tuple[int, ...], ...] = ((1, 1), (1, 1, 2, 1, 1), (2, 1), (2, 1, 2, 1), (2, 1, 2, 1, 1, 1))


def fetch(source: Source, begin: int, end: int, most_bytes: int, limits: Limits) -> Fetched:
    """Rows as ``Source.fetch`` gives them; those with too many parts are among the ``problems``."""
    fetched = source.fetch(begin, end, most_bytes)
    for place, length in enumerate(fetched.lengths):
        row = fetched.begin + place
        if length > limits.record_parts and row not in fetched.problems:
            payload = fetched.records[place]
            if has_more_parts(payload, limits.record_parts):
                fetched.costly.add(row)
                fetched.problems[row] = (
                    f"the record has more than {limits.record_parts:,} features and strings; the viewer "
                    "decodes records of up to so many"
                )
    return fetched


def has_more_parts(payload: bytes, most: int) -> bool:
    """Whether a payload has more than ``most`` features, steps and strings."""
    if payload.count(_TAG) <= most:
        return False
    left = most
    with suppress(DecodeError):  # what cannot be decoded has cost little until there
        waiting = [(0, len(payload), _PATHS)]
        while waiting and left >= 0:
            begin, end, paths = waiting.pop()
            for field in fields(payload, begin, end, 0):
                inner = tuple(path[1:] for path in paths if path[0] == field.number)
                if field.type != DELIMITED or not inner:
                    continue
                left -= () in inner
                if left < 0:
                    break
                if deeper := tuple(path for path in inner if path):
                    waiting.append((field.begin, field.end, deeper))
    return left < 0
