"""The race: for each case both sides do the same work, in turn, in one run.

Digests show that the work is the same. The best of several rounds counts for each side. The side that
begins alternates, so that noise affects both. Ratios never mix runs. This module knows workers and cases,
but not what an action does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.cases import Case
from benchmarks.sides import Task
from benchmarks.worker import SideError, Worker
from benchmarks.workloads import Store

MAX_SECONDS = 40.0  # after which a case gets no further round
MIN_SECONDS = 4.0  # of each case: short runs need many rounds, up to EXTRA_ROUNDS times as many
EXTRA_ROUNDS = 5
NOISY = 1.5  # ratio of the median to the best round above which something else was running


@dataclass
class Result:
    """One line of the table. ``status`` is "reached", "short of", "info", or why there is no figure."""

    part: str
    workload: str
    what: str
    against: str
    target: float | None
    unit: str = "×"  # "×", "M records/s", "MB"
    at_most: bool = False  # whether the target is an upper limit
    value: float | None = None
    ours: float | None = None  # ns per record, if there are records
    theirs: float | None = None
    noisy: bool = False
    status: str = ""
    detail: dict[str, Any] = field(default_factory=dict)

    def judge(self) -> Result:
        """Set ``status`` from ``value`` and ``target``."""
        if self.target is None or self.value is None:
            self.status = self.status or "info"
        else:
            reached = self.value <= self.target if self.at_most else self.value >= self.target
            self.status = "reached" if reached else "short of"
        return self


class Sides:
    """The worker processes; one is started on first use, and again after it has died."""

    def __init__(self) -> None:
        self._workers: dict[str, Worker | SideError] = {}

    def __getitem__(self, side: str) -> Worker:
        worker = self._workers.get(side)
        if worker is None or not (isinstance(worker, SideError) or worker.alive):
            try:
                worker = Worker(side)
            except SideError as error:
                worker = error
            self._workers[side] = worker
        if isinstance(worker, SideError):
            missing = "ModuleNotFoundError" in str(worker)
            raise SideError(f"{side} is not installed" if missing else str(worker))
        return worker

    def versions(self) -> dict[str, str]:
        """The version of each side that ran."""
        return {side: w.version for side, w in self._workers.items() if not isinstance(w, SideError)}

    def stop(self) -> None:
        """End all worker processes."""
        for worker in self._workers.values():
            if not isinstance(worker, SideError):
                worker.stop()


def run(cases: list[Case], store: Store, rounds: int) -> Iterator[Result]:
    """Run the cases; yield each result as soon as it is there."""
    sides = Sides()
    try:
        for case in cases:
            result = Result(case.part, case.workload, case.what, case.against, case.target)
            try:
                _race(case, result, sides, store, rounds)
            except SideError as error:
                result.status = str(error)
            result.detail["versions"] = sides.versions()
            yield result
    finally:
        sides.stop()


def _race(case: Case, result: Result, sides: Sides, store: Store, rounds: int) -> None:
    task = Task(store, case.workload, case.form, case.batch, case.take)
    racers = [(sides["ours"], case.ours)]
    if case.peer:
        side, action = case.peer.split(".")
        racers.append((sides[side], action))
    opened = [worker.open(action, task) for worker, action in racers]
    try:
        if any(found != opened[0] for found in opened):
            raise SideError(f"the results differ: {' and '.join(str(found[0]) for found in opened)} records")
        times = alternate([worker for worker, _ in racers], rounds)
    finally:
        for worker, _ in racers:
            if worker.alive:
                worker.close()
    count = opened[0][0]
    best = [min(each) for each in times]
    noise = max(median(each) / min(each) for each in times)
    result.noisy = noise > NOISY
    result.detail |= {"records": count, "noise": noise, "seconds": times}
    result.ours = best[0] / count * 1e9
    if case.peer:
        result.theirs = best[1] / count * 1e9
        result.value = best[1] / best[0]
    else:
        result.unit = "M records/s"
        result.value = count / best[0] / 1e6
    result.judge()


def alternate(workers: list[Worker], rounds: int) -> list[list[float]]:
    """Time the workers in turn; the seconds of every round, for each worker."""
    times: list[list[float]] = [[] for _ in workers]
    begin = time.monotonic()
    for number in range(rounds * EXTRA_ROUNDS):
        order = range(len(workers)) if number % 2 == 0 else reversed(range(len(workers)))
        for place in order:
            times[place].append(workers[place].time())
        spent = time.monotonic() - begin
        if (number and spent > MAX_SECONDS) or (number + 1 >= rounds and spent > MIN_SECONDS):
            break
    return times
