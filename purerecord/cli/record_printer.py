"""``RecordPrinter``: prints records in the format that the arguments name.

JSON lines, CSV, a table, text, or the bytes of the records themselves. This module must not read files.
"""

from __future__ import annotations

import sys
from argparse import ArgumentError, Namespace
from typing import TYPE_CHECKING, Any

from ..errors import DecodeError
from .exit_status import Outcome, show, write
from .record_tables import CsvRows, TableRows
from .render import Selection, as_base64, as_cells, as_json, as_text, as_values

if TYPE_CHECKING:
    from .message_type import MessageType

# Records without a selected feature that are held back, until it is clear that the names are right.
_MOST_HELD = 10_000
# Names of features that have no column, which a message lists.
_SHOWN_NAMES = 10


class RecordPrinter:
    """Prints records in the format that the arguments name."""

    def __init__(self, arguments: Namespace, outcome: Outcome) -> None:
        if arguments.format == "raw" and arguments.features is not None:
            raise ArgumentError(None, "--features is for the other formats; raw records are whole")
        if arguments.format == "raw" and arguments.proto is not None:
            raise ArgumentError(None, "--proto is for the other formats; raw records are not decoded")
        self._format = arguments.format
        self._selection = Selection(arguments.features)
        self._rows: CsvRows | TableRows | None = None
        if self._format == "csv":
            self._rows = CsvRows(arguments.features, escape=sys.stdout.isatty())
        elif self._format == "table":
            self._rows = TableRows(arguments.features)
        self._kind = message_type(arguments, outcome)
        self._outcome = outcome
        self._held: list[Any] = []  # records without a selected feature, until another record has one
        self._told = False  # that a record is another message; once is enough

    def show(self, file: str, number: int, payload: bytes) -> None:
        """Print a record, or hold it back, if no record so far has had a selected feature."""
        if self._format == "raw":
            write(payload)
            return
        try:
            shown = self._rendered(number, payload)
        except DecodeError as error:  # it is not the message that the user has named
            self._outcome.damaged = True
            self._outcome.say(f"{file}: record {number}: {error.reason}")
            return
        self._held.append(shown)
        if self._selection.found or len(self._held) > _MOST_HELD:
            self._print_held()
        if self._told or self._kind is not None or self._rows is not None:
            return
        if other := as_base64(shown, payload):
            self._told = True
            self._outcome.say(f"{file}: record {number}: no Example, but {other}; --proto FILE decodes it")

    def finish(self) -> None:
        """Print what is still held back, and what the user has to know at the end."""
        missing = self._selection.missing()
        if self._selection.found or not missing:
            self._print_held()
            if self._rows is not None:
                self._show_lines(self._rows.last_lines())
        for reason in missing:
            self._outcome.fail(reason)
        if self._rows is not None and self._rows.strange:
            names = [repr(name) for name in sorted(self._rows.strange)]
            more = f" and {len(names) - _SHOWN_NAMES:,} more" if len(names) > _SHOWN_NAMES else ""
            self._outcome.damaged = True
            self._outcome.say(
                f"features without a column, in {self._rows.strange_records:,} records: "
                f"{', '.join(names[:_SHOWN_NAMES])}{more}; --features names the columns"
            )

    def _rendered(self, number: int, payload: bytes) -> Any:
        if self._format == "csv":
            return as_values(payload, self._selection, self._kind)
        if self._format == "table":
            return as_cells(payload, self._selection, self._kind)
        if self._format == "text":
            return as_text(number, payload, self._selection, self._kind)
        return as_json(payload, self._selection, self._kind)

    def _print_held(self) -> None:
        for shown in self._held:
            self._show_lines([shown] if self._rows is None else self._rows.lines(shown))
        self._held.clear()

    def _show_lines(self, lines: list[str]) -> None:
        for line in lines:
            show(line)


def message_type(arguments: Namespace, outcome: Outcome) -> MessageType | None:
    """The message that the arguments name; None if the records are Examples."""
    if arguments.proto is None:
        if arguments.message is not None:
            raise ArgumentError(None, "--message needs --proto, the file that describes the message")
        return None
    from .message_type import load_message_type  # noqa: PLC0415 - imports protobuf, which Examples do without

    with outcome.handling(arguments.proto, hide=False):
        return load_message_type(arguments.proto, arguments.message)
    raise AssertionError  # the error was raised again
