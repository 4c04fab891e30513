"""Moves an element to another process through shared memory.

The element is pickled, but the contents of its arrays and strings stay out of the pickle (protocol 5,
out-of-band buffers). These *parts* lie one after the other in a ``SharedBuffer``, and the receiver's arrays
are views of that buffer. This module must not know which process sends an element, or why.
"""

from __future__ import annotations

import errno
import mmap
import os
import pickle
import shutil
import sys
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

_ALIGNMENT = 64  # bytes: every part begins at a multiple of this
_LONG_STRINGS = 1 << 14  # bytes: strings of this mean length are one part each; shorter ones share a part
_SAMPLED_STRINGS = 32  # how many strings decide whether an array's strings are long
_FOLDER = "/dev/shm"  # a file system in memory, on systems that have it
# Windows forbids to remove a file that is mapped. But it has memory with a name and without a file, which
# vanishes with the last process that maps it.
_WITHOUT_FILES = sys.platform == "win32"
_ZEROS = bytes(1 << 20)


class SharedBuffer:
    """Memory of ``size`` bytes, seen as ``array``, that another process maps by its ``name``."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name  # the path of a file, except on Windows
        self.size = size
        if _WITHOUT_FILES:
            named_memory: Any = mmap.mmap  # the arguments differ between systems
            self.array: Array = np.frombuffer(named_memory(-1, size, tagname=name), np.uint8)
            return
        with open(name, "r+b") as file:
            self.array = np.frombuffer(mmap.mmap(file.fileno(), size), np.uint8)

    @classmethod
    def make(cls, size: int) -> SharedBuffer | None:
        """A new shared buffer; None if there is not enough memory for it."""
        with suppress(OSError):
            if _WITHOUT_FILES:
                return cls(f"purerecord-{os.urandom(16).hex()}", size)
            handle, name = tempfile.mkstemp(".purerecord", dir=_FOLDER if os.path.isdir(_FOLDER) else None)
            try:
                _allocate(handle, size, os.path.dirname(name))
                return cls(name, size)
            except BaseException:
                unlink(name)
                raise
            finally:
                os.close(handle)
        return None


def _allocate(handle: int, size: int, folder: str) -> None:
    """Allocate all pages of a new file.

    If memory or the disk ran out at the first write instead, the system would send SIGBUS.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    if shutil.disk_usage(folder).free < size:
        raise OSError(errno.ENOSPC, "not enough space for a shared buffer", folder)
    while size:
        size -= os.write(handle, _ZEROS[:size])


def unlink(name: str) -> None:
    """Remove the name of a shared buffer; processes that have mapped it keep the memory."""
    if not _WITHOUT_FILES:
        with suppress(OSError):  # it is gone
            os.unlink(name)


def pack(element: Any) -> tuple[bytes, list[memoryview]]:
    """The pickle of an element, and the parts that are not in it."""
    parts: list[pickle.PickleBuffer] = []
    file = BytesIO()
    _Packer(file, 5, buffer_callback=parts.append).dump(element)
    return file.getvalue(), [part.raw() for part in parts]


def pack_whole(element: Any) -> bytes:
    """The pickle of an element with all parts inside, for when there is no shared memory."""
    file = BytesIO()
    _Packer(file, 5).dump(element)
    return file.getvalue()


def buffer_size_for(sizes: Sequence[int]) -> int:
    """The size of a buffer that holds parts of these sizes."""
    return _offsets(sizes)[-1]


def copy_into(parts: Sequence[memoryview], buffer: Array) -> None:
    """Copies the parts into ``buffer``, where ``unpack`` expects them."""
    view = buffer.data
    for offset, part in zip(_offsets([part.nbytes for part in parts]), parts, strict=False):
        view[offset : offset + part.nbytes] = part


def unpack(pickled: bytes, sizes: Sequence[int], buffer: Array) -> Any:
    """The element; its arrays are views of ``buffer`` and keep it referenced."""
    offsets = _offsets(sizes)
    parts = [buffer[offset : offset + size] for offset, size in zip(offsets, sizes, strict=False)]
    return pickle.loads(pickled, buffers=parts)


def _offsets(sizes: Sequence[int]) -> list[int]:
    """Where parts of these sizes begin, and where the last one ends."""
    return list(accumulate((-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes), initial=0))


class _Packer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Pickles arrays of bytes as their contents and lengths, not as one object for each string."""
        if type(value) is not np.ndarray or value.dtype != object:
            return NotImplemented
        strings = value.reshape(-1).tolist()
        if set(map(type, strings)) != {bytes}:
            return NotImplemented
        sample = strings[:_SAMPLED_STRINGS]
        if sum(map(len, sample)) >= _LONG_STRINGS * len(sample):
            return _long_strings, (list(map(pickle.PickleBuffer, strings)), value.shape)
        file = BytesIO()
        packer = pickle.Pickler(file, 5)
        packer.fast = True  # no memo: bytes refer to no other object
        packer.dump(strings)
        return _strings, (pickle.PickleBuffer(file.getbuffer()), value.shape)


def _strings(pickled: Any, shape: tuple[int, ...]) -> npt.NDArray[np.object_]:
    strings = pickle.loads(pickled)
    return np.fromiter(strings, object, len(strings)).reshape(shape)


def _long_strings(parts: list[Any], shape: tuple[int, ...]) -> npt.NDArray[np.object_]:
    strings = np.empty(len(parts), object)
    for some in in_batches_of_bytes(np.fromiter(map(len, parts), np.int64)):
        strings[some] = np.fromiter(map(bytes, parts[some]), object)
    return strings.reshape(shape)
