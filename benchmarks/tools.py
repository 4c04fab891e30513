"""The tools: ``stats`` beside parsing, and the memory of the external sorts; ``python -m benchmarks.tools``.

``stats``: all statistics of a file, beside reading and parsing the same file into columns, which any
statistics must do first. Both must see as many records; they take turns, and the best round counts.
``memory``: ``shuffle`` and ``sort`` of a file ten times as large as the memory that they may use, and of one
twice as large as that, each in a new process. No test looks at the figures.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import purerecord as pr
from benchmarks.sides import ours
from benchmarks.streaming import peak
from benchmarks.worker import ROOT
from benchmarks.workloads import WORKLOADS, Store, Workload
from purerecord import tools

_PARTS = ("stats", "memory")
_WORKLOADS = ("tab", "ctr", "emb", "img", "shuf40", "wide", "seq")
_SORTS: dict[str, Callable[[str, str, int], object]] = {
    "shuffle": lambda source, out, memory: tools.shuffle(source, out, memory=memory),
    "sort": lambda source, out, memory: tools.sort(source, out, by="user_id", memory=memory),
}


def parse(work: Workload, path: str) -> int:
    """Parse a file into columns with its specs; how many records it has."""
    parser = ours.parser(work)
    records = 0
    for batch in pr.read_batches(path):
        parser(batch)
        records += len(batch)
    return records


def beside_parsing(store: Store, names: list[str], rounds: int) -> Iterator[str]:
    """Both rates of each workload, and their ratio."""
    yield f"{'':<8}{'records':>9}{'parse/s':>12}{'stats/s':>12}{'ratio':>8}"
    for name in names:
        work = WORKLOADS[name]
        path = str(store.file(work))
        sides: dict[str, Callable[[], int]] = {
            "parse": partial(parse, work, path),
            "stats": lambda path=path: tools.stats(path).records,
        }
        best = dict.fromkeys(sides, float("inf"))
        counts = set()
        for _ in range(rounds):
            for side, run in sides.items():
                begin = time.perf_counter()
                counts.add(run())
                best[side] = min(best[side], time.perf_counter() - begin)
        if len(counts) > 1:
            raise SystemExit(f"{name}: the sides saw different numbers of records: {sorted(counts)}")
        count = counts.pop()
        rates = {side: count / seconds for side, seconds in best.items()}
        ratio = rates["stats"] / rates["parse"]
        yield f"{name:<8}{count:>9,}{rates['parse']:>12,.0f}{rates['stats']:>12,.0f}{ratio:>8.2f}"


def memory_of_sorts(store: Store, budget: int) -> Iterator[str]:
    """The peak of memory above the imports, of files that are larger than the budget."""
    yield f"memory={budget / 1e6:.0f}MB, and the peak above the imports, in MB:"
    for verb in _SORTS:
        peaks = []
        for times in (10, 20):
            source = store.repeated(store.file(WORKLOADS["tab"]), times * budget)
            with TemporaryDirectory(dir=store.folder) as folder:
                command = [sys.executable, "-m", "benchmarks.tools", "--sort", verb, str(source), folder]
                done = subprocess.run(
                    [*command, str(budget)], cwd=ROOT, capture_output=True, text=True, check=True
                )
            size = source.stat().st_size
            source.unlink()
            peaks.append(f"{float(done.stdout) / 1e6:.0f} ({size / 1e6:,.0f} MB of records)")
        yield f"  {verb:<10}{', '.join(peaks)}"


def run_sort(verb: str, source: str, folder: str, budget: str) -> None:
    """One sort, in the process that was started for it; prints the growth of the peak."""
    before = peak()
    _SORTS[verb](source, str(Path(folder) / "out@4.tfrecord"), int(budget))
    print(peak() - before)


def main() -> None:
    """Run the parts and print their lines."""
    parser = argparse.ArgumentParser("python -m benchmarks.tools", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of: {', '.join(_PARTS)}")
    parser.add_argument("--workload", action="append", choices=_WORKLOADS, help="only this one")
    parser.add_argument("--divide", type=int, default=1, metavar="N", help="take 1/N of the records")
    parser.add_argument("--budget", type=int, default=50_000_000, metavar="BYTES", help="memory of the sorts")
    parser.add_argument("--rounds", type=int, default=3, help="the best counts")
    parser.add_argument("--sort", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.sort:
        run_sort(*arguments.sort)
        return
    store = Store(ROOT / "benchmarks" / "cache", arguments.divide)
    for part in arguments.parts or _PARTS:
        if part == "stats":
            lines = beside_parsing(store, arguments.workload or list(_WORKLOADS), arguments.rounds)
        else:
            lines = memory_of_sorts(store, arguments.budget)
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
