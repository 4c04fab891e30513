"""``WorkerPool``: worker processes that run a chain and send its elements to this process.

A ``Worker`` is the parent's end of one process; ``worker_process`` is the other end and lists the messages.
The arrays of an element arrive in shared buffers, of which each worker has a few. A buffer is filled again
when no array in this process refers to it any more. A consumer that keeps everything gets copies, so that a
worker always has buffers left to go on with.

A process forked from this one sees the same shared buffers. A buffer that was lent before a fork is
therefore never filled again: the forked process may still read it. This module must not know files or what
an element is.
"""

from __future__ import annotations

import os
import pickle
import weakref
from contextlib import suppress
from typing import Any

from ...memory.recycling import Array, is_referenced
from ...processes.shared_memory import SharedBuffer, buffer_size_for, unlink, unpack
from ...processes.start import not_started, refuse_in_worker, start_context
from ...storage.fork_lock import ForkLock
from .lookahead import ElementRun, LookaheadCursor
from .node import Context, Node, SkippedDamage, State, pickled
from .worker_process import BUFFERS_PER_WORKER, NO_BUFFER, Sent, serve

_MOST_LENT = 2  # buffers of a worker that arrays in this process may refer to; beyond these, data is copied
_LARGEST_IDLE_BUFFER = 1 << 26  # bytes; an idle worker gives up larger buffers
_MOST_IDLE = os.cpu_count() or 1  # idle workers that a pool keeps
_STOP_TIMEOUT = 1.0  # seconds that a worker has to answer "stop" before it is killed

# Process-wide state: a lock, and a count of forks that a hook keeps for as long as the process lives.
_starting = ForkLock()  # two workers that start at the same time would inherit each other's pipes
_forks: list[None] = []  # one entry for each fork of this process so far
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=lambda: _forks.append(None))


@pickled
class WorkerPool:
    """Starts workers, and keeps idle ones for the next epoch; its pickle holds none of them."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []

    def begin(self, node: Node, epoch: int, state: State) -> Worker:
        """A worker that runs an epoch of ``node`` from ``state`` on."""
        worker = self._take_idle() or Worker()
        worker.begin(node, epoch, state)
        return worker

    def _take_idle(self) -> Worker | None:
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.is_usable():
                    return worker
        return None

    def dismiss(self, worker: Worker) -> None:
        """Stop what a worker does, and keep it if there are few idle ones."""
        if worker.is_usable() and worker.stop() and len(self._idle) < _MOST_IDLE:
            self._idle.append(worker)

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerPool, ()


class Worker:
    """The parent's end of a worker process, which is killed when this object is garbage collected."""

    def __init__(self) -> None:
        refuse_in_worker()
        context = start_context()
        self._start_method = context.get_start_method()
        self._has_answered = False
        with _starting.here():
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs,), daemon=True)
            try:
                self._process.start()
            except (EOFError, ConnectionError):  # the fork server has ended
                raise not_started(self._start_method) from None
            theirs.close()
        self._parent_process = os.getpid()
        self._buffers: list[Array] = [NO_BUFFER] * BUFFERS_PER_WORKER
        self._lent: dict[int, int] = {}  # numbers of lent buffers, with the number of forks at that time
        weakref.finalize(self, _end, self._process, self._pipe, self._parent_process)

    def is_usable(self) -> bool:
        """Whether the process lives and was started by this process, not by one that this was forked from."""
        return self._parent_process == os.getpid() and self._process.is_alive()

    def begin(self, node: Node, epoch: int, state: State) -> None:
        """Tell the worker to run an epoch of ``node`` from ``state`` on."""
        try:
            chain = pickle.dumps((node, epoch))
        except Exception as error:
            raise TypeError(
                f"parallel sends the chain to other processes, but {node.chain()} cannot be pickled: "
                f"{error}; its functions must be defined at the top of a module"
            ) from error
        self._send("begin", chain, state)

    def next(self) -> Sent:
        """The next run; without elements at the end, or with an error."""
        self._return_buffers()
        while True:
            try:
                word, *rest = self._pipe.recv()
            except (EOFError, OSError):
                raise self._died() from None
            self._has_answered = True
            if word == "sent":
                return self._unpack(*rest)
            self._make_buffer(*rest)

    def stop(self) -> bool:
        """Tell the worker to stop; False if it does not answer in time."""
        try:
            self._pipe.send(("stop",))
            while self._pipe.poll(_STOP_TIMEOUT):
                message = self._pipe.recv()
                if message[0] == "stopped":
                    self._drop_large_buffers()
                    return True
                self._pipe.send(("free", message[1]))  # of a run or a request that has become useless
        except (EOFError, OSError):
            pass
        return False

    def _drop_large_buffers(self) -> None:
        for number, buffer in enumerate(self._buffers):
            if buffer.size > _LARGEST_IDLE_BUFFER and number not in self._lent:
                self._drop_buffer(number)

    def _drop_buffer(self, number: int) -> None:
        """Never have a buffer filled again."""
        self._buffers[number] = NO_BUFFER
        self._send("buffer", number, "", 0)

    def _send(self, *message: Any) -> None:
        try:
            self._pipe.send(message)
        except OSError:
            raise self._died() from None

    def _died(self) -> RuntimeError:
        self._process.join(1)
        code = self._process.exitcode
        if code == 1 and not self._has_answered and self._start_method != "fork":
            return not_started(self._start_method)
        cause = f"exit code {code}" if code is None or code >= 0 else f"signal {-code}"
        memory = ", perhaps for lack of memory" if cause == "signal 9" else ""
        return RuntimeError(
            f"a process that parallel had started has ended ({cause}){memory}; "
            f"nothing is lost: the next call continues at the same element"
        )

    def _make_buffer(self, number: int, size: int) -> None:
        self._buffers[number] = NO_BUFFER
        buffer = SharedBuffer.make(size + size // 8)
        if buffer is None:
            self._drop_buffer(number)
            return
        self._buffers[number] = buffer.array
        weakref.finalize(self, unlink, buffer.name)
        self._send("buffer", number, buffer.name, buffer.size)

    def _unpack(self, number: int, pickled: bytes, sizes: list[int]) -> Sent:
        if len(self._lent) < _MOST_LENT:
            sent = unpack(pickled, sizes, self._buffers[number])
            self._lent[number] = len(_forks)
            self._return_buffers()  # at once if no array refers to it, as with strings
        else:
            sent = unpack(pickled, sizes, self._buffers[number][: buffer_size_for(sizes)].copy())
            self._send("free", number)
        assert isinstance(sent, Sent)
        return sent

    def _return_buffers(self) -> None:
        """Give the worker back the lent buffers that no array refers to any more."""
        referenced = is_referenced(self._buffers)
        for number, forks in list(self._lent.items()):
            if self._buffers[number] is not NO_BUFFER and referenced[number]:
                continue
            del self._lent[number]
            if forks == len(_forks):
                self._send("free", number)
            else:  # a forked process may still read it
                self._drop_buffer(number)


def _end(process: Any, pipe: Any, parent_process: int) -> None:
    pipe.close()
    if os.getpid() == parent_process:
        process.kill()  # its result, if any, has no receiver
        process.join()


class RemoteCursor(LookaheadCursor):
    """The elements of ``node``, which a worker of ``pool`` computes.

    The worker starts at the first ``take``. Until then the chain is open in this process, where ``skip`` and
    ``restore`` are cheap.
    """

    def __init__(self, node: Node, context: Context, pool: WorkerPool) -> None:
        super().__init__(node.open(context), context)
        self._node = node
        self._context = context
        self._pool = pool
        self._worker: Worker | None = None
        self._handed_over = False  # whether the chain was closed here for a worker to run it
        self._end: State = None  # the state of the chain after the latest run
        self._reported = 0  # how many damaged places this worker has reported

    def start(self) -> None:
        """Have a worker run from where the latest run ends; a new one if the last one is gone."""
        if not self._handed_over:
            self._handed_over = self._started = True
            self._end = self._parent.state()
            self._parent.close()
        if self._worker is not None and not self._worker.is_usable():
            self._worker = None
        if self._worker is None:
            self._worker = self._pool.begin(self._node, self._context.epoch, self._end)
            self._reported = 0

    def _fill(self, count: int) -> None:
        if self._runs:
            return
        self.start()
        # ``_worker`` is None meanwhile: a worker whose message was interrupted cannot be used again.
        worker, self._worker = self._worker, None
        assert worker is not None
        sent = worker.next()
        if sent.failed is not None:
            sent.run.error = sent.failed.raised()
        self._report(sent.damage)
        self._runs.append(sent.run)
        self._end = sent.end
        if len(sent.run.elements):
            self._worker = worker
        else:  # it has come to the end, or to an error
            self._pool.dismiss(worker)

    def _report(self, damage: SkippedDamage) -> None:
        here = self._context.damage
        here.skipped += damage.skipped - self._reported
        here.last_error = damage.last_error or here.last_error
        self._reported = damage.skipped

    def skip(self, count: int) -> int:
        if not self._started:
            return super().skip(count)
        left = count
        while left:
            run = self._first_run()
            if run.error is not None:
                return count - left + self._skip_here(run, left)
            if not run.left:
                break
            skipped = min(left, run.left)
            run.used += skipped
            left -= skipped
        return count - left

    def _skip_here(self, run: ElementRun, count: int) -> int:
        """Skip elements in this process, from where ``run`` begins: its error belongs to another consumer."""
        self._runs.clear()
        self._release_worker()
        cursor = self._node.open(self._context)
        cursor.restore(run.begin)
        skipped = cursor.skip(count)
        self._end = cursor.state()
        cursor.close()
        return skipped

    def state(self) -> State:
        if self._started and not (self._runs and self._runs[0].left):
            return {"up": self._end, "ahead": 0}  # without waiting for the next run
        return super().state()

    def close(self) -> None:
        self._release_worker()
        super().close()

    def _release_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            self._pool.dismiss(worker)
