"""The results as lines of text, as Markdown and as JSON.

This module does not know how a result came about.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from benchmarks.loaders.jobs import JOBS, MAIN
from benchmarks.loaders.race import Figure, Promise, Start
from benchmarks.loaders.sides import OURS, SIDES

MEGABYTE = 1e6
NONE = "–"
SHORT = ("image bytes", "224 x 224 pictures", "40 columns", "40 columns, shuffled")  # MAIN, for the docs
MARKS = ("<!-- race -->", "<!-- end of race -->")  # around the table in the docs

Pair = tuple["float | None", "float | None"]  # two rates


@dataclass
class Results:
    """All that a run found out."""

    settings: dict[str, Any]
    figures: list[Figure] = field(default_factory=list)
    singles: list[tuple[str, str, float]] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def of(self, job: str, side: str) -> list[Figure]:
        """The figures of one side in one job."""
        return [figure for figure in self.figures if (figure.job, figure.side) == (job, side)]

    def rate(self, job: str, side: str, workers: int | None = None) -> float | None:
        """The rate with so many workers, or the best."""
        found = self.of(job, side)
        rates = [figure.rate for figure in found if figure.rate and workers in (None, figure.workers)]
        return max(rates, default=None)


def line(figure: Figure) -> str:
    """A figure as it is printed during the run."""
    rate = f"{figure.rate:12,.0f} records/s" if figure.rate else f"  {figure.status or 'no figure'}"
    what = f"{figure.job:13} {figure.side:22} {figure.workers} workers {figure.rows:7,} rows"
    return f"{what} {rate}  ({figure.took:.1f} s)"


def as_json(results: Results) -> str:
    """Everything, as JSON text."""
    machine = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
    return json.dumps({"machine": machine, **asdict(results)}, indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> Results:
    """The results that ``as_json`` wrote."""
    found = json.loads(text)
    del found["machine"]
    found["figures"] = [Figure(**each) for each in found["figures"]]
    found["starts"] = [Start(**each) for each in found["starts"]]
    found["promises"] = [Promise(**each) for each in found["promises"]]
    found["singles"] = [tuple(each) for each in found["singles"]]
    return Results(**found)


def markdown(results: Results) -> str:
    """All tables."""
    parts = [_job(results, name) for name in MAIN]
    parts += [
        _tutorials(results),
        _last_metre(results),
        _starts(results),
        _promises(results),
        _versions(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def compact(results: Results) -> str:
    """One table for the docs: the best rate of each side in each job that was run, and what it promises."""
    promises = {promise.side: promise for promise in results.promises}
    jobs = {
        job: short
        for job, short in zip(MAIN, SHORT, strict=True)
        if any(f.job == job for f in results.figures)
    }
    rows = []
    for side in results.settings["sides"]:
        best = [results.rate(job, side) for job in jobs]
        promise = promises.get(side, Promise(side))
        if any(best):
            label = f"**{side}**" if ours(side) else side
            tried = [cell or NONE for cell in (promise.damage, promise.once, promise.resume)]
            rows.append([label, *map(_number, best), *tried])
    heads = ["records a second", *jobs.values(), "one flipped bit", "each record once", "resumed half way"]
    return table(heads, rows, right=range(1, len(jobs) + 1))


def insert(page: str, text: str) -> str:
    """The page with ``text`` between its two marks."""
    begin, end = page.index(MARKS[0]) + len(MARKS[0]), page.index(MARKS[1])
    return f"{page[:begin]}\n{text}\n{page[end:]}"


# --- the jobs ----------------------------------------------------------------------------------------


def _job(results: Results, name: str) -> str:
    sides = list(dict.fromkeys(figure.side for figure in results.figures if figure.job == name))
    if not sides:
        return ""
    best = {side: results.rate(name, side) for side in sides}
    peers = [rate for side, rate in best.items() if rate and not ours(side)]
    rows = []
    for side in sorted(sides, key=lambda side: -(best[side] or 0.0)):
        found = results.of(name, side)
        rate = best[side]
        cells = [_rate(found, workers) for workers in (0, 1, 2)]
        beside = f"{rate / max(peers):.2f} ×" if rate and peers and ours(side) else ""
        label = f"**{side}**" if ours(side) else side
        rows.append([label, *cells, beside, _notes(results, name, found)])
    heads = ["records a second", "no worker", "1 worker", "2 workers", "against the best peer", ""]
    return f"### {JOBS[name].title}\n\n" + table(heads, rows, right=range(1, 5))


def _rate(figures: list[Figure], workers: int) -> str:
    rates = [figure.rate for figure in figures if figure.workers == workers]
    return NONE if not rates or rates[0] is None else f"{rates[0]:,.0f}"


def _notes(results: Results, name: str, figures: list[Figure]) -> str:
    notes = [f"{_workers(figure.workers)}: {figure.status}" for figure in figures if figure.status]
    if len({figure.status for figure in figures}) == 1 and figures[0].status:
        notes = [figures[0].status]
    if name == "shuffled" and any(figure.rate for figure in figures):
        window = figures[0].window
        notes.append(f"shuffles in a window of {window:,}" if window else "shuffles all records")
    most = max(figure.rows for figure in results.figures if figure.job == name)
    few = [figure for figure in figures if figure.rate and figure.rows < most]
    if few:
        notes.append(f"over {few[0].rows:,} records")
    return "; ".join(notes)


def _workers(count: int) -> str:
    return "no worker" if count == 0 else f"{count} worker" + "s" * (count > 1)


def ours(side: str) -> bool:
    """Whether the side is purerecord's."""
    return side.startswith(OURS)


# --- what people write, beside what it was --------------------------------------------------------------


def _tutorials(results: Results) -> str:
    rows = []
    for name in JOBS:
        mine, theirs = results.rate(name, "purerecord tf"), results.rate(name, "tf.data")
        if JOBS[name].single and (mine or theirs):
            rows.append(
                [name.removeprefix("tutorial-"), _number(mine), _number(theirs), _ratio(mine, theirs)]
            )
    if not rows:
        return ""
    heads = ["`map(parse_single_example).batch(64)`", "purerecord tf", "TensorFlow", "ratio"]
    return "### The pipeline of the tutorials, records a second\n\n" + table(heads, rows, right=range(1, 4))


def _last_metre(results: Results) -> str:
    def loader(job: str, workers: int) -> Pair:
        return results.rate(job, OURS, workers), results.rate(job, OURS, 0)

    def best_peer(job: str, side: str, workers: int) -> Pair:
        peers = [other for other in SIDES if not ours(other) and results.of(job, other)]
        if job == "shuffled":  # a window is another job
            peers = [other for other in peers if not results.of(job, other)[0].window]
        rates = [rate for other in peers if (rate := results.rate(job, other, workers))]
        return results.rate(job, side, workers), max(rates, default=None)

    def pair(job: str, side: str, other: str) -> Pair:
        return results.rate(job, side), results.rate(job, other)

    no_worker, peer, source = "no worker", "the best peer", "ArrayRecord + grain"
    found: list[tuple[str, str, str, Pair]] = [
        ("`IterableDataset`, 40 columns, 1 worker", "≥ 0.6", no_worker, loader("columns", 1)),
        ("`IterableDataset`, 40 columns, 2 workers", "≥ 1.0", no_worker, loader("columns", 2)),
        ("`IterableDataset`, image bytes, 2 workers", "≥ 0.8", no_worker, loader("images", 2)),
        ("`IterableDataset`, image bytes, 2 workers", "> 1", peer, best_peer("images", OURS, 2)),
        ("`MapDataset`, shuffled", "≥ 10", peer, best_peer("shuffled", "purerecord MapDataset", 0)),
        ("grain, `RecordFile`, shuffled", "", source, pair("shuffled", "purerecord grain", source)),
        ("grain, `Source`, shuffled", "≥ 10", source, pair("shuffled", "purerecord grain Source", source)),
    ]
    for name, target in (("tab", "≥ 3"), ("ctr", "≥ 3"), ("emb", "≥ 3"), ("img", "≥ 1.5")):
        tutorial = pair(f"tutorial-{name}", "purerecord tf", "tf.data")
        found.append((f"`purerecord.tf`, the tutorials' pipeline, {name}", target, "TensorFlow", tutorial))
    rows = []
    for what, target, against, (mine, other) in found:
        if mine or other:
            rows.append([what, _number(mine), f"{against}: {_number(other)}", _ratio(mine, other), target])
    rows += [
        [f"{side}: `{name}`, one record of 40", f"{seconds * 1e6:.0f} us", "", "", "≤ 100 us" * ours(side)]
        for side, name, seconds in results.singles
    ]
    if not rows:
        return ""
    heads = ["what people write", "records a second", "against", "ratio", "target"]
    return "### The last metre\n\n" + table(heads, rows, right=(1, 3))


# --- start, memory, promises ----------------------------------------------------------------------------


def _starts(results: Results) -> str:
    if not results.starts:
        return ""
    rows = []
    for start in results.starts:
        rows.append(
            [
                f"**{start.side}**" if ours(start.side) else start.side,
                _seconds(start.imports),
                _seconds(start.first),
                f"{_seconds(start.first_with_workers)} ({start.workers})" if start.workers else NONE,
                _megabytes(start.idle),
                _megabytes(start.peak),
                start.status,
            ]
        )
    heads = [
        "new process, image bytes", "import, s", "first batch, s", "with workers, s",
        "memory after import, MB", "peak of all processes, MB", "",
    ]  # fmt: skip
    return "### Start and memory\n\n" + table(heads, rows, right=range(1, 6))


def _promises(results: Results) -> str:
    if not results.promises:
        return ""
    rows = []
    for promise in results.promises:
        label = f"**{promise.side}**" if ours(promise.side) else promise.side
        cells = [promise.damage, promise.once, promise.resume, promise.resume_elsewhere]
        rows.append([label, *(cell or NONE for cell in cells), promise.status])
    heads = [
        "tried out on image bytes", "one flipped bit", "3 workers, 4 shards: each record once",
        "stopped half way, shuffled, resumed", "resumed with 1 worker instead of 2", "",
    ]  # fmt: skip
    return "### What each checks and promises\n\n" + table(heads, rows)


def _versions(results: Results) -> str:
    rows = [
        [f"**{side}**" if ours(side) else side, results.versions.get(side, "not installed"), about]
        for side, (_, about) in SIDES.items()
        if side in results.settings["sides"]
    ]
    return "### The sides\n\n" + table(["side", "version", "how it loads"], rows)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table in Markdown; ``right`` are the columns aligned right. An empty last column is left out."""
    if not heads[-1] and not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    marks = ["---:" if place in right else "---" for place in range(len(heads))]
    cells = [heads, marks, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:,.0f}"


def _ratio(mine: float | None, other: float | None) -> str:
    return f"{mine / other:.2f} ×" if mine and other else NONE


def _seconds(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _megabytes(value: float | None) -> str:
    return NONE if value is None else f"{value / MEGABYTE:,.0f}"
