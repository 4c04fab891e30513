"""``parallel``: the chain below over some of the files in other processes, over the others in this one.

Every process has its own files, as with ``share="files"``, and they give their elements in turn, one each:
an order that depends on the number of processes, and on nothing else. This module does not know how elements
get from one process to another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ..engine.node import Context, Cursor, Elements, Node, State, Step
from ..engine.shares import Consumer
from ..engine.worker import RemoteCursor, WorkerPool
from .map import Map
from .own_files import own_files


@dataclass(frozen=True, eq=False)
class Parallel(Step):
    """The elements of ``up``, which so many ``processes`` make, this one among them."""

    up: Node
    processes: int
    crew: WorkerPool = field(default_factory=WorkerPool, repr=False)

    @cached_property
    def shares(self) -> list[Node]:
        """The chain of each process; the first is for this one."""
        if inside := _starts_processes(self.up):
            raise ValueError(f"{inside} starts processes, which those of parallel may not")
        count = self.processes
        return [own_files(self.up, Consumer(worker=number, workers=count)) for number in range(count)]

    def open(self, context: Context) -> Cursor:
        own, *others = self.shares
        context = context.free()
        return _ParallelCursor(own.open(context), [RemoteCursor(node, context, self.crew) for node in others])

    def size(self) -> int | None:
        sizes = [node.size() for node in self.shares]
        if -1 in sizes:
            return -1
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def label(self) -> str:
        return f"parallel({self.processes})"


def _starts_processes(node: Node) -> str:
    """The step in a chain that starts processes; "" if there is none."""
    if isinstance(node, Parallel) or (isinstance(node, Map) and node.processes):
        return node.label()
    return next(filter(None, map(_starts_processes, node.inputs)), "")


class _ParallelCursor(Cursor):
    def __init__(self, own: Cursor, others: list[RemoteCursor]) -> None:
        self._lanes: list[Cursor] = [own, *others]  # ours first, so that nobody waits for the others to begin
        self._going = list(range(len(self._lanes)))  # the lanes that have not ended
        self._at = 0  # that of them whose turn it is

    def take(self, count: int) -> Elements:
        for number in self._going:
            lane = self._lanes[number]
            if isinstance(lane, RemoteCursor):
                lane.start()
        while self._going:
            lane = self._lanes[self._going[self._at]]
            begin = lane.state()
            try:
                elements = lane.take(1)
            except Exception:
                if lane.state() != begin:  # an element that failed has had its turn
                    self._turn(1)
                raise
            self._turn(len(elements))
            if len(elements):
                return elements
        return ()

    def skip(self, count: int) -> int:
        left = count
        while left and self._going:
            passed = self._lanes[self._going[self._at]].skip(1)
            self._turn(passed)
            left -= passed
        return count - left

    def _turn(self, had: int) -> None:
        """It is another's turn; one that had nothing has ended."""
        if had:
            self._at += 1
        else:
            del self._going[self._at]
        self._at %= len(self._going) or 1

    def state(self) -> State:
        at = self._going[self._at] if self._going else 0
        return {"at": at, "going": list(self._going), "lanes": [lane.state() for lane in self._lanes]}

    def restore(self, state: State) -> None:
        self._going = list(state["going"])
        self._at = self._going.index(state["at"]) if self._going else 0
        for lane, own in zip(self._lanes, state["lanes"], strict=True):
            lane.restore(own)

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()
