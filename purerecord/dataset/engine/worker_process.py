"""What a worker process of ``parallel`` does: runs a chain and sends its elements, a few runs ahead.

The parent process holds the other end of the pipe, in ``worker``. It says which chain to run, from which
state on, and which shared buffers may be filled:

    parent                                worker
      ("begin", chain, state)      ──►      opens the chain and restores the state
      ◄──  ("buffer", number, size)         needs a larger shared buffer
      ("buffer", number, name, size) ──►    maps it; an empty name: there is no shared memory
      ◄──  ("sent", number, pickle, sizes)  a run; its arrays lie in buffer ``number``
      ("free", number)             ──►      may fill that buffer again
      ("stop",)                    ──►      closes the chain
      ◄──  ("stopped",)                     waits for the next "begin"

This module must not know files or what an element is.
"""

from __future__ import annotations

import pickle
import traceback
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...memory.recycling import Array
from ...processes.shared_memory import SharedBuffer, buffer_size_for, copy_into, pack, pack_whole, unlink
from ...processes.start import begin_worker
from .lookahead import ElementRun
from .node import Context, Cursor, Elements, FailedElement, SkippedDamage, State, first_failed

BUFFERS_PER_WORKER = 4
NO_BUFFER: Array = np.empty(0, np.uint8)  # stands where a worker has no shared buffer of some number


class Sent(NamedTuple):
    """A run, the state of the chain after it, and the damage that was skipped so far."""

    run: ElementRun
    end: State
    damage: SkippedDamage
    failed: FailedElement | None = None  # the error of a run that is an error, with its traceback


def serve(pipe: Any) -> None:
    """The main function of a worker process; returns when the parent closes the pipe."""
    # The pipe alone does not show that the parent was killed: a worker that was forked later may still hold
    # the parent's end open.
    begin_worker()
    connection = _Connection(pipe)
    with suppress(EOFError, ConnectionError):
        while True:
            connection.receive()
            if connection.chain is not None:
                _run_chain(connection)


def _run_chain(connection: _Connection) -> None:
    """Send the elements of a chain until it ends or the parent says stop."""
    chain, begin = connection.chain or (b"", None)
    damage = SkippedDamage()
    cursor: Cursor | None = None
    over = False
    while not over and not connection.stopped:
        try:
            cursor = cursor or _open(chain, begin, damage)
            elements = _picklable(cursor.take(cursor.cheap_lookahead))
            end = cursor.state()
            sent = Sent(ElementRun(begin, elements), end, damage)
        except Exception as error:
            sent = Sent(ElementRun(begin, ()), begin, damage, _failed(error))
        connection.send(sent)
        begin, over = sent.end, not len(sent.run.elements)
        connection.receive(wait=False)
    if cursor is not None:
        cursor.close()
    connection.chain = None
    while not connection.stopped:
        connection.receive()
    connection.confirm_stop()


def _open(chain: bytes, state: State, damage: SkippedDamage) -> Cursor:
    """The cursor of a pickled chain at ``state``; resets ``damage``, which the parent knows up to there."""
    node, epoch = pickle.loads(chain)
    cursor: Cursor = node.open(Context(epoch, damage))
    cursor.restore(state)
    damage.skipped, damage.last_error = 0, None
    return cursor


def _picklable(elements: Elements) -> Elements:
    """The elements; the errors of those that failed can be pickled."""
    if first_failed(elements) is None:
        return elements
    return [_failed(part.error) if isinstance(part, FailedElement) else part for part in elements]


def _failed(error: Exception) -> FailedElement:
    """The error with its traceback; a RuntimeError with its text if it does not survive pickling."""
    trace = "".join(traceback.format_exception(error))
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:
        copy = None
    if type(copy) is not type(error):
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return FailedElement(error, trace)


class _Connection:
    """The worker's end of the pipe, and its shared buffers."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._buffers: list[Array] = [NO_BUFFER] * BUFFERS_PER_WORKER
        self._free = list(range(BUFFERS_PER_WORKER))
        self.chain: tuple[bytes, State] | None = None  # the pickled chain to run, and the state to begin at
        self.stopped = False  # whether the parent wants no more of it

    def receive(self, *, wait: bool = True) -> None:
        """Handle all messages that have come; if ``wait``, at least one."""
        while wait or self._pipe.poll():
            wait = False
            word, *rest = self._pipe.recv()
            if word == "begin":
                self.chain, self.stopped = (rest[0], rest[1]), False
            elif word == "free":
                self._free.append(rest[0])
            elif word == "buffer":
                self._map_buffer(*rest)
            elif word == "stop":
                self.stopped = True

    def _map_buffer(self, number: int, name: str, size: int) -> None:
        """Use another shared buffer as ``number`` from now on; none if ``name`` is empty."""
        self._buffers[number] = NO_BUFFER
        if name:
            self._buffers[number] = SharedBuffer(name, size).array
            unlink(name)
        if number not in self._free:
            self._free.append(number)

    def confirm_stop(self) -> None:
        """Tell the parent that nothing more will be sent."""
        self._pipe.send(("stopped",))

    def send(self, sent: Sent) -> None:
        """Send a run as soon as a buffer is free, unless the parent says stop first."""
        try:
            pickled, parts = pack(sent)
        except Exception as error:
            failed = TypeError(f"an element cannot be sent from one process to another: {error}")
            run = ElementRun(sent.run.begin, [FailedElement(failed)] * len(sent.run.elements))
            pickled, parts = pack(sent._replace(run=run))
        sizes = [part.nbytes for part in parts]
        number = self._take_buffer(buffer_size_for(sizes))
        if number is None:
            return
        if self._buffers[number].size >= buffer_size_for(sizes):
            copy_into(parts, self._buffers[number])
        else:  # there is no shared memory
            pickled, sizes = pack_whole(sent), []
        self._pipe.send(("sent", number, pickled, sizes))

    def _take_buffer(self, size: int) -> int | None:
        """The number of a free buffer, of ``size`` bytes if the parent can make one; None after a stop."""
        while not self._free and not self.stopped:
            self.receive()
        if self.stopped:
            return None
        fits = [number for number in self._free if self._buffers[number].size >= size]
        number = fits[-1] if fits else self._free[-1]  # the last used one is still in the CPU cache
        self._free.remove(number)
        if not fits:
            self._buffers[number] = NO_BUFFER
            self._pipe.send(("buffer", number, size))
            while number not in self._free and not self.stopped:
                self.receive()
            if self.stopped:
                return None
            self._free.remove(number)
        return number
