"""Random access: ``RecordFile``, a ``Sequence[bytes]`` over one file or many shards.

It reads by position, so threads may share it. A pickle holds no open file, so worker processes may have it
too. An index says where the records are: the caller gives it, or it lies beside the file, or it is built from
the headers on first use. This module does not know what a payload means.
"""

from __future__ import annotations

import io
import os
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate, chain
from operator import index as as_index
from typing import Any, SupportsIndex, TypeVar, Union, overload

import numpy as np

from .. import public
from ..bytes_column import Chosen, chosen_numbers
from ..errors import CompressionError, CorruptionError, StaleIndexError
from ..records import Origins, Records
from ..storage.file_handles import CachedFile, OpenFiles
from ..storage.fork_lock import ForkLock
from ..storage.inflate import decode_block_header, inflate_block
from ..storage.local_cache import cache_of
from ..storage.paths import is_stream, resolve_paths
from ..storage.remote_file import AHEAD, until_seen_twice
from ..storage.url import Url, is_url, stored
from . import frames
from .frame_chain import split
from .frames import FOOTER, HEADER, OVERHEAD
from .index import Index, Offsets, build_index, has_index, index_path, load_index, not_seekable
from .looks_like import detect, head_of
from .reader import RecordReader

# Frames are read and checked together, up to about this many bytes.
_BYTES_AT_ONCE = 1 << 22
# A loop over all records reads this many at a time.
_RECORDS_AT_ONCE = 1024
# Files that a repr names, at most.
_NAMED_FILES = 4
# Inflated blocks of a blocked GZIP file that are kept, for each file.
_CACHED_BLOCKS = 4


_Numbers = Union[range, Offsets]
_Item = TypeVar("_Item")
_Got = TypeVar("_Got")


@public
class RecordFile(Sequence[bytes]):
    """The records of one file, or of many shards, by number.

    ``index`` is an ``Index``, the path of one, or a list of those, one for each file. Without it, the index
    beside the file (``<path>.index``) is used, or one is built on first use. A slice, an array of numbers or
    a mask gives a ``RecordFile`` of these records, which are read when they are asked for.

    >>> records = RecordFile("train-*.tfrecord")
    >>> len(records), records[0], records[-10:]
    """

    def __init__(
        self,
        path: Any,
        *,
        index: Any = None,
        verify: bool = True,
        storage_options: Mapping[str, Any] | None = None,
        filesystem: Any = None,
    ) -> None:
        self._paths = tuple(resolve_paths(stored(path, storage_options, filesystem)))
        if streams := list(filter(is_stream, self._paths)):
            raise ValueError(f"{streams[0]}: RecordFile needs a regular file; read_records reads this too")
        indexes = index if isinstance(index, (list, tuple)) else [index]
        if index is None:
            indexes = [None] * len(self._paths)
        if len(indexes) != len(self._paths):
            raise ValueError(f"{len(self._paths)} files need as many indexes, not {len(indexes)}")
        indexes = [_index_stored(given, storage_options, filesystem) for given in indexes]
        files = OpenFiles()
        self._shards = [
            _Shard(name, given, verify, files) for name, given in zip(self._paths, indexes, strict=True)
        ]
        self._numbers: _Numbers | None = None  # the chosen records; None means all

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, in the order of their records."""
        return self._paths

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, key: int) -> bytes: ...
    @overload
    def __getitem__(self, key: slice | Chosen) -> RecordFile: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, key: SupportsIndex) -> bytes: ...
    def __getitem__(self, key: SupportsIndex | slice | Chosen) -> bytes | RecordFile:
        if isinstance(key, slice):
            return self._part(self._all()[key])
        try:
            index = as_index(key)  # type: ignore[arg-type]
        except TypeError:
            return self._part(self._chosen(chosen_numbers(key, len(self))))
        try:
            number = int(self._all()[index])
        except IndexError:
            raise IndexError(f"record {index} of {len(self)}") from None
        return self._one(number)

    def _part(self, numbers: _Numbers) -> RecordFile:
        part = object.__new__(RecordFile)
        part.__dict__.update(self.__dict__)
        part._numbers = numbers
        return part

    def __getitems__(self, indices: Sequence[int]) -> list[bytes]:
        """Several records, in the order of ``indices``, read and checked together."""
        all_numbers = self._all()
        try:
            numbers = np.array([all_numbers[index] for index in indices], np.int64)
        except IndexError:
            count = len(all_numbers)
            outside = next(index for index in indices if not -count <= index < count)
            raise IndexError(f"record {outside} of {count}") from None
        wanted, places = _sorted(numbers)
        found: list[bytes] = []
        for some in self._portions(wanted):
            records = self._gather(some)
            found += map(self._one, some.tolist()) if records is None else records
        return list(map(found.__getitem__, places.tolist()))

    _getitems = __getitems__  # the name that grain uses

    def fetch(self, numbers: Offsets) -> Sequence[bytes]:
        """The records with these numbers, which are not negative, in this order.

        If all files are uncompressed, the result is ``Records``: what is read in order is put into that order
        in one buffer. This makes a shuffle over whole files fast.
        """
        chosen = self._chosen(numbers)
        wanted, places = _sorted(chosen)
        if (records := self._gather(wanted)) is None:
            return self.__getitems__(numbers.tolist())  # also raises the exact error
        return records if wanted is chosen else records.take(places)

    def _portions(self, wanted: Offsets) -> list[Offsets]:
        """``wanted``, which ascend, in portions of about ``_BYTES_AT_ONCE`` bytes of frames."""
        if not self._plain:
            return [wanted]
        sizes = [np.empty(0, np.int64)]
        sizes += [shard.sizes(inside) for shard, inside in self._by_shard(wanted)]
        reached = np.cumsum(np.concatenate(sizes)) // _BYTES_AT_ONCE
        return np.split(wanted, np.flatnonzero(np.diff(reached)) + 1)

    def _gather(self, wanted: Offsets) -> Records | None:
        """These records of all files, which ascend, read into one buffer and checked together.

        None if a file is compressed, or if something is wrong.
        """
        if not self._plain or not len(wanted):
            return None
        parts = list(self._by_shard(wanted))
        read = _for_each(
            parts, lambda part: part[0].read_frames(part[1]), far=any(shard.is_far for shard, _ in parts)
        )
        data = b"".join(chain.from_iterable(frames for _, frames in read))
        records = _checked(data, np.concatenate([sizes for sizes, _ in read]), verify=self._shards[0].verify)
        if records is not None:
            records.origins = Origins(self._paths, *self._locate(wanted))
        return records

    def _by_shard(self, wanted: Offsets) -> Iterator[tuple[_Shard, Offsets]]:
        """The shards of these records of all files, which ascend, and their numbers there."""
        cuts = np.searchsorted(wanted, self._bounds)
        for number in np.flatnonzero(np.diff(cuts)).tolist():
            inside = wanted[cuts[number] : cuts[number + 1]] - self._bounds[number]
            yield self._shards[number], inside

    def _one(self, number: int) -> bytes:
        """Record ``number`` of all files."""
        shard = bisect_right(self._ends, number)
        return self._shards[shard].read_one(number - (self._ends[shard - 1] if shard else 0))

    def locate(self, numbers: Offsets) -> tuple[Offsets, Offsets]:
        """The files of these records, as places in ``paths``, and their numbers there; none is negative."""
        return self._locate(self._chosen(numbers))

    def load_indexes(self) -> list[Index | None]:
        """The index of each file, loaded or built now if need be; None for a file that cannot seek."""
        self._load_given_indexes()
        return [shard.index for shard in self._shards]

    def _load_given_indexes(self) -> None:
        """Load the indexes of remote files that were given or lie beside the files, several at a time."""
        if len(self._shards) > 1 and not all("index" in shard.__dict__ for shard in self._shards):
            remote = [shard for shard in self._shards if shard.is_far]
            _for_each(remote, lambda shard: shard.given_index, far=True)

    def __iter__(self) -> Iterator[bytes]:
        if self._numbers is None and any(shard.index is None for shard in self._shards):
            return iter(RecordReader(self._paths, verify=self._shards[0].verify))
        return iter(_Loop(self))

    def __records__(self) -> Records:
        """All records in memory, each with its file and its number there; for ``Records.of``."""
        if self._numbers is None:
            return Records.concat(RecordReader(self._paths, verify=self._shards[0].verify).batches())
        records = Records.of(list(self))
        records.origins = Origins(self._paths, *self._locate(np.array(self._numbers, np.int64)))
        return records

    def __getstate__(self) -> dict[str, Any]:
        # Another process opens the files itself.
        return {**self.__dict__, "_shards": [shard.arguments() for shard in self._shards]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        files = OpenFiles()
        shards = [_Shard(path, index, verify, files) for path, index, verify in state["_shards"]]
        self.__dict__.update(state, _shards=shards)

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self._paths[:_NAMED_FILES]))
        if len(self._paths) != 1:
            more = len(self._paths) - _NAMED_FILES
            names = f"[{names}, ... {more} more]" if more > 0 else f"[{names}]"
        if self._numbers is None:
            return f"RecordFile({names})"
        if not isinstance(self._numbers, range):
            return f"RecordFile({names})[<{len(self._numbers)} numbers>]"
        start, stop, step = self._numbers.start, self._numbers.stop, self._numbers.step
        return f"RecordFile({names})[{start}:{stop}{'' if step == 1 else f':{step}'}]"

    def _repr_html_(self) -> str:
        from ..notebook import show_record_file  # noqa: PLC0415 - only a notebook asks for it

        if self._numbers is not None:
            return show_record_file(self, len(self._numbers), part=True)
        # Asking for the length could read all files.
        loaded = all(shard.__dict__.get("index") is not None for shard in self._shards)
        return show_record_file(self, len(self) if loaded else None)

    def _chosen(self, numbers: Offsets) -> Offsets:
        """The numbers, among the records of all files, of those of these records."""
        every = self._all()
        return every.start + numbers * every.step if isinstance(every, range) else every[numbers]

    def _all(self) -> _Numbers:
        """The numbers of these records among the records of all files."""
        return range(self._ends[-1] if self._ends else 0) if self._numbers is None else self._numbers

    @cached_property
    def _ends(self) -> list[int]:
        self._load_given_indexes()
        return list(accumulate(map(len, self._shards)))

    @cached_property
    def _plain(self) -> bool:
        """Whether all files are uncompressed."""
        return all(index is not None and index.first_records is None for index in self.load_indexes())

    @cached_property
    def _bounds(self) -> Offsets:
        return np.array([0, *self._ends], np.int64)

    def _locate(self, numbers: Offsets) -> tuple[Offsets, Offsets]:
        """The shards of these records of all files, and their numbers there."""
        shards = np.searchsorted(self._bounds[1:], numbers, side="right")
        return shards, numbers - self._bounds[shards]


def _index_stored(given: Any, storage_options: Mapping[str, Any] | None, filesystem: Any) -> Any:
    """An index that was given, with what opens it if it is the URL of one."""
    if isinstance(given, (str, bytes, os.PathLike)) and (
        filesystem is not None or is_url(os.fsdecode(given))
    ):
        return stored(given, storage_options, filesystem)
    return given


class _Loop:
    """A loop over all records of a ``RecordFile``, in order."""

    def __init__(self, records: RecordFile) -> None:
        self._records = records
        self._current: Iterator[bytes] = iter(())
        self._next = 0  # the number of the first record after these
        self._careful = 0  # before this number, records are read one by one: one of them is damaged

    def __iter__(self) -> Iterator[bytes]:
        # An error ends a generator for good. The loop then continues where it was, one by one.
        return chain(self._generate(), iter(self._one, None))

    def _generate(self) -> Iterator[bytes]:
        records = self._records
        while True:
            yield from self._current
            begin = self._next
            step = _RECORDS_AT_ONCE if begin >= self._careful else 1
            numbers = range(begin, min(begin + step, len(records)))
            if not numbers:
                return
            try:
                read = iter(records.__getitems__(numbers))
            except CorruptionError:
                if step == 1:
                    raise
                self._careful = numbers.stop
                continue
            self._current, self._next = read, numbers.stop

    def _one(self) -> bytes | None:
        for record in self._generate():
            return record
        return None


class _Shard:
    """The records of one file, by number."""

    def __init__(self, path: str, index: Any, verify: bool, files: OpenFiles) -> None:
        self.path = path
        self.verify = verify
        self._given = index
        self._files = files
        self._lock = ForkLock()
        self._blocks: OrderedDict[int, Records] = OrderedDict()

    @property
    def is_far(self) -> bool:
        """Whether each read of the file is a request to a store."""
        return isinstance(self.path, Url) and cache_of(self.path) is None

    def arguments(self) -> tuple[str, Any, bool]:
        """The arguments to make this again, with the index if it is loaded already, but without the files."""
        return self.path, self.__dict__.get("index", self._given), self.verify

    @cached_property
    def index(self) -> Index | None:
        """Where the records are; None for a compressed file that cannot seek."""
        if self._cannot_seek:
            return None
        if self.given_index is not None:
            return self.given_index
        try:
            return self._built()
        except io.UnsupportedOperation:  # ordinary GZIP after the blocks
            return None

    @cached_property
    def _cannot_seek(self) -> bool:
        head = head_of(self._files.get(self.path))
        return bool(detect(head)) and decode_block_header(head) is None

    @cached_property
    def given_index(self) -> Index | None:
        """The index that was given or lies beside the file; None without one, or if the file cannot seek."""
        given = self._given
        if self._cannot_seek:
            return None
        if given is None and has_index(self.path):
            given = index_path(self.path)
        if given is None:
            return None
        index = given if isinstance(given, Index) else load_index(given)
        index.check(self.path)
        return index

    def _surely(self, work: Callable[[], _Got]) -> _Got:
        """The result of ``work``, for which damage on the way from a store is no error."""
        return until_seen_twice(self._files.get(self.path), work)

    def _built(self) -> Index:
        """The index, built now; a local cache keeps that of a remote file."""
        file = self._files.get(self.path)
        if not isinstance(file, CachedFile):
            return build_index(self.path)
        beside = index_path(file.path)
        with suppress(FileNotFoundError, CorruptionError, StaleIndexError):
            index = load_index(beside)
            index.check(self.path)
            return index
        index = build_index(self.path)
        with suppress(OSError):  # it was only to save time
            index.save(beside)
        return index

    @cached_property
    def _counted(self) -> int:
        return sum(map(len, RecordReader(self.path, verify=False).batches()))

    def __len__(self) -> int:
        return self._counted if self.index is None else len(self.index)

    def read_one(self, number: int) -> bytes:
        """Record ``number``."""
        if not isinstance(self.path, Url):
            return self._read_one(number)
        return self._surely(lambda: self._read_one(number))

    def _read_one(self, number: int) -> bytes:
        index = self._seekable()
        if index.first_records is not None:
            block = bisect_right(index.first_records, number) - 1
            return self._block(index, block)[number - int(index.first_records[block])]
        offset, size = int(index.offsets[number]), int(index.sizes[number])
        data = self._read_at(offset, size)
        try:
            if frames.whole_size(data, len(data)) != size:
                raise index.contradicted(self.path, f"record {number}, at byte {offset}")
            payload = data[HEADER:-FOOTER]
            if self.verify and not frames.payload_holds(payload, data[-FOOTER:]):
                raise frames.payload_error(payload, data[-FOOTER:])
        except CorruptionError as error:
            error.path, error.record, error.offset = self.path, number, offset
            raise
        return payload

    def sizes(self, numbers: Offsets) -> Offsets:
        """The sizes of the frames of these records."""
        return self._seekable().sizes[numbers]

    def read_frames(self, numbers: Offsets) -> tuple[Offsets, list[bytes]]:
        """The sizes of the frames of ``numbers``, which ascend, and the frames; adjacent ones are joined."""
        index, file = self._seekable(), self._files.get(self.path)
        offsets, sizes = index.offsets[numbers], index.sizes[numbers]
        ends = offsets + sizes
        begins = np.flatnonzero(offsets[1:] != ends[:-1]) + 1
        wholes = sizes
        if len(begins) + 1 < len(numbers):
            wholes = np.append(ends[begins - 1], ends[-1])
            offsets = np.append(offsets[:1], offsets[begins])
            wholes -= offsets
        return sizes, file.read_many(list(zip(offsets.tolist(), wholes.tolist(), strict=True)))

    def _seekable(self) -> Index:
        if self.index is None:
            raise io.UnsupportedOperation(not_seekable(self.path))
        return self.index

    def _block(self, index: Index, number: int) -> Records:
        """The records of one block of a blocked GZIP file; the blocks used last are kept."""
        with self._lock.here():
            if number in self._blocks:
                self._blocks.move_to_end(number)
                return self._blocks[number]
        records = self._inflate(index, number)
        with self._lock.here():
            self._blocks[number] = records
            while len(self._blocks) > _CACHED_BLOCKS:
                self._blocks.popitem(last=False)
        return records

    def _inflate(self, index: Index, number: int) -> Records:
        assert index.first_records is not None
        first = int(index.first_records[number])
        last = int(index.first_records[number + 1]) if number + 1 < len(index.offsets) else index.records
        member = self._read_at(int(index.offsets[number]), int(index.sizes[number]))
        data = inflate_block(member)
        if data is None:
            raise CompressionError(f"GZIP block {number} is broken", path=self.path, record=first)
        whole = split(data)
        bad = frames.bad_payloads(data, whole.begins, whole.ends) if self.verify else ()
        if whole.stop != len(data) or len(whole.begins) != last - first or len(bad):
            # Reading forward raises the exact error.
            for _ in RecordReader(io.BytesIO(member), verify=self.verify):
                pass
            raise index.contradicted(self.path, f"block {number}")
        return Records(data, whole.begins, whole.ends, path=self.path, first=first)

    def _read_at(self, offset: int, size: int) -> bytes:
        return self._files.get(self.path).read_at(offset, size)


def _for_each(items: Sequence[_Item], function: Callable[[_Item], _Got], *, far: bool) -> list[_Got]:
    """``function`` of each of ``items``; in threads if they are ``far``, so that latencies do not add up."""
    if len(items) < 2 or not far:
        return list(map(function, items))
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to import, seldom used

    with ThreadPoolExecutor(min(AHEAD, len(items))) as threads:
        return list(threads.map(function, items))


def _checked(buffer: bytes, sizes: Offsets, *, verify: bool) -> Records | None:
    """The records in ``buffer``, if it consists of sound frames of these ``sizes``."""
    begins, ends, _, _ = split(buffer)
    if not np.array_equal(ends - begins + OVERHEAD, sizes):
        return None
    if verify and len(frames.bad_payloads(buffer, begins, ends)):
        return None
    return Records(buffer, begins, ends)


def _sorted(numbers: Offsets) -> tuple[Offsets, Offsets]:
    """The numbers in ascending order, and the place there of each."""
    if bool((numbers[1:] >= numbers[:-1]).all()):
        return numbers, np.arange(len(numbers))
    order = np.argsort(numbers, kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return numbers[order], places
