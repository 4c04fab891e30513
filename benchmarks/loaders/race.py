"""Who runs when. Every side first proves that it delivers the content; only then is it timed.

The sides of a job take turns for several rounds, one runs at a time, and the best round counts. A figure is
a rate. Without workers it is that of a whole epoch; with workers the clock starts after the first batches,
when all of them run, and what the start costs is a part of its own. This module knows neither the libraries
nor the form of the report.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.loaders.client import Client, memory_of_group
from benchmarks.loaders.content import Content
from benchmarks.loaders.jobs import JOBS, Job
from benchmarks.loaders.proof import Proof, expected
from benchmarks.worker import SideError

LONG = 2.5  # seconds that an epoch of all rows may take; a side that needs more loads fewer
SLOW = 4.0  # seconds of a round, with the start of its workers, after which one round is enough
RANDOM = 0.25  # a spread below which the order is not random: it is about 1/3 if it is


@dataclass
class Figure:
    """What came out for one side, job and number of workers. ``rate`` is in records a second."""

    job: str
    side: str
    workers: int
    rows: int = 0
    rate: float | None = None
    status: str = ""  # why there is no rate
    spread: float = 0.0
    window: int = 0  # in which the side shuffles; 0: over all records
    seconds: list[float] = field(default_factory=list)
    took: float = 0.0  # seconds that the race spent on it


@dataclass
class Start:
    """The costs of a start of one side: seconds, and bytes. None where it failed, and ``status`` says why."""

    side: str
    imports: float | None = None
    first: float | None = None  # the first batch without workers
    first_with_workers: float | None = None
    workers: int = 0
    idle: int | None = None  # memory after the imports, bytes
    peak: int | None = None  # of all processes together while they load images
    status: str = ""


@dataclass
class Promise:
    """What one side does about damage, workers and resuming, tried out."""

    side: str
    damage: str = ""
    once: str = ""
    resume: str = ""
    resume_elsewhere: str = ""  # with another number of workers
    status: str = ""


@cache
def _expected(content: Content, decoded: bool) -> Proof:
    return expected(content, decoded)


class Race:
    """A run over ``sides``; files are kept in ``folder``, ``divisor`` divides the numbers of records."""

    def __init__(
        self, folder: Path, sides: list[str], pythons: dict[str, str], divisor: int, rounds: int
    ) -> None:
        self.folder = folder
        self.sides = sides
        self.versions: dict[str, str] = {}
        self.sizes: dict[str, int] = {}  # bytes of the images in each format
        self._pythons = pythons
        self._divisor = divisor
        self._rounds = rounds
        self._clients: dict[str, Client | SideError] = {}

    # --- the jobs ------------------------------------------------------------------------------------

    def figures(self, name: str) -> Iterator[Figure]:
        """The figures of one job."""
        job = JOBS[name]
        figures = [figure for side in self.sides for figure in self._entries(job, side)]
        slow: dict[int, bool] = {}
        runners = [figure for figure in figures if not figure.status]
        for number in range(self._rounds):
            for figure in runners if number % 2 == 0 else reversed(runners):
                if not figure.status and not slow.get(id(figure)):
                    begin = time.monotonic()
                    self._time(job, figure)
                    spent = time.monotonic() - begin
                    figure.took += spent
                    slow[id(figure)] = spent > SLOW
        yield from figures

    def _entries(self, job: Job, side: str) -> Iterator[Figure]:
        """The figures of a side, proved but without a rate."""
        try:
            about = self._client(side).about
        except SideError as error:
            yield Figure(job.name, side, 0, status=str(error))
            return
        if job.name in about["jobs"]:
            for workers in about["workers"]:
                figure = Figure(job.name, side, workers, window=about.get("window", 0) * job.shuffled)
                begin = time.monotonic()
                try:
                    self._prove(job, figure)
                except SideError as error:
                    figure.status = f"failed: {error}"
                figure.took = time.monotonic() - begin
                yield figure

    def _prove(self, job: Job, figure: Figure) -> None:
        few, all_rows = job.sizes(self._divisor)
        reply = self._proved(job, figure, few)
        rest = reply["seconds"] - (reply["first"] or 0.0)  # for all rows but the first batch of each worker
        after = max(few - max(figure.workers, 1) * job.batch, job.batch)
        if not figure.status and few < all_rows and rest * all_rows / after < LONG:
            self._proved(job, figure, all_rows)

    def _proved(self, job: Job, figure: Figure, rows: int) -> dict[str, Any]:
        content = self._content(job.kind, rows)
        reply = self._ask("prove", figure.side, job, content, figure.workers)
        proof = Proof(**reply["proof"])
        figure.rows, figure.spread = rows, proof.spread
        figure.status = proof.fault(_expected(content, job.decoded))
        if job.shuffled and not figure.window and proof.spread < RANDOM:
            figure.status = figure.status or "its order is not random"
        return reply

    def _time(self, job: Job, figure: Figure) -> None:
        batches = -(-figure.rows // job.batch)
        # A process that reads ahead, or fills a window first, would have most of the work done by then.
        whole = figure.workers == 0 or figure.window
        skip = 0 if whole else min(max(1 + 2 * figure.workers, batches // 5), batches - 1)
        content = self._content(job.kind, figure.rows)
        try:
            reply = self._ask("time", figure.side, job, content, figure.workers, skip=skip)
        except SideError as error:
            figure.rate, figure.status = None, f"failed: {error}"
            return
        figure.seconds.append(reply["seconds"])
        figure.rate = max(figure.rate or 0.0, reply["records"] / reply["seconds"])

    # --- one record, the start, the promises -----------------------------------------------------------

    def singles(self) -> Iterator[tuple[str, str, float]]:
        """Side, function and seconds of parsing one record of 40 columns."""
        job = JOBS["shuffled"]
        for side in self.sides:
            with suppress(SideError):
                if self._client(side).about["singles"]:
                    content = self._content(job.kind, job.sizes(self._divisor)[0])
                    found = self._ask("single", side, job, content, 0, rounds=self._rounds * 3)
                    yield from ((side, name, seconds) for name, seconds in found.items())

    def starts(self) -> Iterator[Start]:
        """The cost of the start and the memory of each side, each measured in new processes."""
        job = JOBS["images"]
        content = self._content(job.kind, job.sizes(self._divisor)[1])
        for side in self.sides:
            start = Start(side)
            try:
                self._files(side, content)
                self._stop(side)
                client = self._client(side)
                start.imports, start.workers = client.about["import"], max(client.about["workers"])
                start.first = self._ask("start", side, job, content, 0)["first"]
                self._stop(side)
                client = self._client(side)
                start.imports = min(start.imports or 0.0, client.about["import"])
                start.idle = memory_of_group(client.pid).get("private")
                request = self._request(side, job, content, start.workers)
                reply, peak = client.ask_and_watch("run", **request)
                start.first_with_workers, start.peak = reply["first"], peak.get("private")
            except SideError as error:
                start.status = str(error)
            yield start

    def promises(self) -> Iterator[Promise]:
        """What each side does about damage, about more workers, and about a stop in the middle."""
        job = JOBS["images"]
        content = self._content(job.kind, job.sizes(self._divisor)[0])
        for side in self.sides:
            promise = Promise(side)
            try:
                about = self._client(side).about
                if job.name in about["jobs"]:
                    workers = max(about["workers"])
                    promise.once = self._once(side, job, content, 3 if workers == 2 else workers)
                    if not promise.once.startswith("failed"):  # else any error would look like a check
                        promise.damage = self._damage(side, job, content)
                    promise.resume = self._resume(side, job, content, workers, workers)
                    if workers == 2:
                        promise.resume_elsewhere = self._resume(side, job, content, 2, 1)
            except SideError as error:
                promise.status = str(error)
            self._stop(side)
            yield promise

    def _damage(self, side: str, job: Job, content: Content) -> str:
        """Flip one bit in a copy of the files, and see what the side says."""
        files = self._files(side, content)
        checks = self._client(side).about["checks"]
        copy = files.with_name(f"damaged-{files.name}")
        for shift in (0, 10_007, 20_011):  # the first place may be padding
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(files, copy)
            largest = max(
                (path for path in copy.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size
            )
            data = bytearray(largest.read_bytes())
            data[(len(data) // 2 + shift) % len(data)] ^= 4
            largest.write_bytes(data)
            try:
                found = self._read_damaged(side, job, content, copy, False)
                if checks and found and not found.startswith("noticed"):
                    found += f"; with {checks}: {self._read_damaged(side, job, content, copy, True)}"
            finally:
                shutil.rmtree(copy, ignore_errors=True)
            if found:
                return found
        return "nothing was changed"

    def _read_damaged(self, side: str, job: Job, content: Content, files: Path, checked: bool) -> str:
        try:
            reply = self._ask("prove", side, job, content, 0, files=str(files), checked=checked)
        except SideError as error:
            return f"noticed: {str(error).split(':', maxsplit=1)[0]}"
        fault = Proof(**reply["proof"]).fault(_expected(content, job.decoded))
        return f"no error: {fault}" if fault else ""

    def _once(self, side: str, job: Job, content: Content, workers: int) -> str:
        try:
            reply = self._ask("prove", side, job, content, workers)
        except SideError as error:
            return f"failed: {error}"
        return Proof(**reply["proof"]).fault(_expected(content, job.decoded)) or "yes"

    def _resume(self, side: str, job: Job, content: Content, before: int, after: int) -> str:
        """Stop in the middle of a shuffled epoch, and go on in a new process."""
        state = self.folder / "state"
        rest = {"state": str(state), "shuffled": True}
        half = content.rows // job.batch // 2
        try:
            first = self._ask("stop_in_the_middle", side, job, content, before, take=half, **rest)
            if first["state"] is None:
                return "has no state"
            self._stop(side)
            second = self._ask("go_on", side, job, content, after, **rest)
        except SideError as error:
            return f"failed: {error}"
        finally:
            state.unlink(missing_ok=True)
            self._stop(side)
        ids = first["ids"] + second["ids"]
        proof = Proof(len(ids), len(set(ids)), "")
        return proof.fault(Proof(content.rows, content.rows, "")) or "exact"

    # --- processes and files ---------------------------------------------------------------------------

    def stop(self) -> None:
        """End all processes."""
        for side in list(self._clients):
            self._stop(side)

    def _client(self, side: str) -> Client:
        client = self._clients.get(side)
        if client is None or (isinstance(client, Client) and not client.alive):
            try:
                client = Client(side, self._pythons[side])
                self.versions[side] = client.about["version"]
            except SideError as error:
                missing = "ModuleNotFoundError" in str(error) or "No module named" in str(error)
                client = SideError(f"not installed ({error})" if missing else str(error))
            self._clients[side] = client
        if isinstance(client, SideError):
            raise client
        return client

    def _stop(self, side: str) -> None:
        client = self._clients.pop(side, None)
        if isinstance(client, Client):
            client.stop()
        elif client is not None:
            self._clients[side] = client  # a side that is missing stays missing

    def _ask(
        self, do: str, side: str, job: Job, content: Content, workers: int, **more: Any
    ) -> dict[str, Any]:
        request = self._request(side, job, content, workers) | more
        return self._client(side).ask(do, **request)

    def _request(self, side: str, job: Job, content: Content, workers: int) -> dict[str, Any]:
        files = str(self._files(side, content))
        return {"job": job.name, **_named(content), "files": files, "workers": workers}

    def _content(self, kind: str, rows: int) -> Content:
        content = Content(self.folder / "content", kind, rows)
        content.make()
        return content

    def _files(self, side: str, content: Content) -> Path:
        """The folder with the content in the side's format; the side writes it first if it is not there."""
        form = self._client(side).about["format"]
        target: Path = self.folder / form / content.name
        if not target.exists():
            self._client(side).ask("write", target=str(target), **_named(content))
        if content.kind == "img":
            self.sizes[form] = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
        return target


def _named(content: Content) -> dict[str, Any]:
    return {"content": str(content.folder), "kind": content.kind, "rows": content.rows}
