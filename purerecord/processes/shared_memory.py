"""Elements on their way to another process, through shared memory.

An element is pickled, but the content of its arrays and strings stays out of the pickle: it lies in a
``SharedBuffer``, one part after the other, and the receiver's arrays are views of that buffer. This module
does not know who sends an element, nor why.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from ..memory.malloc import in_batches_of_bytes
from ..memory.recycling import Array

_ALIGN = 64  # bytes: every part begins at a multiple of this
_LARGE = 1 << 14  # bytes: strings of this mean length are parts of their own, shorter ones are put together
_SAMPLE = 32  # strings that tell which they are
_FOLDER = "/dev/shm"  # files that never get to a disk, where there are such


class SharedBuffer:
    """``array`` is memory of ``size`` bytes that another process sees too, which opens it by its ``path``."""

    def __init__(self, path: str, size: int) -> None:
        self.path = path
        self.size = size
        with open(path, "r+b") as file:
            self.array: Array = np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)

    @classmethod
    def make(cls, size: int) -> SharedBuffer | None:
        """A new one; None if there is not as much memory."""
        try:
            handle, path = tempfile.mkstemp(".purerecord", dir=_FOLDER if os.path.isdir(_FOLDER) else None)
        except OSError:
            return None
        try:
            # Now, and not when it is first touched: then the system would end the process.
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(handle, 0, size)
            else:
                os.truncate(handle, size)
            return cls(path, size)
        except BaseException as error:
            forget(path)
            if not isinstance(error, OSError):
                raise
            return None
        finally:
            os.close(handle)


def forget(path: str) -> None:
    """Remove the name of a room; who has opened it goes on seeing it."""
    with suppress(OSError):  # it is gone, or somebody has it open where that matters
        os.unlink(path)


def pack(element: Any) -> tuple[bytes, list[memoryview]]:
    """An element as a pickle, and the parts that are not in it."""
    parts: list[pickle.PickleBuffer] = []
    file = BytesIO()
    _Packer(file, 5, buffer_callback=parts.append).dump(element)
    return file.getvalue(), [part.raw() for part in parts]


def pack_whole(element: Any) -> bytes:
    """The same with all parts inside."""
    file = BytesIO()
    _Packer(file, 5).dump(element)
    return file.getvalue()


def buffer_size_for(sizes: Sequence[int]) -> int:
    """How large a room must be for parts of these sizes."""
    return _places(sizes)[-1]


def put(parts: Sequence[memoryview], room: Array) -> None:
    """Put the parts into a room."""
    view = room.data
    for place, part in zip(_places([part.nbytes for part in parts]), parts, strict=False):
        view[place : place + part.nbytes] = part


def unpack(pickled: bytes, sizes: Sequence[int], room: Array) -> Any:
    """The element; its arrays are in ``room``, so that this is referred to as long as they are."""
    places = _places(sizes)
    parts = [room[place : place + size] for place, size in zip(places, sizes, strict=False)]
    return pickle.loads(pickled, buffers=parts)


def _places(sizes: Sequence[int]) -> list[int]:
    """Where parts of these sizes begin, and where all end."""
    return list(accumulate((-(-size // _ALIGN) * _ALIGN for size in sizes), initial=0))


class _Packer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Arrays of strings are sent as their content and their lengths."""
        if type(value) is not np.ndarray or value.dtype != object:
            return NotImplemented
        strings = value.reshape(-1).tolist()
        if set(map(type, strings)) != {bytes}:
            return NotImplemented
        some = strings[:_SAMPLE]
        if sum(map(len, some)) >= _LARGE * len(some):
            return _large_strings, (list(map(pickle.PickleBuffer, strings)), value.shape)
        file = BytesIO()
        packer = pickle.Pickler(file, 5)
        packer.fast = True  # it need not remember what was packed before: no string holds another
        packer.dump(strings)
        return _strings, (pickle.PickleBuffer(file.getbuffer()), value.shape)


def _strings(pickled: Any, shape: tuple[int, ...]) -> npt.NDArray[np.object_]:
    strings = pickle.loads(pickled)
    return np.fromiter(strings, object, len(strings)).reshape(shape)


def _large_strings(parts: list[Any], shape: tuple[int, ...]) -> npt.NDArray[np.object_]:
    strings = np.empty(len(parts), object)
    for some in in_batches_of_bytes(np.fromiter(map(len, parts), np.int64)):
        strings[some] = np.fromiter(map(bytes, parts[some]), object)
    return strings.reshape(shape)
