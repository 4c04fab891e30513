"""Stream a file and measure its memory: ``python -m benchmarks.streaming WAY WORKLOAD PATH``.

Prints by how many bytes the peak of resident memory grew above its level after the imports.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.sides import ours
from benchmarks.workloads import WORKLOADS, Workload

Way = Callable[[Workload, str], Iterator[Any]]

WAYS: dict[str, Way] = {
    "read_records": lambda work, path: ours.api("read_records")(path),
    "read_batches": lambda work, path: ours.api("read_batches")(path),
    "parse_example": lambda work, path: map(ours.parser(work), ours.api("read_batches")(path)),
}


def peak() -> int:
    """The peak of this process's resident memory, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage includes the parent's memory at the time of the fork
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource  # noqa: PLC0415 - not available on every system

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main(way: str, workload: str, path: str) -> None:
    """Stream ``path`` with the function that ``way`` names; print the growth of the peak."""
    before = peak()
    for _ in WAYS[way](WORKLOADS[workload], path):
        pass
    print(peak() - before)


if __name__ == "__main__":
    main(*sys.argv[1:])
