"""Rows of the table: a page of records from a place on.

A page costs a bounded number of bytes, so it may hold fewer rows than were asked for; ``next`` says where the
following page begins. This module does not know HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from .catalog import Catalog, ShownFile
from .cells import Place, Shown, cell, list_cell, whole_of
from .decoded import Decoded, decoded
from .fetch import fetch
from .limits import Limits
from .pictures import overlay_of, pictures_of
from .source import Fetched

Shape = TypeVar("Shape")
Cursor = tuple[int, int]  # a file, and a row in it


class FoundRow(NamedTuple):
    """A record, decoded, and where it is."""

    file: int
    row: int
    offset: int | None
    length: int
    found: Decoded


def row_of(
    one: FoundRow, columns: Sequence[str], limits: Limits, *, pictures: bool = False
) -> dict[str, Any]:
    """A row of the table, with the named columns, or with the first features of the record.

    With ``pictures``, also with its pictures and what is on them.
    """
    file, row, offset, length, found = one
    place = Place(file, row)
    shown = Shown(limits.cell_values, limits.cell_text)
    names = [(name, False) for name in found.features] + [(name, True) for name in found.lists]
    if columns:
        chosen = [(name, stepped) for name, stepped in names if name in set(columns)]
    else:
        chosen = names[: limits.features]
    listed = [
        list_cell(name, found.lists[name], place, shown)
        if stepped
        else cell(name, found.features[name], place, shown)
        for name, stepped in chosen
    ]
    facts: dict[str, Any] = {"file": file, "row": row, "offset": offset, "length": length}
    facts |= {"kind": found.kind or None, "problem": found.problem, "damaged": found.damaged}
    facts["whole"] = None if found.payload is None else whole_of(found.payload, limits.cell_text)
    if pictures:
        drawn = pictures_of(found, place, limits.row_pictures + 1)
        facts["pictures"] = drawn[: limits.row_pictures]
        facts["more_pictures"] = len(drawn) > limits.row_pictures
        facts["overlay"] = overlay_of(found, place, facts["pictures"])
    return facts | {"features": listed, "more": len(names) - len(listed)}


def page(
    catalog: Catalog, cursor: Cursor, limit: int, show: Callable[[FoundRow], Shape], *, whole: bool
) -> tuple[list[Shape], dict[str, Any]]:
    """What ``show`` makes of the records from ``cursor`` on, and what is known about the page.

    Only one record is decoded at a time: it may need far more memory than its bytes. With ``whole``, the page
    goes on in the next file.
    """
    limits = catalog.limits
    number, row = cursor
    found: list[Shape] = []
    left = limits.page_bytes
    pending = False
    while number < len(catalog.files) and len(found) < limit and left > 0:
        file = catalog.files[number]
        source = catalog.reach(file, row + limit - len(found) - 1)
        if source is not None and row < source.count:
            fetched = fetch(source, row, row + limit - len(found), left, limits)
            found += [show(found_row(file, fetched, place)) for place in range(len(fetched.lengths))]
            left -= sum(fetched.lengths) + len(fetched.lengths)
            row = fetched.end
            continue
        if source is not None and not (source.exact or file.ended):
            pending = not found  # the scan goes on
            break
        if not whole:
            break
        number, row = number + 1, 0
    return found, {"next": next_page(catalog, number, row, whole=whole), "pending": pending}


def found_row(file: ShownFile, fetched: Fetched, place: int) -> FoundRow:
    """One of the rows that were fetched, decoded."""
    row = fetched.begin + place
    problem = fetched.problems.get(row)
    if problem:
        one = Decoded("", problem=problem, damaged=row not in fetched.costly)
    else:
        one = decoded(fetched.records[place])
    return FoundRow(file.number, row, fetched.offsets[place], fetched.lengths[place], one)


def next_page(catalog: Catalog, number: int, row: int, *, whole: bool) -> str | None:
    """Where the next page begins; None after the last record."""
    while number < len(catalog.files):
        file = catalog.files[number]
        source = file.source
        open_end = file.failure is None and (source is None or not (source.exact or file.ended))
        if (source is not None and row < source.count) or open_end:
            return f"{number}:{row}"
        if not whole:
            return None
        number, row = number + 1, 0
    return None
