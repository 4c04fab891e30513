"""``cache``: the elements of the first epoch, kept in memory or in a file for those that follow.

A file cache is a TFRecord file: raw records as they are, other elements pickled. It appears when it is
complete, or not at all. Like any pickle it is to be read only by those who trust who wrote it.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...container.writer import TFRecordWriter
from ...payload.ragged import Ragged
from ...payload.sparse import Sparse
from ...records import Records
from ..engine.node import MANY, Context, Cursor, Elements, Node, State, Step, Table
from ..engine.structure import apply
from .files import Files
from .sources import Slices

_RAW, _PICKLED = b"r", b"p"


@dataclass
class _Kept:
    """What a cache in memory holds; another process begins with an empty one."""

    elements: list[Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


@dataclass(frozen=True, eq=False)
class Cache(Step):
    """The elements below, as the first epoch gave them."""

    up: Node
    path: str = ""
    kept: _Kept = field(default_factory=_Kept, repr=False)

    def open(self, context: Context) -> Cursor:
        return _CacheCursor(self, context)

    def stored(self) -> Node | None:
        """What has been kept; None as long as no epoch has come to its end."""
        if self.path:
            return Files((self.path,), "") if os.path.exists(self.path) else None
        return None if self.kept.elements is None else Slices(self.kept.elements)

    def table(self) -> Table | None:
        if self.path:
            return self.up.table()
        if self.kept.elements is None:
            cursor = self.open(Context())
            while len(cursor.take(MANY)):
                pass
            cursor.close()
        assert self.kept.elements is not None
        return Slices(self.kept.elements)

    def label(self) -> str:
        return f"cache({self.path!r})" if self.path else "cache()"

    def outline(self) -> str:
        return f"{self.up.outline()}.cache"


class _CacheCursor(Cursor):
    """Position and state count elements, so that they fit both the first epoch and those that follow."""

    def __init__(self, node: Cache, context: Context) -> None:
        self._node = node
        stored = node.stored()
        self._stored = stored is not None
        self._filling = not self._stored
        # Epoch 0 is what is kept, whichever is asked for: the order is the same with a cache as before it.
        self._up = (stored or node.up).open(context.at(0).free())
        self.hint = self._up.hint
        self._elements: list[Any] = []
        self._writer: TFRecordWriter | None = None
        self._position = 0

    def take(self, count: int) -> Elements:
        elements = self._take(count)
        self._position += len(elements)
        if self._stored and self._node.path:
            return [_decoded(element) for element in elements]
        if self._filling:
            self._keep(elements)
        return elements if self._node.path else _copies(elements)

    def skip(self, count: int) -> int:
        if not self._stored:
            return super().skip(count)
        passed = self._up.skip(count)
        self._position += passed
        return passed

    def _take(self, count: int) -> Elements:
        try:
            return self._up.take(count)
        except Exception:
            self._abandon()  # who goes on behind the error has not all that is to be kept
            raise

    def _keep(self, elements: Elements) -> None:
        """Keep the elements; none are the end."""
        if not self._node.path:
            self._elements += _copies(elements)
            if not len(elements):
                self._node.kept.elements = self._elements
        else:
            if self._writer is None:
                self._writer = TFRecordWriter(self._node.path, atomic=True)
            self._writer.write_many([_encoded(element) for element in elements])
            if not len(elements):
                self._writer.close()
        self._filling = len(elements) > 0

    def state(self) -> State:
        return self._position

    def restore(self, state: State) -> None:
        self.skip(state)

    def _abandon(self) -> None:
        """Keep nothing."""
        if self._filling and self._writer is not None:
            self._writer.abandon()
        self._filling = False

    def close(self) -> None:
        self._abandon()
        self._up.close()

    def __del__(self) -> None:
        if hasattr(self, "_filling"):
            self._abandon()


def _copies(elements: Elements) -> Elements:
    """The elements with dicts and tuples of their own, and arrays that are shared but cannot be changed."""
    if isinstance(elements, Records):
        return elements
    return [apply(_frozen, element) for element in elements]


def _frozen(leaf: Any) -> Any:
    """A leaf that nobody can change: it will be given again."""
    if isinstance(leaf, Ragged):
        return Ragged(_frozen(leaf.values), leaf.row_splits)
    if isinstance(leaf, Sparse):
        return Sparse(_frozen(leaf.indices), _frozen(leaf.values), leaf.dense_shape)
    if isinstance(leaf, np.ndarray) and leaf.flags.writeable:
        leaf = leaf.view()
        leaf.flags.writeable = False
    return leaf


def _encoded(element: Any) -> bytes:
    return _RAW + element if isinstance(element, bytes) else _PICKLED + pickle.dumps(element)


def _decoded(stored: bytes) -> Any:
    return stored[1:] if stored[:1] == _RAW else pickle.loads(memoryview(stored)[1:])
