"""``python -m benchmarks loaders [PART ...]``: run the race, print and write its tables."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.loaders import chart, report
from benchmarks.loaders.jobs import JOBS, MAIN, QUICK
from benchmarks.loaders.race import Race
from benchmarks.loaders.report import Results
from benchmarks.loaders.sides import SIDES

HERE = Path(__file__).resolve().parent.parent
PARTS = (*MAIN, "tutorial", "single", "start", "promises")


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser("python -m benchmarks loaders", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one or more of: {', '.join(PARTS)}")
    parser.add_argument("--side", action="append", metavar="SIDE", help=f"only these, of: {', '.join(SIDES)}")
    parser.add_argument("--without", action="append", default=[], metavar="SIDE", help="leave a side out")
    parser.add_argument(
        "--python", action="append", default=[], metavar="SIDE=PYTHON", help="run a side with another Python"
    )
    parser.add_argument("--quick", action="store_true", help=f"1/{QUICK} of the records, one round")
    parser.add_argument("--divide", type=int, metavar="N", help="1/N of the records (1)")
    parser.add_argument("--rounds", type=int, help="rounds of each job; the best counts (2; quick: 1)")
    parser.add_argument("--cache", type=Path, default=HERE / "cache" / "loaders", help="folder of the files")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder of the results")
    parser.add_argument(
        "--from", dest="earlier", type=Path, metavar="JSON", help="run nothing; read these results"
    )
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="put the short table into this page")
    args = parser.parse_args(argv)
    if wrong := set(args.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(wrong))}; there are {', '.join(PARTS)}")
    pairs = [pair.partition("=") for pair in args.python]
    named = {*(args.side or []), *args.without, *(side for side, _, _ in pairs)}
    if strange := named - set(SIDES):
        parser.error(f"no such side: {', '.join(sorted(strange))}; there are {', '.join(SIDES)}")
    args.side = [side for side in args.side or SIDES if side not in args.without]
    args.python = {**dict.fromkeys(SIDES, sys.executable), **{side: path for side, _, path in pairs}}
    args.parts = args.parts or list(PARTS)
    args.divide = args.divide or (QUICK if args.quick else 1)
    args.rounds = args.rounds or (1 if args.quick else 2)
    return args


def run(args: argparse.Namespace) -> Results:
    """Run the parts; print each result as soon as it is there, and write all after each part."""
    settings = {"divide": args.divide, "rounds": args.rounds, "parts": args.parts, "sides": args.side}
    results = Results(settings)
    race = Race(args.cache.resolve(), args.side, args.python, args.divide, args.rounds)
    jobs = [name for name in JOBS if name in args.parts or (JOBS[name].single and "tutorial" in args.parts)]
    begin = time.monotonic()
    try:
        for name in jobs:
            for figure in race.figures(name):
                results.figures.append(figure)
                print(report.line(figure), flush=True)
            _write(args.out, results, race)
        if "single" in args.parts:
            results.singles += race.singles()
        if "promises" in args.parts:
            for promise in race.promises():
                results.promises.append(promise)
                print(promise, flush=True)
        if "start" in args.parts:
            for start in race.starts():
                results.starts.append(start)
                print(start, flush=True)
    finally:
        race.stop()
        results.settings["minutes"] = round((time.monotonic() - begin) / 60, 1)
        _write(args.out, results, race)
    return results


def _write(folder: Path, results: Results, race: Race) -> None:
    results.versions, results.sizes = race.versions, race.sizes
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "loaders.json").write_text(report.as_json(results), encoding="utf-8")
    (folder / "loaders.md").write_text(report.markdown(results), encoding="utf-8")
    chart.write_chart(folder / "loaders.svg", results)


def main(argv: list[str] | None = None) -> None:
    """Run the race."""
    args = arguments(argv)
    results = report.from_json(args.earlier.read_text(encoding="utf-8")) if args.earlier else run(args)
    if args.docs:
        page = args.docs.read_text(encoding="utf-8")
        args.docs.write_text(report.insert(page, report.compact(results)), encoding="utf-8")
    if args.earlier:
        print(report.markdown(results))
        return
    print(f"\n{report.markdown(results)}\nwritten: loaders.json, loaders.md and loaders.svg in {args.out}")


if __name__ == "__main__":
    main()
