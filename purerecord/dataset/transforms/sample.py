"""``Dataset.sample``: each element comes from one of several datasets, drawn by weight.

Draw number n is a function of (seed, epoch, n). The state holds the number of draws, which datasets have
ended, and the states of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engine.node import Context, Cursor, Elements, Node, State
from ..engine.states import count_of, list_of, values_of
from .shuffle import SAMPLE, Draws


@dataclass(frozen=True, eq=False)
class Sample(Node):
    """Each element from one of ``parts``, drawn by ``weights``."""

    parts: tuple[Node, ...]
    weights: tuple[float, ...]
    seed: int | None
    stop_on_empty: bool

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    def open(self, context: Context) -> Cursor:
        context = context.without_pattern()
        return _SampleCursor(self, context, [part.open(context) for part in self.parts])

    def origins(self, context: Context) -> Cursor:
        return _SampleCursor(self, context, [part.origins(context) for part in self.parts])

    def size(self) -> int | None:
        if self.stop_on_empty:
            return None
        sizes = [part.size() for part, weight in zip(self.parts, self.weights, strict=True) if weight]
        if None in sizes:
            return None
        return -1 if -1 in sizes else sum(size for size in sizes if size is not None)

    def chain(self) -> str:
        return self.label()

    def label(self) -> str:
        parts = ", ".join(part.chain() for part in self.parts)
        return f"sample([{parts}], weights={list(self.weights)}, seed={self.seed})"

    def outline(self) -> str:
        return f"sample({', '.join(part.outline() for part in self.parts)}, {self.weights}, {self.seed})"


class _SampleCursor(Cursor):
    def __init__(self, node: Sample, context: Context, parts: list[Cursor]) -> None:
        self._parts = parts
        self._weights = np.array(node.weights, np.float64)  # 0 for parts that have ended
        self._stop_on_empty = node.stop_on_empty
        self._key = (node.seed or 0, context.epoch, SAMPLE)
        self._draws = Draws(*self._key)
        self._drawn = 0  # how many draws were made

    def take(self, count: int) -> Elements:
        while (number := self._draw()) is not None:
            elements = self._parts[number].take(1)
            if len(elements):
                return elements
            self._end(number)
        return ()

    def skip(self, count: int) -> int:
        left = count
        while left and (number := self._draw()) is not None:
            if self._parts[number].skip(1):
                left -= 1
            else:
                self._end(number)
        return count - left

    def _draw(self) -> int | None:
        """The number of the part to take from; None when all have ended."""
        bounds = np.cumsum(self._weights)
        if not bounds[-1] > 0:
            return None
        self._drawn += 1
        point = int(self._draws.below(1 << 32, 1)[0]) / (1 << 32) * bounds[-1]
        return int(np.searchsorted(bounds, point, side="right"))

    def _end(self, number: int) -> None:
        self._weights[number] = 0
        if self._stop_on_empty:
            self._weights[:] = 0

    def state(self) -> State:
        ended = np.flatnonzero(self._weights == 0).tolist()
        return {"draws": self._drawn, "ended": ended, "parts": [part.state() for part in self._parts]}

    def restore(self, state: State) -> None:
        draws, ended, states = values_of(state, "draws", "ended", "parts")
        self._drawn = count_of(draws)
        self._draws = Draws(*self._key, self._drawn)
        for number in list_of(ended):
            self._weights[count_of(number, len(self._parts) - 1)] = 0
        for part, own in zip(self._parts, list_of(states, len(self._parts)), strict=True):
            part.restore(own)

    def close(self) -> None:
        for part in self._parts:
            part.close()
