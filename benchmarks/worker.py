"""One side in its own process, controlled over pipes: ``python -m benchmarks.worker tensorflow``.

Requests and replies are JSON, one per line. ``open`` prepares an action, runs it once to warm it up and
returns the digest of its products; ``time`` runs it again and returns the seconds; ``close`` releases its
data. ``Worker`` is the client, ``serve`` the server. This module does not know cases and targets.
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
    """A side could not do a request; the message says why."""


class Worker:
    """The client of a running side of the checkout at ``root``; ``version`` is the side's."""

    def __init__(self, side: str, root: Path = ROOT) -> None:
        self.side = side
        command = [sys.executable, "-m", "benchmarks.worker", side]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, cwd=root
        )
        self.version: str = self._reply()

    def open(self, action: str, task: Task) -> tuple[int, str]:
        """Prepare and warm up an action; return the number of records and the digest of its products."""
        store = {"folder": str(task.store.folder), "scale": task.store.scale}
        count, digest = self._request({"do": "open", "action": action, "task": vars(task) | {"store": store}})
        return count, digest

    def time(self) -> float:
        """Run the action once more; return the seconds."""
        return float(self._request({"do": "time"}))

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """Release the data of the action."""
        self._request({"do": "close"})

    def stop(self) -> None:
        """End the process."""
        with suppress(BrokenPipeError):
            self._process.communicate()

    def _request(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # then there is no reply either
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        return self._reply()

    def _reply(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SideError(f"the process of {self.side} ended: {self._process.wait()}")
        reply = json.loads(line)
        if "error" in reply:
            raise SideError(reply["error"])
        return reply["value"]


class Server:
    """The server: the open action and its variants."""

    def __init__(self, side: str) -> None:
        self.side = importlib.import_module(f"benchmarks.sides.{side}")
        self.variants: list[Variant] = []

    def open(self, request: dict[str, Any]) -> tuple[int, str]:
        """Warm up every variant and digest its products; then keep only the fastest."""
        store = request["task"].pop("store")
        task = Task(store=Store(Path(store["folder"]), store["scale"]), **request["task"])
        variants = self.side.ACTIONS[request["action"]](task)
        found = [fingerprint(_products(variant, self.side.plain)) for variant in variants]
        if any(count != found[0][0] for count, _ in found):
            raise SideError(f"variants give different numbers of records: {[count for count, _ in found]}")
        self.variants = variants if len(variants) == 1 else [min(variants, key=_best_of_two)]
        return found[0]

    def time(self, request: dict[str, Any]) -> float:
        """The seconds of one run."""
        return _timed(self.variants[0])

    def close(self, request: dict[str, Any]) -> None:
        """Release the variants and their data."""
        self.variants = []
        gc.collect()


def _products(variant: Variant, plain: Any) -> Any:
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
    """Delete a file that a variant wrote; not part of the measured time."""
    if isinstance(made, Written):
        made.path.unlink()


def serve(side: str) -> None:
    """Reply to requests until the client closes the pipe."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of a library must not mix with the replies

    def reply(function: Any) -> None:
        try:
            line = {"value": function()}
        except NotThereYetError as missing:
            line = {"error": f"not there yet: {missing}"}
        except Exception as error:  # any error of a peer belongs into the report
            line = {"error": f"failed: {type(error).__name__}: {str(error)[:300]}"}
        print(json.dumps(line), file=replies, flush=True)

    server: Any = None

    def start() -> str:
        nonlocal server
        server = Server(side)
        return str(server.side.VERSION)

    reply(start)
    for line in sys.stdin:
        request = json.loads(line)
        reply(lambda request=request: getattr(server, request["do"])(request))


if __name__ == "__main__":
    serve(sys.argv[1])
