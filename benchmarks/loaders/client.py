"""The process of one side, seen from the race. A side that gives no answer in time is killed."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.worker import ROOT, SideError

TIMEOUT = 120.0  # seconds for an answer
SAMPLE_SECONDS = 0.05


class Client:
    """A running side; ``about`` is what it says about itself."""

    def __init__(self, side: str, python: str) -> None:
        self.side = side
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        try:
            self._process = subprocess.Popen(
                [python, "-m", "benchmarks.loaders.serve", side],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                cwd=ROOT,
                env={
                    **os.environ,
                    "PYTHONPATH": str(ROOT),
                    "TF_CPP_MIN_LOG_LEVEL": "3",
                    "HF_HUB_OFFLINE": "1",
                },
                start_new_session=True,  # so that its workers can be counted, and killed with it
            )
        except OSError as error:
            self._errors.close()
            raise SideError(f"its Python cannot be started: {error}") from None
        try:
            self.about: dict[str, Any] = self._reply()
        except SideError:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """The number of its process, and of the group of all its processes."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Send a request and wait for the answer."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # then there is no answer either
            self._process.stdin.write(json.dumps({"do": do, **request}, default=str).encode() + b"\n")
            self._process.stdin.flush()
        return self._reply()

    def ask_and_watch(self, do: str, **request: Any) -> tuple[dict[str, Any], Memory]:
        """As ``ask``; also the memory of all its processes meanwhile."""
        with MemoryWatch(self._process.pid) as watch:
            reply = self.ask(do, **request)
        return reply, watch.peak

    def stop(self) -> None:
        """End the process, and whatever it has started."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()

    def _reply(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(self._process.stdout, selectors.EVENT_READ)
            if not ready.select(TIMEOUT):
                self.stop()
                raise SideError(f"no answer within {TIMEOUT:.0f} seconds")
        line = self._process.stdout.readline()
        if not line:
            raise SideError(f"its process ended: {self._last_words()}")
        reply = json.loads(line)
        if "error" in reply:
            raise SideError(reply["error"])
        found: dict[str, Any] = reply["value"]
        return found

    def _last_words(self) -> str:
        code = self._process.wait()
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines() or [f"exit code {code}"]
        return words[-1][:300]


class Memory(dict[str, int]):
    """Bytes of several processes together: "private" cannot be dropped by the system, "mapped" are files."""


class MemoryWatch:
    """Samples the memory of the processes of a group (Linux only); ``peak`` holds the largest sums."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.peak = Memory()

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            now = memory_of_group(self._group)
            for name, size in now.items():
                self.peak[name] = max(self.peak.get(name, 0), size)
            if self._end.wait(SAMPLE_SECONDS):
                return


def memory_of_group(group: int) -> Memory:
    """The proportional memory of all processes of a group: memory that n of them share counts once."""
    total = Memory()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            # The name of the process is in brackets and may hold anything.
            if int((place / "stat").read_text().rpartition(")")[2].split()[2]) != group:
                continue
            fields = dict(line.split(":") for line in (place / "smaps_rollup").read_text().splitlines()[1:])
            sizes = {name: int(value.split()[0]) * 1024 for name, value in fields.items()}
            total["private"] = total.get("private", 0) + sizes["Pss_Anon"] + sizes["Pss_Shmem"]
            total["mapped"] = total.get("mapped", 0) + sizes["Pss_File"]
            total["processes"] = total.get("processes", 0) + 1
    return total
