"""Conditions as text, for what a click on the page means: ``label == 7``.

The texts are expressions of ``tools.expression``. What cannot be said there gives None. This module does not
evaluate anything.
"""

from __future__ import annotations

import math
import re
from typing import Any

_PLAIN = re.compile(r"[^\W\d]\w*(?:[/.][^\W\d]\w*)*")
_WORDS = {"and", "or", "not", "in", "any", "all", "has", "len", "size", "contains", "startswith", "endswith"}
_WORDS |= {"True", "False", "None", "is"}
_SHOWN = range(0x20, 0x7F)


def feature(name: str) -> str | None:
    """A feature in an expression."""
    if _PLAIN.fullmatch(name) and name not in _WORDS:
        return name
    return None if "`" in name or not name else f"`{name}`"


def equals(name: str, value: Any, *, lists: bool = False) -> str | None:
    """That a feature is ``value``, a number or bytes; with ``lists``, that any of its values is."""
    return _condition(name, lambda known: f"{known} == {_constant(value)}", value, lists=lists)


def between(name: str, low: Any, high: Any, *, closed: bool, lists: bool = False) -> str | None:
    """That a feature lies between two numbers; the upper one belongs to it only if ``closed``."""
    upper = "<=" if closed else "<"

    def text(known: str) -> str:
        return f"{known} >= {_constant(low)} and {known} {upper} {_constant(high)}"

    return _condition(name, text, low, high, lists=lists)


def _condition(name: str, text: Any, *values: Any, lists: bool) -> str | None:
    known = feature(name)
    if known is None or any(isinstance(value, float) and not math.isfinite(value) for value in values):
        return None
    return f"any({text(known)})" if lists else str(text(known))


def _constant(value: Any) -> str:
    if isinstance(value, bytes):
        return '"' + "".join(map(_character, value)) + '"'
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        value = int(value)
    return repr(value)


def _character(octet: int) -> str:
    if octet in (0x22, 0x5C):
        return "\\" + chr(octet)
    return chr(octet) if octet in _SHOWN else f"\\x{octet:02x}"
