"""Results as a printed table and as JSON. This module does not know how a result came about."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race import Result

WIDTHS = (9, 8, 44, 12, 12, 16, 9)
HEADINGS = ("part", "workload", "against", "ours ns/rec", "peer ns/rec", "result", "target")


def heading() -> str:
    """The header of the table."""
    return _line(HEADINGS) + "\n" + "-" * (sum(WIDTHS) + 2 * len(WIDTHS) + 8)


def line(result: Result) -> str:
    """One line of the table."""
    sign = "≤" if result.at_most else "≥"
    cells = (
        result.part,
        result.workload,
        " ".join(filter(None, (result.against if result.against != "tfrecord" else "", result.what))),
        _number(result.ours),
        _number(result.theirs),
        "–" if result.value is None else f"{'~ ' * result.noisy}{result.value:.2f} {result.unit}",
        "" if result.target is None else f"{sign} {result.target:g}",
    )
    return f"{_line(cells)}  {result.status}"


def summary(results: list[Result]) -> str:
    """How many targets were reached, and how many comparisons have no figure."""
    judged = [result for result in results if result.status in ("reached", "short of")]
    reached = sum(result.status == "reached" for result in judged)
    text = f"{reached} of {len(judged)} targets reached"
    if any(result.noisy for result in results):
        text += "; ~ was measured while other things ran"
    without = sum(result.value is None for result in results)
    return f"{text}; {without} comparisons without a figure" if without else text


def as_json(results: list[Result], settings: dict[str, Any]) -> str:
    """All results with every round, the versions and the settings, as JSON text."""
    versions: dict[str, str] = {}
    rows = []
    for result in results:
        row = asdict(result)
        versions |= row["detail"].pop("versions", {})
        rows.append(row)
    machine = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
    everything = {"machine": machine, "versions": versions, "settings": settings, "results": rows}
    return json.dumps(everything, indent=1, ensure_ascii=False) + "\n"


def write_json(path: Path, results: list[Result], settings: dict[str, Any]) -> None:
    """Write ``as_json(results, settings)`` to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_json(results, settings), encoding="utf-8")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"


def _line(cells: tuple[str, ...]) -> str:
    left = [cell.ljust(width) for cell, width in zip(cells[:3], WIDTHS[:3], strict=True)]
    right = [cell.rjust(width) for cell, width in zip(cells[3:], WIDTHS[3:], strict=True)]
    return "  ".join(left + right)
