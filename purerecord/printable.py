"""``printable``: text that comes from data, without the characters that would control a terminal or a log.

File names, feature names and values may hold anything: escape sequences, line breaks, marks that reverse the
direction of writing. Whatever shows them to people passes them through this module, which alone decides
which characters are shown and which are escaped. ``repr`` escapes all of these too. This module must not know
where text comes from.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable

# C1 and DEL, marks that break lines or change the direction of writing, bytes that are no UTF-8. JSON allows
# all of these in a string as they are.
_ALLOWED_BY_JSON = r"\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_IN_JSON = re.compile(f"[{_ALLOWED_BY_JSON}]")
_CONTROL = re.compile(rf"[\x00-\x1f{_ALLOWED_BY_JSON}]")


def printable(text: str) -> str:
    r"""``text`` with all control characters escaped as in a repr: ``\n``, ``\x1b``, ``\u202e``."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def printable_json(text: str) -> str:
    """JSON with escapes for the control characters that JSON would allow; it means the same."""
    return _IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shell_words(names: Iterable[str]) -> str:
    """File names as words of a shell command; one with control characters is quoted as bash quotes it."""
    return " ".join(map(_shell_word, names))


def _shell_word(name: str) -> str:
    if printable(name) == name:
        return shlex.quote(name)
    return "$'" + _CONTROL.sub(_octets, name.replace("\\", r"\\").replace("'", r"\'")) + "'"


def _octets(match: re.Match[str]) -> str:
    # As bytes: a shell knows them in any locale, and some are no characters at all.
    return "".join(map(r"\x{:02x}".format, os.fsencode(match[0])))
