"""``parallel``: the chain so far, run by several processes, this one among them.

Each process reads its own files, as with ``share="files"``. The processes give their elements in turn, one
each, so the order depends on the number of processes and on nothing else. The state holds the state of
every process's chain and whose turn it is. This module must not know how elements move between processes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ..engine.node import Context, Cursor, Elements, Node, State, Transform
from ..engine.shares import Consumer
from ..engine.states import bad_state, count_of, list_of, values_of
from ..engine.worker import RemoteCursor, WorkerPool
from .map import Map
from .own_files import own_files


@dataclass(frozen=True, eq=False)
class Parallel(Transform):
    """The elements of ``parent``, computed by ``processes`` processes, this one included."""

    parent: Node
    processes: int
    pool: WorkerPool = field(default_factory=WorkerPool, repr=False)

    @cached_property
    def chains(self) -> list[Node]:
        """The chain of each process over its own files; the first is for this process."""
        if inside := _starts_processes(self.parent):
            raise ValueError(f"{inside} starts processes, which those of parallel may not")
        count = self.processes
        return [own_files(self.parent, Consumer(worker=number, workers=count)) for number in range(count)]

    def open(self, context: Context) -> Cursor:
        own, *others = self.chains
        context = context.without_pattern()
        return _ParallelCursor(own.open(context), [RemoteCursor(node, context, self.pool) for node in others])

    def size(self) -> int | None:
        sizes = [node.size() for node in self.chains]
        if -1 in sizes:
            return -1
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def label(self) -> str:
        return f"parallel({self.processes})"


def _starts_processes(node: Node) -> str:
    """The label of the first transform in a chain that starts processes; "" if there is none."""
    if isinstance(node, Parallel) or (isinstance(node, Map) and node.processes):
        return node.label()
    return next(filter(None, map(_starts_processes, node.inputs)), "")


class _ParallelCursor(Cursor):
    def __init__(self, own: Cursor, others: list[RemoteCursor]) -> None:
        # Ours comes first: it has elements while the other processes are still starting.
        self._chains: list[Cursor] = [own, *others]
        self._unfinished = list(range(len(self._chains)))  # the numbers of the chains that have not ended
        self._turn = 0  # the place in ``_unfinished`` of the chain whose turn it is

    def take(self, count: int) -> Elements:
        for number in self._unfinished:
            chain = self._chains[number]
            if isinstance(chain, RemoteCursor):
                chain.start()
        while self._unfinished:
            chain = self._chains[self._unfinished[self._turn]]
            elements = chain.take(1)
            self._next_turn(len(elements))
            if len(elements):
                return elements
        return ()

    def skip(self, count: int) -> int:
        left = count
        while left and self._unfinished:
            skipped = self._chains[self._unfinished[self._turn]].skip(1)
            self._next_turn(skipped)
            left -= skipped
        return count - left

    def _next_turn(self, given: int) -> None:
        """Pass the turn on; a chain that has given no element has ended."""
        if given:
            self._turn += 1
        else:
            del self._unfinished[self._turn]
        self._turn %= len(self._unfinished) or 1

    def state(self) -> State:
        current = self._unfinished[self._turn] if self._unfinished else 0
        chains = [chain.state() for chain in self._chains]
        return {"at": current, "going": list(self._unfinished), "lanes": chains}

    def restore(self, state: State) -> None:
        current, unfinished, states = values_of(state, "at", "going", "lanes")
        self._unfinished = [count_of(number, len(self._chains) - 1) for number in list_of(unfinished)]
        if self._unfinished != sorted({*self._unfinished}) or current not in (self._unfinished or [0]):
            raise bad_state("the processes of parallel are not those that there are")
        self._turn = self._unfinished.index(current) if self._unfinished else 0
        for chain, own in zip(self._chains, list_of(states, len(self._chains)), strict=True):
            chain.restore(own)

    def close(self) -> None:
        for chain in self._chains:
            chain.close()
