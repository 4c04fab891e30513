"""``FileTable``: records of many files in any order, many at once, straight into ``Records``.

The frames that are asked for are read one by one, joined and then checked all together, which is what
makes a shuffle over whole files fast. Anything unusual is left to ``RecordFile``, which says exactly what
is wrong with which record. This module does not know what a payload means.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..records import Origins, Records
from ..storage.file_handles import OpenFiles
from ..storage.opened import HEAD_SIZE
from . import frames
from .index import Index, build_index, index_path, load_index
from .looks_like import detect
from .record_file import RecordFile


class FileTable:
    """The records of ``paths``, by number."""

    def __init__(self, paths: Sequence[str], *, indexes: Sequence[Index | None] | None = None) -> None:
        self._paths = list(paths)
        self._names = tuple(paths)
        self._indexes = list(map(_plain_index, paths)) if indexes is None else list(indexes)
        self._records = RecordFile(self._paths, index=self._indexes)
        self._plain = all(index is not None for index in self._indexes)
        self._counts = np.array([0 if index is None else len(index) for index in self._indexes], np.int64)
        self._ends = np.cumsum(self._counts)
        self._files = OpenFiles()

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process opens the files itself; the indexes travel along.
        return partial(FileTable, indexes=self._indexes), (self._paths,)

    def __len__(self) -> int:
        return len(self._records)

    def fetch(self, numbers: npt.NDArray[np.int64]) -> Sequence[bytes]:
        """The records with these numbers, in this order."""
        if not self._plain or not len(numbers):
            return self._records.__getitems__(numbers.tolist())
        buffer = b"".join(self._read(numbers))
        whole = frames.split(buffer)
        if len(whole.begins) != len(numbers) or len(frames.bad_payloads(buffer, whole.begins, whole.ends)):
            return self._records.__getitems__(numbers.tolist())  # which says what is wrong
        files = np.searchsorted(self._ends, numbers, side="right")
        origins = Origins(self._names, files, numbers - (self._ends - self._counts)[files])
        return Records(buffer, whole.begins, whole.ends, origins=origins)

    def _read(self, numbers: npt.NDArray[np.int64]) -> list[bytes]:
        """The frames with these numbers."""
        places = np.searchsorted(self._ends, numbers, side="right")
        whole: list[bytes] = [b""] * len(numbers)
        for place in np.unique(places).tolist():
            index = self._indexes[place]
            assert index is not None
            chosen = np.flatnonzero(places == place)
            inside = numbers[chosen] - (self._ends[place] - len(index))
            file = self._files.get(self._paths[place])
            for number, offset, size in zip(
                chosen.tolist(), index.offsets[inside].tolist(), index.sizes[inside].tolist(), strict=True
            ):
                whole[number] = file.read_at(offset, size)
        return whole


def _plain_index(path: str) -> Index | None:
    """Where the records of an uncompressed file are; None for any other."""
    with open(path, "rb", buffering=0) as file:
        if detect(file.read(HEAD_SIZE)):
            return None
    if not os.path.exists(index_path(path)):
        return build_index(path)
    index = load_index(index_path(path))
    index.check(path)
    return index
