"""``WorkerPool``: processes that go through datasets for this one and send it the elements.

A ``Worker`` goes through a chain from where a state says, and sends run after run, a few ahead: ``desk`` is
what it does. What an element holds comes through rooms, of which each worker has a few. A room is filled
again when nobody here can see any more what was in it; who keeps all that comes is given copies, so that
there are always rooms left to go on with. A copy of this process, made by fork, sees the same rooms: what it
may be looking at is never filled again. This module knows neither files nor what an element is.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import weakref
from contextlib import suppress
from typing import Any

from ...memory.recycling import Array, is_referenced
from ...processes.shared_memory import SharedBuffer, buffer_size_for, forget, unpack
from .lookahead import AheadCursor, Run, refuse_in_worker
from .node import Context, Node, State, Tally
from .worker_process import NOTHING, ROOMS, Sent, serve

_LENT = 2  # rooms of a worker that may be in somebody's hands here
_KEPT = 1 << 26  # bytes of a room that an idle worker keeps
_IDLE = os.cpu_count() or 1  # workers that are kept
_PATIENCE = 1.0  # seconds in which a worker must leave off, or it is ended

_starting = threading.Lock()  # two that are started at once would inherit each other's pipes
_forks: list[None] = []  # one for each copy that was made of this process
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: _forks.append(None))


class WorkerPool:
    """Workers, of which the idle ones are kept for the next time; in a pickle, nobody."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []

    def begin(self, node: Node, epoch: int, state: State) -> Worker:
        """A worker that goes through an epoch of ``node``, beginning at ``state``."""
        worker = self._idle_one() or Worker()
        worker.begin(node, epoch, state)
        return worker

    def _idle_one(self) -> Worker | None:
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.is_ours():
                    return worker
        return None

    def dismiss(self, worker: Worker) -> None:
        """Have a worker stop what it does."""
        if worker.is_ours() and worker.stop() and len(self._idle) < _IDLE:
            self._idle.append(worker)

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerPool, ()


class Worker:
    """One of the processes, as it is seen from here; it ends when nobody refers to this any more."""

    def __init__(self) -> None:
        refuse_in_worker()
        # JAX says that what its threads hold is not to be forked.
        context: Any = multiprocessing.get_context("spawn" if "jax" in sys.modules else None)
        with _starting:
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        self._home = os.getpid()
        self._rooms: list[Array] = [NOTHING] * ROOMS
        self._lent: dict[int, int] = {}  # rooms, and how many copies of this process there were then
        weakref.finalize(self, _end, self._process, self._pipe, self._home)

    def is_ours(self) -> bool:
        """Whether it is there, and serves this process and not the one that this is a copy of."""
        return self._home == os.getpid() and self._process.is_alive()

    def begin(self, node: Node, epoch: int, state: State) -> None:
        """Go through an epoch of ``node``."""
        try:
            chain = pickle.dumps((node, epoch))
        except Exception as error:
            raise TypeError(
                f"parallel sends the chain to other processes, but {node.chain()} cannot be pickled: "
                f"{error}; its functions must be defined at the top of a module"
            ) from error
        self._say("begin", chain, state)

    def next(self) -> Sent:
        """The next run; an empty one at the end, one with an error where there is one."""
        self._return_rooms()
        while True:
            try:
                word, *rest = self._pipe.recv()
            except (EOFError, OSError):
                raise self._died() from None
            if word == "sent":
                return self._unpack(*rest)
            self._make_room(*rest)

    def stop(self) -> bool:
        """Leave off; False if the process does not answer."""
        try:
            self._pipe.send(("stop",))
            while self._pipe.poll(_PATIENCE):
                message = self._pipe.recv()
                if message[0] == "stopped":
                    self._give_up_large_rooms()
                    return True
                self._pipe.send(("free", message[1]))  # sent, or asked for, in vain
        except (EOFError, OSError):
            pass
        return False

    def _give_up_large_rooms(self) -> None:
        for number, room in enumerate(self._rooms):
            if room.size > _KEPT and number not in self._lent:
                self._give_up(number)

    def _give_up(self, number: int) -> None:
        """Never fill a room again."""
        self._rooms[number] = NOTHING
        self._say("room", number, "", 0)

    def _say(self, *words: Any) -> None:
        try:
            self._pipe.send(words)
        except OSError:
            raise self._died() from None

    def _died(self) -> RuntimeError:
        self._process.join(1)
        code = self._process.exitcode
        cause = f"exit code {code}" if code is None or code >= 0 else f"signal {-code}"
        memory = ", perhaps for lack of memory" if code == -signal.SIGKILL else ""
        return RuntimeError(
            f"a process that parallel had started has ended ({cause}){memory}; "
            f"nothing is lost: who asks again goes on where it was"
        )

    def _make_room(self, number: int, size: int) -> None:
        self._rooms[number] = NOTHING
        room = SharedBuffer.make(size + size // 8)
        if room is None:
            self._give_up(number)
            return
        self._rooms[number] = room.array
        weakref.finalize(self, forget, room.path)
        self._say("room", number, room.path, room.size)

    def _unpack(self, number: int, pickled: bytes, sizes: list[int]) -> Sent:
        if len(self._lent) < _LENT:
            sent = unpack(pickled, sizes, self._rooms[number])
            self._lent[number] = len(_forks)
            self._return_rooms()  # strings, say, are not in there any more
        else:
            sent = unpack(pickled, sizes, self._rooms[number][: buffer_size_for(sizes)].copy())
            self._say("free", number)
        assert isinstance(sent, Sent)
        return sent

    def _return_rooms(self) -> None:
        """Have those rooms filled again that nobody looks at any more."""
        looked_at = is_referenced(self._rooms)
        for number, forks in list(self._lent.items()):
            if self._rooms[number] is not NOTHING and looked_at[number]:
                continue
            del self._lent[number]
            if forks == len(_forks):
                self._say("free", number)
            else:  # a copy of this process may look at it
                self._give_up(number)


def _end(process: Any, pipe: Any, home: int) -> None:
    pipe.close()
    if os.getpid() == home:
        process.kill()  # whatever it is doing, nobody will want it
        process.join()


class RemoteCursor(AheadCursor):
    """The elements of ``node``, which a worker of the crew goes through."""

    def __init__(self, node: Node, context: Context, crew: WorkerPool) -> None:
        super().__init__(node.open(context), context)
        self._node = node
        self._context = context
        self._crew = crew
        self._worker: Worker | None = None
        self._begun = False
        self._end: State = None  # where the latest run ends
        self._skipped = 0  # of the tally, those that came from there

    def start(self) -> None:
        """Have a worker begin, or another if there is none any more, where the latest run ends."""
        if not self._begun:
            self._begun = self._started = True
            self._end = self._up.state()
            self._up.close()
        if self._worker is not None and not self._worker.is_ours():
            self._worker = None
        if self._worker is None:
            self._worker = self._crew.begin(self._node, self._context.epoch, self._end)
            self._skipped = 0

    def _more(self, count: int) -> None:
        if self._runs:
            return
        self.start()
        worker, self._worker = self._worker, None  # which may remain so, in the middle of a message
        assert worker is not None
        sent = worker.next()
        if sent.failed is not None:
            sent.failed.__cause__ = RuntimeError(f"in another process:\n{sent.trace}")
        self._report(sent.tally)
        self._runs.append(sent.run)
        self._end = sent.end
        if sent.run.error is None and not len(sent.run.elements):
            self._crew.dismiss(worker)
        else:
            self._worker = worker

    def _report(self, tally: Tally) -> None:
        here = self._context.tally
        here.skipped += tally.skipped - self._skipped
        here.last_error = tally.last_error or here.last_error
        self._skipped = tally.skipped

    def skip(self, count: int) -> int:
        if not self._started:
            return super().skip(count)
        left = count
        while left:
            run = self._front()
            if run.error is not None:
                return count - left + self._skip_here(run, left)
            if not run.left:
                break
            passed = min(left, run.left)
            run.used += passed
            left -= passed
        return count - left

    def _skip_here(self, run: Run, count: int) -> int:
        """Pass over elements from where ``run`` begins, which has an error that does not concern us."""
        self._runs.clear()
        self._let_go()
        cursor = self._node.open(self._context)
        cursor.restore(run.begin)
        passed = cursor.skip(count)
        self._end = cursor.state()
        cursor.close()
        return passed

    def state(self) -> State:
        if self._started and not (self._runs and self._runs[0].left):
            return {"up": self._end, "ahead": 0}  # without waiting for the next run
        return super().state()

    def close(self) -> None:
        self._let_go()
        super().close()

    def _let_go(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._crew.dismiss(worker)
