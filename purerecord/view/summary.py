"""Summaries of columns: presence, kinds, histograms and frequent values, for the headers of the table.

Small files are counted completely. Of large ones, the first records of some files are a sample, and the
summary says so; on request everything is counted in the background. The statistics are those of
``tools.inspect``. This module does not know HTTP.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import PureRecordError
from ..printable import printable
from ..tools.inspect.content import PICTURES, SOUNDS, TEXT
from ..tools.inspect.example_statistics import ExampleStatistics
from ..tools.inspect.feature_statistics import FeatureSummary
from ..tools.inspect.number_statistics import BINS, NumberSummary
from . import where
from .catalog import FAULTS, Catalog
from .cells import numbers
from .search import Step, batches

_KEPT = 8  # summaries of different files
_MOST_DISTINCT = 2_000
_SAMPLED_FILES = 16
_KINDS = {"bytes": "bytes", "float32": "float", "int64": "int64"}


class Summaries:
    """The summaries that were asked for last."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._lock = threading.Lock()
        self._jobs: OrderedDict[int | None, _Job] = OrderedDict()
        self._turn = threading.Semaphore(1)  # one is counted at a time
        self._closed = threading.Event()

    def of(self, scope: int | None, *, more: bool) -> dict[str, Any]:
        """What is known so far of a file, or of all; with ``more``, of all their records in the end."""
        with self._lock:
            job = self._jobs.get(scope)
            if job is None or (more and not job.complete):
                job = self._jobs[scope] = _Job(self._catalog, scope, complete=more or self._is_small(scope))
                threading.Thread(
                    target=job.run,
                    args=(self._turn, self._closed),
                    name="purerecord-view-summary",
                    daemon=True,
                ).start()
            self._jobs.move_to_end(scope)
            while len(self._jobs) > _KEPT:
                self._jobs.popitem(last=False)[1].stop()
        return job.state()

    def _is_small(self, scope: int | None) -> bool:
        files = self._catalog.files if scope is None else [self._catalog.files[scope]]
        if len(files) > _SAMPLED_FILES:
            return False
        sizes = [source.size for file in files if (source := file.open()) is not None]
        return None not in sizes and sum(filter(None, sizes)) <= self._catalog.limits.sample_bytes

    def close(self) -> None:
        """Stop counting."""
        self._closed.set()


class _Job:
    """The summary of a file or of all, counted in a thread; ``complete`` says whether of all records."""

    def __init__(self, catalog: Catalog, scope: int | None, *, complete: bool) -> None:
        self.complete = complete
        self._catalog = catalog
        self._scope = scope
        self._lock = threading.Lock()
        self._found = ExampleStatistics(most=_MOST_DISTINCT)
        self._failure: str | None = None
        self._all_files = len(catalog.files) if scope is None else 1
        self._files = self._sampled_files()
        self._running, self._ended, self._stopped = True, False, False
        self._known: tuple[int, dict[str, Any]] | None = None

    def _sampled_files(self) -> list[int]:
        if self._scope is not None:
            return [self._scope]
        count = len(self._catalog.files)
        if self.complete or count <= _SAMPLED_FILES:
            return list(range(count))
        return [number * count // _SAMPLED_FILES for number in range(_SAMPLED_FILES)]

    def stop(self) -> None:
        """Stop counting."""
        self._stopped = True

    def run(self, turn: threading.Semaphore, closed: threading.Event) -> None:
        """Count, one batch after the other."""
        try:
            with turn:
                ended = True
                for number in self._files:
                    ended = self._count(number, closed) and ended
                self._ended = ended and len(self._files) == self._all_files
        except PureRecordError as error:
            self._failure = printable(str(error))
        except FAULTS as error:
            self._failure = printable(f"the statistics have stopped: {error or type(error).__name__}")
        finally:
            self._running = False

    def _count(self, number: int, closed: threading.Event) -> bool:
        """Count the records of a file; whether these are all."""
        limits = self._catalog.limits
        step = Step((number, 0), (number, 0))
        most_records = max(500, limits.sample_records // len(self._files))
        most_bytes = max(1 << 20, limits.sample_bytes // len(self._files))
        while True:
            step.pending = False
            for _, _, fetched in batches(self._catalog, step, whole=False):
                good = [n for n in range(len(fetched.lengths)) if fetched.begin + n not in fetched.problems]
                records = fetched.records if len(good) == len(fetched.lengths) else fetched.records[good]
                with self._lock:
                    self._found.add_decodable(records)
                enough = step.records >= most_records or step.nbytes >= most_bytes
                if closed.is_set() or self._stopped or (enough and not self.complete):
                    break
            else:
                if step.pending and not closed.is_set() and not self._stopped:
                    continue
            file = self._catalog.files[number]
            source = file.source
            return file.failure is not None or (
                source is not None and source.exact and step.end[1] >= source.count
            )

    def state(self) -> dict[str, Any]:
        """What is known so far."""
        running, ended = self._running, self._ended
        with self._lock:
            seen = self._found.records + self._found.undecodable
            if self._known is None or self._known[0] != seen:
                self._known = seen, self._columns()
            known = self._known[1]
        files = self._catalog.files if self._scope is None else [self._catalog.files[self._scope]]
        sources = [file.source for file in files]
        of = sum(source.count for source in sources if source is not None)
        counted = all(
            file.failure is not None or (file.source is not None and file.source.exact) for file in files
        )
        facts: dict[str, Any] = {"scope": "all" if self._scope is None else self._scope, "records": seen}
        facts |= {"of": of if counted else None, "exact": ended, "running": running}
        return facts | {
            "note": self._note(seen, of, exact=ended, counted=counted),
            "failure": self._failure,
            **known,
        }

    def _note(self, seen: int, of: int, *, exact: bool, counted: bool) -> str:
        if self._failure is not None:
            return self._failure
        if exact:
            return f"all {seen:,} records" + (" that can be read" if seen < of else "")
        every = f"{of:,}" if counted else f"at least {max(of, seen):,}"
        if len(self._files) > 1:
            every_file = self._all_files
            some = f"{len(self._files):,} of {every_file:,}" if len(self._files) < every_file else "all"
            return f"{seen:,} of {every} records: the first ones of {some} files"
        return f"the first {seen:,} of {every} records"

    def _columns(self) -> dict[str, Any]:
        found = self._found
        features = found.summaries()
        lists = any(feature.sequence for feature in features)
        return {
            "undecodable": found.undecodable,
            "kind": None if not features else "SequenceExample" if lists else "Example",
            "episodes": any(feature.name.startswith("steps/") for feature in features),
            "record_size": _few(found.record_sizes()),
            "columns": [column_of(feature) for feature in features],
        }


def number_of(value: Any) -> Any:
    """A number as JSON can say it."""
    return numbers([_plain(value)])[0]


def float32_of(value: Any) -> Any:
    """A number that is a float32, with few digits: the shortest that mean the same float32."""
    return numbers(np.array([value], np.float32))[0]


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if hasattr(value, "item") else value


def column_of(feature: FeatureSummary) -> dict[str, Any]:
    """The summary of one column."""
    records = feature.present + feature.missing
    kinds = {_KINDS[kind]: count for kind, count in feature.lists.items()}
    found = {
        "name": feature.name,
        "list": feature.sequence,
        "kind": max(kinds, key=lambda kind: kinds[kind]) if kinds else "unset",
        "kinds": kinds,
        "present": feature.present,
        "missing": feature.missing,
        "presence": feature.present / records if records else 0.0,
        "empty": feature.empty,
        "size": feature.size,
        "count": _few(feature.lengths),
        "steps": None if feature.steps is None else _few(feature.steps),
        "content": None if feature.strings is None else feature.strings.contents,
        "role": _role(feature),
    }
    # A condition can see a feature of one kind, and no feature list.
    lists = feature.lengths.maximum != 1
    sayable = not feature.sequence and len(kinds) == 1
    return found | _values(feature, found["kind"], lists=lists, sayable=sayable)


def _values(feature: FeatureSummary, kind: Any, *, lists: bool, sayable: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"numbers": None, "histogram": [], "top": [], "distinct": None}
    known = where.feature(feature.name)
    found["where_present"] = f"has({known})" if known and not feature.sequence else None
    if kind == "bytes" and feature.strings is not None:
        found["distinct"] = feature.strings.distinct
        found["top"] = [
            {
                "value": value.decode("utf-8", "replace"),
                "count": count,
                "where": where.equals(feature.name, value, lists=lists) if sayable else None,
            }
            for value, count in feature.strings.most_frequent
        ]
    elif kind in ("int64", "float"):
        summary = feature.numbers["int64" if kind == "int64" else "float32"]
        short = float32_of if kind == "float" else number_of
        found["numbers"] = _few(summary, short) | {
            "nan": summary.nan,
            "infinite": summary.positive_infinities + summary.negative_infinities,
            "zeros": summary.zeros,
            "distinct": summary.distinct,
        }
        found["distinct"] = summary.distinct
        found["top"] = [
            {
                "value": short(value),
                "count": count,
                "where": where.equals(feature.name, _plain(value), lists=lists) if sayable else None,
            }
            for value, count in summary.most_frequent
        ]
        bars = _integer_bars(summary) if kind == "int64" else _float_bars(summary)
        found["histogram"] = [
            {
                "low": number_of(low),
                "high": number_of(high),
                "count": count,
                "where": _bar(feature.name, low, high, closed=closed, lists=lists) if sayable else None,
            }
            for low, high, count, closed in bars
        ]
    return found


def _bar(name: str, low: Any, high: Any, *, closed: bool, lists: bool) -> str | None:
    if low == high:
        return where.equals(name, low, lists=lists)
    return where.between(name, low, high, closed=closed, lists=lists)


def _float_bars(summary: NumberSummary) -> list[tuple[float, float, int, bool]]:
    last = len(summary.histogram) - 1
    return [
        (low, high, count, at == last)
        for at, (low, high, count) in enumerate(summary.histogram)
        if count or low < high
    ]


def _integer_bars(summary: NumberSummary) -> list[tuple[int, int, int, bool]]:
    """Bars that begin at integers; each integer has one of its own, if there are few."""
    if summary.minimum is None or summary.maximum is None:
        return []
    least, most = int(summary.minimum), int(summary.maximum)
    if most - least < BINS:  # each range holds one integer
        return [(int(low), int(low), count, True) for low, _, count in summary.histogram]
    last = len(summary.histogram) - 1
    return [
        (
            math.ceil(low) if at else least,
            most if at == last else math.ceil(high),
            count,
            at == last,
        )
        for at, (low, high, count) in enumerate(summary.histogram)
    ]


def _few(summary: NumberSummary, short: Callable[[Any], Any] = number_of) -> dict[str, Any]:
    extremes = {"min": summary.minimum, "max": summary.maximum}
    found = {name: None if value is None else short(value) for name, value in extremes.items()}
    return found | {"mean": _finite(summary.mean), "deviation": _finite(summary.deviation)}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _role(feature: FeatureSummary) -> str:
    """What the values are, for the page: "picture", "sound", "text", "bytes" or "number"."""
    if feature.strings is None:
        return "number"
    contents = feature.strings.contents
    for role, kinds in (("picture", PICTURES), ("sound", SOUNDS), ("text", (TEXT,))):
        if sum(contents.get(kind, 0) for kind in kinds) * 2 > sum(contents.values()):
            return role
    return "bytes"
