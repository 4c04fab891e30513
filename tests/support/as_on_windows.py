"""Importing this takes away what Python lacks on Windows, in this process and in those that it spawns.

A program that a test runs imports this first, and is spawned anew in every worker process, because Windows
has no fork.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
from multiprocessing.popen_fork import Popen

LACKING = {
    os: "fork forkpty register_at_fork pread preadv pwrite pwritev readv writev posix_fallocate "
    "posix_fadvise sendfile chown fchown lchown getuid geteuid getgid mkfifo mknod sched_getaffinity "
    "sched_yield sysconf O_NONBLOCK O_DIRECTORY O_NOFOLLOW O_SYNC fdatasync",
    signal: "SIGKILL SIGHUP SIGPIPE SIGALRM SIGUSR1 SIGUSR2 alarm setitimer",
}
for module, names in LACKING.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
Popen.kill = Popen.terminate  # type: ignore[method-assign]  # as in the standard library of Windows
shutil._use_fd_functions = False  # type: ignore[attr-defined]  # so is this
if multiprocessing.get_start_method(allow_none=True) is None:
    multiprocessing.set_start_method("spawn")
