"""The jobs as an SVG of bars: the best rate of each side.

This module does not know how a result came about.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from benchmarks.chart import STYLE
from benchmarks.loaders.jobs import JOBS, MAIN
from benchmarks.loaders.report import Results, ours

WIDTH, LABELS, ROW, BAR, TOP, RIGHT = 960, 200, 20, 13, 40, 260


def bar_chart(results: Results) -> str:
    """The chart as SVG text: a group of bars for each job, the longest first."""
    body: list[str] = []
    y = TOP
    for job in MAIN:
        sides = dict.fromkeys(figure.side for figure in results.figures if figure.job == job)
        rates = {side: rate for side in sides if (rate := results.rate(job, side))}
        if not rates:
            continue
        body.append(f'<text class="part" x="12" y="{y + 14}">{escape(JOBS[job].title)}</text>')
        y += ROW
        for side, rate in sorted(rates.items(), key=lambda item: -item[1]):
            length = max(round((WIDTH - LABELS - RIGHT) * rate / max(rates.values()), 1), 1)
            workers = next(figure.workers for figure in results.of(job, side) if figure.rate == rate)
            kind = "reached" if ours(side) else "info"
            words = f"{rate:,.0f} a second" + (f", {workers} worker{'s' * (workers > 1)}" if workers else "")
            body += [
                f'<text x="24" y="{y + 13}">{escape(side)}</text>',
                f'<rect class="{kind}" x="{LABELS}" y="{y + 3}" width="{length}" height="{BAR}"/>',
                f'<text x="{LABELS + length + 6}" y="{y + 14}">{words}</text>',
            ]
            y += ROW
        y += ROW // 2
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 10}" width="{WIDTH}" '
            f'height="{y + 10}" role="img" aria-label="Loaders: records a second">',
            f"<style>{STYLE}</style>",
            '<text class="title" x="12" y="24">Loaders: records a second, best number of workers</text>',
            *body,
            "</svg>\n",
        ]
    )


def write_chart(path: Path, results: Results) -> None:
    """Write ``bar_chart(results)`` to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(bar_chart(results), encoding="utf-8")
