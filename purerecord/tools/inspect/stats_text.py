"""Statistics as text: a few lines for each feature, with small bars. This module does not know how statistics
are made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...printable import printable
from ...recovery.report import counted, human_size
from .feature_statistics import BytesSummary, FeatureSummary
from .number_statistics import NumberSummary, Quantile

if TYPE_CHECKING:
    from .stats import Stats

BARS = "▁▂▃▄▅▆▇█"
# Characters of a string that is shown as a value.
_SHOWN = 30
_LABEL = 11  # characters before what a line says
_LONGEST_NAME = 200


def stats_text(stats: Stats, width: int = 80) -> str:
    """``stats`` as text whose lines have at most ``width`` characters, long names excepted."""
    return "\n".join([*_summary(stats), *(line for one in stats.features for line in _feature(one, width))])


def bars(counts: Sequence[int]) -> str:
    """A bar for each count; the lowest stands for little, a space for nothing."""
    most = max(counts, default=0)
    return "".join(BARS[-(-count * len(BARS) // most) - 1] if count else " " for count in counts)


def number_text(value: Any) -> str:
    """A number for people: a whole one with its digits in groups, any other with six digits."""
    if value is None:
        return "?"
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:.6g}"


def value_text(value: Any) -> str:
    """One of the most frequent values: a number, or a string in quotation marks, cut short."""
    if not isinstance(value, bytes):
        return str(value) if isinstance(value, int) else str(np.float32(value))
    try:
        text = value.decode()
    except UnicodeDecodeError:
        shown = value[: _SHOWN // 2].hex(" ")
        return f"<{shown}{' ...' if len(value) > _SHOWN // 2 else ''}>"
    cut = f"{text[:_SHOWN]}..." if len(text) > _SHOWN else text
    return printable(json.dumps(cut, ensure_ascii=False))


def quantile_text(found: Quantile) -> str:
    """A quantile; ≈ before one that is only known to lie between two numbers."""
    value = found.value
    text = number_text(value) if isinstance(value, int) else number_text(float(f"{value:.4g}"))
    return f"{'' if found.low == found.high else '≈'}{text}"


def kind_text(found: FeatureSummary) -> str:
    """The kind of a feature, and how many values it has in a record."""
    what = f"{found.kind}, {_range(found.lengths, 'value')}" if found.lists else "empty"
    if found.steps is not None:
        return f"{what} a step, {_range(found.steps, 'step')}"
    return what


def presence_text(found: FeatureSummary, records: int) -> str:
    """In how many records a feature is, and where it is empty."""
    here = counted(found.present, "record")
    parts = [f"in all {here}" if not found.missing else f"in {here}, missing in {found.missing:,}"]
    if records and found.missing:
        parts[0] += f" ({share_text(found.missing / records)})"
    if found.untyped:
        parts.append(f"without a list in {found.untyped:,}")
    if found.empty:
        parts.append(f"empty in {found.empty:,}")
    return ", ".join(parts)


def share_text(share: float) -> str:
    """A share in percent; small ones do not become nothing, nor do large ones become all."""
    if 0 < share < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def _summary(stats: Stats) -> Iterator[str]:
    sizes = stats.record_sizes
    yield (
        f"{counted(stats.records, 'record')} in {counted(len(stats.files), 'file')}, {human_size(stats.size)}"
    )
    if stats.records:
        low, high, mean = map(human_size, (sizes.minimum or 0, sizes.maximum or 0, sizes.mean or 0))
        yield f"record size {low}" if low == high else f"record size {low} to {high}, {mean} on average"
    if stats.undecodable:
        yield f"{counted(stats.undecodable, 'record')} no Examples, left out"
    damages = sum(len(file.damages) for file in stats.files)
    if damages:
        yield f"{counted(damages, 'damaged place')} left out"


def _feature(found: FeatureSummary, width: int) -> Iterator[str]:
    name = printable(found.name)
    yield ""
    yield f"{name[:_LONGEST_NAME]}  {kind_text(found)}"
    records = found.present + found.missing
    yield from _line("records", [presence_text(found, records), human_size(found.size)], width)
    if found.steps is not None and found.steps.minimum != found.steps.maximum:
        yield from _line("steps", _numbers(found.steps), width)
    if found.lengths.minimum != found.lengths.maximum:
        yield from _line("values", _numbers(found.lengths), width)
    for kind, numbers in found.numbers.items():
        only = len(found.lists) == 1
        yield from _line("numbers" if only else kind, _numbers(numbers), width)
        yield from _line("quantiles", _quantiles(numbers), width)
        yield from _line("frequent", _frequent(numbers.most_frequent, numbers.distinct), width)
    if found.strings is not None:
        yield from _strings(found.strings, width)


def _strings(found: BytesSummary, width: int) -> Iterator[str]:
    if not found.count:
        return
    contents = [f"{number:,} {kind}" for kind, number in found.contents.items()]
    yield from _line("strings", contents, width)
    yield from _line("lengths", _numbers(found.lengths), width)
    if found.compared:
        frequent = _frequent(found.most_frequent, found.distinct)
        more = [f"each up to {found.error:,} more"] if found.error and len(frequent) > 1 else []
        yield from _line("frequent", [*frequent, *more], width)


def _numbers(found: NumberSummary) -> list[str]:
    names = ("NaN", "infinite", "-infinite")
    odd = (found.nan, found.positive_infinities, found.negative_infinities)
    strange = [f"{number:,} {name}" for name, number in zip(names, odd, strict=True) if number]
    if found.minimum is None:
        return strange
    low, high = number_text(found.minimum), number_text(found.maximum)
    zeros = [counted(found.zeros, "zero")] if found.zeros else []
    if low == high:
        return [low, *strange, *zeros]
    drawn = bars([count for *_, count in found.histogram])
    means = [f"mean {number_text(found.mean)}", f"deviation {number_text(found.deviation)}"]
    return [f"{low} to {high}  {drawn}", *strange, *means, *zeros]


def _quantiles(found: NumberSummary) -> list[str]:
    if found.minimum == found.maximum:
        return []
    return [f"{round(100 * one.share)}% {quantile_text(one)}" for one in found.quantiles]


def _frequent(values: Sequence[tuple[Any, int]], distinct: int | None) -> list[str]:
    if distinct == 1 and isinstance(values[0][0], (int, float)):  # the range says it
        return []
    if distinct is None:
        title = "too many distinct values to count them"
    else:
        title = "all different" if values and values[0][1] == 1 else counted(distinct, "distinct value")
    if not values or values[0][1] == 1:
        return [title]
    return [f"{title}: " + f"{value_text(values[0][0])} ({values[0][1]:,})"] + [
        f"{value_text(value)} ({count:,})" for value, count in values[1:]
    ]


def _line(label: str, parts: Sequence[str], width: int) -> Iterator[str]:
    """A line with as many of the parts as fit."""
    if not parts:
        return
    text = f"  {label:<{_LABEL}}{parts[0]}"
    for part in parts[1:]:
        if len(text) + len(part) + 2 > width:
            break
        text += f", {part}"
    yield text if len(text) <= width else f"{text[: width - 1]}…"


def _range(found: NumberSummary, what: str) -> str:
    low, high = int(found.minimum or 0), int(found.maximum or 0)
    return counted(low, what) if low == high else f"{low:,} to {high:,} {what}s"
