"""``Parameters``: the query of a URL, each value checked when it is asked for.

This module must not know the endpoints.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs

_MOST = 1_000  # parameters
_NUMBER = re.compile(r"[0-9]{1,18}")


class RefusedError(Exception):
    """A request that cannot be answered; ``status`` is that of HTTP."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class Parameters:
    """The parameters in the ``query`` of a URL."""

    def __init__(self, query: str) -> None:
        self.query = query
        try:
            self._given = parse_qs(query, keep_blank_values=True, errors="strict", max_num_fields=_MOST)
        except ValueError:
            raise RefusedError("the parameters of the URL cannot be read") from None

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def text(self, name: str, default: str = "", *, longest: int = 4096) -> str:
        """A text."""
        values = self._given.get(name, [default])
        if len(values) != 1:
            raise RefusedError(f"{name} is given {len(values)} times")
        if len(values[0]) > longest:
            raise RefusedError(f"{name} is longer than {longest:,} characters")
        return values[0]

    def texts(self, name: str, *, most: int = 200) -> list[str]:
        """All texts of a name."""
        values = self._given.get(name, [])
        if len(values) > most:
            raise RefusedError(f"{name} is given more than {most} times")
        return values

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number that is not negative."""
        text = self.text(name, "")
        if not text and default is not None:
            return default
        if not _NUMBER.fullmatch(text):
            raise RefusedError(f"{name} must be a whole number")
        return int(text)

    def flag(self, name: str) -> bool:
        """Whether a switch is on."""
        return self.text(name, "0") not in ("", "0", "false")
