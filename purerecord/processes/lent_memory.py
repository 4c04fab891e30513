"""Sends data to another process in memory that is lent, and used again once the other sees it no more.

``Lender`` is the sender's side. What one pickle holds is a *message*: the first part of it takes a free
buffer, the following parts lie behind it, and the buffer is as large as the message before was. The pickle
says only where the parts are. ``receive`` is the other side: it maps the buffer, and when the last array that
it gave out has died, it says so in the header of the buffer. No message goes back:

    byte 0       the receiver has opened a buffer of this sender: it may send more
    byte 1..63   one for each message that is in this buffer: FREE, LENT or ABANDONED
    byte 64..    the parts

A buffer is anonymous memory, so nothing is left behind, however the two processes end, and the size of
/dev/shm does not matter. The receiver opens it by its number in the sender's process, which Linux permits
among the processes of one user, unless a sandbox forbids it. So the first sender offers a buffer and sends in
another way; it lends only after the receiver has answered. Processes that the receiver forks later know that.

A receiver that keeps everything gets copies of what exceeds a few messages, so that buffers come back. A
buffer that was lent before a fork of the receiver is never filled again: the forked process may still read
it. This module must not know what is sent, or how messages travel.
"""

from __future__ import annotations

import mmap
import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..memory.recycling import Array

_HEADER = 64  # bytes
_FREE, _LENT, _ABANDONED = 0, 1, 2
_ALIGNMENT = 64  # bytes: every part begins at a multiple of this
_SMALLEST = 1 << 16  # bytes of a buffer
_MOST_BUFFERS = 16  # of one sender
_MOST_LENT = 4  # messages of one sender that arrays of the receiver may refer to; beyond these, it copies

# Process-wide state: the messages of others that arrays of this process refer to, a count of its forks, and
# whether it, or the process that it was forked from, has opened memory of another one.
_received: dict[tuple[int, int, int], weakref.ref[Array]] = {}
_forks: list[None] = []  # one entry for each fork so far, kept by a hook
_opened: list[None] = []  # one entry if it has
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: _forks.append(None))


class Lender:
    """The buffers of this process, to send data in. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._buffers: list[_Buffer] = []
        self._open: Callable[[], _Message | None] = lambda: None  # the message that is being pickled
        self._reached = 0  # bytes of that message, or of the one before
        self._accepted = bool(_opened)
        self.failure: str | None = None  # why there was no memory
        if sys.platform == "linux":
            self._add(_SMALLEST)

    def offer(self) -> tuple[int, int, int] | None:
        """What to send along for ``accept``; None if there is nothing to offer, or the answer is known."""
        return self._buffers[0].address if self._buffers and not self._is_accepted() else None

    def place(self, parts: Sequence[Any]) -> tuple[_Message, int] | None:
        """Copy the parts into a buffer, one right after the other; return where they are.

        The message must be pickled together with the place of the parts in it. None if they must be sent in
        another way.
        """
        with self._lock:
            placed = self._reserve(sum(map(len, parts)))
        if placed is not None:
            message, place = placed
            view = message.buffer.array.data[place:]
            for part in parts:
                view[: len(part)] = part
                view = view[len(part) :]
        return placed

    def _is_accepted(self) -> bool:
        if not self._accepted:
            self._accepted = any(buffer.memory[0] for buffer in self._buffers)
        return self._accepted

    def _reserve(self, size: int) -> tuple[_Message, int] | None:
        if not self._buffers or not self._is_accepted():
            return None
        # A pickler keeps what it has pickled until it is done. So a message that is gone is complete.
        message = self._open()
        wanted, self._reached = (self._reached, 0) if message is None else (2 * self._reached, self._reached)
        if message is None or message.used + size > message.buffer.size:
            buffer = self._free_buffer(max(size, wanted))
            if buffer is None:
                return None
            message = _Message(buffer, self._lock)
            buffer.message = self._open = weakref.ref(message)
        place = message.used
        rounded = -(-size // _ALIGNMENT) * _ALIGNMENT
        message.used += rounded
        self._reached += rounded
        return message, place

    def _free_buffer(self, size: int) -> _Buffer | None:
        """A buffer of at least this size that nobody sees; None if there is no memory for it."""
        self._buffers = [buffer for buffer in self._buffers if not buffer.is_abandoned()]
        free = [buffer for buffer in self._buffers if buffer.is_free()]
        for buffer in free:
            if buffer.size >= size:
                return buffer
        if free:
            self._buffers.remove(free[0])
        return self._add(max(size + size // 8, _SMALLEST)) if len(self._buffers) < _MOST_BUFFERS else None

    def _add(self, size: int) -> _Buffer | None:
        try:
            self._buffers.append(_Buffer(size))
        except OSError as error:
            self.failure = str(error)
            return None
        return self._buffers[-1]


class _Buffer:
    """Shared memory of this process that another one can open."""

    def __init__(self, size: int) -> None:
        assert sys.platform == "linux"
        self.size = size
        descriptor = os.memfd_create("purerecord")
        weakref.finalize(self, os.close, descriptor)
        # If memory ran out at the first write instead, the system would send SIGBUS.
        os.posix_fallocate(descriptor, 0, _HEADER + size)
        self.address = os.getpid(), descriptor, os.fstat(descriptor).st_ino
        self.memory = mmap.mmap(descriptor, _HEADER + size)
        self.array: Array = np.frombuffer(self.memory, np.uint8)[_HEADER:]
        self.message: Callable[[], _Message | None] = lambda: None  # the latest that was placed here

    def is_free(self) -> bool:
        """Whether no message in it is being pickled, under way or in use."""
        return self.message() is None and not any(self.memory[1:_HEADER])

    def is_abandoned(self) -> bool:
        """Whether it must not be filled again."""
        return _ABANDONED in self.memory[1:_HEADER]

    def lend(self) -> int:
        """Note one more pickled message; return which byte of the header counts it."""
        number = self.memory[:_HEADER].find(_FREE, 1)
        if number < 0:
            raise RuntimeError("a message has been pickled too often")
        self.memory[number] = _LENT
        return number


class _Message:
    """The parts of one message in one buffer; its pickle becomes the ``Loan`` there."""

    def __init__(self, buffer: _Buffer, lock: threading.Lock) -> None:
        self.buffer = buffer
        self.used = 0  # bytes
        self._lock = lock

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            number = self.buffer.lend()
        return receive, (self.buffer.address, self.buffer.size, number)


class Loan:
    """A message of another process."""

    def __init__(self, array: Array, copied: bool) -> None:
        self._array = array
        self._copied = copied

    def part(self, place: int, size: int) -> Array:
        """What lies there: lent until the last reference to it is gone, or a copy."""
        part = self._array[place : place + size]
        return part.copy() if self._copied else part

    def view(self, place: int, size: int) -> memoryview:
        """What lies there, to be copied at once."""
        return self._array.data[place : place + size]


def accept(address: tuple[int, int, int]) -> None:
    """Answer an offer, if this process can open the sender's memory."""
    with suppress(OSError):
        _map(address, _HEADER)[0] = 1
        _opened[:] = [None]


def receive(address: tuple[int, int, int], size: int, number: int) -> Loan:
    """A message that has come from another process."""
    memory = _map(address, _HEADER + size)
    array: Array = np.frombuffer(memory, np.uint8)
    copied = sum(sender == address[0] for sender, _, _ in list(_received)) >= _MOST_LENT
    key = (address[0], address[2], number)
    forks = len(_forks)

    def end(_: object) -> None:
        _received.pop(key, None)
        # A process that was forked meanwhile may still read it.
        memory[number] = _FREE if forks == len(_forks) else _ABANDONED

    _received[key] = weakref.ref(array, end)
    return Loan(array[_HEADER:], copied)


def _map(address: tuple[int, int, int], size: int) -> mmap.mmap:
    process, descriptor, inode = address
    opened = os.open(f"/proc/{process}/fd/{descriptor}", os.O_RDWR | os.O_CLOEXEC)
    try:
        if os.fstat(opened).st_ino != inode:  # another process has got that number
            raise FileNotFoundError(f"process {process} has ended before its data has arrived")
        return mmap.mmap(opened, size, flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
    finally:
        os.close(opened)
