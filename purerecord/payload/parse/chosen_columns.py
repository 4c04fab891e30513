"""``ChosenColumns``: the arguments ``text=`` and ``bytes_columns=``, which choose columns.

This module does not know what is done with the columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Union

Given = Union[bool, Iterable[str]]


class ChosenColumns:
    """The argument ``option``: True for all columns that hold strings, or the names of some."""

    def __init__(self, option: str, given: Given) -> None:
        self.names: tuple[str, ...] = ()
        if not isinstance(given, bool):
            if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
                raise TypeError(f"{option} must be True, False or a list of names, not {given!r}")
            self.names = tuple(given)
        self._all = given is True

    def __contains__(self, name: object) -> bool:
        return self._all or name in self.names

    def __bool__(self) -> bool:
        return self._all or bool(self.names)


def text_and_bytes_columns(text: Given, bytes_columns: Given) -> tuple[ChosenColumns, ChosenColumns]:
    """Both arguments; ValueError if they choose the same column."""
    strings, in_place = ChosenColumns("text", text), ChosenColumns("bytes_columns", bytes_columns)
    both = [name for name in (*strings.names, *in_place.names) if name in strings and name in in_place]
    if both or text is bytes_columns is True:
        which = f"{both[0]!r} is" if both else "all columns are"
        raise ValueError(f"{which} chosen by text= and by bytes_columns=, but text is str and no BytesColumn")
    return strings, in_place
