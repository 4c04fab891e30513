"""``Decoded``: one payload as the viewer sees it: its features, or what else it is.

Any payload gives one: bytes that are no Example have a ``kind`` and a sentence instead of features. This
module does not know where payloads come from, nor how values are shown.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import DecodeError
from ..payload.recognize import EVENT, EXAMPLE_LIST, other_message, recognize
from ..payload.wire import UNSET, decode_features, decode_sequence

Value = tuple[int, Any]  # the kind, and values as in payload.wire

_LARGE = 16 << 20  # bytes; a batch of small records has fewer
_TURN = threading.Lock()
_KINDS = {EVENT: "Event", EXAMPLE_LIST: "ExampleList"}


@dataclass
class Decoded:
    """The features of a payload, and the feature lists of a SequenceExample."""

    kind: str
    features: dict[str, Value] = field(default_factory=dict)
    lists: dict[str, list[Value]] = field(default_factory=dict)
    problem: str | None = None
    damaged: bool = False
    payload: bytes | None = None  # of one that is no Example

    def strings(self, name: str, *, steps: bool = False) -> list[bytes]:
        """The strings of a feature, or the first string of each step of a feature list."""
        if steps:
            return [values[0] if kind == 1 and values else b"" for kind, values in self.lists.get(name, [])]
        kind, values = self.features.get(name, (UNSET, None))
        return list(values) if kind == 1 else []


@contextmanager
def one_at_a_time(size: int) -> Iterator[None]:
    """Wait while others decode much: what is decoded can need far more memory than its bytes."""
    if size < _LARGE:
        yield
        return
    with _TURN:
        yield


def decoded(payload: bytes) -> Decoded:
    """What is in ``payload``."""
    with one_at_a_time(len(payload)):
        return _decoded(payload)


def _decoded(payload: bytes) -> Decoded:
    try:
        context, lists = decode_sequence(payload)
    except DecodeError as error:
        try:
            context, lists = decode_features(payload), {}
        except DecodeError:
            return Decoded(_other(payload), problem=f"no Example: {error.reason}", payload=payload)
    filled = any(kind != UNSET for kind, _ in context.values()) or any(lists.values())
    if not filled and (other := other_message(payload)) is not None:
        return Decoded(_other(payload), problem=f"no Example, but {other}", payload=payload)
    return Decoded("SequenceExample" if lists else "Example", context, lists)


def _other(payload: bytes) -> str:
    return _KINDS.get(recognize(payload) or "", "other")
