"""``How``: the keywords that all functions of this folder take, described once.

This module must not know what the functions do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from ...processes.pool import Progress, Workers, check_workers


class How(TypedDict, total=False):
    """How records are rewritten; every key has a default.

    Which files appear: ``shards`` files of equally many records, or files of up to ``max_records`` records
    and ``max_bytes`` bytes; ``out`` says it, too, as ``name@10.tfrecord``. Otherwise a plain name is one
    file, ``name@*.tfrecord`` has as many as the input, and a folder has files of the same names.
    """

    shards: int | None
    max_records: int | None
    max_bytes: int | None
    # As of ``TFRecordWriter``; None compresses as the input is compressed.
    options: Any
    # Whether a manifest is written beside the shards.
    manifest: bool
    # "raise" at damage, or "skip" it and count it in the report.
    on_error: str
    # Of the input; "auto" detects it.
    compression: Any
    # Processes that share the work, or a ``purerecord.ray.Cluster``, whose nodes all see the folder for
    # temporary files. The files are the same with any number.
    workers: Workers
    # Go on where a run with the same input and the same arguments was stopped.
    resume: bool
    # Only report what would be read and written.
    dry_run: bool
    # Called with the bytes and the records that were processed since its last call.
    progress: Progress | None
    # The folder for temporary files; by default that of the output, or the system's if that is a URL.
    temporary: str | None
    # As of ``read_records``, for the input and the output.
    storage_options: Mapping[str, Any] | None
    filesystem: Any


DEFAULTS: How = {
    "shards": None,
    "max_records": None,
    "max_bytes": None,
    "options": None,
    "manifest": False,
    "on_error": "raise",
    "compression": "auto",
    "workers": 1,
    "resume": False,
    "dry_run": False,
    "progress": None,
    "temporary": None,
    "storage_options": None,
    "filesystem": None,
}


def complete(how: How) -> How:
    """``how`` with a value for every key; a TypeError for a key that is none."""
    if unknown := sorted(how.keys() - DEFAULTS.keys()):
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}; there are {', '.join(DEFAULTS)}")
    whole: How = {**DEFAULTS, **how}
    if whole["on_error"] not in ("raise", "skip"):
        raise ValueError(f'on_error must be "raise" or "skip", not {whole["on_error"]!r}')
    check_workers(whole["workers"])
    for name in ("shards", "max_records", "max_bytes"):
        number = whole[name]
        if number is not None and number < 1:
            raise ValueError(f"{name} must be positive, not {number}")
    return whole
