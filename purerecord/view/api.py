"""The endpoints: a URL's parameters in, an answer of JSON out.

Each is a method of ``Api``, listed in ``endpoints``. They check the parameters and leave the work to the
other modules. This module does not know who may ask, nor how an answer is sent.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Mapping
from typing import Any

from .. import __version__
from ..payload.wire import BYTES, FLOAT, INT64
from .catalog import Catalog, ShownFile, known_files
from .cells import LONGEST_NAME, Place, Shown, all_steps, cells, curve
from .decoded import Value
from .episode import episode_of, is_episode
from .export import FORMATS, Exports
from .limits import Limits
from .media import LARGEST, SMALLEST, Thumbnails, checked_media
from .parameters import Parameters, RefusedError
from .picture_size import MOST_PIXELS
from .pictures import with_names
from .plain_file import PlainFile
from .record import frame_fields, payload_of, record_of
from .rows import Cursor, FoundRow, page, row_of
from .search import Query, search
from .server import Answer, Endpoint, as_json
from .source import Source
from .summary import Summaries

# A thumbnail need not be asked for again while the same page is open.
_KEPT = {"Cache-Control": "private, max-age=600"}
_CURSOR = re.compile(r"([0-9]{1,9}):([0-9]{1,18})")


class Api:
    """The endpoints over a catalog."""

    def __init__(self, catalog: Catalog, title: str, class_names: Mapping[int, str]) -> None:
        self._catalog = catalog
        self._limits: Limits = catalog.limits
        self._title = title
        self._class_names = class_names
        self._exports = Exports(catalog)
        self._summaries = Summaries(catalog)
        self._thumbnails = Thumbnails(catalog.limits)

    def endpoints(self) -> Mapping[str, Endpoint]:
        """The functions by the ends of their URLs."""
        return {
            "api/about": self.about,
            "api/files": self.files,
            "api/damage": self.damage,
            "api/rows": self.rows,
            "api/summary": self.summary,
            "api/record": self.record,
            "api/hex": self.hex,
            "api/values": self.values,
            "api/text": self.text,
            "api/episode": self.episode,
            "export": self.export,
            "media": self.media,
            "thumb": self.thumb,
        }

    def close(self) -> None:
        """Stop what goes on in the background."""
        self._summaries.close()

    def about(self, _: Parameters) -> Answer:
        """What this viewer is, and what it bounds."""
        limits = self._limits
        bounds = {"rows": limits.page_rows, "columns": 200, "record_bytes": limits.record_bytes}
        bounds |= {"hex_bytes": limits.hex_bytes, "picture_pixels": MOST_PIXELS}
        return as_json({"version": __version__, "limits": bounds})

    def files(self, given: Parameters) -> Answer:
        """The files, and how far they are counted."""
        begin, limit = given.number("from", 0), min(given.number("limit", 500), 5000)
        catalog = self._catalog
        known = {"title": self._title, "from": begin, "of": len(catalog.files), "busy": catalog.busy}
        return as_json(
            known
            | {"cut": catalog.cut, "totals": catalog.totals()}
            | {"files": known_files(catalog.files[begin : begin + limit])}
        )

    def damage(self, given: Parameters) -> Answer:
        """The damage of a file."""
        file, source = self._source(given)
        listed = []
        for one in source.damages:
            facts = one.to_dict()
            facts |= {"size": one.size, "row": source.row_at(one.begin)}
            listed.append(facts)
        known = {"file": file.number, "plain_size": source.plain_size, "walked": source.walked}
        known |= {"verified": source.verified, "cut": source.damages.cut, "count": source.damages.count}
        return as_json(known | {"damages": listed})

    def rows(self, given: Parameters) -> Answer:
        """A page of the table."""
        limit = min(given.number("limit", 50), self._limits.page_rows)
        columns = given.texts("column")
        scope = self._scope(given)
        cursor = self._cursor(given, scope)
        query = self._query(given)
        pictures = given.flag("draw")

        def show(one: FoundRow) -> dict[str, Any]:
            row = row_of(one, columns, self._limits, pictures=pictures)
            return row | {"overlay": with_names(row["overlay"], self._class_names)} if pictures else row

        if query is None:
            rows, facts = page(self._catalog, cursor, limit, show, whole=scope is None)
        else:
            rows, facts = search(self._catalog, query, cursor, limit, show, whole=scope is None)
        file = self._catalog.files[cursor[0]] if cursor[0] < len(self._catalog.files) else None
        source = None if file is None else file.source
        facts |= {"known": source.count if source else 0, "exact": bool(source and source.exact)}
        return as_json({"searched": None, **facts, "rows": rows})

    def summary(self, given: Parameters) -> Answer:
        """The columns of a file, or of all."""
        return as_json(self._summaries.of(self._scope(given), more=given.flag("more")))

    def record(self, given: Parameters) -> Answer:
        """The page of a record."""
        file, source, row = self._row(given)
        facts = record_of(file, source, row, self._limits)
        return as_json(facts | {"overlay": with_names(facts["overlay"], self._class_names)})

    def hex(self, given: Parameters) -> Answer:
        """Bytes of a frame, or anywhere in an uncompressed file."""
        begin = given.number("begin", 0)
        size = min(given.number("size", 4096), self._limits.hex_bytes)
        if "row" not in given and "offset" in given:
            return as_json(self._raw_bytes(given, size))
        _, source, row = self._row(given)
        offset, length, _ = source.place(row)
        data = source.frame_bytes(row, begin, size)
        made = None if isinstance(source, PlainFile) else "the file is compressed; this is its frame inflated"
        facts = {"begin": begin, "end": begin + len(data), "total": length + 16, "offset": offset}
        fields = frame_fields(source, row, length, self._limits)
        return as_json(facts | {"hex": data.hex(), "fields": fields, "note": made})

    def values(self, given: Parameters) -> Answer:
        """More values of a list; with ``points``, the extremes of so many parts of all its numbers."""
        kind, values = self._value(given)
        count = 0 if values is None else len(values)
        if "points" in given:
            if kind not in (FLOAT, INT64):
                raise RefusedError("only numbers have a curve")
            points = min(given.number("points"), self._limits.points)
            return as_json({"count": count, "points": curve(values, points)})
        begin = min(given.number("begin", 0), count)
        most = self._limits.strings if kind == BYTES else self._limits.values
        end = min(given.number("end", count), begin + most, count)
        shown = Shown(max(0, end - begin), self._limits.cell_text)
        place = self._place(given)
        listed = cells(kind, values, place, shown, begin)
        return as_json({"begin": begin, "end": begin + len(listed), "count": count, "values": listed})

    def text(self, given: Parameters) -> Answer:
        """A part of a long text; it begins and ends between two characters."""
        data = self._bytes(given)
        begin = min(given.number("begin", 0), len(data))
        part = data[begin : begin + self._limits.text_bytes]
        decoder = getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(part, final=begin + len(part) == len(data))
        end = begin + len(part) - len(decoder.getstate()[0])  # a character may be cut in two
        return as_json({"text": text, "begin": begin, "end": end, "size": len(data), "cut": end < len(data)})

    def episode(self, given: Parameters) -> Answer:
        """The steps of a record."""
        file, source, row = self._row(given)
        found, _ = payload_of(source, row, self._limits)
        if not is_episode(found):
            raise RefusedError(found.problem or "the record has no steps", 404)
        return as_json(episode_of(found, Place(file.number, row)))

    def export(self, given: Parameters) -> Answer:
        """A download of what matches."""
        form = given.text("format", "tfrecord")
        scope = self._scope(given)
        columns = given.texts("column")
        start = (scope or 0), 0
        parts = self._exports.of(form, self._query(given), start, columns, whole=scope is None)
        headers = {"Content-Disposition": f'attachment; filename="purerecord-export.{form}"'}
        return Answer(parts, FORMATS[form], headers=headers)

    def media(self, given: Parameters) -> Answer:
        """A picture or a sound."""
        data = self._bytes(given)
        return Answer(data, checked_media(data), headers=_KEPT, ranges=True)

    def thumb(self, given: Parameters) -> Answer:
        """A thumbnail of a picture."""
        side = min(max(given.number("size", 160), SMALLEST), LARGEST)
        key = (given.query, side)
        made = self._thumbnails.known(key) or self._thumbnails.of(self._bytes(given), side, key)
        return Answer(made[1], made[0], headers=_KEPT)

    def _bytes(self, given: Parameters) -> bytes:
        """The string that the parameters name."""
        kind, values = self._value(given)
        number = given.number("value", 0)
        if kind != BYTES or number >= len(values):
            raise RefusedError("the record has no such string", 404)
        data: bytes = values[number]
        return data

    def _place(self, given: Parameters) -> Place:
        step = given.number("step", 0) if given.flag("list") else None
        return Place(
            given.number("file", 0), given.number("row"), given.text("feature", longest=LONGEST_NAME), step
        )

    def _value(self, given: Parameters) -> Value:
        """The list that the parameters name: a feature, or a step of a feature list."""
        _, source, row = self._row(given)
        found, _ = payload_of(source, row, self._limits)
        name = given.text("feature", longest=LONGEST_NAME)
        if given.flag("list"):
            steps = found.lists.get(name, [])
            step = given.number("step", 0)
            value = steps[step] if step < len(steps) else None
            if not given.text("step") and "value" not in given:
                value = all_steps(steps)
        else:
            value = found.features.get(name)
        if value is None:
            raise RefusedError(found.problem or "the record has no such feature", 404)
        return value

    def _raw_bytes(self, given: Parameters, size: int) -> dict[str, Any]:
        _, source = self._source(given)
        if not isinstance(source, PlainFile):
            raise RefusedError("bytes at any place can be shown of an uncompressed file only")
        offset = given.number("offset")
        data = source.bytes_at(offset, size)
        facts = {"begin": offset, "end": offset + len(data), "total": source.plain_size, "offset": 0}
        return facts | {"hex": data.hex(), "fields": [], "note": None}

    # --- Parameters ---------------------------------------------------------------------------------

    def _scope(self, given: Parameters) -> int | None:
        """The number of a file; None for all files."""
        text = given.text("scope", "0")
        return None if text == "all" else self._file_number(text)

    def _query(self, given: Parameters) -> Query | None:
        longest = self._limits.query
        return Query.of(given.text("where", longest=longest), given.text("text", longest=longest))

    def _file_number(self, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) >= len(self._catalog.files):
            raise RefusedError("there is no such file", 404)
        return int(text)

    def _cursor(self, given: Parameters, scope: int | None) -> Cursor:
        text = given.text("cursor", "")
        if not text:
            return (scope or 0), given.number("row", 0)
        match = _CURSOR.fullmatch(text)
        if match is None or int(match[1]) > len(self._catalog.files) or scope not in (None, int(match[1])):
            raise RefusedError("the cursor is none of this viewer")
        return int(match[1]), int(match[2])

    def _source(self, given: Parameters, row: int = 0) -> tuple[ShownFile, Source]:
        file = self._catalog.files[self._file_number(given.text("file", "0"))]
        source = self._catalog.reach(file, row)
        if source is None:
            raise RefusedError(file.failure or "the file cannot be read", 404)
        return file, source

    def _row(self, given: Parameters) -> tuple[ShownFile, Source, int]:
        """The record that ``row`` or ``offset`` names."""
        if "row" in given or "offset" not in given:
            row = given.number("row")
            file, source = self._source(given, row)
        else:
            offset = given.number("offset")
            file, source = self._source(given)
            found = source.row_at(offset)
            if found is None or found >= source.count or source.place(found)[0] != offset:
                raise RefusedError(f"no record is known to begin at byte {offset:,}", 404)
            row = found
        if row >= source.count:
            more = "" if source.exact else " so far"
            raise RefusedError(f"there is no record {row:,}: the file has {source.count:,}{more}", 404)
        return file, source, row
