"""``cache``: the elements of the first epoch, kept in memory or in a file for all later epochs.

A cache file is a TFRecord file. Its first record is the outline of the chain whose elements follow: raw
records are stored as they are, other elements pickled. It gets its name when it is complete, so an incomplete
cache is never read. Like any pickle, a cache file must only be read by users who trust its writer. A cache
resumes at a number of elements, whether it is filled or not.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...bytes_column import BytesColumn
from ...container.writer import TFRecordWriter
from ...errors import DecodeError
from ...payload.ragged import Ragged
from ...payload.sparse import Sparse
from ...payload.values import object_array
from ...printable import printable
from ...records import Records
from ..engine.node import (
    ELEMENTS_AT_ONCE,
    Context,
    Cursor,
    Elements,
    Node,
    PassThroughCursor,
    State,
    Table,
    Transform,
    data_changed,
    first_failed,
    pickled,
)
from ..engine.states import count_of
from ..engine.structure import apply
from .files import Files
from .sources import Slices

_OUTLINE, _RAW, _PICKLED = b"o", b"r", b"p"  # the first byte of a record in a cache file


@pickled
@dataclass
class _Kept:
    """The elements of a cache in memory; a pickle of it is empty, so another process fills its own."""

    elements: list[Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


@dataclass(frozen=True, eq=False)
class Cache(Transform):
    """The parent's elements of epoch 0, in every epoch."""

    parent: Node
    path: str = ""  # of the file; "" for a cache in memory
    kept: _Kept = field(default_factory=_Kept, repr=False)

    def open(self, context: Context) -> Cursor:
        return _CacheCursor(self, context)

    def origins(self, context: Context) -> Cursor:
        return _CachedOriginsCursor(self.parent.origins(context.for_epoch(0)))

    def stored(self) -> Node | None:
        """The stored elements; None as long as no epoch has been read to its end."""
        if self.path:
            return Files((self.path,), "") if os.path.exists(self.path) else None
        return None if self.kept.elements is None else Slices(self.kept.elements)

    def table(self) -> Table | None:
        if self.path:
            return self.parent.table()
        if self.kept.elements is None:
            cursor = self.open(Context())
            while len(elements := cursor.take(ELEMENTS_AT_ONCE)):
                if (failed := first_failed(elements)) is not None:
                    raise failed.raised()
            cursor.close()
        assert self.kept.elements is not None
        return Slices(self.kept.elements)

    def label(self) -> str:
        return f"cache({self.path!r})" if self.path else "cache()"

    def outline(self) -> str:
        return f"{self.parent.outline()}.cache"


class _CacheCursor(Cursor):
    """Reads the cache, or fills it. Its state counts elements, so that it fits both."""

    def __init__(self, node: Cache, context: Context) -> None:
        self._node = node
        stored = node.stored()
        self._stored = stored is not None
        self._filling = not self._stored
        self._elements: list[Any] = []
        self._writer: TFRecordWriter | None = None
        self._process = os.getpid()
        # The cache is always filled from epoch 0, so its order does not depend on which epoch came first.
        self._parent = (stored or node.parent).open(context.for_epoch(0).without_pattern())
        self.cheap_lookahead = self._parent.cheap_lookahead
        self._position = 0
        if self._stored and node.path:
            self._check_outline()

    def take(self, count: int) -> Elements:
        elements = self._parent.take(count)
        if self._filling and first_failed(elements) is not None:
            self._abandon()  # the consumer may go on, but an epoch with an error is not kept
        self._position += len(elements)
        if self._stored and self._node.path:
            return self._decoded(elements)
        if self._filling:
            self._keep(elements)
        return elements if self._node.path else _copies(elements)

    def skip(self, count: int) -> int:
        if not self._stored:
            return super().skip(count)
        skipped = self._parent.skip(count)
        self._position += skipped
        return skipped

    def _check_outline(self) -> None:
        """Read the first record of the file, and raise unless the file belongs to this chain."""
        path, own = printable(self._node.path), self._node.parent.outline()
        first = b"".join(self._parent.take(1))
        if first[:1] != _OUTLINE:
            raise ValueError(f"{path} is not a cache file; delete it, or give cache another name")
        if (found := first[1:].decode(errors="replace")) != own:
            raise ValueError(
                f"{path} is the cache of another chain, {printable(found)}, and not of {own}; delete it, or "
                f"give cache another name"
            )

    def _decoded(self, elements: Elements) -> Elements:
        """The elements that are stored in these records."""
        begin = self._position - len(elements)
        return [_decoded(stored, self._node.path, begin + place) for place, stored in enumerate(elements)]

    def _keep(self, elements: Elements) -> None:
        """Add elements to the cache; no elements mean the end, which completes it."""
        if not self._node.path:
            self._elements += _copies(elements)
            if not len(elements):
                self._node.kept.elements = self._elements
        elif self._process == os.getpid():  # else a function of the chain has forked: the file is not ours
            if self._writer is None:
                self._writer = TFRecordWriter(self._node.path, atomic=True)
                self._writer.write(_OUTLINE + self._node.parent.outline().encode())
            self._writer.write_many([_encoded(element) for element in elements])
            if not len(elements):
                self._writer.close()
        self._filling = len(elements) > 0

    def state(self) -> State:
        return self._position

    def restore(self, state: State) -> None:
        if self.skip(count_of(state)) != state:
            raise data_changed(f"there are fewer than {state} elements")

    def _abandon(self) -> None:
        """Give up an incomplete cache."""
        if self._filling and self._writer is not None:
            self._writer.abandon()
        self._filling = False

    def close(self) -> None:
        self._abandon()
        self._parent.close()

    def __del__(self) -> None:
        if hasattr(self, "_filling"):
            self._abandon()


class _CachedOriginsCursor(PassThroughCursor):
    """The origins of cached elements; a state counts them."""

    def take(self, count: int) -> Elements:
        return self._parent.take(count)

    def restore(self, state: State) -> None:
        self._parent.skip(state)


def _copies(elements: Elements) -> Elements:
    """The elements with new dicts and tuples; their arrays are shared and read-only."""
    if isinstance(elements, Records):
        return elements
    return [apply(_frozen, element) for element in elements]


def _frozen(leaf: Any) -> Any:
    """A read-only view of a leaf, because the cache will hand it out again."""
    if isinstance(leaf, Ragged):
        return Ragged(_frozen(leaf.values), leaf.row_splits, leaf.missing, leaf.untyped)
    if isinstance(leaf, Sparse):
        return Sparse(_frozen(leaf.indices), _frozen(leaf.values), leaf.dense_shape)
    if isinstance(leaf, BytesColumn) and not isinstance(leaf.buffer, bytes):
        return BytesColumn.of(list(leaf.views()))  # of its own, immutable memory
    if (
        isinstance(leaf, np.ndarray)
        and leaf.dtype == object
        and isinstance(leaf.flat[0] if leaf.size else 0, np.ndarray)
    ):
        leaf = object_array([_frozen(image) for image in leaf])
    if isinstance(leaf, np.ndarray) and leaf.flags.writeable:
        leaf = leaf.view()
        leaf.flags.writeable = False
    return leaf


def _encoded(element: Any) -> bytes:
    return _RAW + element if isinstance(element, bytes) else _PICKLED + pickle.dumps(element)


def _decoded(stored: bytes, path: str, number: int) -> Any:
    if stored[:1] == _RAW:
        return stored[1:]
    try:
        if stored[:1] == _PICKLED:
            return pickle.loads(memoryview(stored)[1:])
        problem = "it is not a cached element"
    except Exception as error:
        problem = f"it cannot be unpickled: {type(error).__name__}: {error}"
    raise DecodeError(f"{problem}; delete the file to have it made again", path=path, record=number + 1)
