"""A bar chart of the ratios as SVG text, readable on a light and on a dark background.

Each comparison with a ratio is one bar on a logarithmic axis. A bar to the right of 1 × means that
purerecord is faster. The short vertical line is the target. This module does not know how a result came
about.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from math import log10
from pathlib import Path

from benchmarks.race import Result

Scale = Callable[[float], float]  # maps a ratio to its x coordinate

WIDTH, LABELS, ROW, BAR, TOP = 960, 400, 20, 13, 64
RIGHT = 70  # space for the figure after the longest bar
TICKS = (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #57606a; }
  .title { font-size: 16px; font-weight: 600; }
  .part { font-weight: 600; }
  .reached { fill: #2a9d8f; } .short { fill: #e07a3f; } .info { fill: #8a94a6; }
  .grid { stroke: #8a94a6; stroke-opacity: .25; } .one { stroke: #8a94a6; }
  .target { stroke: #57606a; stroke-width: 2; }
  @media (prefers-color-scheme: dark) { text { fill: #b3bcc8; } .target { stroke: #e6e9ee; } }
"""


def bar_chart(results: list[Result]) -> str:
    """The chart as SVG text."""
    bars = [result for result in results if result.value and result.unit == "×" and not result.at_most]
    parts = list(dict.fromkeys(result.part for result in bars))
    low, high = _range(bars)

    def x(value: float) -> float:
        share = (log10(value) - log10(low)) / (log10(high) - log10(low))
        return round(LABELS + share * (WIDTH - LABELS - RIGHT), 1)

    height = TOP + ROW * (len(bars) + len(parts)) + 20
    body = _axis(low, high, x, height)
    y = TOP
    for part in parts:
        body.append(f'<text class="part" x="12" y="{y + 14}">{part}</text>')
        y += ROW
        for result in bars:
            if result.part == part:
                body += _bar(result, x, y)
                y += ROW
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-label="purerecord against its peers">',
            f"<style>{STYLE}</style>",
            '<text class="title" x="12" y="24">purerecord against its peers: times as fast</text>',
            *body,
            "</svg>\n",
        ]
    )


def write_chart(path: Path, results: list[Result]) -> None:
    """Write ``bar_chart(results)`` to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(bar_chart(results), encoding="utf-8")


def _range(bars: list[Result]) -> tuple[float, float]:
    """The limits of the axis: from below 1 to beyond the longest bar and the farthest target."""
    values = [value for result in bars for value in (result.value, result.target) if value]
    return min([0.5, *values]) * 0.95, max([4.0, *values]) * 1.05


def _axis(low: float, high: float, x: Scale, height: int) -> list[str]:
    lines = []
    for tick in TICKS:
        if low <= tick <= high:
            kind = "one" if tick == 1 else "grid"
            at = x(tick)
            lines.append(f'<line class="{kind}" x1="{at}" x2="{at}" y1="{TOP - 8}" y2="{height - 14}"/>')
            lines.append(f'<text text-anchor="middle" x="{at}" y="{TOP - 14}">{tick:g}×</text>')
    return lines


def _bar(result: Result, x: Scale, y: int) -> list[str]:
    assert result.value is not None
    begin, end = sorted((x(1), x(result.value)))
    kind = {"reached": "reached", "short of": "short"}.get(result.status, "info")
    label = escape(f"{result.workload} · {result.what}")
    figure = f"{result.value:.2f}×" if result.value < 10 else f"{result.value:.0f}×"
    figure_x = max(end, x(result.target or 1)) + 6
    length = max(round(end - begin, 1), 1)
    lines = [
        f'<text x="24" y="{y + 13}">{label}</text>',
        f'<rect class="{kind}" x="{begin}" y="{y + 3}" width="{length}" height="{BAR}"/>',
        f'<text x="{figure_x}" y="{y + 14}">{figure}</text>',
    ]
    if result.target is not None:
        at = x(result.target)
        lines.append(f'<line class="target" x1="{at}" x2="{at}" y1="{y + 1}" y2="{y + ROW - 2}"/>')
    return lines
