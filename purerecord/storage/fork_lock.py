"""``ForkLock``: a lock that is free in a forked process, whoever held it in the other one.

A forked process has one thread only. A lock that another thread held at that moment would never be released
there.
"""

from __future__ import annotations

import os
import threading


class ForkLock:
    """``with lock.here():`` locks among the threads of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()

    def here(self) -> threading.Lock:
        """The lock of this process."""
        if os.getpid() != self._process:
            self._lock, self._process = threading.Lock(), os.getpid()
        return self._lock
