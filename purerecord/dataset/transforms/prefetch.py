"""``prefetch``: elements computed ahead, in a thread."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.lookahead import PrefetchCursor
from ..engine.node import Context, Cursor, Node, Step


@dataclass(frozen=True, eq=False)
class Prefetch(Step):
    """The same elements, fetched by a thread while those before are in use."""

    up: Node
    buffer_size: int

    def open(self, context: Context) -> Cursor:
        return PrefetchCursor(self.up.open(context), context, self.buffer_size)

    def label(self) -> str:
        return f"prefetch({self.buffer_size})"

    def outline(self) -> str:
        return f"{self.up.outline()}.prefetch"
