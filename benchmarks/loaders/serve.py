"""One side in its own process: ``python -m benchmarks.loaders.serve SIDE``; ``client`` talks to it.

Requests and replies are JSON, one per line. Needs numpy and what the side itself needs.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pickle
import re
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.loaders.content import Content
from benchmarks.loaders.jobs import JOBS
from benchmarks.loaders.proof import Prover, as_array
from benchmarks.loaders.sides import SIDES, Task


class Server:
    """The side, and what can be asked of it."""

    def __init__(self, side: str) -> None:
        begin = time.perf_counter()
        self.side = importlib.import_module(f"benchmarks.loaders.sides.{SIDES[side][0]}")
        self.import_seconds = time.perf_counter() - begin

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the side is."""
        return {
            "version": str(self.side.VERSION),
            "format": self.side.FORMAT,
            "jobs": sorted(self.side.JOBS),
            "workers": list(self.side.WORKERS),
            "import": self.import_seconds,
            "window": getattr(self.side, "WINDOW", 0),
            "checks": getattr(self.side, "CHECKS", ""),
            "singles": hasattr(self.side, "singles"),
        }

    def write(self, request: dict[str, Any]) -> dict[str, Any]:
        """Write a content in the side's format, into a folder that must not exist yet."""
        folder = Path(request["target"])
        unfinished = folder.with_name(f"unfinished-{folder.name}")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        begin = time.perf_counter()
        self.side.write(_content(request), unfinished)
        seconds = time.perf_counter() - begin
        unfinished.rename(folder)
        return {"seconds": seconds}

    def prove(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run an epoch and say what came; also when the first batch came, and the last."""
        task = _task(request)
        gc.collect()
        prover = Prover(task.content, task.job.decoded)
        begin = time.perf_counter()
        first = None
        for batch in self.side.loader(task):
            first = first or time.perf_counter() - begin
            prover.add(batch)
        seconds = time.perf_counter() - begin
        return {"proof": vars(prover.proof()), "seconds": seconds, "first": first}

    def time(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run an epoch: how many records came in how many seconds, after so many batches to ``skip``."""
        task = _task(request)
        gc.collect()
        records, begin = 0, time.perf_counter()
        for place, batch in enumerate(self.side.loader(task), 1):
            if place > request["skip"]:
                records += len(batch["id"])
            elif place == request["skip"]:
                begin = time.perf_counter()
        return {"records": records, "seconds": time.perf_counter() - begin}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run an epoch without looking at it, for the memory; say when the first batch came."""
        begin = time.perf_counter()
        first = None
        for _ in self.side.loader(_task(request)):
            first = first or time.perf_counter() - begin
        return {"first": first}

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        """Say when the first batch comes, and stop there."""
        begin = time.perf_counter()
        next(iter(self.side.loader(_task(request))))
        return {"first": time.perf_counter() - begin}

    def single(self, request: dict[str, Any]) -> dict[str, Any]:
        """The seconds of parsing one record, for each way in which the side can."""
        best = {}
        for name, parse in self.side.singles(_task(request)).items():
            parse()
            best[name] = min(_seconds(parse) for _ in range(request["rounds"]))
        return best

    def stop_in_the_middle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Take half of the batches and save the state."""
        task = _task(request)._replace(stateful=True)
        loader = self.side.loader(task)
        batches = iter(loader)
        ids = _ids(next(batches) for _ in range(request["take"]))
        if not hasattr(loader, "state_dict"):
            return {"state": None}
        state = pickle.dumps(loader.state_dict())
        Path(request["state"]).write_bytes(state)
        return {"state": len(state), "ids": ids}

    def go_on(self, request: dict[str, Any]) -> dict[str, Any]:
        """Load the state, made by this side in another process, and take the rest."""
        task = _task(request)._replace(stateful=True)
        state = pickle.loads(Path(request["state"]).read_bytes())
        if hasattr(self.side, "resumed"):
            loader = self.side.resumed(task, state)
        else:
            loader = self.side.loader(task)
            loader.load_state_dict(state)
        return {"ids": _ids(loader)}


def _ids(batches: Iterable[dict[str, Any]]) -> list[int]:
    return [number for batch in batches for number in as_array(batch["id"]).tolist()]


def _seconds(function: Callable[[], Any], calls: int = 200) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def _content(request: dict[str, Any]) -> Content:
    return Content(Path(request["content"]), request["kind"], request["rows"])


def _task(request: dict[str, Any]) -> Task:
    job = JOBS[request["job"]]
    if "shuffled" in request:
        job = type(job)(**{**vars(job), "shuffled": request["shuffled"]})
    return Task(
        job,
        _content(request),
        Path(request["files"]),
        request["workers"],
        checked=request.get("checked", False),
    )


def serve(side: str) -> None:
    """Reply to requests until the client closes the pipe."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of a library must not mix with the replies
    warnings.simplefilter("ignore")

    def reply(function: Callable[[], Any]) -> None:
        try:
            line = {"value": function()}
        except Exception as error:  # any error of a side belongs into the report
            words = re.sub(r" \(/[^)]*\)", "", " ".join(str(error).split()))  # without places of this machine
            line = {"error": f"{type(error).__name__}: {words[:300]}"}
        print(json.dumps(line), file=replies, flush=True)

    server: Any = None

    def begin() -> Any:
        nonlocal server
        server = Server(side)
        return server.describe({})

    reply(begin)
    for line in sys.stdin:
        request = json.loads(line)
        reply(lambda request=request: getattr(server, request["do"])(request))


if __name__ == "__main__":
    serve(sys.argv[1])
