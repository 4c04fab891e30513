"""Measurements that need a fresh process: memory while streaming, and import time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Container, Iterator

from benchmarks.race import Result
from benchmarks.worker import ROOT
from benchmarks.workloads import WORKLOADS, Store

MEGABYTE = 1 << 20
SMALL_FILE = 100 * MEGABYTE
MEMORY_CEILING = 100.0  # MB above the level after the import
FLATNESS_TOLERANCE = 10.0  # MB by which a large file may need more than a small one
IMPORT_CEILING = 1.3  # times the import of the dependencies

# way, workload, form
STREAMS = [
    ("read_records", "tab", "file"),
    ("read_records", "img", "file"),
    ("read_records", "tab", "gzip"),
    ("read_batches", "emb", "file"),
    ("parse_example", "tab", "file"),
    ("parse_example", "emb", "file"),
]


def memory(store: Store, size: int, workloads: Container[str]) -> Iterator[Result]:
    """Stream a small and a large file in each of the ``STREAMS``; yield the results."""
    for way, workload, form in STREAMS:
        if workload not in workloads:
            continue
        words = f"{way}{', GZIP' if form == 'gzip' else ''}, {size / MEGABYTE:.0f} MB"
        result = Result("memory", workload, words, "", MEMORY_CEILING, "MB", at_most=True)
        source = getattr(store, form)(WORKLOADS[workload])
        # A compressed file holds more data than its size says.
        share = source.stat().st_size / store.file(WORKLOADS[workload]).stat().st_size
        grown = []
        for length in (SMALL_FILE, size):
            path = store.repeated(source, int(length * share))
            try:
                grown.append(_python("-m", "benchmarks.streaming", way, workload, str(path)))
            finally:
                path.unlink()
        yield _judged(result, grown)


def _judged(result: Result, grown: list[float | str]) -> Result:
    for value in grown:
        if isinstance(value, str):
            result.status = value
            return result
    small, large = (float(value) / MEGABYTE for value in grown)
    result.value = large
    result.detail = {"small": small, "large": large}
    result.judge()
    if large - small > FLATNESS_TOLERANCE:
        result.status = "short of"
        result.what += f" (not flat: {small:.0f} MB at 100 MB)"
    return result


def importing(rounds: int) -> Iterator[Result]:
    """Compare ``import purerecord`` with the import of its dependencies."""
    result = Result("import", "", "import numpy, crc32c", "", IMPORT_CEILING, at_most=True)
    times: list[list[float]] = [[], []]
    for _ in range(max(rounds, 3) * 2):
        for place, modules in enumerate(("purerecord", "numpy, crc32c")):
            clock = f"import time; t = time.perf_counter(); import {modules}; print(time.perf_counter() - t)"
            seconds = _python("-c", clock)
            if isinstance(seconds, str):
                result.status = seconds
                yield result
                return
            times[place].append(seconds)
    ours, theirs = map(min, times)
    result.value = ours / theirs
    result.detail = {"seconds": times}
    yield result.judge()


def _python(*arguments: str) -> float | str:
    """The number that a fresh interpreter prints, or the reason why there is none."""
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode == 0:
        return float(done.stdout)
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    missing = "has no attribute" in last or "NotThereYetError" in last
    return f"not there yet: {last.split(':', 1)[-1].strip()}" if missing else f"failed: {last[:300]}"
