"""The files that a command line names. This module must not know the commands."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import suppress

from ..processes.pool import Workers
from ..storage.file_handles import file_size
from ..storage.paths import Named, resolve, without_indexes
from ..storage.url import Url, is_url, stored
from .exit_status import Outcome


def files_of(paths: list[str], arguments: Namespace, outcome: Outcome) -> list[Named]:
    """The files that ``paths`` name; ``-`` is stdin. A missing file fails later, when it is opened.

    An index file beside its data is left out: mostly the shell has expanded ``folder/*``.
    """
    files: list[Named] = []
    for path in paths:
        with outcome.handling(path):
            if path == "-" and sys.stdin is None:
                raise ValueError("stdin is closed")
            files += resolve(sys.stdin.buffer if path == "-" else opened_by(path, arguments), missing_ok=True)
    return without_indexes(files)


def workers_of(arguments: Namespace, default: int) -> Workers:
    """Who shares the work: processes of this machine, or the nodes of a cluster."""
    if arguments.engine == "local":
        return arguments.workers or default
    from ..ray.cluster import Cluster  # noqa: PLC0415 - needs Ray

    return Cluster(arguments.workers)


def opened_by(path: str, arguments: Namespace) -> str:
    """``path``; with the options for stores, if it is a URL."""
    return stored(path, dict(arguments.storage_option)) if is_url(path) else path


def name_of(file: Named) -> str:
    """What messages call the file."""
    return file if isinstance(file, str) else str(getattr(file, "name", "stdin"))


def size_of(file: Named) -> int:
    """The bytes of the file; 0 if they are not known."""
    if isinstance(file, Url):
        with suppress(OSError, ImportError, ValueError):  # it is reported when the file is read
            return file_size(file)
    return os.path.getsize(file) if isinstance(file, str) and os.path.isfile(file) else 0
