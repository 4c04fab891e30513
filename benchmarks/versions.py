"""Two versions of purerecord in one run: ``python -m benchmarks.versions OLD [PART ...]``.

``OLD`` is the folder of another checkout, for example a ``git worktree`` of the commit before a change. Both
versions run every row of the benchmark in turn; the best of several rounds counts. The ratio is old time
through new time: below 1, the new version is slower. No peer is needed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from benchmarks.__main__ import HERE, QUICK_DIVISOR
from benchmarks.cases import CASES, PARTS, Case
from benchmarks.race import alternate
from benchmarks.sides import Task
from benchmarks.worker import ROOT, SideError, Worker
from benchmarks.workloads import Store

SLOWER = 0.97  # a ratio below this is marked


def distinct(parts: list[str], workloads: list[str] | None) -> list[Case]:
    """The cases that differ in what our side does; many differ in the peer alone."""
    found: dict[tuple[object, ...], Case] = {}
    for case in CASES:
        if case.part in parts and (not workloads or case.workload in workloads):
            found.setdefault((case.workload, case.ours, case.form, case.batch, case.take), case)
    return list(found.values())


def compare(cases: list[Case], old: Path, store: Store, rounds: int) -> Iterator[tuple[Case, float, float]]:
    """Each case with the best ns per record of the old and of the new version."""
    workers = [Worker("ours", root) for root in (old, ROOT)]
    try:
        for case in cases:
            task = Task(store, case.workload, case.form, case.batch, case.take)
            opened = [worker.open(case.ours, task) for worker in workers]
            if opened[0] != opened[1]:
                raise SideError(f"{case.part} {case.workload}: the two versions give different results")
            times = alternate(workers, rounds)
            for worker in workers:
                worker.close()
            before, after = (min(each) / opened[0][0] * 1e9 for each in times)
            yield case, before, after
    finally:
        for worker in workers:
            worker.stop()


def main(argv: list[str] | None = None) -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser("python -m benchmarks.versions", description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path, help="the folder of the other checkout")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of: {', '.join(PARTS)}")
    parser.add_argument("--workload", action="append", help="only this one")
    parser.add_argument("--quick", action="store_true", help=f"1/{QUICK_DIVISOR} of the records, 3 rounds")
    parser.add_argument("--rounds", type=int, help="rounds per row, best counts (7; quick: 3)")
    parser.add_argument("--cache", type=Path, default=HERE / "cache", help="where the workloads are kept")
    args = parser.parse_args(argv)
    store = Store(args.cache.resolve(), QUICK_DIVISOR if args.quick else 1)
    cases = distinct(args.parts or list(PARTS), args.workload)
    print("| row | workload | old, ns | new, ns | old / new |\n|---|---|---|---|---|")
    for case, before, after in compare(
        cases, args.old.resolve(), store, args.rounds or (3 if args.quick else 7)
    ):
        details = "".join(f", {word}" for word in (case.form != "file" and case.form, case.batch) if word)
        mark = " **slower**" if before / after < SLOWER else ""
        row = f"{case.part}: {case.ours}{details}"
        print(
            f"| {row} | {case.workload} | {before:,.0f} | {after:,.0f} | {before / after:.2f}{mark} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
