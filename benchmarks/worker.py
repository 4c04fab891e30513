"""One side in a process of its own, asked over pipes: ``python -m benchmarks.worker tensorflow``.

Requests and answers are JSON, a line each. ``open`` gets an action ready, runs it once to warm it up
and says what it produced; ``time`` runs it again under the clock; ``close`` lets go of its data.
``Worker`` is the asking end, ``serve`` the answering one. Knows no case and no target.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.digest import Written, fingerprint
from benchmarks.sides import Task, Variant
from benchmarks.workloads import NotThereYetError, Store

ROOT = Path(__file__).resolve().parent.parent


class SideError(Exception):
    """A side could not do what it was asked; the message says why."""


class Worker:
    """A running side, of the checkout at ``root``. ``version`` is what it says of itself."""

    def __init__(self, side: str, root: Path = ROOT) -> None:
        self.side = side
        command = [sys.executable, "-m", "benchmarks.worker", side]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, cwd=root
        )
        self.version: str = self._answer()

    def open(self, action: str, task: Task) -> tuple[int, str]:
        """Get ready and warm up: the number of records, and the digest of what came out."""
        store = {"folder": str(task.store.folder), "scale": task.store.scale}
        count, digest = self._ask({"do": "open", "action": action, "task": vars(task) | {"store": store}})
        return count, digest

    def time(self) -> float:
        """The seconds of one more run."""
        return float(self._ask({"do": "time"}))

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """Forget the action's data."""
        self._ask({"do": "close"})

    def stop(self) -> None:
        """End the process."""
        with suppress(BrokenPipeError):
            self._process.communicate()

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # then there will be no answer either
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SideError(f"the process of {self.side} ended: {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise SideError(answer["error"])
        return answer["value"]


class Server:
    """The answering end: the action that is open, and its variants."""

    def __init__(self, side: str) -> None:
        self.side = importlib.import_module(f"benchmarks.sides.{side}")
        self.variants: list[Variant] = []

    def open(self, request: dict[str, Any]) -> tuple[int, str]:
        """Warm up every variant and see what it makes; then keep only the fastest."""
        store = request["task"].pop("store")
        task = Task(store=Store(Path(store["folder"]), store["scale"]), **request["task"])
        variants = self.side.ACTIONS[request["action"]](task)
        found = [fingerprint(_kept(variant, self.side.plain)) for variant in variants]
        if any(count != found[0][0] for count, _ in found):
            raise SideError(f"variants give different numbers of records: {[count for count, _ in found]}")
        self.variants = variants if len(variants) == 1 else [min(variants, key=_best_of_two)]
        return found[0]

    def time(self, request: dict[str, Any]) -> float:
        """One run under the clock."""
        return _timed(self.variants[0])

    def close(self, request: dict[str, Any]) -> None:
        """Let go."""
        self.variants = []
        gc.collect()


def _kept(variant: Variant, plain: Any) -> Any:
    for made in variant():
        yield plain(made)
        _remove(made)


def _best_of_two(variant: Variant) -> float:
    return min(_timed(variant), _timed(variant))


def _timed(variant: Variant) -> float:
    gc.collect()
    begin = time.perf_counter()
    last = deque(variant(), maxlen=1)
    seconds = time.perf_counter() - begin
    _remove(last.pop())
    return seconds


def _remove(made: Any) -> None:
    """Files written on the way go, outside the clock."""
    if isinstance(made, Written):
        made.path.unlink()


def serve(side: str) -> None:
    """Answer until the asking end closes the pipe."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is not an answer

    def answer(do: Any) -> None:
        try:
            line = {"value": do()}
        except NotThereYetError as missing:
            line = {"error": f"not there yet: {missing}"}
        except Exception as error:  # whatever a peer raises belongs into the report
            line = {"error": f"failed: {type(error).__name__}: {str(error)[:300]}"}
        print(json.dumps(line), file=answers, flush=True)

    server: Any = None

    def start() -> str:
        nonlocal server
        server = Server(side)
        return str(server.side.VERSION)

    answer(start)
    for line in sys.stdin:
        request = json.loads(line)
        answer(lambda request=request: getattr(server, request["do"])(request))


if __name__ == "__main__":
    serve(sys.argv[1])
