"""``python -m benchmarks [PART ...]``: run, print the table, write JSON and the chart."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import chart, fresh, race, report
from benchmarks.cases import CASES, PARTS
from benchmarks.loaders import __main__ as loaders
from benchmarks.workloads import WORKLOADS, Store

HERE = Path(__file__).resolve().parent
QUICK_DIVISOR = 10
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text: str) -> int:
    """The number of bytes that a text such as ``"10G"`` means."""
    unit = UNITS.get(text[-1:].upper())
    return int(text[:-1]) * unit if unit else int(text)


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks", description="purerecord beside its peers.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of: {', '.join(PARTS)}")
    parser.add_argument("--workload", action="append", choices=list(WORKLOADS), help="only this one")
    parser.add_argument("--without", action="append", default=[], metavar="PEER", help="leave a peer out")
    parser.add_argument("--quick", action="store_true", help=f"1/{QUICK_DIVISOR} of the records, 3 rounds")
    parser.add_argument("--rounds", type=int, help="rounds per comparison; the best counts (7; quick: 3)")
    parser.add_argument("--cache", type=Path, default=HERE / "cache", help="folder of the workloads")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the JSON and the chart")
    parser.add_argument("--memory-size", type=size, metavar="SIZE", help="size of the large file (1G)")
    args = parser.parse_args(argv)
    if wrong := set(args.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(wrong))}; there are {', '.join(PARTS)}")
    args.parts = args.parts or list(PARTS)
    args.rounds = args.rounds or (3 if args.quick else 7)
    args.memory_size = args.memory_size or size("200M" if args.quick else "1G")
    return args


def results(args: argparse.Namespace) -> Iterator[race.Result]:
    """Yield the result of each requested comparison as soon as it is there."""
    store = Store(args.cache.resolve(), QUICK_DIVISOR if args.quick else 1)
    cases = [
        case
        for case in CASES
        if case.part in args.parts
        and (not args.workload or case.workload in args.workload)
        and case.against not in args.without
    ]
    yield from race.run(cases, store, args.rounds)
    if "memory" in args.parts:
        yield from fresh.memory(store, args.memory_size, args.workload or WORKLOADS)
    if "import" in args.parts:
        yield from fresh.importing(args.rounds)


def main(argv: list[str] | None = None) -> None:
    """Run the comparisons; print and write the results."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["loaders"]:  # a race of its own, with options of its own
        loaders.main(argv[1:])
        return
    args = arguments(argv)
    settings = {"quick": args.quick, "rounds": args.rounds, "parts": args.parts}
    name = "-".join(args.parts) if len(args.parts) < len(PARTS) else "all"
    print(report.heading(), flush=True)
    found = []
    for result in results(args):
        found.append(result)
        print(report.line(result), flush=True)
        # After every result, so that an interrupted run leaves its results.
        report.write_json(args.out / f"{name}.json", found, settings)
        chart.write_chart(args.out / f"{name}.svg", found)
    print(report.summary(found))
    print(f"written: {name}.json and {name}.svg in {args.out}")


if __name__ == "__main__":
    main()
