"""Regular expressions of RE2, which TensorFlow uses, run by Python's ``re``.

RE2 reads UTF-8, so ``.`` is a character. What it has and Python has not (``\\pL``, ``[[:alpha:]]``, ``\\z``,
``\\Q...\\E``) is translated; what Python has and it has not (look-around, references to groups) is an error.
This module does not know tensors.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache

from ..errors import invalid

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_SPACE = r"\t\n\f\r "  # in RE2 the vertical tab is none
_LOOKS = ("(?=", "(?!", "(?<=", "(?<!", "(?>", "(?#")


class _Translator:
    """One pattern of RE2 as a pattern of ``re``."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._inside = False  # of a class in brackets
        self._out: list[str] = []

    def translated(self) -> str:
        for size in re.findall(r"\{(\d+)(?:,\d*)?\}", self._pattern):
            if int(size) > 1000:
                raise _fault(self._pattern, f"invalid repetition size: {{{size}}}")
        while self._at < len(self._pattern):
            if self._inside:
                self._in_class()
            else:
                self._outside()
        if self._inside:
            raise _fault(self._pattern, "missing ]: " + self._pattern[self._pattern.rindex("[") :])
        return "".join(self._out)

    def _take(self, count: int, text: str | None = None) -> None:
        """Go on by ``count`` characters, which become ``text``."""
        piece = self._pattern[self._at : self._at + count]
        self._out.append(piece if text is None else text)
        self._at += count

    def _outside(self) -> None:
        rest = self._pattern[self._at :]
        if rest[0] == "\\":
            self._escape(rest)
        elif rest[0] == "[":
            opening = 2 if rest.startswith("[^") else 1
            self._take(opening)
            self._inside = True
            if self._pattern[self._at : self._at + 1] == "]":
                self._take(1, r"\]")
        elif rest[0] == "$":
            self._take(1, "(?:(?-m:$)(?!\\n)|(?m:$)(?=\\n))" if self._has_flag_m() else r"\Z")
        elif rest.startswith(_LOOKS):
            raise _fault(self._pattern, f"invalid perl operator: {rest[: 4 if rest[2] == '<' else 3]}")
        elif rest.startswith("(?<"):
            self._take(3, "(?P<")
        elif re.match(r"[*+?}]\+", rest):
            raise _fault(self._pattern, f"bad repetition operator: {rest[:2]}")
        else:
            self._take(1)

    def _has_flag_m(self) -> bool:
        return re.search(r"\(\?[a-zA-Z]*m", self._pattern) is not None

    def _in_class(self) -> None:
        rest = self._pattern[self._at :]
        posix = re.match(r"\[:(\^?)(\w+):\]", rest)
        if posix and posix[2] in _POSIX:
            inner = _POSIX[posix[2]]
            self._take(posix.end(), _complement(inner) if posix[1] else inner)
        elif rest[0] == "\\":
            self._escape(rest)
        elif rest[0] == "]":
            self._take(1)
            self._inside = False
        else:
            self._take(1, "\\" + rest[0] if rest[0] in "[&~|" else None)

    def _escape(self, rest: str) -> None:
        if property_ := re.match(r"\\([pP])(?:\{(\^?)(\w+)\}|(\w))", rest):
            inner = _category(self._pattern, property_[2 + 1] or property_[4])
            negated = (property_[1] == "P") != bool(property_[2])
            self._take(property_.end(), self._class(inner, negated))
        elif quoted := re.match(r"(?s)\\Q(.*?)(?:\\E|$)", rest):
            self._take(quoted.end(), re.escape(quoted[1]))
        elif point := re.match(r"\\x\{([0-9a-fA-F]+)\}", rest):
            self._take(point.end(), re.escape(chr(int(point[1], 16))))
        elif rest.startswith((r"\s", r"\S")):
            self._take(2, self._class(_SPACE, rest[1] == "S"))
        elif rest.startswith(r"\z") and not self._inside:
            self._take(2, r"\Z")
        elif len(rest) == 1:
            raise _fault(self._pattern, "trailing \\")
        elif re.match(r"\\[1-9ZGKRXNC]", rest):
            raise _fault(self._pattern, f"invalid escape sequence: {rest[:2]}")
        else:
            self._take(2)

    def _class(self, inner: str, negated: bool) -> str:
        if self._inside:
            return _complement(inner) if negated else inner
        return f"[{'^' if negated else ''}{inner}]"


def _complement(inner: str) -> str:
    """All characters that are not in a class, as the inside of another one."""
    matches = re.compile(f"[{inner}]").match
    return _ranges([point for point in range(sys.maxunicode + 1) if not matches(chr(point))])


@lru_cache(maxsize=64)
def _category(pattern: str, name: str) -> str:
    """The characters of a general category, as the inside of a class."""
    points = [
        point for point in range(sys.maxunicode + 1) if unicodedata.category(chr(point)).startswith(name)
    ]
    if not points or len(name) > 2:
        raise _fault(pattern, f"invalid character class range: \\p{{{name}}}")
    return _ranges(points)


def _ranges(points: list[int]) -> str:
    parts = []
    first = last = points[0]
    for point in [*points[1:], -1]:
        if point == last + 1:
            last = point
            continue
        parts.append(f"\\U{first:08x}-\\U{last:08x}")
        first = last = point
    return "".join(parts)


def _fault(pattern: str, text: str) -> Exception:
    return invalid(f"Invalid pattern: {pattern}, error: {text}")


def _as_text(data: bytes) -> str:
    """Bytes as text, and back without loss by ``_as_bytes``."""
    return data.decode("utf-8", "surrogateescape")


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@lru_cache(maxsize=256)
def compiled(pattern: bytes) -> re.Pattern[str]:
    """A pattern of RE2, for texts that are decoded."""
    text = _as_text(pattern)
    try:
        return re.compile(_Translator(text).translated(), re.ASCII)
    except (re.error, OverflowError, ValueError) as error:
        if hasattr(error, "error_code"):
            raise
        what = str(error).partition(",")[0].partition(" at position")[0]
        shown = f"{what}: {text}" if what == "missing )" else what
        raise _fault(text, shown) from None


def full_match(pattern: bytes, data: bytes) -> bool:
    """Whether the whole string matches."""
    return compiled(pattern).fullmatch(_as_text(data)) is not None


def replaced(pattern: bytes, rewrite: bytes, data: bytes, everywhere: bool) -> bytes:
    """The string with the first match, or all of them, replaced."""
    expression, parts = compiled(pattern), _rewrite_parts(_as_text(rewrite))
    highest = max((part for part in parts if isinstance(part, int)), default=0)
    broken = None in parts
    if highest > expression.groups or (broken and not everywhere):
        return data
    text = _as_text(data)
    out: list[str] = []
    at, last_end = 0, -1
    while at <= len(text):
        match = expression.search(text, at)
        if match is None:
            break
        out.append(text[at : match.start()])
        if match.start() == match.end() == last_end:  # no empty match where the last one ended
            out.append(text[match.end() : match.end() + 1])
            at = match.end() + 1
            continue
        out.extend(_of_match(match, parts))
        at = last_end = match.end()
        if not everywhere:
            break
    return _as_bytes("".join([*out, text[at:]]))


def _of_match(match: re.Match[str], parts: tuple[str | int | None, ...]) -> list[str]:
    texts = []
    for part in parts:
        if part is None:
            break
        texts.append(part if isinstance(part, str) else match[part] or "")
    return texts


@lru_cache(maxsize=256)
def _rewrite_parts(rewrite: str) -> tuple[str | int | None, ...]:
    """A rewrite as texts and numbers of groups; None is what RE2 does not understand."""
    parts: list[str | int | None] = []
    for piece in re.findall(r"(?s)\\.?|[^\\]+", rewrite):
        if piece[0] != "\\":
            parts.append(piece)
        elif piece[1:].isdigit() and piece.isascii():
            parts.append(int(piece[1:]))
        else:
            parts.append("\\" if piece == "\\\\" else None)
    return tuple(parts)
