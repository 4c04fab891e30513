"""Rows of the table: a page of records from a place on.

A page costs a bounded number of bytes, so it may hold fewer rows than were asked for; ``next`` says where the
following page begins. This module does not know HTTP.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .catalog import Catalog, ShownFile
from .cells import Place, Shown, cell, list_cell
from .decoded import Decoded, decoded
from .limits import Limits
from .pictures import overlay_of, pictures_of
from .source import Source

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
    facts |= {"kind": found.kind or None, "problem": found.problem}
    if pictures:
        facts["pictures"] = pictures_of(found, place, limits.row_pictures)
        facts["overlay"] = overlay_of(found, place, facts["pictures"])
    return facts | {"features": listed, "more": len(names) - len(listed)}


def page(
    catalog: Catalog, cursor: Cursor, limit: int, *, whole: bool
) -> tuple[list[FoundRow], dict[str, Any]]:
    """Records from ``cursor`` on, decoded, and what is known about the page.

    With ``whole``, the page goes on in the next file.
    """
    limits = catalog.limits
    number, row = cursor
    found: list[FoundRow] = []
    left = limits.page_bytes
    pending = False
    while number < len(catalog.files) and len(found) < limit and left > 0:
        file = catalog.files[number]
        source = catalog.reach(file, row + limit - len(found) - 1)
        if source is not None and row < source.count:
            some = _some(file, source, row, limit - len(found), left)
            left -= sum(one.length for one in some) + len(some)
            found += some
            row += len(some)
            continue
        if source is not None and not (source.exact or file.ended):
            pending = not found  # the scan goes on
            break
        if not whole:
            break
        number, row = number + 1, 0
    return found, {"next": next_page(catalog, number, row, whole=whole), "pending": pending}


def _some(file: ShownFile, source: Source, row: int, limit: int, most: int) -> list[FoundRow]:
    """Rows of one read: file, row, offset, length, and what is in the record."""
    fetched = source.fetch(row, row + limit, most)
    rows = []
    for number, (offset, length) in enumerate(zip(fetched.offsets, fetched.lengths, strict=True)):
        problem = fetched.problems.get(row + number)
        one = Decoded("", problem=problem) if problem else decoded(fetched.records[number])
        rows.append(FoundRow(file.number, row + number, offset, length, one))
    return rows


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
