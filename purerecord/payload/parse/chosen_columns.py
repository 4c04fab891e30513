"""``ChosenColumns``: the arguments ``text=`` and ``bytes_columns=``, which choose columns.

This module does not know what is done with the columns.
"""

from __future__ import annotations

from collections.abc import Iterable


class ChosenColumns:
    """The argument ``option``: True for all columns that hold strings, or the names of some."""

    def __init__(self, option: str, given: bool | Iterable[str]) -> None:
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
