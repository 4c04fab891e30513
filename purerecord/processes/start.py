"""How a worker process starts, and that it ends with its parent.

Python starts processes by fork, forkserver or spawn; the program chooses, or else the platform and the
version of Python. Everything here works with all three. This module must not know what the processes do.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any

# Process-wide state: whether this process was made by a plain fork. A hook sets it in the child.
_forked: list[None] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _forked.append(None))


def start_context() -> Any:
    """The multiprocessing context to start worker processes with: the program's, unless that cannot work.

    JAX is multithreaded, and a process that is forked from it may deadlock. And a forked process cannot use
    the fork server of its parent, because that is not its own child. Both spawn.
    """
    if "jax" in sys.modules or (_forked and multiprocessing.get_start_method() == "forkserver"):
        return multiprocessing.get_context("spawn")
    return multiprocessing.get_context()


class Beginning:
    """Tells worker processes that never began from those that died later, and names the cause.

    Under spawn and forkserver each process first imports the main script. A script without a guard starts
    processes again there, which Python forbids: the process ends, and so would every other one.
    """

    def __init__(self, context: Any) -> None:
        self._method = context.get_start_method()
        self.began: Any = context.RawValue("b")  # each worker process sets it to 1

    @contextmanager
    def explained(self) -> Iterator[None]:
        """A context that starts processes or waits for them."""
        try:
            yield
        except (BrokenExecutor, EOFError, ConnectionError):
            self.check()
            raise

    def check(self) -> None:
        """Raise if no process has begun, though one has ended."""
        if not self.began.value and self._method != "fork":
            raise not_started(self._method) from None


def mark_begun(began: Any) -> None:
    """Note in a worker process that it has begun."""
    began.value = 1


def not_started(method: str) -> RuntimeError:
    """The error if processes started by ``method``, which is not fork, end before they have begun."""
    return RuntimeError(
        f"worker processes ended before they began: with the start method {method!r} each of them imports "
        f"the main script, so what the script does must stand under its main guard, "
        f'if __name__ == "__main__":'
    )


def refuse_in_worker() -> None:
    """Raise if this process may not start processes itself: multiprocessing forbids it to daemons."""
    if multiprocessing.current_process().daemon:
        raise RuntimeError(
            "a worker process, such as a DataLoader's, may not start further ones; leave out processes=True "
            "and parallel there, the workers already run in parallel"
        )


def die_with_parent() -> None:
    """Wait for the parent process to end, then exit: a worker must not outlive a parent that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
