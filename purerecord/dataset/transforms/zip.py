"""``zip``: tuples of one element of each dataset, as long as all of them have one.

The state holds the states of all parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.node import Context, Cursor, Elements, Node, State, first_failed, take_exactly
from ..engine.states import list_of


@dataclass(frozen=True, eq=False)
class Zip(Node):
    """Tuples of one element of each of ``parts``."""

    parts: tuple[Node, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    def open(self, context: Context) -> Cursor:
        return _ZipCursor([part.open(context) for part in self.parts])

    def origins(self, context: Context) -> Cursor:
        return _ZipCursor([part.origins(context) for part in self.parts])

    def size(self) -> int | None:
        sizes = [size for part in self.parts if (size := part.size()) != -1]
        if None in sizes:
            return None
        return min(size for size in sizes if size is not None) if sizes else -1

    def chain(self) -> str:
        return self.label()

    def label(self) -> str:
        return f"zip({', '.join(part.chain() for part in self.parts)})"

    def outline(self) -> str:
        return f"zip({', '.join(part.outline() for part in self.parts)})"


class _ZipCursor(Cursor):
    def __init__(self, parts: list[Cursor]) -> None:
        self._parts = parts
        self.cheap_lookahead = min(part.cheap_lookahead for part in parts)

    def take(self, count: int) -> Elements:
        columns = [take_exactly(part, count) for part in self._parts]
        rows = zip(*columns, strict=False)
        if any(first_failed(column) is not None for column in columns):
            return [first_failed(row) or row for row in rows]
        return list(rows)

    def skip(self, count: int) -> int:
        return min(part.skip(count) for part in self._parts)

    def state(self) -> State:
        return [part.state() for part in self._parts]

    def restore(self, state: State) -> None:
        for part, own in zip(self._parts, list_of(state, len(self._parts)), strict=True):
            part.restore(own)

    def close(self) -> None:
        for part in self._parts:
            part.close()
