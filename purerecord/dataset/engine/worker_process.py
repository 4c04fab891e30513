"""What a process of a ``WorkerPool`` does: it goes through chains and sends what they give, a few runs ahead.

The other process, whose end is in ``crew``, tells it what to go through, from where on, and which rooms it
may fill. This module knows neither files nor what an element is.
"""

from __future__ import annotations

import pickle
import signal
import threading
import traceback
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...memory.recycling import Array
from ...processes.pool import die_with_parent
from ...processes.shared_memory import SharedBuffer, buffer_size_for, forget, pack, pack_whole, put
from .lookahead import Failed, Run
from .node import Context, Cursor, State, Tally

ROOMS = 4  # of each process
NOTHING: Array = np.empty(0, np.uint8)  # a room that is not there


class Sent(NamedTuple):
    """What is sent: a run, where the chain is behind it, and what has been passed over so far."""

    run: Run
    end: State
    tally: Tally
    failed: Exception | None = None  # the error in the run,
    trace: str = ""  # and where it was raised


def serve(pipe: Any) -> None:
    """What the process does, until the other one closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # that is for the other one to answer
    # If that was killed, a worker that was started later may have the other end of our pipe open.
    threading.Thread(target=die_with_parent, daemon=True).start()
    desk = _Desk(pipe)
    with suppress(EOFError, ConnectionError):
        while True:
            desk.listen()
            if desk.chain is not None:
                _go_through(desk)


def _go_through(desk: _Desk) -> None:
    """Send the elements of a chain, up to the end or until nobody wants more."""
    chain, begin = desk.chain or (b"", None)
    tally = Tally()
    cursor: Cursor | None = None
    over = False
    while not over and not desk.stopped:
        try:
            cursor = cursor or _opened(chain, begin, tally)
            begin = cursor.state()
            run = Run(begin, cursor.take(cursor.hint))
            sent = Sent(run, cursor.state(), tally)
            over = not len(run.elements)
        except Exception as error:
            sent = _failure(begin, cursor, tally, _portable(error))
        desk.send(sent)
        desk.listen(wait=False)
    if cursor is not None:
        cursor.close()
    desk.chain = None
    while not desk.stopped:
        desk.listen()
    desk.leave_off()


def _opened(chain: bytes, state: State, tally: Tally) -> Cursor:
    node, epoch = pickle.loads(chain)
    cursor: Cursor = node.open(Context(epoch, tally))
    cursor.restore(state)
    tally.skipped, tally.last_error = 0, None  # what lies before the state has been told of
    return cursor


def _failure(begin: State, cursor: Cursor | None, tally: Tally, error: Exception) -> Sent:
    """An error in place of the element that lies at ``begin``, or of all that follow if it stays there."""
    end = begin if cursor is None else cursor.state()
    run = Run(begin, (), error=error) if end == begin else Run(begin, (Failed(error),))
    return Sent(run, end, tally, error, traceback.format_exc())


def _portable(error: Exception) -> Exception:
    """The error, or if it cannot be sent another that says the same."""
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:
        copy = None
    return error if type(copy) is type(error) else RuntimeError(f"{type(error).__name__}: {error}")


class _Desk:
    """The worker's end of the pipe, and its rooms."""

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._rooms: list[Array] = [NOTHING] * ROOMS
        self._free = list(range(ROOMS))
        self.chain: tuple[bytes, State] | None = None  # what is to be gone through, and from where on
        self.stopped = False  # whether nobody wants more of it

    def listen(self, *, wait: bool = True) -> None:
        """Hear what the other process says: all there is, or wait for it."""
        while wait or self._pipe.poll():
            wait = False
            word, *rest = self._pipe.recv()
            if word == "begin":
                self.chain, self.stopped = (rest[0], rest[1]), False
            elif word == "free":
                self._free.append(rest[0])
            elif word == "room":
                self._enter(*rest)
            elif word == "stop":
                self.stopped = True

    def _enter(self, number: int, path: str, size: int) -> None:
        """Use another room, or none, from now on."""
        self._rooms[number] = NOTHING
        if path:
            self._rooms[number] = SharedBuffer(path, size).array
            forget(path)
        if number not in self._free:
            self._free.append(number)

    def leave_off(self) -> None:
        """Say that nothing more will be sent."""
        self._pipe.send(("stopped",))

    def send(self, sent: Sent) -> None:
        """Send it as soon as there is a room for it, unless nobody wants it any more."""
        try:
            pickled, parts = pack(sent)
        except Exception as error:
            failed = TypeError(f"an element cannot be sent from one process to another: {error}")
            run = Run(sent.run.begin, [Failed(failed)] * len(sent.run.elements))
            pickled, parts = pack(sent._replace(run=run))
        sizes = [part.nbytes for part in parts]
        number = self._take_room(buffer_size_for(sizes))
        if number is None:
            return
        if self._rooms[number].size >= buffer_size_for(sizes):
            put(parts, self._rooms[number])
        else:  # there is no memory that both see
            pickled, sizes = pack_whole(sent), []
        self._pipe.send(("sent", number, pickled, sizes))

    def _take_room(self, size: int) -> int | None:
        """A free room, as large as can be had; None if nobody wants to have it filled."""
        while not self._free and not self.stopped:
            self.listen()
        if self.stopped:
            return None
        fits = [number for number in self._free if self._rooms[number].size >= size]
        number = fits[-1] if fits else self._free[-1]  # what was used last is still in the cache
        self._free.remove(number)
        if not fits:
            self._rooms[number] = NOTHING
            self._pipe.send(("room", number, size))
            while number not in self._free and not self.stopped:
                self.listen()
            if self.stopped:
                return None
            self._free.remove(number)
        return number
