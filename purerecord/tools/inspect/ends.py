"""``head`` and ``tail``: the first and the last records of files.

The last records of a plain file are found from its end: a chain of frames, all of whose checksums match, that
ends exactly with the file. Blocked GZIP has its block headers. Any other file is read to its end. This module
does not know what a payload means.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any

import numpy as np

from ... import public
from ...container.damage import Damage
from ...container.frame_chain import split
from ...container.frame_stream import FrameStream
from ...container.looks_like import open_source
from ...container.reader import RecordReader
from ...container.record_file import RecordFile
from ...container.resync import last_frames
from ...records import Records
from ...recovery.scan import records_and_damage
from ...storage.file_handles import open_file
from ...storage.opened import Opened
from ...storage.paths import Named, is_stream, resolve
from ...storage.url import stored

# Bytes at the end of a file in which the last frames are looked for: at first, and at most.
_FIRST_WINDOW, _LARGEST_WINDOW, _GROWTH = 1 << 18, 1 << 28, 8

# Called with damage that is skipped.
Skipped = Callable[[Damage], None]


@public
def head(
    paths: Any,
    n: int = 10,
    *,
    compression: Any = "auto",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Records:
    """The first ``n`` records of the files, or all if there are fewer."""
    wanted = _checked(n)
    found: list[Records] = []
    reader = RecordReader(stored(paths, storage_options, filesystem), compression=compression)
    if wanted:
        for batch in reader.batches(wanted):
            found.append(batch[:wanted])
            wanted -= len(found[-1])
            if not wanted:
                break
    return Records.concat(found)


@public
def tail(
    paths: Any,
    n: int = 10,
    *,
    compression: Any = "auto",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Records:
    """The last ``n`` records of the files, or all if there are fewer.

    ``origin`` counts them from the end of their file: record -1 is its last one. Uncompressed files and
    blocked GZIP are read from the end.
    """
    wanted = _checked(n)
    found: list[Records] = []
    for file in reversed(resolve(stored(paths, storage_options, filesystem))):
        if not wanted:
            break
        found.append(tail_of(file, wanted, compression))
        wanted -= len(found[-1])
    return Records.concat(found[::-1])


def tail_of(file: Named, n: int, compression: Any = "auto", skipped: Skipped | None = None) -> Records:
    """The last ``n`` records of one file; with ``skipped``, damage is passed to it and is no error."""
    records = _from_the_end(file, n, compression) if isinstance(file, str) else None
    if records is None:
        records = _forward(file, n, compression, skipped)
    path = file if isinstance(file, str) else None
    return Records(records.buffer, records.begins, records.ends, path=path, first=-len(records))


def _checked(n: int) -> int:
    if operator.index(n) < 0:
        raise ValueError(f"n must not be negative, not {n}")
    return n


def _from_the_end(file: str, n: int, compression: Any) -> Records | None:
    """The last records of a file that can seek; None if it cannot, or if there is no telling from its end."""
    if is_stream(file):
        return None
    with closing(open_source(file, compression)) as opened:
        opened.detect_compression()
        plain, blocked = opened.rewinds, opened.blocked
    if plain:
        return _last_chain(file, n)
    if not blocked:
        return None
    whole = RecordFile(file)
    if any(index is None for index in whole.load_indexes()):
        return None
    return Records.of(list(whole[max(0, len(whole) - n) :]))


def _last_chain(file: str, n: int) -> Records | None:
    """The last records of a plain file, which its last bytes show; None if they do not."""
    with closing(open_file(file)) as handle:
        size, window = handle.size(), _FIRST_WINDOW
        while size:
            begin = max(0, size - window)
            data = handle.read_at(begin, size - begin)
            first = last_frames(data) if len(data) == size - begin else None
            if first is not None:
                chain = split(data, first)
                if len(chain.begins) >= n or begin + first == 0:
                    return Records(data, chain.begins[-n:], chain.ends[-n:])
            if begin == 0 or window >= _LARGEST_WINDOW:
                return None
            window *= _GROWTH
    return Records(b"", np.zeros(0, np.int64), np.zeros(0, np.int64))


def _forward(file: Named, n: int, compression: Any, skipped: Skipped | None) -> Records:
    """The last records of a file that is read to its end."""
    kept: list[Records] = []
    count = 0
    with closing(open_source(file, compression)) as opened:
        for part in _parts(opened, skipped):
            if isinstance(part, Damage):
                assert skipped is not None
                skipped(part)
                continue
            kept.append(part)
            count += len(part)
            while count - len(kept[0]) >= n:
                count -= len(kept.pop(0))
    return Records.concat(kept)[max(0, count - n) :]


def _parts(opened: Opened, skipped: Skipped | None) -> Iterator[Records | Damage]:
    stream = FrameStream(opened)
    if skipped is not None:
        yield from records_and_damage(opened, stream)
        return
    while (records := stream.next()) is not None:
        yield records
