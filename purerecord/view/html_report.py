"""``report``: what the viewer shows, as one HTML file to keep or to send.

The file needs no network and no script, and allows none: its policy names the one style sheet in it by its
hash. Everything that comes from data is escaped; pictures are thumbnails in data URLs. This module does not
know HTTP.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from .. import __version__, public
from ..printable import printable
from ..storage.url import is_url, local_path, stored
from ..storage.whole_file import write_whole
from .catalog import Catalog, known_files
from .limits import DEFAULT, Limits
from .media import Thumbnails
from .parameters import RefusedError
from .rows import FoundRow, page, row_of
from .summary import Summaries
from .viewer import title_of

_SIDE = 120  # pixels of a thumbnail
_THUMBNAILS = 300
_COLUMNS = 30
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --bar: #4a7dbd; --bad: #c0392b; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 100rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } .wide { overflow-x: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: left; vertical-align: top; }
th, td { max-width: 22rem; overflow-wrap: break-word; font-variant-numeric: tabular-nums; }
td { min-width: 3.5rem; } td.rest, td.many { min-width: 13rem; }
th { background: var(--soft); } .soft { opacity: .7; } .bad { color: var(--bad); }
svg { display: block; }
rect.bar { fill: var(--bar); } rect.file { fill: var(--soft); } rect.bad { fill: var(--bad); }
img { display: block; margin: .1rem 0; }
"""


@public
def report(
    paths: Any,
    out: Any,
    *,
    records: int = 100,
    compression: Any = "auto",
    limits: Limits = DEFAULT,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> None:
    """Save the first ``records`` records, the columns and the damage of files as the HTML file ``out``.

    Files are read completely, up to the bounds of the viewer; what is cut off is said in the report.
    """
    made = html(stored(paths, storage_options, filesystem), records, compression, limits)
    write_whole(local_path(stored(out, storage_options) if is_url(os.fsdecode(out)) else out), made)


def html(paths: Any, records: int, compression: Any, limits: Limits = DEFAULT) -> bytes:
    """The report as the bytes of an HTML file."""
    if records < 0:
        raise ValueError(f"records must not be negative, but it is {records}")
    catalog = Catalog(paths, compression, limits)
    catalog.start()
    summaries = Summaries(catalog)
    try:
        catalog.wait_until_counted()
        while (summary := summaries.of(None, more=False))["running"]:
            time.sleep(0.02)
        made = _Report(catalog, summary, records).html(title_of(paths))
    finally:
        summaries.close()
        catalog.close()
    return made.encode("utf-8", "surrogatepass")


def text(value: Any) -> str:
    """A value from data as HTML: control characters are shown, and nothing is markup."""
    return escape(printable(str(value)))


class _Report:
    """Writes the parts of the page."""

    def __init__(self, catalog: Catalog, summary: dict[str, Any], records: int) -> None:
        self._catalog = catalog
        self._summary = summary
        self._records = records
        self._thumbnails = Thumbnails(catalog.limits)
        self._left = _THUMBNAILS

    def html(self, title: str) -> str:
        """The whole page."""
        digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
        policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'"
        parts = [
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            f"<title>{text(title)}</title>\n<style>{_STYLE}</style>",
            f"<h1>{text(title)}</h1>",
            *self._files(),
            *self._damages(),
            *self._columns(),
            *self._rows(),
            f'<p class="soft">purerecord {__version__}</p>\n</html>\n',
        ]
        return "\n".join(parts)

    def _files(self) -> Iterator[str]:
        totals = self._catalog.totals()
        least = "" if totals["exact"] else "at least "
        yield (
            f"<p>{_counted(len(self._catalog.files), 'file')}, {_counted(totals['size'], 'byte')}, "
            f"{least}{_counted(totals['records'], 'record')}, "
            f"{_counted(totals['damages'], 'place')} of damage</p>"
        )
        shown = known_files(self._catalog.files[:1000])
        heads = "<tr><th>file<th>records<th>bytes<th>compression<th>status"
        yield f'<h2>Files</h2><div class="wide"><table>{heads}'
        for file in shown:
            bad = ' class="bad"' if file["status"] in ("failed", "limited") or file["damages"] else ""
            damage = f"{_counted(file['damages'], 'place')} of damage" if file["damages"] else None
            status = " · ".join(filter(None, (file["status"], damage, file["message"])))
            size = "" if file["size"] is None else f"{file['size']:,}"
            yield (
                f"<tr><td>{text(file['name'])}<td>{file['records']:,}<td>{size}"
                f"<td>{text(file['compression'] or '')}<td{bad}>{text(status)}"
            )
        yield "</table></div>" + _cut(len(shown), len(self._catalog.files), "files")

    def _damages(self) -> Iterator[str]:
        damaged = [
            (file, file.source)
            for file in self._catalog.files
            if file.source is not None and file.source.damages.count
        ]
        if damaged:
            yield "<h2>Damage</h2>"
        for file, source in damaged[:100]:
            size = source.plain_size or source.walked
            found = list(source.damages)
            yield f"<p>{text(file.name)}</p>{_strip(size, [(one.begin, one.end) for one in found])}<table>"
            yield "<tr><th>bytes<th>kind<th>"
            for one in found[:100]:
                yield f"<tr><td>{one.begin:,} to {one.end:,}<td>{text(one.kind)}<td>{text(one.detail)}"
            yield "</table>" + _cut(min(100, len(found)), source.damages.count, "places of damage")
        yield _cut(min(100, len(damaged)), len(damaged), "damaged files")

    def _columns(self) -> Iterator[str]:
        columns = self._summary["columns"]
        if not columns:
            return
        yield f'<h2>Columns</h2><p class="soft">{text(self._summary["note"])}</p>'
        yield '<div class="wide"><table><tr><th>feature<th>kind<th>present<th>values<th>what<th>distribution'
        for column in columns[:500]:
            kind = text("/".join(column["kinds"]) or "unset") + (" (steps)" if column["list"] else "")
            counts = column["count"]
            least, most = counts["min"], counts["max"]
            count = "" if least is None else f"{least:,}" if least == most else f"{least:,} to {most:,}"
            yield (
                f"<tr><td>{text(column['name'])}<td>{kind}<td>{column['presence']:.1%}<td>{count}"
                f"<td>{_what(column)}<td>{_bars(column)}"
            )
        yield "</table></div>" + _cut(min(500, len(columns)), len(columns), "columns")

    def _rows(self) -> Iterator[str]:
        names = [column["name"] for column in self._summary["columns"]]
        names = list(dict.fromkeys(names))[:_COLUMNS]
        found: list[str] = []
        left = self._records
        cursor: tuple[int, int] | None = (0, 0)
        while cursor is not None and left > 0:
            some, facts = page(
                self._catalog, cursor, min(left, 100), lambda one: self._row(one, names), whole=True
            )
            found += some
            left -= len(some)
            number, _, row = (facts["next"] or "").partition(":")
            cursor = (int(number), int(row)) if facts["next"] and some else None
        total = self._catalog.totals()["records"]
        yield f'<h2>Records</h2><p class="soft">the first {len(found):,} of {total:,}</p>'
        yield _cut(len(names), len({column["name"] for column in self._summary["columns"]}), "columns")
        heads = "".join(f"<th>{text(name)}" for name in names)
        yield f'<div class="wide"><table><tr><th>file<th>record{heads}'
        yield from found
        yield "</table></div>"

    def _row(self, one: FoundRow, names: list[str]) -> str:
        row = row_of(one, names, self._catalog.limits)
        begin = f"<tr><td>{one.file}<td>{one.row:,}"
        if row["problem"]:
            whole = row["whole"] or {"text": None}
            shown = row["problem"] if whole["text"] is None else whole["text"] + ("…" if whole["cut"] else "")
            kind = "bad" if row["damaged"] else "soft" if whole["text"] is None else "other"
            return f'{begin}<td colspan="{max(1, len(names))}" class="rest {kind}">{text(shown)}'
        cells: dict[str, str] = {}
        wide = set()
        for cell in row["features"]:
            cells[cell["name"]] = cells.get(cell["name"], "") + self._cell(one, cell)
            if cell["count"] > 1:
                wide.add(cell["name"])
        classes = dict.fromkeys(wide, ' class="many"')
        return begin + "".join(f"<td{classes.get(name, '')}>{cells.get(name, '')}" for name in names)

    def _cell(self, one: FoundRow, cell: dict[str, Any]) -> str:
        shown = []
        for number, value in enumerate(cell["values"]):
            if not isinstance(value, dict):
                shown.append(text(value))
            elif value["text"] is not None:
                shown.append(text(value["text"]) + ("…" if value["cut"] else ""))
            elif value["thumb"] and not cell["list"] and (made := self._picture(one, cell["name"], number)):
                shown.append(made)
            else:
                what = f"{value['content']}, {value['size']:,} bytes"
                shown.append(
                    f'<span class="soft">{text("; ".join(filter(None, (what, value["refused"]))))}</span>'
                )
        rest = cell["count"] - len(cell["values"])
        more = f' <span class="soft">and {rest:,} more</span>' if rest > 0 else ""
        steps = f'<span class="soft">{cell["steps"]:,} steps: </span>' if cell["list"] else ""
        return steps + ", ".join(shown) + more

    def _picture(self, one: FoundRow, name: str, number: int) -> str | None:
        """A thumbnail in a data URL; None if there are too many, or the picture cannot be decoded."""
        if not self._left:
            return None
        data = one.found.strings(name)[number]
        try:
            kind, made = self._thumbnails.of(data, _SIDE, (one.file, one.row, name, number))
        except RefusedError:
            return None
        self._left -= 1
        return f'<img alt="" src="data:{kind};base64,{base64.b64encode(made).decode()}">'


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _cut(shown: int, of: int, what: str) -> str:
    return f'<p class="soft">the first {shown:,} of {of:,} {what}</p>' if shown < of else ""


def _strip(size: int, ranges: list[tuple[int, int]]) -> str:
    """A file as a strip, with the damaged ranges in it."""
    width = 800
    bars = "".join(
        f'<rect class="bad" x="{begin / max(1, size) * width:.2f}" y="0" height="14" '
        f'width="{max(1.5, (end - begin) / max(1, size) * width):.2f}"/>'
        for begin, end in ranges
    )
    return f'<svg width="{width}" height="14"><rect class="file" width="{width}" height="14"/>{bars}</svg>'


def _what(column: dict[str, Any]) -> str:
    """The values of a column in a few words."""
    numbers = column["numbers"]
    if numbers is not None and numbers["min"] is not None:
        mean = "" if numbers["mean"] is None else f", mean {numbers['mean']:.4g}"
        ends = dict.fromkeys((str(numbers["min"]), str(numbers["max"])))
        return text(" to ".join(ends) + (mean if len(ends) > 1 else "") + _odd(numbers))
    if numbers is not None:
        return text(_odd(numbers).removeprefix(", "))
    if column["content"]:
        return text(", ".join(f"{kind} {count:,}" for kind, count in column["content"].items()))
    return ""


def _odd(numbers: dict[str, Any]) -> str:
    """The numbers that are none."""
    found = [(numbers["nan"], "NaN"), (numbers["infinite"], "infinite")]
    return "".join(f", {count:,} {what}" for count, what in found if count)


def _bars(column: dict[str, Any]) -> str:
    """The histogram of a column, or its most frequent values."""
    bars = column["histogram"]
    if bars:
        most = max(bar["count"] for bar in bars) or 1
        drawn = "".join(
            f'<rect class="bar" x="{8 * at}" width="7" y="{30 - 30 * bar["count"] / most:.1f}" '
            f'height="{30 * bar["count"] / most:.1f}"/>'
            for at, bar in enumerate(bars)
        )
        return f'<svg width="{8 * len(bars)}" height="30">{drawn}</svg>'
    if column["role"] != "text" or not column["top"]:
        return ""
    if column["top"][0]["count"] == 1 and column["distinct"]:
        return f"{column['distinct']:,} different values"
    top = [
        (json.dumps(str(one["value"])[:40], ensure_ascii=False), one["count"]) for one in column["top"][:5]
    ]
    return text(", ".join(f"{value} {count:,}" for value, count in top))
