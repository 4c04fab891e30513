"""``prefetch``: elements computed ahead in a thread, while earlier ones are in use.

The state is that of the next element to hand out, not of the last one fetched. The elements that were ahead
are fetched again after a resume.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.lookahead import PrefetchCursor
from ..engine.node import Context, Cursor, Node, Transform
from ..engine.origins import AheadOriginsCursor


@dataclass(frozen=True, eq=False)
class Prefetch(Transform):
    """The elements of the parent, fetched by a thread up to ``buffer_size`` ahead."""

    parent: Node
    buffer_size: int

    def open(self, context: Context) -> Cursor:
        return PrefetchCursor(self.parent.open(context), context, self.buffer_size)

    def origins(self, context: Context) -> Cursor:
        return AheadOriginsCursor(self.parent.origins(context))

    def label(self) -> str:
        return f"prefetch({self.buffer_size})"

    def outline(self) -> str:
        return f"{self.parent.outline()}.prefetch"
