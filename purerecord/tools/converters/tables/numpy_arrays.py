"""NPZ and NPY: an array for each feature, whose first axis is the records.

A feature of which records have different numbers of values, or none, is ``NAME/values``, one after the other,
and ``NAME/row_splits``, where those of each record begin and end; ``NAME/missing`` tells which records lack
it. This module must not know how an array is stored.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....errors import EncodeError, SchemaError
from ....payload.encode.cells import as_cells
from ....payload.encode.examples import encode_examples
from ....payload.parse.sequences import natural_batch
from ....payload.ragged import Ragged
from ....payload.specs import FixedLenFeature
from ....payload.wire import BYTES, FLOAT, INT64, UNSET
from ....printable import printable
from ....records import Records
from ....storage.url import is_url, local_path
from ..column_types import NAMES, misfit, types_of
from ..inputs import open_seekable
from ..job import Job
from ..outputs import name_of, new_file, size_of
from ..survey import VARYING, Seen, counts_of, survey
from .fitting import fitted
from .npy_streams import NpyReader, NpySpool

_READ_BYTES, _READ_ROWS = 1 << 23, 1 << 13  # at once
_VALUES, _SPLITS, _MISSING = "/values", "/row_splits", "/missing"
_DTYPES: dict[int, Any] = {INT64: "<i8", FLOAT: "<f4", UNSET: "<i8"}
_EPOCH = (1980, 1, 1, 0, 0, 0)  # of the members of a NPZ: the same content makes the same file


# --- Reading ----------------------------------------------------------------------------------------


def read(job: Job) -> Iterable[Records]:
    """The records of the rows of arrays."""
    if len(job.sources) > 1 and any(name_of(source).lower().endswith(".npy") for source in job.sources):
        raise ValueError("several NPY files: rows or columns? Save them as one NPZ, with numpy.savez")
    types = None if job.schema is None else types_of(job.schema)
    first: dict[str, str] | None = None
    for source in job.sources:
        with _opened(source, job) as arrays:
            words = arrays.words()
            if first is not None and words != first:
                names = words.keys() | first.keys()
                different = ", ".join(sorted(name for name in names if words.get(name) != first.get(name)))
                raise EncodeError(f"the arrays differ from those of the first file: {different}")
            first = words
            job.report.records += arrays.rows
    job.report.types = {
        name: word if types is None else str(types[name]) for name, word in (first or {}).items()
    }
    return _records(job)


def _records(job: Job) -> Iterator[Records]:
    types = None if job.schema is None else types_of(job.schema)
    for source in job.sources:
        size, told, done = size_of(source), 0, 0
        with _opened(source, job) as arrays:
            while done < arrays.rows:
                rows = min(arrays.at_once, arrays.rows - done)
                try:
                    columns = arrays.read(rows)
                    if types is None:
                        yield encode_examples(columns, floats=job.floats)
                    else:
                        yield encode_examples(fitted(columns, types, job.floats))
                except EncodeError as error:
                    error.record = None if error.record is None else error.record + done
                    raise
                done += rows
                job.progress(size * done // arrays.rows - told, 0)
                told = size * done // arrays.rows


@contextmanager
def _opened(source: Any, job: Job) -> Iterator[_Arrays]:
    """The arrays of a file. Errors get its name."""
    name = printable(name_of(source))
    try:
        with open_seekable(source) as file, ExitStack() as stack:
            file.seek(0)
            yield _arrays(file, name, stack, job)
    except EncodeError as error:
        place = name if error.record is None else f"{name}: row {error.record}"
        if error.feature is None:
            raise EncodeError(f"{place}: {error.reason}") from None
        raise misfit(place, error.feature, error.reason) from None
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise EncodeError(f"{name}: {error}") from None


def _arrays(file: Any, name: str, stack: ExitStack, job: Job) -> _Arrays:
    head = file.read(6)
    file.seek(0)
    if head == np.lib.format.MAGIC_PREFIX:
        array = NpyReader(file, os.path.basename(name).rpartition(".")[0] or "array")
        return _Arrays({("" if array.dtype.names else array.name): array}, job)
    if not head.startswith((b"PK\3\4", b"PK\5\6")):
        raise EncodeError("is neither an NPZ nor an NPY file" if head else "is empty")
    archive = stack.enter_context(zipfile.ZipFile(file))
    members = {member.removesuffix(".npy"): member for member in archive.namelist()}
    wanted = None if job.options["columns"] is None else _parts(job.options["columns"])
    return _Arrays(
        {
            stem: NpyReader(stack.enter_context(archive.open(member)), stem)
            for stem, member in members.items()
            if wanted is None or stem in wanted
        },
        job,
    )


def _parts(names: list[str]) -> set[str]:
    """The arrays that columns of these names may be made of."""
    return {part for name in names for part in (*_of_lists(name), name, name.rpartition("/")[0])}


def _of_lists(name: str) -> tuple[str, str, str]:
    return name + _VALUES, name + _SPLITS, name + _MISSING


@dataclass
class _Lists:
    """Values one after the other; those of each row begin and end at ``splits``."""

    values: NpyReader
    splits: Any
    missing: Any

    def read(self, begin: int, end: int) -> Ragged:
        """The next rows."""
        splits = self.splits[begin : end + 1]
        values = self.values.read(int(splits[-1] - splits[0]))
        missing = None if self.missing is None else self.missing[begin:end]
        return Ragged(values, splits - splits[0], missing)


class _Arrays:
    """The arrays of a file, read together."""

    def __init__(self, arrays: dict[str, NpyReader], job: Job) -> None:
        self._lists: dict[str, _Lists] = {}
        for stem in [name.removesuffix(_VALUES) for name in arrays if name.endswith(_VALUES)]:
            if stem + _SPLITS in arrays:
                self._lists[stem] = _lists(stem, arrays)
        parts = {part for stem in self._lists for part in _of_lists(stem)}
        self._plain = {name: array for name, array in arrays.items() if name not in parts}
        self._done = 0
        self._names: list[str] | None = None
        self._names = self._chosen(job)
        self.rows: int = self._checked_rows()
        widest = [array.row_bytes for array in self._plain.values()]
        for found in self._lists.values():
            widest.append(found.values.row_bytes * found.values.rows // max(1, self.rows))
        self.at_once: int = max(1, min(_READ_ROWS, _READ_BYTES // max([1, *widest])))
        for name, array in self._plain.items():
            if array.whole:
                job.report.note(f"{name}: in Fortran's order, so it is read as a whole")

    def _chosen(self, job: Job) -> list[str]:
        found = self.read(0)
        types = types_of(job.schema or {})
        asked = job.options["columns"]
        for name in (*(asked or ()), *(name for name, kept in types.items() if kept.required)):
            if name not in found:
                raise EncodeError(f"there is no array {name!r}; there is {', '.join(map(repr, found))}")
        names = list(found) if asked is None else asked
        if not names:
            raise EncodeError("there is no array in it")
        return [name for name in names if job.schema is None or name in types]

    def _checked_rows(self) -> int:
        rows = {name: array.rows for name, array in self._plain.items()}
        rows |= {name: len(found.splits) - 1 for name, found in self._lists.items()}
        name = next(iter(rows), "")
        for other, count in rows.items():
            if count != rows[name]:
                reason = f"has {count:,} rows, where {name!r} has {rows[name]:,}; choose arrays (--columns)"
                raise EncodeError(reason, feature=other)
        return int(rows.get(name, 0))

    def read(self, rows: int) -> dict[str, Any]:
        """The next rows of all columns. A structured array has one for each field."""
        columns: dict[str, Any] = {}
        for name, array in self._plain.items():
            values = array.read(rows)
            if values.dtype.names is None:
                columns[name] = values
            for field in values.dtype.names or ():
                columns[f"{name}/{field}" if name else field] = values[field]
        for name, found in self._lists.items():
            columns[name] = found.read(self._done, self._done + rows)
        self._done += rows
        return columns if self._names is None else {name: columns[name] for name in self._names}

    def words(self) -> dict[str, str]:
        """What the columns hold, in words; an EncodeError about one that Examples cannot hold."""
        return {name: _words(name, column) for name, column in self.read(0).items()}


def _lists(name: str, arrays: dict[str, NpyReader]) -> _Lists:
    values, splits, missing = (arrays.get(part) for part in _of_lists(name))
    assert values is not None
    assert splits is not None
    ends = splits.read(splits.rows)
    good = splits.dtype.kind in "iu" and len(splits.shape) == 1 and splits.rows > 0
    if (
        not good
        or ends[0] != 0
        or ends[-1] != values.rows
        or bool((np.diff(ends.astype(np.int64)) < 0).any())
    ):
        raise EncodeError(
            f"row_splits must ascend from 0 to {values.rows}, the number of values", feature=name
        )
    if missing is not None and (missing.shape != (splits.rows - 1,) or missing.dtype != np.bool_):
        raise EncodeError("missing must be a boolean for each row", feature=name)
    return _Lists(values, ends.astype(np.int64), None if missing is None else missing.read(missing.rows))


def _words(name: str, column: Any) -> str:
    kind = as_cells(name, column).kind
    if isinstance(column, Ragged):
        dtype, shape = column.values.dtype, " list"
    else:
        dtype, shape = column.dtype, "".join(f"[{size}]" for size in column.shape[1:])
    rules = {"b": " (from bool)", "U": " (text)"}
    rule = " (rounded from double)" if dtype == np.float64 else rules.get(dtype.kind, "")
    return f"{NAMES[kind]}{shape}{rule}"


# --- Writing ----------------------------------------------------------------------------------------


def write(job: Job) -> Callable[[], None]:
    """Arrays, each through a temporary file of its own, because all grow at the same time."""
    found = survey(job, job.options["columns"])
    if not found.features:
        raise SchemaError("no record has a feature, so there is no array to write")
    plain = hasattr(job.out, "write") or name_of(job.out).lower().endswith(".npz")
    layouts = {name: _layout(name, seen, job) for name, seen in found.features.items()}
    if not plain and (len(layouts) > 1 or any(layout.lists for layout in layouts.values())):
        raise ValueError("an NPY file holds one array; name an NPZ file, or one feature (--columns)")
    job.report.records, job.report.types = found.rows, found.types()

    def work() -> None:
        with _spools(job, layouts) as spools, new_file(job.out) as file:
            for records in job.batches():
                columns, _ = natural_batch(records, job.options["columns"])
                for name, layout in layouts.items():
                    layout.write(spools, columns.get(name), len(records))
            if plain:
                _zip(spools, file)
            else:
                next(iter(spools.values())).finish(file)

    return work


@dataclass
class _Layout:
    """How a feature is stored: as an array of ``shape``, or as ``lists``, perhaps with ``missing`` ones."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    lists: bool
    missing: bool

    def arrays(self) -> dict[str, tuple[Any, tuple[int, ...]]]:
        """The arrays: the type and the shape of a row of each."""
        if not self.lists:
            return {self.name: (self.dtype, self.shape)}
        values, splits, missing = _of_lists(self.name)
        arrays: dict[str, tuple[Any, tuple[int, ...]]] = {values: (self.dtype, ()), splits: ("<i8", ())}
        return arrays | ({missing: (np.bool_, ())} if self.missing else {})

    def write(self, spools: dict[str, NpySpool], column: Any, rows: int) -> None:
        """Write a batch of ``rows`` records, of which all lack the feature if ``column`` is None."""
        values, splits, missing = _of_lists(self.name)
        counts = np.full(rows, -1) if column is None else counts_of(column)
        if column is not None and len(column.values):
            listed = column.values.tolist() if self.dtype.kind == "S" else column.values
            spools[values if self.lists else self.name].write(np.asarray(listed, self.dtype))
        if self.lists:
            before = spools[splits].last
            spools[splits].write(before + np.cumsum(np.maximum(counts, 0)))
        if self.missing:
            spools[missing].write(counts < 0)


def _layout(name: str, seen: Seen, job: Job) -> _Layout:
    if seen.ends_in_nul:
        reason = "a string ends in a NUL byte, which numpy would cut off; leave it out (--columns)"
        raise SchemaError(reason, feature=name)
    dtype = np.dtype(f"S{max(1, seen.longest)}" if seen.kind == BYTES else _DTYPES[seen.kind])
    if seen.missing or seen.width in (None, VARYING):
        return _Layout(name, dtype, (), lists=True, missing=seen.missing > 0)
    spec = (job.schema or {}).get(name)
    width = seen.width or 0
    shape: tuple[int, ...] = (width,) if width > 1 else ()
    if isinstance(spec, FixedLenFeature) and int(np.prod(spec.shape, dtype=np.int64)) == width:
        shape = tuple(spec.shape)
    return _Layout(name, dtype, shape, lists=False, missing=False)


@contextmanager
def _spools(job: Job, layouts: dict[str, _Layout]) -> Iterator[dict[str, NpySpool]]:
    """A temporary file for each array, beside the target."""
    beside = (
        None
        if hasattr(job.out, "write") or is_url(local_path(job.out))
        else os.path.dirname(name_of(job.out))
    )
    folder = tempfile.mkdtemp(prefix=".arrays-", dir=beside or None)
    spools: dict[str, NpySpool] = {}
    try:
        for layout in layouts.values():
            for name, (dtype, shape) in layout.arrays().items():
                spools[name] = NpySpool(os.path.join(folder, str(len(spools))), dtype, shape)
                if layout.lists and name.endswith(_SPLITS):
                    spools[name].write(np.zeros(1, np.int64))
        yield spools
    finally:
        for spool in spools.values():
            spool.close()
        shutil.rmtree(folder, ignore_errors=True)


def _zip(spools: dict[str, NpySpool], file: Any) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, spool in spools.items():
            member = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            with archive.open(member, "w", force_zip64=True) as target:
                spool.finish(target)
