"""The commands that rewrite files: one function each, which returns the exit code.

``purerecord.tools`` does the work. This module must not know how the command line is parsed.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentError, Namespace
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

from ...container.looks_like import open_source
from ...errors import PureRecordError
from ...printable import printable, printable_json
from ...storage.file_handles import file_size
from ...storage.paths import resolve, split_pattern, without_indexes
from ...storage.url import Url, is_url, stored
from ...tools.rewrite import dedup as deduplicating
from ...tools.rewrite import diff as comparing
from ...tools.rewrite import reshard as resharding
from ...tools.rewrite import sample as sampling
from ...tools.rewrite import select as selecting
from ...tools.rewrite import shuffle as shuffling
from ...tools.rewrite import sort as sorting
from ...tools.rewrite import split as splitting
from ...tools.rewrite.how import How
from ...tools.rewrite.report import Rewritten
from ..exit_status import DAMAGED, Outcome, write
from ..inputs import workers_of
from ..options import COMPRESSIONS
from ..progress import ProgressLine
from .streams import Streams

# How often each command reads all records, before they are divided among shards; others once.
_PASSES = {"shuffle": 2, "sort": 2, "dedup": 2}


def reshard(arguments: Namespace) -> int:
    """Write the same records to another number of shards."""
    with _Run(arguments) as run:
        return run.report(resharding.reshard(run.paths, run.out, **run.how))


def merge(arguments: Namespace) -> int:
    """Write the records of several files to one."""
    with _Run(arguments) as run:
        return run.report(resharding.merge(run.paths, run.out, **run.how))


def compress(arguments: Namespace) -> int:
    """Compress files, or undo that."""
    with _Run(arguments) as run:
        return run.report(resharding.compress(run.paths, run.out, arguments.to, **run.how))


def select(arguments: Namespace) -> int:
    """Write some of the records, with some of their features."""
    with _Run(arguments) as run:
        done = selecting.select(
            run.paths,
            run.out,
            where=arguments.where,
            features=arguments.features,
            drop=arguments.drop or (),
            rename=_renamed(arguments.rename or ()),
            **run.how,
        )
        return run.report(done)


def sample(arguments: Namespace) -> int:
    """Write a random part of the records."""
    with _Run(arguments) as run:
        fraction, count = arguments.fraction, arguments.count
        done = sampling.sample(
            run.paths, run.out, fraction=fraction, count=count, seed=arguments.seed, **run.how
        )
        return run.report(done)


def split(arguments: Namespace) -> int:
    """Divide the records among splits."""
    with _Run(arguments) as run:
        done = splitting.split(
            run.paths,
            run.out,
            arguments.split,
            seed=arguments.seed,
            by=arguments.by,
            stratify=arguments.stratify,
            **run.how,
        )
        return run.report(done)


def shuffle(arguments: Namespace) -> int:
    """Write all records in a random order."""
    with _Run(arguments) as run:
        seed, memory = arguments.seed, arguments.memory
        return run.report(shuffling.shuffle(run.paths, run.out, seed=seed, memory=memory, **run.how))


def sort(arguments: Namespace) -> int:
    """Write all records in the order of a feature."""
    by, _, direction = arguments.by.rpartition(":")
    if direction not in ("asc", "desc") or not by:
        by, direction = arguments.by, "asc"
    with _Run(arguments) as run:
        descending, memory = direction == "desc", arguments.memory
        return run.report(
            sorting.sort(run.paths, run.out, by, descending=descending, memory=memory, **run.how)
        )


def dedup(arguments: Namespace) -> int:
    """Write the records without those that are there already."""
    with _Run(arguments) as run:
        by, memory = arguments.by, arguments.memory
        return run.report(deduplicating.dedup(run.paths, run.out, by=by, memory=memory, **run.how))


def diff(arguments: Namespace) -> int:
    """Say in which records two datasets differ."""
    options = dict(arguments.storage_option)
    sides = [stored(path, options) if is_url(path) else path for path in (arguments.left, arguments.right)]
    compression = COMPRESSIONS[arguments.compression]
    with ProgressLine(sum(_total([side]) for side in sides)) as progress:
        found = comparing.diff(*sides, compression=compression, progress=progress)
    if arguments.json:
        text = printable_json(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
        write(text.encode() + b"\n")
    elif not (arguments.quiet and found.same):
        write(str(found).encode() + b"\n")
    return 0 if found.same else DAMAGED


class _Run:
    """What the commands have in common: their keywords, their progress, and how they end."""

    def __init__(self, arguments: Namespace) -> None:
        self._arguments = arguments
        options = dict(arguments.storage_option)
        _check_streams(arguments)
        self._streams = Streams(without_indexes(arguments.paths), arguments.out, arguments.temporary)
        self.paths = [stored(path, options) if is_url(path) else path for path in self._streams.paths]
        out = self._streams.out
        self.out = stored(out, options) if is_url(out) else out
        self._progress = ProgressLine(0 if arguments.dry_run else self._work())
        self.how: How = {
            "shards": arguments.shards,
            "max_bytes": arguments.max_bytes,
            "max_records": arguments.max_records,
            "options": self._options(),
            "manifest": arguments.manifest,
            "on_error": arguments.on_error,
            "compression": COMPRESSIONS[arguments.compression],
            "workers": workers_of(arguments, 1),
            "resume": arguments.resume,
            "dry_run": arguments.dry_run,
            "temporary": arguments.temporary,
            "progress": self._progress,
        }

    def _work(self) -> int:
        """The bytes that the progress counts; 0 if they are not known, as those of compressed files."""
        arguments, passes = self._arguments, _PASSES.get(self._arguments.command, 1)
        passes += bool(getattr(arguments, "stratify", None)) + bool(getattr(arguments, "count", None))
        numbers = arguments.shards or arguments.max_bytes or arguments.max_records
        out = str(self.out)
        as_inputs = out.endswith("/") or (split_pattern(out)[2] is None and "@*" in out) or os.path.isdir(out)
        if numbers or not as_inputs:  # the records are counted, or selected, and then divided
            passes += arguments.command not in ("shuffle", "sort")
        return 0 if _compressed(self.paths) else passes * _total(self.paths)

    def _options(self) -> Any:
        name = getattr(self._arguments, "output_compression", None)
        return None if name is None else resharding.COMPRESSIONS[name]

    def __enter__(self) -> _Run:
        self._progress.__enter__()
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        self._progress.__exit__()
        self._streams.name(error)
        self._streams.close()

    def report(self, done: Rewritten) -> int:
        """Print what was done; the exit code."""
        self._progress.__exit__()
        done = self._streams.named(done)
        outcome = Outcome(damaged=not done.ok)
        for damage in done.damage:
            outcome.say(f"skipped: {damage}")
        text = ""
        if self._arguments.json:
            text = printable_json(json.dumps(done.to_dict(), indent=2, ensure_ascii=False))
        elif not (self._arguments.quiet and done.ok):
            text = str(done)
        if text and self._streams.to_stdout:
            with suppress(OSError):
                print(text, file=sys.stderr)
        elif text:
            write(text.encode() + b"\n")
        if not done.dry_run:
            self._streams.send()
        return outcome.code


def _check_streams(arguments: Namespace) -> None:
    """Raise an ArgumentError if stdin or stdout cannot be what the other arguments ask for."""
    if arguments.paths.count("-") > 1:
        raise ArgumentError(None, "stdin can be read only once")
    if arguments.resume and "-" in (*arguments.paths, arguments.out):
        raise ArgumentError(None, "--resume needs files: what went through stdin or stdout is gone")
    if arguments.out != "-":
        return
    if arguments.command == "split":
        raise ArgumentError(None, "stdout is one file, and a split has several; name files")
    for name in ("shards", "max_bytes", "max_records", "manifest"):
        if getattr(arguments, name):
            raise ArgumentError(
                None, f"stdout is one file; leave out --{name.replace('_', '-')}, or name files"
            )


def _renamed(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    names: dict[str, str] = {}
    for old, new in pairs:
        if old in names:
            raise ArgumentError(None, f"--rename names {printable(repr(old))} twice")
        names[old] = new
    return names


def _compressed(paths: list[str]) -> bool:
    """Whether the first file is compressed, so that others are likely to be; False for one in a store."""
    with suppress(OSError, ImportError, ValueError, PureRecordError):  # the command itself reports it
        first = resolve(paths)[0]
        if isinstance(first, str) and not isinstance(first, Url):
            with closing(open_source(first)) as source:
                source.detect_compression()
                return bool(source.compression)
    return False


def _total(paths: list[str]) -> int:
    """The bytes of the input, if its files can be asked; 0 if not."""
    total = 0
    with suppress(OSError, ImportError, ValueError):  # the command itself reports it
        for file in resolve(paths):
            if isinstance(file, str):
                total += file_size(file)
    return total
