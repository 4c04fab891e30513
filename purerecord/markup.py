"""HTML made of data: elements, tables and bars, in which everything that comes from data is escaped.

``Markup`` is text that is HTML already; any other text is escaped where it is put in. This module must not
know what is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from .printable import printable

# The style of a part of a page. Its colours suit a light and a dark background, as notebooks have either.
STYLE = """
.purerecord { font: 13px/1.45 system-ui, sans-serif; color: inherit; }
.purerecord table { border-collapse: collapse; margin: 4px 0 10px; }
.purerecord th, .purerecord td { text-align: left; vertical-align: top; padding: 2px 12px 2px 0; border: 0;
  border-bottom: 1px solid #8884; background: none; max-width: 40em; overflow-wrap: anywhere; }
.purerecord th { font-weight: 600; }
.purerecord td.n, .purerecord th.n { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.purerecord .dim { opacity: .65; }
.purerecord .bad { color: #dc4c3e; }
.purerecord code { font: 12px/1.4 ui-monospace, monospace; background: none; color: inherit; padding: 0; }
.purerecord img { max-width: 96px; max-height: 96px; vertical-align: middle; background: #8882; }
.purerecord svg { display: block; fill: #4a8fd0; }
.purerecord .bar { background: #4a8fd0; height: 9px; min-width: 1px; border-radius: 2px; margin-top: 5px; }
.purerecord .parts { display: flex; flex-wrap: wrap; gap: 0 40px; }
.purerecord h1 { font-size: 22px; } .purerecord h2 { font-size: 16px; margin: 26px 0 4px; }
.purerecord h3 { font-size: 13px; font-weight: 600; margin: 8px 0; } .purerecord p { margin: 4px 0; }
"""
_PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 20px auto; max-width: 1100px; padding: 0 16px; color: #1c2024; background: #fff; }
@media (prefers-color-scheme: dark) { body { color: #e3e6e8; background: #15181a; } }
"""
# Pixels of a bar in a histogram, at most.
_WIDEST_BAR = 42


class Markup(str):
    """HTML, as opposed to text."""

    __slots__ = ()


def markup(value: Any) -> Markup:
    """``value`` as HTML: text is escaped, and its control characters are shown."""
    return value if isinstance(value, Markup) else Markup(escape(printable(str(value))))


def element(name: str, *content: Any, **attributes: Any) -> Markup:
    """An element; ``class_`` is its class."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{markup(value)}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{given}>{joined(content)}</{name}>")


def joined(parts: Iterable[Any], between: str = "") -> Markup:
    """All parts, one after the other."""
    return Markup(between.join(map(markup, parts)))


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]], numbers: Sequence[int] = ()) -> Markup:
    """A table; the columns at the places in ``numbers`` stand to the right."""

    def row(cells: Sequence[Any], name: str) -> Markup:
        return element(
            "tr",
            *(
                element(name, cell, class_="n") if place in numbers else element(name, cell)
                for place, cell in enumerate(cells)
            ),
        )

    head = [element("thead", row(header, "th"))] if header else []
    return element("table", *head, element("tbody", *(row(cells, "td") for cells in rows)))


def histogram(ranges: Sequence[tuple[str, int]], width: int = 200, height: int = 40) -> Markup:
    """Bars for ranges, each with a title, as a picture."""
    most = max((count for _, count in ranges), default=0)
    if not most:
        return Markup("")
    step = min(width / len(ranges), _WIDEST_BAR)
    rects = [
        element(
            "rect",
            element("title", title),
            x=f"{place * step:.2f}",
            y=f"{height - max(1.0, height * count / most):.2f}",
            width=f"{max(step - 1, 0.5):.2f}",
            height=f"{max(1.0, height * count / most):.2f}",
        )
        for place, (title, count) in enumerate(ranges)
        if count
    ]
    return element("svg", *rects, width=width, height=height, viewBox=f"0 0 {width} {height}", role="img")


def bar(share: float) -> Markup:
    """A bar whose length is a share of its column."""
    return element("div", class_="bar", style=f"width: {max(0.0, min(1.0, share)) * 120:.1f}px")


def fragment(*content: Any) -> Markup:
    """A part of a page, with its style, as notebooks show it."""
    return element("div", element("style", Markup(STYLE)), *content, class_="purerecord")


def page(title: str, *content: Any) -> str:
    """A whole page that needs nothing else and runs no script."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{markup(title)}</title>"
        f"<style>{_PAGE_STYLE}</style>"
        f"</head><body>{fragment(*content)}</body></html>\n"
    )
