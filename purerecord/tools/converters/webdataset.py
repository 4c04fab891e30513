"""Tar archives as webdataset has them: members ``KEY.EXTENSION``, those of one key one after the other.

A sample is an Example: each extension is a feature, ``__key__`` the key. Integers (``.cls``) and arrays
(``.npy``) become numbers, everything else is bytes as they are. Nothing is unpickled or unpacked to a disk.
This module must not know how a tar archive is laid out.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ...errors import EncodeError, SchemaError
from ...payload.columns.gather import Column
from ...payload.encode.examples import encode_examples
from ...payload.example import to_list
from ...payload.parse.sequences import natural_batch
from ...payload.wire import BYTES, FLOAT, INT64
from ...printable import printable
from ...records import Records
from ...storage.bz2_xz_zstd import sniff_member
from ...storage.url import Url
from .column_types import GREATEST_INT, LEAST_INT, NAMES, Collected, FeatureType, misfit, types_of
from .inputs import open_plain
from .job import Job
from .outputs import name_of, new_plain_file
from .row_lists import RowLists, row_lists
from .survey import Seen, survey, survey_of
from .tar_members import Member, TarMembers

KEY, SHAPE = "__key__", "/shape"
_INTEGERS = {"cls", "cls2", "class", "count", "index", "inx", "id"}  # webdataset reads these as integers
_ARRAY = "npy"
# The key is everything up to the first dot behind the last slash.
_NAME = re.compile(r"((?:.*/)?[^./]+)\.([^/]+)", re.DOTALL)
_META = re.compile(r"(.*/)?__[^/]*__(/.*)?", re.DOTALL)
_EXTENSION = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_BATCH_SAMPLES, _BATCH_BYTES = 4096, 1 << 23


class _Sample(NamedTuple):
    """The members of one key: the values by extension, and where the sample is."""

    place: str
    features: dict[str, tuple[int, list[Any]]]
    size: int


# --- Reading ----------------------------------------------------------------------------------------


def read(job: Job) -> Iterable[Records]:
    """The records of samples."""
    types = _Types(job)
    samples = _samples(job, types)
    if job.read_again:
        for sample in _samples(job, types, quiet=True):
            types.see(sample)
    else:
        first = list(_some(samples))
        for sample in first:
            types.see(sample)
        samples = chain(first, samples)
        job.report.note(f"a stream: the features are those of the first {len(first):,} samples")
    types.check_seen()
    job.report.types, job.report.records = types.words(), types.samples
    return _records(job, samples, types)


def _records(job: Job, samples: Iterator[_Sample], types: _Types) -> Iterator[Records]:
    while batch := list(_some(samples)):
        for name in {name for sample in batch for name in sample.features} - types.features.keys():
            types.features[name] = FeatureType(
                next(s.features[name][0] for s in batch if name in s.features), None
            )
            job.report.note(f"{name}: none of the first samples has it")
        cells = {}
        for name, feature in types.features.items():
            collected = Collected(name, feature)
            for sample in batch:
                kind, values = sample.features.get(name, (feature.kind, None))
                try:
                    collected.add(types.fitting(name, kind, values))
                except EncodeError as error:
                    raise misfit(sample.place, name, error.reason) from None
            try:
                cells[name] = collected.cells(job.floats)
            except EncodeError as error:
                raise misfit(batch[error.record or 0].place, name, error.reason) from None
        yield encode_examples(cells) if cells else Records.of([b""] * len(batch))


def _some(samples: Iterator[_Sample]) -> Iterator[_Sample]:
    """The next samples, as many as are encoded together."""
    count = size = 0
    for sample in samples:
        yield sample
        count, size = count + 1, size + sample.size
        if count >= _BATCH_SAMPLES or size >= _BATCH_BYTES:
            break


@dataclass
class _Types:
    """The features that samples have, and the kind of each."""

    job: Job
    features: dict[str, FeatureType] = field(default_factory=dict)
    samples: int = 0

    def __post_init__(self) -> None:
        self._given = None if self.job.schema is None else types_of(self.job.schema)
        self._asked: list[str] | None = self.job.options["columns"]
        self._renamed: dict[str, str] = self.job.options["members"] or {}
        self._has: dict[str, int] = {}
        self._lacks: dict[str, str] = {}  # the first sample that lacks a feature
        self.features = dict(self._given or {})

    def name(self, extension: str) -> str | None:
        """The feature of an extension; None if it is left out."""
        name = self._renamed.get(extension, extension)
        taken = (self._asked is None or name in self._asked) and (self._given is None or name in self._given)
        return name if taken else None

    def see(self, sample: _Sample) -> None:
        """Take a sample into account."""
        for name, (kind, _) in sample.features.items():
            if self._given is None and self.features.setdefault(name, FeatureType(kind, None)).kind != kind:
                if {kind, self.features[name].kind} != {INT64, FLOAT}:
                    reason = f"{NAMES[kind]}, where samples before hold {NAMES[self.features[name].kind]}"
                    raise misfit(sample.place, name, reason)
                self.features[name] = FeatureType(FLOAT, None)
            self._has[name] = self._has.get(name, 0) + 1
            if self._has[name] <= self.samples and name not in self._lacks:
                self._lacks[name] = "an earlier one"
        for name in self.features.keys() - sample.features.keys():
            self._lacks.setdefault(name, sample.place.rpartition(": ")[2])
        self.samples += 1

    def fitting(self, name: str, kind: int, values: list[Any] | None) -> list[Any] | None:
        """Values of a kind as those of the feature's kind."""
        wanted = self.features[name].kind
        if values is None or kind == wanted:
            return values
        if (kind, wanted) == (INT64, FLOAT):
            return [float(value) for value in values]
        if (kind, wanted) == (BYTES, INT64):
            return [_integer(values[0])]
        raise EncodeError(
            f"{NAMES[kind]}, where {'the schema says' if self._given else 'others hold'} {NAMES[wanted]}"
        )

    def check_seen(self) -> None:
        """Raise an error for a name that was asked for and that no sample has."""
        for name in (*(self._asked or ()), *(n for n, kept in (self._given or {}).items() if kept.required)):
            if name not in self._has:
                raise EncodeError("no sample has it", feature=name)

    def words(self) -> dict[str, str]:
        """Each feature in a few words."""
        words = {}
        for name, feature in self.features.items():
            text = str(feature) if self._given else NAMES[feature.kind]
            missing = self.samples - self._has.get(name, 0)
            if missing:
                text += f", missing in {missing:,}, first {printable(self._lacks.get(name, ''))}"
            words[name] = text
        return words


def _samples(job: Job, types: _Types, *, quiet: bool = False) -> Iterator[_Sample]:
    for source in job.sources:
        name = printable(name_of(source))
        progress = (lambda size, records: None) if quiet else job.progress
        key: str | None = None
        members, size = dict[str, Any](), 0
        for member, found, extension in _members(job, source, name, progress, quiet=quiet):
            if key not in (None, found):
                yield _Sample(f"{name}: {printable(key or '')}", members, size)
            if found != key:
                key, members, size = found, dict[str, Any](), 0
                if (kept := types.name(KEY)) is not None:
                    members[kept] = (BYTES, [found.encode("utf-8", "surrogateescape")])
            if (kept := types.name(extension)) is not None:
                if kept in members:
                    raise EncodeError(
                        f"{name}: {printable(member.name)}: there are two of this name in the sample"
                    )
                try:
                    members.update(_values(kept, extension, member, quiet=quiet and job.read_again))
                except EncodeError as error:
                    raise EncodeError(f"{name}: {printable(member.name)}: {error.reason}") from None
                size += member.size
        if key is not None:
            yield _Sample(f"{name}: {printable(key)}", members, size)


def _members(
    job: Job, source: Any, name: str, progress: Callable[[int, int], None], *, quiet: bool
) -> Iterator[tuple[Member, str, str]]:
    """The files of an archive, with their keys and extensions."""
    with _opened(source, progress) as file:
        members = iter(TarMembers(file))
        while True:
            try:
                member = next(members, None)
            except EncodeError as error:
                raise EncodeError(f"{name}: {error.reason}") from None
            if member is None:
                return
            parts = _NAME.fullmatch(member.name)
            if member.is_folder or _META.fullmatch(member.name):
                continue
            if not member.is_file or parts is None:
                reason = "members without an extension" if member.is_file else "members that are no files"
                if not quiet or not job.read_again:
                    job.report.skip(reason, member.name)
                continue
            yield member, parts[1], parts[2].lower()


@contextmanager
def _opened(source: Any, progress: Callable[[int, int], None]) -> Iterator[Any]:
    """An archive as plain bytes; a local file that is not compressed can skip what nobody reads."""
    if isinstance(source, str) and not isinstance(source, Url):
        with open(source, "rb") as file:
            head = file.read(6)
            if not head.startswith(b"\x1f\x8b") and not sniff_member(head):
                file.seek(0)
                yield file
                progress(file.tell(), 0)
                return
    with open_plain(source, progress) as plain:
        yield plain


def _kind(extension: str) -> str:
    return extension.rpartition(".")[2]


def _values(name: str, extension: str, member: Member, *, quiet: bool) -> dict[str, tuple[int, list[Any]]]:
    """The features of a member; if ``quiet``, only their kinds matter."""
    last = _kind(extension)
    if last == _ARRAY:
        return _array(name, member.read())
    if last in _INTEGERS:
        return {name: (INT64, [] if quiet else [_integer(member.read())])}
    return {name: (BYTES, [] if quiet else [member.read()])}


def _integer(data: bytes) -> int:
    try:
        value = int(data)
    except ValueError:
        raise EncodeError(f"{printable(data[:20].decode(errors='replace'))!r} is no integer") from None
    if not LEAST_INT <= value <= GREATEST_INT:
        raise EncodeError("an integer that int64 cannot hold")
    return value


def _array(name: str, data: bytes) -> dict[str, tuple[int, list[Any]]]:
    """The numbers of an array, and its shape if it is no vector."""
    if not data.startswith(np.lib.format.MAGIC_PREFIX):
        raise EncodeError("it is no array: it does not begin like one that numpy has saved")
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
            raise ValueError(f"an array of {getattr(array, 'dtype', 'several')}")
    except (ValueError, EOFError, OSError, OverflowError) as error:
        raise EncodeError(f"it is no array of numbers: {str(error).splitlines()[0]}") from None
    except MemoryError:
        raise EncodeError("it is no array of numbers: memory cannot hold what its header states") from None
    kind, values = to_list(array.reshape(-1), name)
    found: dict[str, tuple[int, list[Any]]] = {name: (kind, list(values.tolist()))}
    if array.ndim != 1:
        found[name + SHAPE] = (INT64, list(array.shape))
    return found


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """A member for each feature that a record has."""
    batches = job.batches()
    if job.read_again:
        found = survey(job, job.options["columns"])
        job.report.records = found.rows
    else:
        first = next(batches, Records.of([]))
        batches = chain([first], batches)
        found = survey_of([first], job.options["columns"])
        job.report.note(f"a stream: the features are those of its first {len(first):,} records")
    layout = _Layout(job, found.features)
    job.report.types = {name: f"{words} ({layout.role(name)})" for name, words in found.types().items()}

    def work() -> None:
        with (
            new_plain_file(job.out) as file,
            tarfile.open(fileobj=file, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            done = 0
            for records in batches:
                layout.write(tar, records, done)
                done += len(records)

    return work


class _Layout:
    """Which feature is the key, and which member each of the others is."""

    def __init__(self, job: Job, features: dict[str, Seen]) -> None:
        self._job = job
        self._chosen: list[str] | None = job.options["columns"]
        self._key: str | None = job.options["key"] or (KEY if KEY in features else None)
        self._last: str | None = None
        by_feature = {feature: extension for extension, feature in (job.options["members"] or {}).items()}
        for name in (*by_feature, *([self._key] if self._key else [])):
            if name not in features:
                raise SchemaError("no record has it", feature=name, problem="missing")
        self._extensions: dict[str, str] = {}
        for name in features:
            shaped = name.endswith(SHAPE) and name.removesuffix(SHAPE) in features
            if name != KEY and not shaped and (name != self._key or name in by_feature):
                self._extensions[name] = by_feature.get(name, name)
        self._check(features)

    def _check(self, features: dict[str, Seen]) -> None:
        """Raise an error if a feature is no member, with what to say instead."""
        for name, extension in self._extensions.items():
            seen, last = features[name], _kind(extension)
            good = _EXTENSION.fullmatch(extension) and extension == extension.lower()
            if seen.kind == BYTES:
                fits = seen.width == 1 and last not in _INTEGERS and last != _ARRAY
            else:
                fits = last == _ARRAY or (last in _INTEGERS and seen.width == 1 and seen.kind == INT64)
            if not (good and fits):
                reason = f"as {extension!r} it is no member that webdataset reads as {seen.type}"
                raise SchemaError(f"{reason}; say --members {self._advice(features)}", feature=name)
        if len(set(self._extensions.values())) < len(self._extensions):
            raise ValueError("two features have one extension")

    def _advice(self, features: dict[str, Seen]) -> str:
        """Extensions that would do."""
        parts = []
        for name in self._extensions:
            seen = features[name]
            stem = re.sub(r"[^a-z0-9_-]", "_", name.rpartition("/")[2].lower()) or "x"
            if seen.kind == BYTES:
                last = "txt" if seen.text else "jpg"
            else:
                last = "cls" if seen.kind == INT64 and seen.width == 1 else _ARRAY
            parts.append(f"{stem}.{last}={name}")
        return printable(",".join(parts))

    def role(self, name: str) -> str:
        """What becomes of a feature."""
        if name in self._extensions:
            return f"as .{self._extensions[name]}"
        return "the key" if name == self._key else "the shape"

    def write(self, tar: tarfile.TarFile, records: Records, before: int) -> None:
        """Write the members of records, before which there were so many."""
        columns, _ = natural_batch(records, self._chosen)
        if later := columns.keys() - self._extensions.keys() - {KEY, self._key}:
            for name in sorted(later):
                if not name.endswith(SHAPE) or name.removesuffix(SHAPE) not in self._extensions:
                    raise SchemaError(
                        "comes after the first records of a stream", feature=name, record=before
                    )
        rows = {name: row_lists(column) for name, column in columns.items()}
        for row in range(len(records)):
            key = self._key_of(rows, row, before + row)
            members = 0
            for name, extension in self._extensions.items():
                values = rows[name][row] if name in rows else None
                if values is None:
                    continue
                shape = rows[name + SHAPE][row] if name + SHAPE in rows else None
                data = self._data(name, columns[name], values, shape, before + row)
                header = tarfile.TarInfo(f"{key}.{extension}")
                header.size = len(data)
                tar.addfile(header, io.BytesIO(data))
                members += 1
            if not members:
                self._job.report.skip("records without a member", f"record {before + row}")
        tar.getmembers().clear()  # it would keep them all

    def _key_of(self, rows: dict[str, RowLists], row: int, record: int) -> str:
        if self._key is None:
            return f"{record:09d}"
        values = rows[self._key][row] if self._key in rows else None
        if values is None or len(values) != 1:
            raise SchemaError("has not one value, so there is no key", feature=self._key, record=record)
        key = values[0].decode("utf-8", "surrogateescape") if isinstance(values[0], bytes) else str(values[0])
        if self._key != KEY:  # a file name, which may have an extension
            folder, slash, base = key.rpartition("/")
            key = f"{folder}{slash}{base.partition('.')[0]}"
        parts = key.split("/")
        bad = re.search(r"[\x00-\x1f\\]", key) or key.startswith("/") or not parts[-1] or "." in parts[-1]
        if bad or ".." in parts or _META.fullmatch(key):
            reason = f"{key[:80]!r} is no key: it needs a relative path, without a dot in its last part"
            raise SchemaError(f"{reason}; say another feature (--key)", feature=self._key, record=record)
        if key == self._last:
            reason = f"the key {key[:80]!r} is that of the record before, so both would be one sample"
            raise SchemaError(reason, feature=self._key, record=record)
        self._last = key
        return key

    def _data(
        self, name: str, column: Column, values: list[Any], shape: list[Any] | None, record: int
    ) -> bytes:
        extension = self._extensions[name]
        last = _kind(extension)
        if last == _ARRAY and column.kind in (INT64, FLOAT):
            array = np.array(values, np.int64 if column.kind == INT64 else np.float32)
            if (
                shape is not None
                and int(np.prod(shape, dtype=np.int64)) == len(array)
                and min(shape, default=0) >= 0
            ):
                array = array.reshape(shape)
            file = io.BytesIO()
            np.save(file, array, allow_pickle=False)
            return file.getvalue()
        integer = last in _INTEGERS
        if len(values) != 1 or column.kind != (INT64 if integer else BYTES):
            raise SchemaError(
                f"has {len(values)} values, where a .{extension} has one", feature=name, record=record
            )
        return str(values[0]).encode() if integer else bytes(values[0])
