"""Statistics as HTML: a page of its own, or a part of one for notebooks.

It needs no script and nothing from elsewhere, and all that comes from data is escaped by ``markup``. This
module does not know how statistics are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...markup import Markup, element, fragment, histogram, joined, markup, page, table
from ...recovery.report import counted, human_size
from .feature_statistics import BytesSummary, FeatureSummary
from .number_statistics import NumberSummary
from .stats_text import kind_text, number_text, presence_text, quantile_text, share_text, value_text

if TYPE_CHECKING:
    from .stats import Stats

_SHOWN_FILES = 50
# A notebook shows so many features; the page shows all.
_SHOWN_IN_NOTEBOOK = 50


def stats_page(stats: Stats) -> str:
    """A whole page about ``stats``."""
    title = f"Statistics of {counted(len(stats.files), 'file')}"
    details = [_details(found, stats) for found in stats.features]
    return page(title, element("h1", title), _facts(stats), _overview(stats, None), *details, _files(stats))


def stats_fragment(stats: Stats) -> str:
    """The same in short, as a part of a page."""
    return str(fragment(_facts(stats), _overview(stats, _SHOWN_IN_NOTEBOOK)))


def _facts(stats: Stats) -> Markup:
    sizes = stats.record_sizes
    facts = [counted(stats.records, "record"), counted(len(stats.files), "file"), human_size(stats.size)]
    if stats.records:
        facts.append(f"{human_size(sizes.mean or 0)} a record on average")
    parts = [element("p", ", ".join(facts))]
    if damages := sum(len(file.damages) for file in stats.files):
        parts.append(element("p", f"{counted(damages, 'damaged place')} left out", class_="bad"))
    if stats.undecodable:
        parts.append(element("p", f"{counted(stats.undecodable, 'record')} no Examples", class_="bad"))
    return joined(parts)


def _overview(stats: Stats, most: int | None) -> Markup:
    """A table with a row for each feature."""
    header = ("feature", "kind", "missing", "distribution", "min", "mean", "max", "distinct", "size", "share")
    rows = [_row(found, stats, linked=most is None) for found in stats.features[:most]]
    left = len(stats.features) - len(rows)
    more = [element("p", f"and {counted(left, 'more feature')}", class_="dim")] if left else []
    return joined([table(header, rows, numbers=(2, 4, 5, 6, 7, 8, 9)), *more])


def _row(found: FeatureSummary, stats: Stats, *, linked: bool) -> Sequence[Any]:
    main = next(iter(found.numbers.values()), None)
    numbers = main or (found.strings.lengths if found.strings else None)
    distinct = main.distinct if main else found.strings.distinct if found.strings else 0
    compared = main is not None or (found.strings is not None and found.strings.compared > 0)
    name = element("a", found.name, href=f"#{_anchor(found)}") if linked else markup(found.name)
    cells: list[Any] = ["", "", "", ""]
    if numbers is not None and numbers.minimum is not None:
        cells = [
            _histogram(numbers, 120, 24),
            *map(number_text, (numbers.minimum, numbers.mean, numbers.maximum)),
        ]
        if found.strings is not None and main is None:
            cells[0] = joined([cells[0], element("span", "lengths", class_="dim")])
    return (
        name,
        kind_text(found),
        share_text(found.missing / stats.records) if stats.records and found.missing else "0",
        *cells,
        ("many" if distinct is None else f"{distinct:,}") if compared else "",
        human_size(found.size),
        share_text(_share(found, stats)),
    )


def _share(found: FeatureSummary, stats: Stats) -> float:
    return found.size / stats.record_bytes if stats.record_bytes else 0.0


def _details(found: FeatureSummary, stats: Stats) -> Markup:
    return element(
        "section",
        element("h2", found.name),
        element("p", f"{kind_text(found)}; {presence_text(found, stats.records)}; {human_size(found.size)}"),
        element("div", *_parts(found), class_="parts"),
        id=_anchor(found),
    )


def _anchor(found: FeatureSummary) -> str:
    # A feature and a feature list may have the same name.
    return f"{'list' if found.sequence else 'feature'}-{quote(found.name, safe='', errors='surrogatepass')}"


def _parts(found: FeatureSummary) -> Iterator[Markup]:
    if found.steps is not None and found.steps.minimum != found.steps.maximum:
        yield _numbers("steps in a record", found.steps)
    if found.lengths.minimum != found.lengths.maximum:
        title = "values in a record" if found.steps is None else "values in a step"
        yield _numbers(title, found.lengths)
    for kind, numbers in found.numbers.items():
        yield _numbers(kind, numbers, frequent=True)
    if found.strings is not None and found.strings.count:
        yield from _strings(found.strings)


def _numbers(title: str, found: NumberSummary, *, frequent: bool = False) -> Markup:
    facts = [("count", f"{found.count:,}")]
    parts = [element("h3", title)]
    if found.minimum is not None:
        parts.append(_histogram(found, 420, 80))
        values = (found.minimum, found.maximum, found.mean, found.deviation, found.zeros)
        names = ("min", "max", "mean", "deviation", "zeros")
        facts += [(name, number_text(value)) for name, value in zip(names, values, strict=True)]
    odd = (("NaN", found.nan), ("∞", found.positive_infinities), ("-∞", found.negative_infinities))
    facts += [(name, f"{number:,}") for name, number in odd if number]
    parts.append(_row_of([*facts, _distinct(found.distinct)]))
    if found.quantiles and found.minimum != found.maximum:
        parts.append(
            _row_of([(f"{round(100 * one.share)} %", quantile_text(one)) for one in found.quantiles])
        )
    if frequent:
        parts.append(_frequent(found.most_frequent, found.count, 0))
    return element("div", *parts)


def _strings(found: BytesSummary) -> Iterator[Markup]:
    facts = [("count", f"{found.count:,}"), *((kind, f"{n:,}") for kind, n in found.contents.items())]
    if found.compared:
        facts.append(_distinct(found.distinct))
    if found.compared < found.count:
        facts.append(("too long to be compared", f"{found.count - found.compared:,}"))
    frequent = _frequent(found.most_frequent, found.count, found.error)
    yield element("div", element("h3", "bytes"), _row_of(facts), frequent)
    yield _numbers("lengths", found.lengths)


def _distinct(number: int | None) -> tuple[str, str]:
    return "distinct", "more than are kept" if number is None else f"{number:,}"


def _row_of(facts: Sequence[tuple[str, str]]) -> Markup:
    """A table with one row."""
    header, row = zip(*facts, strict=True)
    return table(header, [row], numbers=range(len(facts)))


def _frequent(values: Sequence[tuple[Any, int]], count: int, error: int) -> Markup:
    if not values or values[0][1] == 1:
        return Markup("")
    rows = [(element("code", value_text(value)), f"{n:,}", share_text(n / count)) for value, n in values]
    note = [element("p", f"each may occur up to {error:,} times more often", class_="dim")] if error else []
    return joined([table(("most frequent", "count", "share"), rows, numbers=(1, 2)), *note])


def _histogram(found: NumberSummary, width: int, height: int) -> Markup:
    ranges = [
        (f"{number_text(low)} to {number_text(high)}: {count:,}", count)
        for low, high, count in found.histogram
    ]
    return histogram(ranges, width, height)


def _files(stats: Stats) -> Markup:
    rows = [
        (file.path, f"{file.records:,}", human_size(file.size), file.compression.lower() or "none")
        for file in stats.files[:_SHOWN_FILES]
    ]
    left = len(stats.files) - len(rows)
    more = [element("p", f"and {counted(left, 'more file')}", class_="dim")] if left else []
    header = ("file", "records", "size", "compression")
    return joined([element("h2", "Files"), table(header, rows, numbers=(1, 2)), *more])
